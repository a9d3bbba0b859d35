// SPDX-License-Identifier: GPL-2.0
/*
 * A subnet of many switches: the route from one to the next, what each hop counts, agents of nodes without a host, nodes and cables
 * that go down.
 */

#include <endian.h>
#include <stdlib.h>

#include "fabric/ib_forward.h"
#include "fabric/ib_power.h"
#include "fabric/ib_route_cache.h"
#include "fabric/ib_traffic.h"
#include "fabric/topology.h"
#include "harness.h"
#include "ib_rig.h"
#include "inproc_assert.h"
#include "packet/pm_attr.h"
#include "qp/qp.h"
#include "rig_assert.h"

#define IOVA 0x7f0000000100ULL
#define INTO (IOVA + 65536)
#define LEN 100
#define NUM_SWITCHES 5
#define MLID 0xc001

/* Five switches in a row.  The adapters are at the ends and in the middle; between them are two HCAs without a host. */
static const char row[] = "Switch 4 \"S1\"\n[1] \"A\"[1]\n[4] \"S2\"[3]\n"
			  "Switch 4 \"S2\"\n[1] \"I\"[1]\n[3] \"S1\"[4]\n[4] \"S3\"[3]\n"
			  "Switch 4 \"S3\"\n[1] \"C\"[1]\n[3] \"S2\"[4]\n[4] \"S4\"[3]\n"
			  "Switch 4 \"S4\"\n[1] \"J\"[2]\n[3] \"S3\"[4]\n[4] \"S5\"[3]\n"
			  "Switch 4 \"S5\"\n[1] \"B\"[1]\n[2] \"J\"[1]\n[3] \"S4\"[4]\n"
			  "Hca 1 \"A\"\n[1] \"S1\"[1]\n"
			  "Hca 1 \"B\"\n[1] \"S5\"[1]\n"
			  "Hca 1 \"C\"\n[1] \"S3\"[1]\n"
			  "Hca 2 \"I\" # \"idle\"\n[1] \"S2\"[1] w=1\n"
			  "Hca 2 \"J\"\n[1] \"S5\"[2]\n[2] \"S4\"[1]\n";

/* Two switches with two cables: packets can go round. */
static const char twice[] = "Switch 5 \"S1\"\n[1] \"A\"[1]\n[4] \"S2\"[3]\n[5] \"S2\"[5]\n"
			    "Switch 5 \"S2\"\n[1] \"B\"[1]\n[2] \"C\"[1]\n[3] \"S1\"[4]\n[5] "
			    "\"S1\"[5]\n"
			    "Hca 1 \"A\"\n[1] \"S1\"[1]\n"
			    "Hca 1 \"B\"\n[1] \"S2\"[1]\n"
			    "Hca 1 \"C\"\n[1] \"S2\"[2]\n";

static struct rig_mr *mr[BED_HCAS];
static struct rig_qp *from, *to;

static int open_as(void **state, const char *topology)
{
	unsigned int i;

	ib_bed_topology = topology;
	ib_rig_open(state);
	for (i = 0; i < BED_HCAS; i++)
		mr[i] = rig_mr_new(&hca[i], IOVA, 1 << 18, RIG_ALL_ACCESS, 0);
	ib_bed_route();
	ib.num_got = 0;
	return 0;
}

static int open_row(void **state)
{
	return open_as(state, row);
}

static int open_twice(void **state)
{
	return open_as(state, twice);
}

static struct ib_node *node(const char *name)
{
	struct ib_node *found = ib_node_find(inproc_fabric(0), name);

	assert_non_null(found);
	return found;
}

/* Switch number @i, from 1 on */
static struct ib_switch *sw(unsigned int i)
{
	char name[8];

	snprintf(name, sizeof(name), "S%u", i);
	return node(name)->sw;
}

static struct ib_traffic sent(unsigned int i, unsigned int num)
{
	struct ib_traffic xmit, rcv;

	ib_traffic_count(&sw(i)->ports[num], &xmit, &rcv);
	return xmit;
}

static struct ib_traffic got(unsigned int i, unsigned int num)
{
	struct ib_traffic xmit, rcv;

	ib_traffic_count(&sw(i)->ports[num], &xmit, &rcv);
	return rcv;
}

static struct ib_traffic by_hca(unsigned int i)
{
	struct ib_traffic xmit, rcv;

	ib_traffic_count(ib_port_of(i), &xmit, &rcv);
	return xmit;
}

static void assert_same(struct ib_traffic a, struct ib_traffic b)
{
	assert_int_equal(a.pkts, b.pkts);
	assert_int_equal(a.data, b.data);
	assert_int_equal(a.mcast, b.mcast);
}

/* All that A sent has passed each switch to B, and all that B sent has come back. */
static void assert_hops_agree(void)
{
	struct ib_traffic there = by_hca(0), back = by_hca(1);
	unsigned int i;

	for (i = 1; i <= NUM_SWITCHES; i++) {
		assert_same(got(i, i == 1 ? 1 : 3), there);
		assert_same(sent(i, i == NUM_SWITCHES ? 1 : 4), there);
		assert_same(got(i, i == NUM_SWITCHES ? 1 : 4), back);
		assert_same(sent(i, i == 1 ? 1 : 3), back);
	}
}

static void connect_rc(unsigned int dst)
{
	ib_new_connection(&from, &to, dst, 0);
}

static uint8_t write_rc(unsigned int dst, uint32_t len)
{
	return ib_wait_write(from, rig_sge(mr[0], IOVA, len), INTO, mr[dst]->key);
}

static void test_built(void **state)
{
	struct ohca_query_device_out out;

	(void)state;
	assert_int_equal(node("A")->guid, 0x100000);
	assert_int_equal(ib_port_of(0)->guid, 0x100001);
	assert_ptr_equal(node("A")->ports[1], ib_port_of(0));
	assert_ptr_equal(node("A")->ports[1]->peer, &sw(1)->ports[1]);
	assert_ptr_equal(node("J")->ports[1]->peer, &sw(5)->ports[2]);
	assert_ptr_equal(node("J")->ports[2]->peer, &sw(4)->ports[1]);
	assert_ptr_equal(sw(1)->ports[4].peer, &sw(2)->ports[3]);
	assert_int_equal(sw(1)->ports[2].state, IB_PORT_DOWN);
	assert_int_equal(sw(1)->ports[4].state, IB_PORT_ACTIVE);
	assert_string_equal(node("I")->desc, "idle");
	assert_int_equal(node("I")->ports[1]->active.width, PORT_WIDTH_1X);
	/* The driver reads the GUIDs of the topology. */
	assert_int_equal(drv_cmd(ib.drv[0], OHCA_CMD_QUERY_DEVICE, NULL, 0, &out, sizeof(out)), 0);
	assert_int_equal(be64toh(out.node_guid), 0x100000);
}

static void test_writes(void **state)
{
	struct ib_traffic before;
	uint32_t mtu;

	(void)state;
	connect_rc(1);
	mtu = 1U << qp_get(inproc_hca(0), from->qpn)->mtu_shift;
	assert_int_equal(write_rc(1, 20 * mtu + 1), OHCA_WC_SUCCESS);
	assert_hops_agree();
	before = got(3, 3);
	assert_true(before.pkts >= 21);
	assert_int_equal(write_rc(1, 1), OHCA_WC_SUCCESS);
	assert_int_equal(got(3, 3).pkts, before.pkts + 1);
	assert_int_equal(got(3, 3).data, before.data + (LRH_LEN + 12 + 4 + 1) / 4);
	assert_hops_agree();
	/* Nothing has come to the others. */
	assert_int_equal(sent(3, 1).pkts, 0);
	assert_int_equal(sent(2, 1).pkts, 0);
	/* The peer is gone: what is sent still passes all ports. */
	assert_int_equal(rig_qp_destroy(to), 0);
	assert_int_equal(write_rc(1, LEN), OHCA_WC_RETRY_EXC_ERR);
	assert_true(got(3, 3).pkts > before.pkts + 1);
	assert_hops_agree();
}

static void test_datagrams(void **state)
{
	struct ohca_av av = ib_av_to(1);
	struct ohca_sge sge, into;
	struct rig_qp *a, *b;
	struct rig_wr wr;
	unsigned int i;

	(void)state;
	a = ib_new_qp(0, OHCA_QPT_UD);
	b = ib_new_qp(1, OHCA_QPT_UD);
	sge = rig_sge(mr[0], IOVA, LEN);
	into = rig_sge(mr[1], INTO, 1024);
	for (i = 0; i < 3; i++) {
		rig_post_recv(b, 5, &into, 1);
		wr = rig_datagram(b, &av, &sge);
		rig_post_send(a, &wr);
		assert_cqe(rig_wait_send(a), OHCA_WC_SUCCESS, 0, wr.wr_id);
		assert_cqe(rig_wait_recv(b), OHCA_WC_SUCCESS, 0, 5);
	}
	assert_int_equal(got(3, 3).pkts, 3);
	assert_hops_agree();
	/* To an HCA without a host: nobody takes it. */
	av.ib.dlid = htole16(node("J")->ports[2]->lid);
	wr = rig_datagram(b, &av, &sge);
	rig_post_send(a, &wr);
	assert_cqe(rig_wait_send(a), OHCA_WC_SUCCESS, 0, wr.wr_id);
	inproc_settle();
	assert_int_equal(got(4, 3).pkts, 4);
	assert_int_equal(sent(4, 1).pkts, 1);
	assert_int_equal(sent(4, 4).pkts, 3);
	assert_int_equal(node("J")->ports[2]->counters.rcv.pkts, 1);
}

/* Copies divide as late as they can, and each cable counts one. */
static void test_multicast(void **state)
{
	struct rig_qp *a = ib_new_qp(0, OHCA_QPT_UD), *b = ib_new_qp(1, OHCA_QPT_UD);
	struct ohca_av av = {.ib.dlid = htole16(MLID), .port = 1, .ib.flags = OHCA_AV_GRH};
	struct ohca_mcast_in in = {.gid = {0xff, 0x12}, .mlid = htole16(MLID)};
	struct ohca_sge sge = rig_sge(mr[0], IOVA, LEN), into = rig_sge(mr[1], INTO, 1024);
	struct rig_wr wr;
	unsigned int i;

	(void)state;
	memcpy(av.dgid, in.gid, sizeof(av.dgid));
	in.qpn = htole32(b->qpn);
	assert_int_equal(drv_cmd(ib.drv[1], OHCA_CMD_ATTACH_MCAST, &in, sizeof(in), NULL, 0), 0);
	for (i = 1; i <= NUM_SWITCHES; i++) {
		*ib_switch_mcast_room(sw(i), MLID - LID_MCAST) = 1 << 1 | 1 << 3 | 1 << 4;
		ib_switch_changed(sw(i));
	}
	rig_post_recv(b, 5, &into, 1);
	wr = rig_datagram(b, &av, &sge);
	wr.dest_qpn = 0xffffff;
	rig_post_send(a, &wr);
	assert_cqe(rig_wait_send(a), OHCA_WC_SUCCESS, 0, wr.wr_id);
	assert_cqe(rig_wait_recv(b), OHCA_WC_SUCCESS, 0, 5);
	inproc_settle();
	for (i = 1; i <= NUM_SWITCHES; i++) {
		assert_int_equal(got(i, i == 1 ? 1 : 3).mcast, 1);
		assert_int_equal(sent(i, 1).mcast, i != 1);
	}
	assert_int_equal(node("I")->ports[1]->counters.rcv.mcast, 1);
	/* There is nobody at port 4 of the last one, and no route back. */
	assert_int_equal(sw(5)->ports[4].counters.xmit_discards, 1);
	assert_int_equal(sent(1, 1).mcast, 0);
	assert_int_equal(got(1, 4).mcast, 0);
}

/* Packets that go round in a loop end, and so do copies. */
static void test_loops(void **state)
{
	struct mad_packet p = ib_lid_request(MAD_GET, SM_NODE_INFO, 0, 0x77);
	uint64_t before = sw(2)->ports[4].counters.xmit.pkts;

	(void)state;
	connect_rc(1);
	assert_int_equal(write_rc(1, LEN), OHCA_WC_SUCCESS);
	*ib_switch_linear_room(sw(3), BED_LID(1), 1) = 3;
	*ib_switch_linear_room(sw(2), BED_LID(1), 1) = 4;
	ib_switch_changed(sw(3));
	/* The switch does not send back by the port that packets came by. */
	assert_int_equal(write_rc(1, LEN), OHCA_WC_RETRY_EXC_ERR);
	assert_true(sw(3)->ports[3].counters.rcv_relay_errors >= 1);
	assert_same(got(3, 3), sent(2, 4));
	assert_same(got(3, 3), by_hca(0));
	/* Subnet management packets to a LID that no node has go the same route. */
	*ib_switch_linear_room(sw(1), 0x77, 1) = 4;
	*ib_switch_linear_room(sw(2), 0x77, 1) = 4;
	*ib_switch_linear_room(sw(3), 0x77, 1) = 3;
	assert_null(ib_ask(0, &p));
	assert_int_equal(sw(2)->ports[4].counters.xmit.pkts, before + 1);
}

/*
 * Round and round, until a packet has passed as many cables as it may.  The port by which it would go on counts it, as at an
 * uplink, and no other one.
 */
static void test_rounds(void **state)
{
	const struct ib_port_counters *c = &sw(1)->ports[4].counters;
	struct ib_traffic out;

	(void)state;
	connect_rc(1);
	*ib_switch_linear_room(sw(2), BED_LID(1), 1) = 5;
	ib_switch_changed(sw(2));
	assert_int_equal(write_rc(1, LEN), OHCA_WC_RETRY_EXC_ERR);
	out = by_hca(0);
	assert_true(out.pkts);
	assert_int_equal(c->xmit_discards, out.pkts);
	assert_int_equal(sent(1, 4).pkts, out.pkts * IB_MAX_HOPS / 2);
	assert_int_equal(sent(2, 5).pkts, out.pkts * IB_MAX_HOPS / 2);
	assert_int_equal(sw(1)->ports[1].counters.rcv_relay_errors, 0);
	assert_int_equal(sw(1)->ports[5].counters.rcv_relay_errors, 0);
	assert_int_equal(sw(2)->ports[3].counters.rcv_relay_errors, 0);
	assert_int_equal(sw(2)->ports[5].counters.xmit_discards, 0);
}

/* Where packets end is seen without them. */
static void test_look(void **state)
{
	struct ib_flow flow = {.dlid = BED_LID(1), .pkey = 0xffff};
	struct ib_route route;

	(void)state;
	assert_int_equal(ib_route_trace(&route, ib_port_of(0), &flow), NUM_SWITCHES - 1);
	assert_int_equal(route.end, IB_ROUTE_PORT);
	assert_ptr_equal(route.to->ib, ib_port_of(1));
	assert_int_equal(ib_route_trace(&route, &sw(5)->ports[0], &flow), 0);
	assert_ptr_equal(route.to->ib, ib_port_of(1));
	flow.dlid = node("I")->ports[1]->lid;
	assert_int_equal(ib_route_trace(&route, ib_port_of(1), &flow), 3);
	assert_int_equal(route.end, IB_ROUTE_AGENT);
	assert_ptr_equal(route.at, node("I")->ports[1]);
	flow.dlid = 0x77;
	assert_int_equal(ib_route_trace(&route, ib_port_of(0), &flow), 0);
	assert_int_equal(route.end, IB_ROUTE_RELAY);
	assert_ptr_equal(route.at, &sw(1)->ports[1]);
	assert_int_equal(sw(1)->ports[1].counters.rcv_relay_errors, 0);
	assert_null(ib_port_of(0)->route_cache);
}

/* Copies of a datagram that go round both routes pass each cable once in each direction. */
static void test_mcast_rounds(void **state)
{
	struct ohca_av av = {.ib.dlid = htole16(MLID), .port = 1, .ib.flags = OHCA_AV_GRH};
	struct rig_qp *a = ib_new_qp(0, OHCA_QPT_UD);
	struct ohca_sge sge = rig_sge(mr[0], IOVA, LEN);
	struct rig_wr wr;

	(void)state;
	memcpy(av.dgid, (const uint8_t[16]){0xff, 0x12}, sizeof(av.dgid));
	*ib_switch_mcast_room(sw(1), MLID - LID_MCAST) = 1 << 4 | 1 << 5;
	*ib_switch_mcast_room(sw(2), MLID - LID_MCAST) = 1 << 3 | 1 << 5;
	ib_switch_changed(sw(1));
	wr = rig_datagram(a, &av, &sge);
	wr.dest_qpn = 0xffffff;
	rig_post_send(a, &wr);
	assert_cqe(rig_wait_send(a), OHCA_WC_SUCCESS, 0, wr.wr_id);
	inproc_settle();
	assert_int_equal(sent(1, 4).pkts, 1);
	assert_int_equal(sent(1, 5).pkts, 1);
	assert_int_equal(sent(2, 3).pkts, 1);
	assert_int_equal(sent(2, 5).pkts, 1);
	assert_int_equal(sw(1)->ports[4].counters.xmit_discards, 1);
	assert_int_equal(sw(1)->ports[5].counters.xmit_discards, 1);
	assert_int_equal(sw(1)->ports[1].counters.rcv_relay_errors, 0);
}

static void test_partitions(void **state)
{
	(void)state;
	connect_rc(1);
	assert_int_equal(write_rc(1, LEN), OHCA_WC_SUCCESS);
	sw(4)->ports[3].enforce = PORT_ENFORCE_IN;
	sw(4)->ports[3].pkeys[0] = 0x8001;
	ib_port_changed(&sw(4)->ports[3]);
	assert_int_equal(write_rc(1, LEN), OHCA_WC_RETRY_EXC_ERR);
	assert_true(sw(4)->ports[3].counters.rcv_constraint >= 2);
	assert_same(got(4, 3), by_hca(0));
	assert_true(sent(4, 4).pkts < by_hca(0).pkts);
	/* Trap 259 of that switch */
	assert_true(ib.num_got >= 1);
	assert_int_equal(ib.got[0].hdr.method, MAD_TRAP);
	assert_int_equal(ib.got[0].slid, sw(4)->ports[0].lid);
}

/* Directed routes */

static void test_directed_routes(void **state)
{
	static const uint8_t to_b[] = {1, 4, 4, 4, 4, 1, 0}, to_s5[] = {1, 4, 4, 4, 4, 0};
	static const uint8_t to_i[] = {1, 4, 1, 0};
	uint8_t data[SMP_DATA_LEN];
	const struct node_info *info = (const struct node_info *)data;

	(void)state;
	assert_int_equal(ib_get(SM_NODE_INFO, 0, to_b, data), MAD_OK);
	assert_int_equal(be64toh(info->node_guid), node("B")->guid);
	assert_int_equal(ib_get(SM_NODE_INFO, 0, to_s5, data), MAD_OK);
	assert_int_equal(be64toh(info->node_guid), node("S5")->guid);
	assert_int_equal(info->num_ports, 4);
	assert_int_equal(info->local_port, 3);
	assert_int_equal(ib_get(SM_NODE_INFO, 0, to_i, data), MAD_OK);
	assert_int_equal(be64toh(info->node_guid), node("I")->guid);
	assert_int_equal(info->num_ports, 2);
	assert_int_equal(info->node_type, NODE_CA);
	assert_int_equal(ib_get(SM_SM_INFO, 0, to_i, data), MAD_BAD_ATTR);
	assert_int_equal(ib_get(SM_NODE_DESC, 0, to_i, data), MAD_OK);
	assert_string_equal((char *)data, "idle");
}

/* Each port of an HCA has its own LID; the other one is found by its number. */
static void test_two_ports(void **state)
{
	static const uint8_t to_1[] = {1, 4, 4, 4, 4, 2, 0}, to_2[] = {1, 4, 4, 4, 1, 0};
	struct port_info info[2];

	(void)state;
	assert_int_equal(ib_get(SM_PORT_INFO, 0, to_1, info), MAD_OK);
	assert_int_equal(be16toh(info[0].lid), node("J")->ports[1]->lid);
	assert_int_equal(info[0].local_port, 1);
	assert_int_equal(ib_get(SM_PORT_INFO, 0, to_2, info), MAD_OK);
	assert_int_equal(be16toh(info[0].lid), node("J")->ports[2]->lid);
	assert_int_equal(info[0].local_port, 2);
	assert_int_equal(ib_get(SM_PORT_INFO, 1, to_2, info), MAD_OK);
	assert_int_equal(be16toh(info[0].lid), node("J")->ports[1]->lid);
}

/* The longest directed route that there is: to and fro */
static void test_long_route(void **state)
{
	uint8_t route[SMP_MAX_HOPS + 1] = {1}, data[SMP_DATA_LEN];
	const struct node_info *info = (const struct node_info *)data;
	unsigned int i;

	(void)state;
	for (i = 1; i < SMP_MAX_HOPS; i++)
		route[i] = i % 2 ? 4 : 3;
	assert_int_equal(ib_get(SM_NODE_INFO, 0, route, data), MAD_OK);
	assert_int_equal(be64toh(info->node_guid), node("S1")->guid);
}

/* Performance management of nodes without a host: the request is counted at each hop, and so is the answer. */
static void assert_agent_answers(struct rig_qp *gsi, uint16_t lid)
{
	struct mad_packet p = mad_request(MAD_CLASS_PM, MAD_GET, PM_PORT_COUNTERS, 0);
	struct ohca_sge sge = rig_sge(mr[0], IOVA, MAD_LEN), into = rig_sge(mr[0], INTO, 1024);
	struct ohca_av av = {.ib.dlid = htole16(lid), .port = 1};
	struct mad_packet answer;
	struct ohca_cqe cqe;
	struct rig_wr wr;

	((struct port_counters *)(p.mad + PM_DATA))->port = 1;
	rig_mr_set(mr[0], IOVA, p.mad, MAD_LEN);
	rig_post_recv(gsi, 5, &into, 1);
	wr = rig_datagram(gsi, &av, &sge);
	wr.dest_qpn = 1;
	wr.qkey = RIG_GSI_QKEY;
	rig_post_send(gsi, &wr);
	assert_cqe(rig_wait_send(gsi), OHCA_WC_SUCCESS, 0, wr.wr_id);
	cqe = rig_wait_recv(gsi);
	assert_cqe(cqe, OHCA_WC_SUCCESS, 0, 5);
	assert_int_equal(le16toh(cqe.ib.slid), lid);
	rig_mr_get(mr[0], INTO + OHCA_GRH_LEN, answer.mad, MAD_LEN);
	assert_int_equal(answer.hdr.method, MAD_GET_RESP);
	assert_int_equal(answer.hdr.status, 0);
}

static void test_agents(void **state)
{
	struct rig_qp *gsi = ib_new_qp(0, OHCA_QPT_GSI);

	(void)state;
	assert_agent_answers(gsi, node("J")->ports[2]->lid);
	assert_int_equal(node("J")->ports[2]->counters.rcv.pkts, 1);
	assert_int_equal(node("J")->ports[2]->counters.xmit.pkts, 1);
	assert_int_equal(sent(4, 1).pkts, 1);
	assert_int_equal(got(4, 1).pkts, 1);
	assert_int_equal(got(2, 3).pkts, 1);
	assert_int_equal(sent(2, 3).pkts, 1);
	assert_agent_answers(gsi, sw(5)->ports[0].lid);
	assert_int_equal(got(5, 3).pkts, 1);
	assert_int_equal(sent(5, 3).pkts, 1);
	assert_int_equal(got(2, 3).pkts, 2);
	assert_int_equal(got(1, 1).pkts, 2);
	assert_int_equal(sent(1, 1).pkts, 2);
}

/* A datagram for QP 1 that has come from an uplink to port 2 of the first switch */
static void forward_keys(uint16_t dlid, uint16_t pkey, uint32_t qkey)
{
	struct mad_packet p = mad_request(MAD_CLASS_PM, MAD_GET, PM_PORT_COUNTERS, 0);
	uint8_t bytes[IB_MAX_PACKET];
	struct ib_packet packet;
	uint32_t len, icrc;

	p.slid = 0x300;
	p.dlid = dlid;
	p.dest_qpn = 1;
	p.src_qpn = 1;
	((struct port_counters *)(p.mad + PM_DATA))->port = 1;
	len = ib_encode_mad(bytes, &p);
	put_be16(bytes + LRH_LEN + 2, pkey);
	put_be32(bytes + LRH_LEN + BTH_LEN, qkey);
	icrc = htole32(ib_icrc(bytes, len - ICRC_LEN - VCRC_LEN));
	memcpy(bytes + len - ICRC_LEN - VCRC_LEN, &icrc, sizeof(icrc));
	ib_put_vcrc(bytes, len);
	assert_int_equal(ib_peek(&packet, bytes, len), PACKET_GOOD);
	ib_forward(&sw(1)->ports[2], &packet);
}

static void forward_mad(uint16_t dlid, uint16_t pkey)
{
	forward_keys(dlid, pkey, QKEY_GSI);
}

/* The same for what comes from outside.  Nobody knows the way back. */
static void test_agents_from_outside(void **state)
{
	const struct ib_port *at = node("J")->ports[2];

	(void)state;
	forward_mad(at->lid, PKEY_DEFAULT);
	assert_int_equal(at->counters.rcv.pkts, 1);
	assert_int_equal(at->counters.xmit.pkts, 1);
	assert_int_equal(sent(4, 1).pkts, 1);
	assert_int_equal(got(4, 1).pkts, 1);
	assert_int_equal(sent(4, 1).data, got(4, 1).data);
	assert_int_equal(sw(4)->ports[1].counters.rcv_relay_errors, 1);
	/* Not from its port */
	forward_mad(sw(4)->ports[0].lid, PKEY_DEFAULT);
	assert_int_equal(got(4, 3).pkts, 2);
	assert_int_equal(sw(4)->ports[0].counters.rcv_relay_errors, 1);
	assert_int_equal(at->counters.rcv.pkts, 1);
}

/* The answer is of the partition of the request. */
static void test_agent_pkey(void **state)
{
	struct ib_port *at = &sw(4)->ports[1];

	(void)state;
	at->enforce = PORT_ENFORCE_IN;
	at->pkeys[0] = 0x8001;
	at->peer->pkeys[1] = 0x8001;
	at->peer->pkeys[2] = 0x8002;
	forward_mad(at->peer->lid, 0x8001);
	assert_int_equal(at->counters.rcv_constraint, 0);
	assert_int_equal(at->counters.rcv_relay_errors, 1);
	forward_mad(at->peer->lid, 0x8002);
	assert_int_equal(at->counters.rcv_constraint, 1);
	assert_int_equal(at->counters.rcv_relay_errors, 1);
}

/* A limited member of the partition gets the answer of a full one. */
static void test_agent_limited(void **state)
{
	const struct ib_port *at = node("J")->ports[2];
	struct rig_qp *gsi = ib_new_qp(0, OHCA_QPT_GSI);

	(void)state;
	ib_port_set_pkeys(ib_port_of(0), 0, (const uint16_t[]){0x7fff}, 1);
	assert_agent_answers(gsi, at->lid);
	assert_agent_answers(gsi, sw(5)->ports[0].lid);
	assert_int_equal(ib_port_of(0)->pkey_viols, 0);
}

/* A request with a P_Key that the port has not, or with another Q_Key than that of QP 1, is not answered, and counts. */
static void test_agent_keys(void **state)
{
	struct ib_port *at = node("J")->ports[2], *port_0 = &sw(4)->ports[0];
	/* Nobody knows the way of an answer. */
	const uint64_t *answers = &at->peer->counters.rcv_relay_errors;

	(void)state;
	at->pkeys[1] = 0x0001;
	forward_mad(at->lid, 0x8002);
	forward_mad(at->lid, 0x0001);
	forward_mad(at->lid, 0);
	assert_int_equal(at->pkey_viols, 3);
	forward_keys(at->lid, PKEY_DEFAULT, 77);
	assert_int_equal(at->qkey_viols, 1);
	assert_int_equal(at->counters.rcv.pkts, 4);
	assert_int_equal(*answers, 0);
	forward_mad(at->lid, 0x8001);
	forward_mad(at->lid, 0x7fff);
	assert_int_equal(*answers, 2);
	assert_int_equal(at->pkey_viols, 3);
	forward_mad(port_0->lid, 0x8002);
	forward_keys(port_0->lid, PKEY_DEFAULT, 77);
	assert_int_equal(port_0->pkey_viols, 1);
	assert_int_equal(port_0->qkey_viols, 1);
	assert_int_equal(port_0->counters.rcv_relay_errors, 0);
}

/* The same of a request from an adapter */
static void test_agent_keys_inside(void **state)
{
	struct rig_qp *gsi = ib_new_qp(0, OHCA_QPT_GSI);
	struct ib_port *at = node("J")->ports[2];
	struct ohca_sge sge = rig_sge(mr[0], IOVA, MAD_LEN), into = rig_sge(mr[0], INTO, 1024);
	struct ohca_av av = {.ib.dlid = htole16(at->lid), .port = 1};
	struct mad_packet p = mad_request(MAD_CLASS_PM, MAD_GET, PM_CLASS_PORT_INFO, 0);
	struct rig_wr wr = rig_datagram(gsi, &av, &sge);

	(void)state;
	rig_mr_set(mr[0], IOVA, p.mad, MAD_LEN);
	rig_post_recv(gsi, 5, &into, 1);
	wr.dest_qpn = 1;
	wr.qkey = 77;
	rig_post_send(gsi, &wr);
	assert_cqe(rig_wait_send(gsi), OHCA_WC_SUCCESS, 0, wr.wr_id);
	assert_int_equal(at->qkey_viols, 1);
	at->pkeys[0] = 0x8001;
	wr.qkey = RIG_GSI_QKEY;
	rig_post_send(gsi, &wr);
	assert_cqe(rig_wait_send(gsi), OHCA_WC_SUCCESS, 0, wr.wr_id);
	assert_int_equal(at->pkey_viols, 1);
	inproc_assert_no_cqe(gsi->rcq);
	at->pkeys[0] = PKEY_DEFAULT;
	rig_post_send(gsi, &wr);
	assert_cqe(rig_wait_recv(gsi), OHCA_WC_SUCCESS, 0, 5);
}

/* A datagram to a group is for no agent: an answer would come from the LID of the group. */
static void test_mcast_from_outside(void **state)
{
	const struct ib_port *at = node("I")->ports[1];

	(void)state;
	*ib_switch_mcast_room(sw(1), MLID - LID_MCAST) = 1 << 4;
	*ib_switch_mcast_room(sw(2), MLID - LID_MCAST) = 1 << 1;
	ib_switch_changed(sw(1));
	forward_mad(MLID, PKEY_DEFAULT);
	assert_int_equal(at->counters.rcv.pkts, 1);
	assert_int_equal(at->counters.rcv.mcast, 1);
	assert_int_equal(sent(2, 1).mcast, 1);
	assert_int_equal(at->counters.xmit.pkts, 0);
	assert_int_equal(sw(2)->ports[1].counters.rcv_relay_errors, 0);
}

/* Power and cables */

static void test_node_down(void **state)
{
	static const uint8_t to_s3[] = {1, 4, 4, 0};
	uint16_t lid = sw(3)->ports[0].lid;
	uint8_t data[SMP_DATA_LEN];
	unsigned int i;

	(void)state;
	connect_rc(1);
	assert_int_equal(write_rc(1, LEN), OHCA_WC_SUCCESS);
	ib_node_power(node("S3"), false);
	/* Its neighbour sends a trap, but it can not. */
	assert_true(ib.num_got > 0);
	for (i = 0; i < ib.num_got; i++)
		assert_int_not_equal(ib.got[i].slid, lid);
	assert_int_equal(sw(2)->ports[4].state, IB_PORT_DOWN);
	assert_int_equal(ib_port_of(2)->state, IB_PORT_DOWN);
	assert_int_equal(ib_get(SM_NODE_INFO, 0, to_s3, data), -1);
	assert_int_equal(write_rc(1, LEN), OHCA_WC_RETRY_EXC_ERR);
	assert_true(sw(2)->ports[4].counters.xmit_discards >= 2);
	/* It comes back, and knows nothing. */
	ib_node_power(node("S3"), true);
	assert_int_equal(sw(2)->ports[4].state, IB_PORT_INIT);
	assert_int_equal(ib_port_of(2)->state, IB_PORT_INIT);
	assert_int_equal(sw(3)->ports[0].lid, 0);
	assert_int_equal(sw(3)->ports[0].state, IB_PORT_ACTIVE);
	assert_int_equal(sw(3)->num_linear, 0);
	assert_int_equal(got(3, 3).pkts, 0);
	assert_int_equal(sent(3, 1).pkts, 0);
	assert_int_equal(ib_get(SM_NODE_INFO, 0, to_s3, data), MAD_OK);
	/* Of an HCA without a host too */
	ib_node_power(node("I"), false);
	ib_node_power(node("I"), false);
	assert_int_equal(node("I")->ports[1]->lid, 0);
	assert_int_equal(sw(2)->ports[1].state, IB_PORT_DOWN);
	ib_node_power(node("I"), true);
	assert_int_equal(sw(2)->ports[1].state, IB_PORT_INIT);
}

static void test_cable_out(void **state)
{
	(void)state;
	ib_port_plug(&sw(2)->ports[4], false);
	assert_int_equal(sw(3)->ports[3].state, IB_PORT_DOWN);
	ib_link_train(&sw(3)->ports[3]);
	assert_int_equal(sw(3)->ports[3].state, IB_PORT_DOWN);
	ib_port_plug(&sw(2)->ports[4], true);
	assert_int_equal(sw(3)->ports[3].state, IB_PORT_INIT);
	/* That of an adapter, from its other end too */
	ib_port_plug(ib_port_of(0), false);
	assert_int_equal(sw(1)->ports[1].state, IB_PORT_DOWN);
	ib_port_plug(ib_port_of(0), true);
	assert_int_equal(sw(1)->ports[1].state, IB_PORT_INIT);
	ib_port_plug(&sw(1)->ports[1], false);
	assert_int_equal(ib_port_of(0)->state, IB_PORT_DOWN);
	ib_port_plug(&sw(1)->ports[1], true);
	assert_int_equal(ib_port_of(0)->state, IB_PORT_INIT);
}

/* What has passed before the route changed stays counted where it was. */
static void test_way_changes(void **state)
{
	struct ib_traffic before;

	(void)state;
	connect_rc(1);
	assert_int_equal(write_rc(1, LEN), OHCA_WC_SUCCESS);
	ib_port_changed(ib_port_of(0));
	assert_int_equal(write_rc(1, LEN), OHCA_WC_SUCCESS);
	assert_hops_agree();
	before = got(3, 3);
	/* S2 discards them. */
	*ib_switch_linear_room(sw(2), BED_LID(1), 1) = 2;
	ib_switch_changed(sw(2));
	assert_int_equal(write_rc(1, LEN), OHCA_WC_RETRY_EXC_ERR);
	assert_same(got(3, 3), before);
	assert_same(got(2, 3), by_hca(0));
	assert_true(sw(2)->ports[2].counters.xmit_discards >= 2);
}

/* More routes from a port than are kept */
static void test_many_ways(void **state)
{
	struct ib_flow flow = {.dlid = BED_LID(1)};
	struct ib_route route;
	unsigned int i;

	(void)state;
	connect_rc(1);
	assert_int_equal(write_rc(1, LEN), OHCA_WC_SUCCESS);
	for (i = 0; i < 3000; i++) {
		flow.pkey = i;
		ib_route_find(&route, inproc_hca(0)->ports[0], &flow);
		assert_ptr_equal(route.to, inproc_hca(1)->ports[0]);
		assert_non_null(route.hops);
		ib_hops_count(route.hops, 1, 4);
	}
	assert_int_equal(write_rc(1, LEN), OHCA_WC_SUCCESS);
	assert_int_equal(got(3, 3).pkts, by_hca(0).pkts + 3000);
}

/* Two HCAs without a switch */
static int open_pair(void **state)
{
	ib_bed_topology = "Ca 1 \"A\"\n[1] \"B\"\nCa 1 \"B\"\n[1] \"A\"\n"
			  "Ca 1 \"C\"\n[1] \"D\"\nCa 1 \"D\"\n[1] \"C\"\n";
	ib_rig_open(state);
	mr[0] = rig_mr_new(&hca[0], IOVA, 1 << 18, RIG_ALL_ACCESS, 0);
	mr[1] = rig_mr_new(&hca[1], IOVA, 1 << 18, RIG_ALL_ACCESS, 0);
	ib_bed_route();
	return 0;
}

static void test_back_to_back(void **state)
{
	struct ib_traffic xmit, rcv;

	(void)state;
	connect_rc(1);
	assert_int_equal(write_rc(1, LEN), OHCA_WC_SUCCESS);
	ib_traffic_count(ib_port_of(1), &xmit, &rcv);
	assert_same(rcv, by_hca(0));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_row, ib_bed_close)

static const struct CMUnitTest tests[] = {
	TEST(test_built),
	TEST(test_writes),
	TEST(test_datagrams),
	TEST(test_multicast),
	TEST(test_loops),
	TEST(test_look),
	cmocka_unit_test_setup_teardown(test_rounds, open_twice, ib_bed_close),
	cmocka_unit_test_setup_teardown(test_mcast_rounds, open_twice, ib_bed_close),
	TEST(test_partitions),
	TEST(test_directed_routes),
	TEST(test_two_ports),
	TEST(test_long_route),
	TEST(test_agents),
	TEST(test_agents_from_outside),
	TEST(test_agent_pkey),
	TEST(test_agent_limited),
	TEST(test_agent_keys),
	TEST(test_agent_keys_inside),
	TEST(test_mcast_from_outside),
	TEST(test_node_down),
	TEST(test_cable_out),
	TEST(test_way_changes),
	TEST(test_many_ways),
	cmocka_unit_test_setup_teardown(test_back_to_back, open_pair, ib_bed_close),
};

int main(void)
{
	return RUN_TESTS(tests, NULL, NULL);
}
