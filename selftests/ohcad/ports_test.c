// SPDX-License-Identifier: GPL-2.0
/* HCAs of two ports: what belongs to a port, and what passes from one to the other. */

#include <endian.h>

#include "fabric/fabric.h"
#include "fabric/ib_link.h"
#include "fabric/ib_switch.h"
#include "harness.h"
#include "inproc.h"
#include "mad_request.h"
#include "net/wire.h"
#include "packet/ib.h"
#include "packet/sm_attr.h"
#include "ports_bed.h"
#include "rig_assert.h"

static int up_ib(void **state)
{
	(void)state;
	return ports_up(OHCA_LINK_INFINIBAND, OHCA_LINK_INFINIBAND);
}

static int up_eth(void **state)
{
	(void)state;
	return ports_up(OHCA_LINK_ETHERNET, OHCA_LINK_ETHERNET);
}

static int up_mixed(void **state)
{
	(void)state;
	return ports_up(OHCA_LINK_INFINIBAND, OHCA_LINK_ETHERNET);
}

/* Attributes: each port has its own. */

static void test_attributes(void **state)
{
	struct ohca_query_device_out dev;
	struct ohca_query_port_out first, second;

	(void)state;
	assert_int_equal(
		drv_cmd(ports_hca[0].drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &dev, sizeof(dev)), 0);
	assert_int_equal(dev.num_ports, PORTS_NUM);
	first = ports_query(0, 1);
	second = ports_query(0, 2);
	assert_int_equal(first.link_layer, ports_links[0]);
	assert_int_equal(second.link_layer, ports_links[1]);
	assert_int_equal(first.state, IB_PORT_ACTIVE);
	assert_int_equal(second.state, IB_PORT_ACTIVE);
	assert_int_equal(!!(le64toh(dev.caps) & OHCA_CAP_RAW),
			 !!memchr(ports_links, OHCA_LINK_ETHERNET, PORTS_NUM));
	assert_int_equal(!!(le64toh(dev.caps) & OHCA_CAP_PATH_MIG),
			 !!memchr(ports_links, OHCA_LINK_INFINIBAND, PORTS_NUM));
	if (ports_links[0] == OHCA_LINK_INFINIBAND && ports_links[1] == OHCA_LINK_INFINIBAND)
		assert_int_not_equal(first.lid, second.lid);
	if (ports_links[0] == OHCA_LINK_ETHERNET && ports_links[1] == OHCA_LINK_ETHERNET)
		assert_int_equal(second.mac[5], first.mac[5] + 1);
}

/* A number of no port */
static void test_no_port(void **state)
{
	static const uint8_t nums[] = {0, PORTS_NUM + 1, 255};
	struct rig_qp *qp = ports_qp(0, OHCA_QPT_RC, 1);
	struct drv *drv = ports_hca[0].drv;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(nums); i++) {
		const struct ohca_query_port_in port = {.port = nums[i]};
		const struct ohca_modify_port_in modify = {.port = nums[i]};
		const struct ohca_set_gid_in set_gid = {.port = nums[i]};
		const struct ohca_query_gid_in gid = {.port = nums[i]};
		const struct ohca_query_pkey_in pkey = {.port = nums[i], .num = 1};
		const struct ohca_mad_in mad = {.port = nums[i]};
		const struct ohca_alloc_counters_in alloc = {.port = nums[i]};
		const struct ohca_query_counters_in query = {.port = nums[i]};
		uint8_t out[OHCA_CMD_MAX_LEN];

#define NO_PORT(op, in)                                                                    \
	do {                                                                               \
		assert_int_equal(drv_cmd(drv, OHCA_CMD_##op, &(in), sizeof(in), out, 512), \
				 OHCA_CMD_BAD_PARAM);                                      \
		assert_int_equal(drv->syndrome, (uint8_t *)&(in).port - (uint8_t *)&(in)); \
	} while (0)
		NO_PORT(QUERY_PORT, port);
		NO_PORT(MODIFY_PORT, modify);
		NO_PORT(SET_GID, set_gid);
		NO_PORT(QUERY_GID, gid);
		NO_PORT(QUERY_PKEY, pkey);
		NO_PORT(MAD, mad);
		NO_PORT(ALLOC_COUNTERS, alloc);
		NO_PORT(QUERY_COUNTERS, query);
#undef NO_PORT
		qp->attr.port = nums[i];
		assert_int_equal(rig_to_init(qp), OHCA_CMD_BAD_PARAM);
		assert_int_equal(drv->syndrome, offsetof(struct ohca_modify_qp_in, attr.port));
	}
}

/* What is for the other link layer */
static void test_wrong_link(void **state)
{
	const struct ohca_mad_in mad = {.port = 2};
	const struct ohca_set_gid_in gid = {.port = 1};
	struct rig_qp *eth = ports_qp(0, OHCA_QPT_ETH, 1), *rc = ports_qp(0, OHCA_QPT_RC, 2);
	struct ohca_create_flow_in flow = {.qpn = htole32(eth->qpn), .port = 1};
	struct rig_qp_opts opts = {.smi = true, .flags = OHCA_QP_F_PRIVILEGED, .port = 2};
	struct ohca_create_qp_in smi;
	uint8_t out[OHCA_CMD_MAX_LEN];
	struct drv *drv = ports_hca[0].drv;
	struct rig_qp tmp;

	(void)state;
	assert_int_equal(drv_cmd(drv, OHCA_CMD_MAD, &mad, sizeof(mad), out, 512),
			 OHCA_CMD_BAD_PARAM);
	assert_int_equal(drv_cmd(drv, OHCA_CMD_SET_GID, &gid, sizeof(gid), NULL, 0),
			 OHCA_CMD_BAD_PARAM);
	assert_int_equal(rig_to_init(eth), OHCA_CMD_BAD_PARAM);
	eth->attr.port = 2;
	assert_int_equal(rig_to_init(eth), OHCA_CMD_OK);
	assert_int_equal(drv_cmd(drv, OHCA_CMD_CREATE_FLOW, &flow, sizeof(flow), out, 8),
			 OHCA_CMD_BAD_PARAM);
	assert_int_equal(drv->syndrome, offsetof(struct ohca_create_flow_in, port));
	smi = rig_qp_in(&ports_hca[0], &opts, &tmp);
	assert_int_equal(try_create_qp(&ports_hca[0], &smi), OHCA_CMD_BAD_PARAM);
	assert_int_equal(drv->syndrome, offsetof(struct ohca_create_qp_in, port));
	smi.port = 1;
	assert_int_equal(try_create_qp(&ports_hca[0], &smi), OHCA_CMD_OK);
	/* There is no path migration on Ethernet. */
	rc->attr.av = ports_av(1, 2, 2);
	rc->attr.dest_qpn = htole32(rc->qpn);
	assert_to_rts(rc);
	rc->attr.path_mig_state = OHCA_MIG_REARM;
	assert_int_equal(rig_modify(rc, 0, OHCA_QP_PATH_MIG_STATE), OHCA_CMD_UNSUPPORTED);
}

/* An address vector of the other port */
static void test_av(void **state)
{
	struct rig_qp *qp = ports_qp(0, OHCA_QPT_RC, 2);

	(void)state;
	assert_int_equal(rig_to_init(qp), OHCA_CMD_OK);
	qp->attr.av = ports_av(1, 2, 1);
	assert_int_equal(rig_to_rtr(qp), OHCA_CMD_BAD_PARAM);
	assert_int_equal(ports_hca[0].drv->syndrome,
			 offsetof(struct ohca_modify_qp_in, attr.av.port));
	qp->attr.av = ports_av(1, 2, 2);
	assert_int_equal(rig_to_rtr(qp), OHCA_CMD_OK);
}

/* Traffic */

/* Connections on both ports; each port counts what is its own. */
static void test_both(void **state)
{
	struct rig_qp *a[PORTS_NUM], *b[PORTS_NUM];
	uint64_t before[PORTS_NUM];
	unsigned int n;

	(void)state;
	for (n = 0; n < PORTS_NUM; n++)
		ports_connect(&a[n], n + 1, 1, &b[n], n + 1);
	for (n = 0; n < PORTS_NUM; n++) {
		before[0] = ports_counter(1, 1, OHCA_CNT_RX_BYTES);
		before[1] = ports_counter(1, 2, OHCA_CNT_RX_BYTES);
		ports_write(a[n], b[n]);
		assert_int_equal(ports_counter(1, n + 1, OHCA_CNT_RX_BYTES), before[n] + PORTS_LEN);
		assert_int_equal(ports_counter(1, 2 - n, OHCA_CNT_RX_BYTES), before[1 - n]);
	}
	/* The link of one port takes nothing from the other one. */
	port_plug(ports_port(0, 1), false);
	ports_write(a[1], b[1]);
	port_plug(ports_port(0, 1), true);
}

/* From one port to the other, of another HCA and of the same one */
static void test_across(void **state)
{
	struct rig_qp *a, *b;

	(void)state;
	ports_connect(&a, 1, 1, &b, 2);
	ports_write(a, b);
	ports_write(b, a);
	ports_connect(&a, 1, 0, &b, 2);
	ports_write(a, b);
	ports_write(b, a);
}

/* A QP is not reached through the other port. */
static void test_other_port(void **state)
{
	struct rig_qp *a = ports_qp(0, OHCA_QPT_RC, 1), *b = ports_qp(1, OHCA_QPT_RC, 1);
	struct rig_qp *ud = ports_qp(0, OHCA_QPT_UD, 1), *to = ports_qp(1, OHCA_QPT_UD, 2);
	struct rig_mr *mr = rig_mr_new(&ports_hca[0], PORTS_IOVA, 4096, RIG_ALL_ACCESS, 0);
	struct rig_mr *at = rig_mr_new(&ports_hca[1], PORTS_IOVA, 4096, RIG_ALL_ACCESS, 0);
	struct ohca_sge sge = rig_sge(mr, PORTS_IOVA, 64), into = rig_sge(at, PORTS_IOVA, 256);
	struct ohca_av av = ports_av(1, 1, 1);
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED, .num_sge = 1, .sge = &sge};

	(void)state;
	a->attr.av = ports_av(1, 2, 1); /* b is at port 1 */
	b->attr.av = ports_av(0, 1, 1);
	a->attr.dest_qpn = htole32(b->qpn);
	b->attr.dest_qpn = htole32(a->qpn);
	a->attr.timeout = 1;
	a->attr.retry_cnt = 1;
	assert_to_rts(a);
	assert_to_rts(b);
	rig_post_recv(b, 1, &into, 1);
	rig_post_send(a, &wr);
	assert_int_equal(rig_wait_send(a).status, OHCA_WC_RETRY_EXC_ERR);
	/* A datagram is lost at the wrong port, and comes to the right one. */
	wr.av = &av;
	wr.dest_qpn = to->qpn;
	wr.qkey = RIG_QKEY;
	assert_to_rts(ud);
	assert_to_rts(to);
	rig_post_recv(to, 2, &into, 1);
	rig_post_send(ud, &wr);
	assert_int_equal(rig_wait_send(ud).status, OHCA_WC_SUCCESS);
	inproc_settle();
	assert_int_equal(ports_counter(1, 2, OHCA_CNT_RX_PKTS), 0);
	av = ports_av(1, 2, 1);
	rig_post_send(ud, &wr);
	assert_int_equal(rig_wait_send(ud).status, OHCA_WC_SUCCESS);
	assert_int_equal(rig_wait_recv(to).status, OHCA_WC_SUCCESS);
	/* The port is one of the path. */
	av.port = 2;
	rig_post_send(ud, &wr);
	assert_int_equal(rig_wait_send(ud).status, OHCA_WC_LOC_QP_OP_ERR);
}

/* Each port has a QP 1, and in packets all of them have that number. */
static void test_special(void **state)
{
	struct rig_qp *from, *to[PORTS_NUM];
	struct rig_mr *mr = rig_mr_new(&ports_hca[0], PORTS_IOVA, 4096, RIG_ALL_ACCESS, 0);
	struct rig_mr *at = rig_mr_new(&ports_hca[1], PORTS_IOVA, 4096, RIG_ALL_ACCESS, 0);
	struct ohca_sge sge = rig_sge(mr, PORTS_IOVA, 256), into = rig_sge(at, PORTS_IOVA, 512);
	struct rig_qp_opts opts = {.type = OHCA_QPT_GSI, .flags = OHCA_QP_F_PRIVILEGED, .port = 2};
	struct ohca_create_qp_in again;
	struct ohca_cqe cqe;
	struct rig_qp tmp;
	unsigned int n;

	(void)state;
	for (n = 0; n < PORTS_NUM; n++) {
		to[n] = ports_qp(1, OHCA_QPT_GSI, n + 1);
		assert_int_equal(to[n]->qpn, OHCA_SPECIAL_QPN(n + 1, OHCA_QPT_GSI));
		assert_to_rts(to[n]);
	}
	again = rig_qp_in(&ports_hca[1], &opts, &tmp);
	assert_int_equal(try_create_qp(&ports_hca[1], &again), OHCA_CMD_NO_RESOURCE);
	for (n = 0; n < PORTS_NUM; n++) {
		struct ohca_av av = ports_av(1, n + 1, n + 1);
		struct rig_wr wr = {.opcode = OHCA_OP_SEND,
				    .flags = OHCA_WQE_SIGNALED,
				    .num_sge = 1,
				    .sge = &sge,
				    .av = &av,
				    .dest_qpn = 1,
				    .qkey = RIG_GSI_QKEY};

		from = ports_qp(0, OHCA_QPT_GSI, n + 1);
		assert_to_rts(from);
		rig_post_recv(to[n], 1, &into, 1);
		rig_post_send(from, &wr);
		assert_int_equal(rig_wait_send(from).status, OHCA_WC_SUCCESS);
		cqe = rig_wait_recv(to[n]);
		assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
		assert_int_equal(le32toh(cqe.qpn), to[n]->qpn);
		assert_int_equal(le32toh(cqe.src_qpn), 1);
		/* The number of software is none in packets. */
		wr.dest_qpn = OHCA_SPECIAL_QPN(2, OHCA_QPT_GSI);
		rig_post_recv(to[n], 2, &into, 1);
		rig_post_send(from, &wr);
		assert_int_equal(rig_wait_send(from).status, OHCA_WC_SUCCESS);
		inproc_settle();
		assert_false(drv_cq_poll(to[n]->rcq, &cqe));
	}
}

/* A set of counters is one of a port. */
static void test_counters(void **state)
{
	uint32_t set = drv_alloc_counters(ports_hca[0].drv, 1);
	struct rig_qp *qp = ports_qp(0, OHCA_QPT_RC, 1);

	(void)state;
	qp->attr.counters = htole32(set);
	assert_int_equal(rig_modify(qp, 0, OHCA_QP_COUNTERS), OHCA_CMD_OK);
	assert_int_equal(rig_to_init(qp), OHCA_CMD_OK);
	assert_int_equal(le32toh(rig_query(qp).counters), set);
	rig_to_reset(qp);
	assert_int_equal(le32toh(rig_query(qp).counters), set);
	qp->attr.port = 2;
	assert_int_equal(rig_to_init(qp), OHCA_CMD_OK);
	assert_int_equal(le32toh(rig_query(qp).counters), 0);
	assert_int_equal(rig_modify(qp, 0, OHCA_QP_COUNTERS), OHCA_CMD_BAD_PARAM);
	assert_int_equal(ports_hca[0].drv->syndrome,
			 offsetof(struct ohca_modify_qp_in, attr.counters));
	assert_int_equal(drv_destroy(ports_hca[0].drv, OHCA_CMD_FREE_COUNTERS, set), OHCA_CMD_OK);
}

/* Multicast reaches the QPs of the port that it comes to. */
static void test_mcast(void **state)
{
	static const uint8_t ib_group[16] = {0xff, 0x12, [15] = 5};
	static const uint8_t eth_group[16] = {[10] = 0xff, 0xff, 224, [15] = 5};
	struct rig_qp *from[PORTS_NUM], *to[PORTS_NUM];
	struct rig_mr *mr = rig_mr_new(&ports_hca[0], PORTS_IOVA, 4096, RIG_ALL_ACCESS, 0);
	struct rig_mr *at = rig_mr_new(&ports_hca[1], PORTS_IOVA, 4096, RIG_ALL_ACCESS, 0);
	struct ohca_sge sge = rig_sge(mr, PORTS_IOVA, 64), into = rig_sge(at, PORTS_IOVA, 256);
	struct ib_switch *sw = inproc_fabric(0)->ib_switch;
	unsigned int n;

	(void)state;
	if (sw)
		*ib_switch_mcast_room(sw, 0) = 1
					       << 2; /* HCA 1's InfiniBand port, with a mixed HCA */
	for (n = 0; n < PORTS_NUM; n++) {
		bool ib = ports_links[n] == OHCA_LINK_INFINIBAND;
		struct ohca_mcast_in in = {0};

		memcpy(in.gid, ib ? ib_group : eth_group, 16);
		from[n] = ports_qp(0, OHCA_QPT_UD, n + 1);
		to[n] = ports_qp(1, OHCA_QPT_UD, n + 1);
		in.qpn = htole32(to[n]->qpn);
		in.mlid = htole16(ib ? LID_MCAST : 0);
		assert_to_rts(from[n]);
		assert_to_rts(to[n]);
		assert_int_equal(drv_cmd(ports_hca[1].drv, OHCA_CMD_ATTACH_MCAST, &in, sizeof(in),
					 NULL, 0),
				 OHCA_CMD_OK);
		in.mlid = htole16(ib ? 0 : LID_MCAST);
		assert_int_equal(drv_cmd(ports_hca[1].drv, OHCA_CMD_ATTACH_MCAST, &in, sizeof(in),
					 NULL, 0),
				 OHCA_CMD_BAD_PARAM);
	}
	for (n = 0; n < PORTS_NUM; n++) {
		struct ohca_av av = {.port = n + 1, .hop_limit = 1};
		struct rig_wr wr = {.opcode = OHCA_OP_SEND,
				    .flags = OHCA_WQE_SIGNALED,
				    .num_sge = 1,
				    .sge = &sge,
				    .av = &av,
				    .dest_qpn = 0xffffff,
				    .qkey = RIG_QKEY};
		uint64_t other = ports_counter(1, 2 - n, OHCA_CNT_RX_MCAST);

		memcpy(av.dgid, eth_group, 16);
		if (ports_links[n] == OHCA_LINK_INFINIBAND) {
			memcpy(av.dgid, ib_group, 16);
			av.ib.dlid = htole16(LID_MCAST);
			av.ib.flags = OHCA_AV_GRH;
		}
		rig_post_recv(to[n], 1, &into, 1);
		rig_post_send(from[n], &wr);
		assert_int_equal(rig_wait_send(from[n]).status, OHCA_WC_SUCCESS);
		assert_int_equal(rig_wait_recv(to[n]).status, OHCA_WC_SUCCESS);
		assert_int_equal(ports_counter(1, n + 1, OHCA_CNT_RX_MCAST), 1);
		assert_int_equal(ports_counter(1, 2 - n, OHCA_CNT_RX_MCAST), other);
	}
}

/* Events name their port. */
static void test_events(void **state)
{
	struct ohca_eqe eqe;
	uint8_t num;

	(void)state;
	for (num = 1; num <= PORTS_NUM; num++) {
		port_plug(ports_port(0, num), false);
		inproc_settle();
		assert_true(drv_eq_poll(ports_hca[0].async, &eqe));
		drv_eq_ack(ports_hca[0].async);
		assert_int_equal(eqe.type, OHCA_EVENT_PORT_ERR);
		assert_int_equal(le32toh(eqe.id), num);
		assert_false(drv_eq_poll(ports_hca[0].async, &eqe));
		assert_int_equal(ports_query(0, num).state, IB_PORT_DOWN);
		assert_int_equal(ports_query(0, 3 - num).state, IB_PORT_ACTIVE);
		port_plug(ports_port(0, num), true);
		if (ports_links[num - 1] == OHCA_LINK_INFINIBAND) {
			ib_link_set_state(ports_port(0, num)->ib, IB_PORT_ACTIVE);
			ib_link_set_state(ports_port(0, num)->ib->peer, IB_PORT_ACTIVE);
		}
		inproc_settle();
		assert_true(drv_eq_poll(ports_hca[0].async, &eqe));
		drv_eq_ack(ports_hca[0].async);
		assert_int_equal(eqe.type, OHCA_EVENT_PORT_ACTIVE);
		assert_int_equal(le32toh(eqe.id), num);
	}
}

/* Subnet management: the ports are those of one node. */

static struct smp ask(uint8_t num, uint8_t method, uint16_t attr, uint32_t mod, const void *data)
{
	static const uint8_t nowhere[] = {0};
	struct mad_packet p = ib_request(method, attr, mod, nowhere);
	struct ohca_mad_in in = {.port = num, .flags = OHCA_MAD_IGNORE_MKEY};
	struct ohca_mad_out out;
	struct smp smp;

	if (data)
		memcpy(p.smp.data, data, sizeof(p.smp.data));
	memcpy(in.mad, p.mad, sizeof(in.mad));
	assert_int_equal(
		drv_cmd(ports_hca[0].drv, OHCA_CMD_MAD, &in, sizeof(in), &out, sizeof(out)), 0);
	assert_int_equal(out.result, OHCA_MAD_REPLY);
	memcpy(&smp, out.mad, sizeof(smp));
	return smp;
}

static void test_node(void **state)
{
	struct smp smp[PORTS_NUM], other;
	struct node_info info[PORTS_NUM];
	struct port_info *port;
	uint8_t num;

	(void)state;
	for (num = 1; num <= PORTS_NUM; num++) {
		smp[num - 1] = ask(num, MAD_GET, SM_NODE_INFO, 0, NULL);
		memcpy(&info[num - 1], smp[num - 1].data, sizeof(info[0]));
		assert_int_equal(info[num - 1].num_ports, PORTS_NUM);
		assert_int_equal(info[num - 1].local_port, num);
	}
	assert_memory_equal(&info[0].node_guid, &info[1].node_guid, sizeof(info[0].node_guid));
	assert_memory_not_equal(&info[0].port_guid, &info[1].port_guid, sizeof(info[0].port_guid));
	/* The other port's PortInfo can be read, but not set. */
	other = ask(1, MAD_GET, SM_PORT_INFO, 2, NULL);
	port = (struct port_info *)other.data;
	assert_int_equal(be16toh(port->lid), PORTS_LID(0, 2));
	assert_int_equal(port->local_port, 1);
	port->speed_supported_state &= 0xf0;
	port->phys_state_down_default &= 0x0f;
	assert_int_equal(be16toh(ask(1, MAD_SET, SM_PORT_INFO, 2, port).hdr.status) & 0x7fff,
			 MAD_BAD_FIELD);
	assert_int_equal(be16toh(ask(2, MAD_SET, SM_PORT_INFO, 2, port).hdr.status) & 0x7fff,
			 MAD_OK);
}

/* The M_Key in PortInfo of port 2, for a request at port @num with @mkey */
static uint64_t mkey_of_second(uint8_t num, uint64_t mkey, uint8_t flags)
{
	static const uint8_t nowhere[] = {0};
	struct mad_packet p = ib_request(MAD_GET, SM_PORT_INFO, 2, nowhere);
	struct ohca_mad_in in = {.port = num, .flags = flags};
	struct port_info info;
	struct ohca_mad_out out;

	p.smp.mkey = htobe64(mkey);
	memcpy(in.mad, p.mad, sizeof(in.mad));
	assert_int_equal(
		drv_cmd(ports_hca[0].drv, OHCA_CMD_MAD, &in, sizeof(in), &out, sizeof(out)), 0);
	assert_int_equal(out.result, OHCA_MAD_REPLY);
	memcpy(&info, ((struct smp *)out.mad)->data, sizeof(info));
	return be64toh(info.mkey);
}

/* Who knows the M_Key of one port, or if that has none, need not know that of the other one. */
static void test_mkeys(void **state)
{
	struct ib_port *first = ports_port(0, 1)->ib, *second = ports_port(0, 2)->ib;

	(void)state;
	second->mkey = 0x1234;
	assert_int_equal(mkey_of_second(1, 0, 0), 0x1234);
	second->mkey_protect = 1;
	assert_int_equal(mkey_of_second(1, 0, 0), 0);
	assert_int_equal(mkey_of_second(2, 0, 0), 0);
	first->mkey = 0x5678;
	assert_int_equal(mkey_of_second(1, 0x5678, 0), 0);
	first->mkey = 0x1234;
	assert_int_equal(mkey_of_second(1, 0x1234, 0), 0x1234);
	assert_int_equal(mkey_of_second(2, 0x1234, 0), 0x1234);
	/* The host's own requests */
	assert_int_equal(mkey_of_second(1, 0, OHCA_MAD_IGNORE_MKEY), 0x1234);
	first->mkey = 0;
	second->mkey_protect = 3;
	assert_int_equal(mkey_of_second(1, 0, 0), 0);
}

/* Path migration to the other port, of both ends */
static void test_migration(void **state)
{
	struct rig_qp *a, *b;
	uint32_t set = drv_alloc_counters(ports_hca[0].drv, 1);
	struct ohca_qp_attr attr;
	struct ohca_eqe eqe;
	uint64_t bytes;

	(void)state;
	ports_connect(&a, 1, 1, &b, 1);
	a->attr.counters = htole32(set);
	assert_int_equal(rig_modify(a, 0, OHCA_QP_COUNTERS), OHCA_CMD_OK);
	a->attr.alt_port = 3;
	a->attr.alt_av = ports_av(1, 2, 2);
	assert_int_equal(rig_modify(a, 0, OHCA_QP_ALT_PATH), OHCA_CMD_BAD_PARAM);
	a->attr.alt_port = 1;
	assert_int_equal(rig_modify(a, 0, OHCA_QP_ALT_PATH), OHCA_CMD_BAD_PARAM);
	assert_int_equal(ports_hca[0].drv->syndrome,
			 offsetof(struct ohca_modify_qp_in, attr.alt_av.port));
	a->attr.alt_port = 2;
	b->attr.alt_port = 2;
	b->attr.alt_av = ports_av(0, 2, 2);
	a->attr.alt_timeout = 14;
	b->attr.alt_timeout = 14;
	a->attr.path_mig_state = OHCA_MIG_REARM;
	b->attr.path_mig_state = OHCA_MIG_REARM;
	assert_int_equal(rig_modify(a, 0, OHCA_QP_ALT_PATH | OHCA_QP_PATH_MIG_STATE), 0);
	assert_int_equal(rig_modify(b, 0, OHCA_QP_ALT_PATH | OHCA_QP_PATH_MIG_STATE), 0);
	ports_write(a, b);
	ports_write(b, a);
	assert_int_equal(rig_query(a).path_mig_state, OHCA_MIG_ARMED);
	assert_int_equal(rig_query(b).path_mig_state, OHCA_MIG_ARMED);
	while (drv_eq_poll(ports_hca[1].async, &eqe))
		drv_eq_ack(ports_hca[1].async);
	/* The first one migrates, and its packets come by the other port, and take the second one along. */
	a->attr.path_mig_state = OHCA_MIG_MIGRATED;
	bytes = ports_counter(1, 2, OHCA_CNT_RX_BYTES);
	assert_int_equal(rig_modify(a, 0, OHCA_QP_PATH_MIG_STATE), 0);
	ports_write(a, b);
	assert_int_equal(ports_counter(1, 2, OHCA_CNT_RX_BYTES), bytes + PORTS_LEN);
	attr = rig_query(b);
	assert_int_equal(attr.port, 2);
	assert_int_equal(attr.path_mig_state, OHCA_MIG_MIGRATED);
	assert_true(drv_eq_poll(ports_hca[1].async, &eqe));
	assert_int_equal(eqe.type, OHCA_EVENT_PATH_MIG);
	/* It does not count in a set of port 1 any more. */
	assert_int_equal(rig_query(a).counters, 0);
	assert_int_equal(drv_destroy(ports_hca[0].drv, OHCA_CMD_FREE_COUNTERS, set), OHCA_CMD_OK);
	port_plug(ports_port(0, 1), false);
	port_plug(ports_port(1, 1), false);
	ports_write(a, b);
	ports_write(b, a);
}

/* QPs of the first ports, whose alternate paths are those of the second ports, with @pkey_index there */
static void arm_second(struct rig_qp **a, struct rig_qp **b, uint16_t pkey_index)
{
	struct rig_qp *qp[2];
	unsigned int i;

	ports_connect(a, 1, 1, b, 1);
	qp[0] = *a;
	qp[1] = *b;
	for (i = 0; i < 2; i++) {
		qp[i]->attr.alt_port = 2;
		qp[i]->attr.alt_av = ports_av(!i, 2, 2);
		qp[i]->attr.alt_pkey_index = htole16(pkey_index);
		qp[i]->attr.alt_timeout = 14;
		qp[i]->attr.path_mig_state = OHCA_MIG_REARM;
		assert_int_equal(rig_modify(qp[i], 0, OHCA_QP_ALT_PATH | OHCA_QP_PATH_MIG_STATE),
				 0);
	}
	ports_write(*a, *b);
	ports_write(*b, *a);
}

/* The P_Key of an alternate path is one of its own port. */
static void test_migration_pkey(void **state)
{
	const uint16_t pkeys[] = {0x8002, 0x8001};
	struct rig_qp *a, *b;
	unsigned int i;

	(void)state;
	for (i = 0; i < PORTS_HCAS; i++)
		ib_port_set_pkeys(ports_port(i, 2)->ib, 0, pkeys, 2);
	arm_second(&a, &b, 1);
	a->attr.path_mig_state = OHCA_MIG_MIGRATED;
	assert_int_equal(rig_modify(a, 0, OHCA_QP_PATH_MIG_STATE), 0);
	ports_write(a, b);
	assert_int_equal(rig_query(b).port, 2);
	assert_int_equal(ports_port(1, 2)->ib->pkey_viols, 0);
}

/* An empty RDMA WRITE with MigReq, as if it came from an uplink to a port of HCA 1 */
static void receive_mig_req(struct rig_qp *b, uint8_t num, uint16_t pkey)
{
	const struct ohca_av av = {.ib.dlid = htole16(PORTS_LID(1, num))};
	const struct ib_path path = {
		.av = &av,
		.slid = PORTS_LID(0, num),
		.bth = {.service = BTH_RC, .mig_req = true, .pkey = pkey, .dest_qpn = b->qpn},
	};
	const struct pkt pkt = {
		.op = PKT_WRITE,
		.flags = PKT_FIRST | PKT_LAST,
		.psn = le32toh(rig_query(b).rq_psn),
		.npsn = 1,
	};
	struct iov_pos none = {.iov = NULL};
	uint8_t bytes[IB_MAX_PACKET];
	struct ib_packet packet;

	assert_int_equal(ib_peek(&packet, bytes, ib_encode(bytes, &path, &pkt, &none)),
			 PACKET_GOOD);
	inproc_fabric(0)->receive_ib(ports_port(1, num), &packet);
}

/* What comes from an uplink makes a QP migrate to its other port, too, but only by its alternate path. */
static void test_migration_from_outside(void **state)
{
	const uint16_t pkeys[] = {0x8002, 0x8001};
	struct rig_qp *a, *b;
	unsigned int i;
	uint32_t psn;

	(void)state;
	for (i = 0; i < PORTS_HCAS; i++)
		ib_port_set_pkeys(ports_port(i, 2)->ib, 0, pkeys, 2);
	arm_second(&a, &b, 1);
	assert_int_equal(wire_init(inproc_fabric(0), inproc_hca(0)->loop), 0);
	psn = le32toh(rig_query(b).rq_psn);
	receive_mig_req(b, 1, 0xffff);
	receive_mig_req(b, 2, 0xffff);
	assert_int_equal(ports_port(1, 2)->ib->pkey_viols, 1);
	assert_int_equal(rig_query(b).port, 1);
	assert_int_equal(le32toh(rig_query(b).rq_psn), psn);
	receive_mig_req(b, 2, 0x8001);
	assert_int_equal(rig_query(b).port, 2);
	assert_int_equal(le32toh(rig_query(b).rq_psn), psn + 1);
	wire_fini(inproc_fabric(0));
}

/* Ethernet frames: each port has its own QP of the netdev, and its own flows. */
static void test_frames(void **state)
{
	static const uint8_t broadcast[6] = {255, 255, 255, 255, 255, 255};
	struct rig_qp_opts opts = {.type = OHCA_QPT_ETH, .flags = OHCA_QP_F_PRIVILEGED};
	struct rig_mr *mr = rig_mr_new(&ports_hca[0], PORTS_IOVA, 4096, RIG_ALL_ACCESS, 0);
	struct rig_mr *at = rig_mr_new(&ports_hca[1], PORTS_IOVA, 4096, RIG_ALL_ACCESS, 0);
	struct ohca_sge sge = rig_sge(mr, PORTS_IOVA, 64), into = rig_sge(at, PORTS_IOVA, 512);
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED, .num_sge = 1, .sge = &sge};
	struct rig_qp *from, *to[PORTS_NUM];
	struct ohca_cqe cqe;
	unsigned int n;

	(void)state;
	rig_mr_set(mr, PORTS_IOVA + 6, ports_port(0, 1)->mac, 6);
	from = rig_qp_new(&ports_hca[0], &opts);
	assert_to_rts(from);
	for (n = 0; n < PORTS_NUM; n++) {
		opts.port = n + 1;
		to[n] = rig_qp_new(&ports_hca[1], &opts);
		assert_to_rts(to[n]);
		rig_post_recv(to[n], 1, &into, 1);
		rig_post_recv(to[n], 2, &into, 1);
	}
	for (n = 0; n < PORTS_NUM; n++) {
		rig_mr_set(mr, PORTS_IOVA, ports_port(1, n + 1)->mac, 6);
		rig_post_send(from, &wr);
		assert_int_equal(rig_wait_send(from).status, OHCA_WC_SUCCESS);
		assert_int_equal(rig_wait_recv(to[n]).status, OHCA_WC_SUCCESS);
		inproc_settle();
		assert_false(drv_cq_poll(to[1 - n]->rcq, &cqe));
	}
	rig_mr_set(mr, PORTS_IOVA, broadcast, 6);
	rig_post_send(from, &wr);
	assert_int_equal(rig_wait_send(from).status, OHCA_WC_SUCCESS);
	for (n = 0; n < PORTS_NUM; n++)
		assert_int_equal(rig_wait_recv(to[n]).status, OHCA_WC_SUCCESS);
}

#define WITH(test, how) cmocka_unit_test_setup_teardown(test, how, ports_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(test_attributes, up_ib),
		WITH(test_attributes, up_eth),
		WITH(test_attributes, up_mixed),
		WITH(test_no_port, up_ib),
		WITH(test_no_port, up_mixed),
		WITH(test_wrong_link, up_mixed),
		WITH(test_av, up_ib),
		WITH(test_av, up_eth),
		WITH(test_both, up_ib),
		WITH(test_both, up_eth),
		WITH(test_both, up_mixed),
		WITH(test_across, up_ib),
		WITH(test_across, up_eth),
		WITH(test_other_port, up_ib),
		WITH(test_other_port, up_eth),
		WITH(test_special, up_ib),
		WITH(test_special, up_eth),
		WITH(test_special, up_mixed),
		WITH(test_counters, up_ib),
		WITH(test_counters, up_mixed),
		WITH(test_mcast, up_mixed),
		WITH(test_events, up_ib),
		WITH(test_events, up_eth),
		WITH(test_events, up_mixed),
		WITH(test_node, up_ib),
		WITH(test_mkeys, up_ib),
		WITH(test_migration, up_ib),
		WITH(test_migration_pkey, up_ib),
		WITH(test_migration_from_outside, up_ib),
		WITH(test_frames, up_eth),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
