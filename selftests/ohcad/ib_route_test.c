// SPDX-License-Identifier: GPL-2.0
/* The way of packets through the switch: what each port counts, virtual lanes, partitions, and where packets end. */

#include <endian.h>
#include <stdlib.h>
#include <unistd.h>

#include "fabric/ib_traffic.h"
#include "harness.h"
#include "ib_rig.h"
#include "inproc_assert.h"
#include "inproc_clock.h"
#include "pcapng_file.h"
#include "qp/qp.h"
#include "rig_assert.h"

#define IOVA 0x7f0000000100ULL
#define INTO (IOVA + 65536)
#define LEN 100
#define SL 3
#define MLID 0xc000
#define NO_VL 15

static struct rig_qp *a, *b;
static struct rig_mr *mr[BED_HCAS];
static struct ohca_av av;

/* The clock is the test's, so that ports repeat no traps while it waits for a busy processor. */
static int open_subnet(void **state)
{
	unsigned int i;

	ib_rig_open(state);
	inproc_clock_start();
	for (i = 0; i < BED_HCAS; i++)
		mr[i] = rig_mr_new(&hca[i], IOVA, 1 << 18, RIG_ALL_ACCESS, 0);
	ib_bed_up();
	a = ib_new_qp(0, OHCA_QPT_UD);
	b = ib_new_qp(1, OHCA_QPT_UD);
	av = (struct ohca_av){.ib.dlid = htole16(BED_LID(1)), .sl = SL, .port = 1};
	ib.num_got = 0;
	return 0;
}

static int close_subnet(void **state)
{
	inproc_clock_stop();
	return ib_bed_close(state);
}

static struct ib_port *switch_port(unsigned int num)
{
	return &ib_switch_of()->ports[num];
}

/* What passed since the last look: the ports of HCA i, and those of the switch at the other ends */
static uint64_t xmit[BED_HCAS], rcv[BED_HCAS], sw_xmit[BED_HCAS], sw_rcv[BED_HCAS];
static struct ib_traffic old[2 * BED_HCAS][2];

static void delta(unsigned int at, const struct ib_port *port, uint64_t *sent, uint64_t *got)
{
	struct ib_traffic now[2];

	ib_traffic_count(port, &now[0], &now[1]);
	*sent = now[0].pkts - old[at][0].pkts;
	*got = now[1].pkts - old[at][1].pkts;
	memcpy(old[at], now, sizeof(now));
}

static void look(void)
{
	unsigned int i;

	for (i = 0; i < BED_HCAS; i++) {
		delta(i, ib_port_of(i), &xmit[i], &rcv[i]);
		delta(BED_HCAS + i, switch_port(i + 1), &sw_xmit[i], &sw_rcv[i]);
	}
}

/* HCA i has sent and received so many packets, and the other end of its link has seen each of them. */
static void assert_passed(unsigned int i, uint64_t sent, uint64_t got)
{
	assert_int_equal(xmit[i], sent);
	assert_int_equal(sw_rcv[i], sent);
	assert_int_equal(sw_xmit[i], got);
	assert_int_equal(rcv[i], got);
}

static void recv_of(struct rig_qp *qp, struct rig_mr *to)
{
	struct ohca_sge sge = rig_sge(to, INTO, 1024);

	rig_post_recv(qp, 5, &sge, 1);
}

static void send_to(uint32_t qpn)
{
	struct ohca_sge sge = rig_sge(mr[0], IOVA, LEN);
	struct rig_wr wr = rig_datagram(b, &av, &sge);

	wr.dest_qpn = qpn;
	rig_post_send(a, &wr);
	assert_cqe(rig_wait_send(a), OHCA_WC_SUCCESS, 0, wr.wr_id);
	inproc_settle();
}

/* A datagram to b is taken, or not. */
static void assert_reaches(bool does)
{
	recv_of(b, mr[1]);
	send_to(b->qpn);
	if (does) {
		assert_cqe(rig_wait_recv(b), OHCA_WC_SUCCESS, 0, 5);
		return;
	}
	inproc_assert_no_cqe(b->rcq);
	rig_to_reset(b);
	assert_to_rts(b);
}

static struct rig_qp *from, *to;

static void connect_rc(unsigned int dst)
{
	ib_new_connection(&from, &to, dst, SL);
}

static uint8_t write_rc(unsigned int dst, uint32_t len)
{
	return ib_wait_write(from, rig_sge(mr[0], IOVA, len), INTO, mr[dst]->key);
}

/* Counters of each hop */

static void test_connected(void **state)
{
	uint32_t mtu, acks;

	(void)state;
	connect_rc(1);
	mtu = 1U << qp_get(inproc_hca(0), from->qpn)->mtu_shift;
	look();
	assert_int_equal(write_rc(1, 20 * mtu + 1), OHCA_WC_SUCCESS);
	look();
	acks = xmit[1];
	assert_true(acks >= 1);
	assert_passed(0, 21, acks);
	assert_passed(1, acks, 21);
	assert_passed(2, 0, 0);
	/* Bytes too: 21 packets' headers and CRCs, and payload */
	assert_int_equal(old[0][0].data - (old[BED_HCAS][1].data), 0);
	/* The peer is gone: what is sent still passes all ports. */
	assert_int_equal(rig_qp_destroy(to), 0);
	assert_int_equal(write_rc(1, LEN), OHCA_WC_RETRY_EXC_ERR);
	look();
	assert_true(xmit[0] >= 2);
	assert_passed(0, xmit[0], 0);
	assert_passed(1, 0, xmit[0]);
}

static void test_datagrams(void **state)
{
	struct rig_qp *gsi = ib_new_qp(0, OHCA_QPT_GSI);
	struct mad_packet p = mad_request(MAD_CLASS_PM, MAD_GET, 0x0001, 0);
	struct ohca_sge sge = rig_sge(mr[0], IOVA, MAD_LEN);
	struct ohca_sq_wqe fields = {.ud.dest_qpn = htole32(1), .ud.qkey = htole32(RIG_GSI_QKEY)};
	struct rig_wr wr;

	(void)state;
	look();
	assert_reaches(true);
	look();
	assert_passed(0, 1, 0);
	assert_passed(1, 0, 1);
	/* For no QP, and for one that takes nothing */
	send_to(0xfffff0);
	look();
	assert_passed(0, 1, 0);
	assert_passed(1, 0, 1);
	rig_to_reset(b);
	send_to(b->qpn);
	look();
	assert_passed(1, 0, 1);
	/* For the switch, which answers */
	av.ib.dlid = htole16(BED_SWITCH_LID);
	wr = rig_datagram(gsi, &av, &sge);
	wr.fields = &fields;
	rig_mr_set(mr[0], IOVA, p.mad, MAD_LEN);
	recv_of(gsi, mr[0]);
	rig_post_send(gsi, &wr);
	assert_cqe(rig_wait_send(gsi), OHCA_WC_SUCCESS, 0, wr.wr_id);
	assert_int_equal(le16toh(rig_wait_recv(gsi).ib.slid), BED_SWITCH_LID);
	look();
	assert_passed(0, 1, 1);
	assert_passed(1, 0, 0);
}

static void join(const struct rig_qp *qp)
{
	const struct ohca_mcast_in in = {
		.gid = {0xff, 0x12, [15] = 1}, .qpn = htole32(qp->qpn), .mlid = htole16(MLID)};

	assert_int_equal(drv_cmd(qp->hca->drv, OHCA_CMD_ATTACH_MCAST, &in, sizeof(in), NULL, 0), 0);
}

/* One packet, whoever takes copies of it in an HCA */
static void test_multicast(void **state)
{
	uint16_t masks[32] = {htobe16(0x000e)};

	(void)state;
	join(a);
	join(b);
	join(ib_new_qp(0, OHCA_QPT_UD));
	join(ib_new_qp(1, OHCA_QPT_UD));
	av.ib.dlid = htole16(MLID);
	av.ib.flags = OHCA_AV_GRH;
	memcpy(av.dgid, (uint8_t[16]){0xff, 0x12, [15] = 1}, 16);
	assert_int_equal(ib_set(SM_MCAST_FDB, 0, to_switch, masks), MAD_OK);
	look();
	send_to(0xffffff);
	look();
	assert_passed(0, 1, 0);
	assert_passed(1, 0, 1);
	assert_passed(2, 0, 1);
	/* A port that is not active, and a group of nobody */
	drv_reset(ib.drv[2]);
	look();
	send_to(0xffffff);
	look();
	assert_passed(1, 0, 1);
	assert_passed(2, 0, 0);
	assert_int_equal(switch_port(3)->counters.xmit_discards, 1);
	masks[0] = 0;
	assert_int_equal(ib_set(SM_MCAST_FDB, 0, to_switch, masks), MAD_OK);
	look();
	send_to(0xffffff);
	look();
	assert_passed(0, 1, 0);
	assert_passed(1, 0, 0);
	assert_int_equal(switch_port(1)->counters.rcv_relay_errors, 1);
}

static void test_loopback(void **state)
{
	(void)state;
	connect_rc(0);
	look();
	assert_int_equal(write_rc(0, 10000), OHCA_WC_SUCCESS);
	av.ib.dlid = htole16(BED_LID(0));
	send_to(a->qpn);
	send_to(0xfffff0);
	look();
	assert_passed(0, 0, 0);
	assert_passed(1, 0, 0);
}

/* Where packets end */

static void test_dead_ends(void **state)
{
	uint8_t linear[SMP_DATA_LEN];

	(void)state;
	/* A LID of nobody, and one whose entry leads back */
	look();
	av.ib.dlid = htole16(0x3f);
	send_to(b->qpn);
	look();
	assert_passed(0, 1, 0);
	assert_int_equal(switch_port(1)->counters.rcv_relay_errors, 1);
	assert_int_equal(ib_get(SM_LINEAR_FDB, 0, to_switch, linear), MAD_OK);
	linear[BED_LID(1)] = 1;
	assert_int_equal(ib_set(SM_LINEAR_FDB, 0, to_switch, linear), MAD_OK);
	av.ib.dlid = htole16(BED_LID(1));
	look();
	assert_reaches(false);
	look();
	assert_passed(0, 1, 0);
	assert_passed(1, 0, 0);
	assert_int_equal(switch_port(1)->counters.rcv_relay_errors, 2);
	connect_rc(1);
	assert_int_equal(write_rc(1, LEN), OHCA_WC_RETRY_EXC_ERR);
	assert_true(switch_port(1)->counters.rcv_relay_errors > 2);
	linear[BED_LID(1)] = 2;
	assert_int_equal(ib_set(SM_LINEAR_FDB, 0, to_switch, linear), MAD_OK);
	assert_reaches(true);
}

/* A management packet that would go back through the port that it came by */
static void test_smp_loop(void **state)
{
	struct mad_packet p = ib_lid_request(MAD_GET, SM_NODE_INFO, 0, BED_LID(0) + 1);

	(void)state;
	look();
	assert_null(ib_ask(0, &p));
	look();
	assert_passed(0, 1, 0);
	assert_int_equal(switch_port(1)->counters.rcv_relay_errors, 1);
}

static void test_ports_down(void **state)
{
	(void)state;
	look();
	drv_reset(ib.drv[2]);
	look();
	av.ib.dlid = htole16(BED_LID(2));
	send_to(b->qpn);
	look();
	assert_passed(0, 1, 0);
	assert_passed(2, 0, 0);
	assert_int_equal(switch_port(3)->counters.xmit_discards, 1);
	/* Its own port: nothing leaves. */
	port_plug(inproc_hca(0)->ports[0], false);
	look();
	send_to(b->qpn);
	connect_rc(1);
	assert_int_equal(write_rc(1, LEN), OHCA_WC_RETRY_EXC_ERR);
	look();
	assert_passed(0, 0, 0);
	assert_true(ib_port_of(0)->counters.xmit_discards >= 3);
}

/* Virtual lanes */

/* The entry of SL, of an HCA or of a pair of the switch's ports */
static void set_vl(const uint8_t *route, uint32_t mod, uint8_t vl)
{
	uint8_t table[SMP_DATA_LEN];

	assert_int_equal(ib_get(SM_SL2VL, mod, route, table), MAD_OK);
	table[SL / 2] = (table[SL / 2] & 0xf0) | vl;
	assert_int_equal(ib_set(SM_SL2VL, mod, route, table), MAD_OK);
}

static void test_no_vl(void **state)
{
	(void)state;
	connect_rc(1);
	assert_int_equal(write_rc(1, LEN), OHCA_WC_SUCCESS);
	/* In the HCA that sends */
	ib_port_of(0)->sl2vl[SL / 2] = NO_VL;
	ib_port_changed(ib_port_of(0));
	look();
	assert_reaches(false);
	look();
	assert_passed(0, 0, 0);
	assert_int_equal(ib_port_of(0)->counters.xmit_discards, 1);
	ib_port_of(0)->sl2vl[SL / 2] = 0;
	ib_port_changed(ib_port_of(0));
	/* In the switch, on the way there, and on the way of the acknowledgment */
	set_vl(to_switch, 1 << 8 | 2, NO_VL);
	look();
	assert_reaches(false);
	look();
	assert_passed(0, 1, 0);
	assert_passed(1, 0, 0);
	assert_int_equal(switch_port(1)->counters.rcv_relay_errors, 1);
	set_vl(to_switch, 1 << 8 | 2, 0);
	set_vl(to_switch, 2 << 8 | 1, NO_VL);
	assert_reaches(true);
	assert_int_equal(write_rc(1, LEN), OHCA_WC_RETRY_EXC_ERR);
	assert_true(switch_port(2)->counters.rcv_relay_errors >= 1);
	/* Another service level is not concerned. */
	av.sl = 2;
	set_vl(to_switch, 1 << 8 | 2, NO_VL);
	assert_reaches(true);
	/* A lane that the port does not operate: it has VL0 to VL7 */
	set_vl(to_switch, 1 << 8 | 2, 8);
	av.sl = SL;
	assert_reaches(false);
}

static void set_vls(const uint8_t *route, uint32_t port, uint8_t vls, uint8_t enforce)
{
	struct port_info info;

	assert_int_equal(ib_get(SM_PORT_INFO, port, route, &info), MAD_OK);
	info.speed_supported_state &= 0xf0;
	info.phys_state_down_default = 0;
	info.oper_vls_enforce = vls << 4 | enforce;
	assert_int_equal(ib_set(SM_PORT_INFO, port, route, &info), MAD_OK);
	assert_int_equal(info.oper_vls_enforce & 15, enforce);
}

static uint8_t vl_in(const struct pf *pf, const char *name, unsigned int dir)
{
	unsigned int i = 0;

	while (i < pf->num &&
	       (pf->packets[i].iface != pf_find(pf, name) || pf->packets[i].dir != dir))
		i++;
	assert_true(i < pf->num);
	return pf->packets[i].data[PF_ERF_LEN] >> 4;
}

static void test_vls_in_packets(void **state)
{
	struct captures *captures = &inproc_fabric(0)->captures;
	char path[] = "/tmp/ohcad-way.XXXXXX";
	struct capture_options opts = {.path = path};
	int fd = mkstemp(path);
	struct pf *pf;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	ib_port_of(0)->oper_vls = 3;
	ib_port_of(0)->sl2vl[SL / 2] = 1;
	set_vls(to_switch, 2, 3, 0);
	set_vl(to_switch, 1 << 8 | 2, 2);
	assert_int_equal(capture_start(captures, inproc_hca(0)->loop, &opts), 0);
	assert_reaches(true);
	assert_int_equal(capture_stop(captures), 0);
	pf = pf_read(path);
	assert_int_equal(vl_in(pf, "hca0", PF_OUT), 1);
	assert_int_equal(vl_in(pf, "hca1", PF_IN), 2);
	pf_free(pf);
	/* What is not sent is not in a capture. */
	set_vl(to_switch, 1 << 8 | 2, 0);
	ib_port_of(0)->sl2vl[SL / 2] = NO_VL;
	ib_port_changed(ib_port_of(0));
	connect_rc(1);
	assert_int_equal(capture_start(captures, inproc_hca(0)->loop, &opts), 0);
	assert_reaches(false);
	assert_int_equal(write_rc(1, LEN), OHCA_WC_RETRY_EXC_ERR);
	assert_int_equal(capture_stop(captures), 0);
	pf = pf_read(path);
	assert_int_equal(pf->num, 0);
	pf_free(pf);
	captures_fini(captures);
	unlink(path);
}

/* Partitions */

static void set_table(unsigned int port, uint16_t first, uint16_t second)
{
	uint16_t pkeys[32] = {htobe16(first), htobe16(second)};

	assert_int_equal(ib_set(SM_PKEY_TABLE, port << 16, to_switch, pkeys), MAD_OK);
}

static void test_capabilities(void **state)
{
	uint8_t data[SMP_DATA_LEN];
	const struct switch_info *info = (const struct switch_info *)data;

	(void)state;
	assert_int_equal(ib_get(SM_SWITCH_INFO, 0, to_switch, data), MAD_OK);
	assert_int_equal(be16toh(info->enforce_cap), IB_PORT_PKEYS);
	assert_int_equal(info->flags, SWITCH_ENFORCE_IN | SWITCH_ENFORCE_OUT);
	set_vls(to_switch, 1, 1, PORT_ENFORCE_IN | PORT_ENFORCE_OUT);
	set_vls(to_switch, 1, 1, 0);
}

static void test_inbound(void **state)
{
	const struct notice *notice;

	(void)state;
	connect_rc(1);
	set_table(1, 0x8001, 0);
	assert_reaches(true);
	set_vls(to_switch, 1, 1, PORT_ENFORCE_OUT);
	assert_reaches(true);
	set_vls(to_switch, 1, 1, PORT_ENFORCE_IN);
	ib.num_got = 0;
	look();
	assert_reaches(false);
	look();
	/* The trap comes back. */
	assert_passed(0, 1, 1);
	assert_passed(1, 0, 0);
	assert_int_equal(switch_port(1)->counters.rcv_constraint, 1);
	assert_int_equal(ib_port_of(1)->pkey_viols, 0);
	assert_int_equal(ib.num_got, 1);
	assert_int_equal(ib.got[0].hdr.method, MAD_TRAP);
	assert_int_equal(ib.got[0].slid, BED_SWITCH_LID);
	notice = (const struct notice *)ib.got[0].smp.data;
	assert_int_equal(notice->generic_type, NOTICE_GENERIC | NOTICE_SECURITY);
	assert_int_equal(notice->producer[2], NODE_SWITCH);
	assert_int_equal(be16toh(notice->trap), TRAP_SWITCH_BAD_PKEY);
	assert_int_equal(be16toh(notice->switch_pkey.valid), TRAP_259_NO_GRH);
	assert_int_equal(be16toh(notice->switch_pkey.lid1), BED_LID(0));
	assert_int_equal(be16toh(notice->switch_pkey.lid2), BED_LID(1));
	assert_int_equal(be16toh(notice->switch_pkey.pkey), PKEY_DEFAULT);
	assert_int_equal(be32toh(notice->switch_pkey.sl_qp1), SL << 28 | a->qpn);
	assert_int_equal(be32toh(notice->switch_pkey.qp2), b->qpn);
	assert_int_equal(be16toh(notice->switch_pkey.sw_lid), BED_SWITCH_LID);
	assert_int_equal(notice->switch_pkey.port, 1);
	assert_int_equal(write_rc(1, LEN), OHCA_WC_RETRY_EXC_ERR);
	assert_true(switch_port(1)->counters.rcv_constraint >= 3);
	/* A limited member of the partition may send, and so may a full one. */
	set_table(1, 0x8001, 0x7fff);
	assert_reaches(true);
}

static void test_outbound(void **state)
{
	(void)state;
	set_vls(to_switch, 2, 1, PORT_ENFORCE_OUT);
	assert_reaches(true);
	set_table(2, 0x8001, 0);
	look();
	assert_reaches(false);
	look();
	/* The trap comes back. */
	assert_passed(0, 1, 1);
	assert_passed(1, 0, 0);
	assert_int_equal(switch_port(2)->counters.xmit_constraint, 1);
	assert_int_equal(switch_port(2)->counters.rcv_constraint, 0);
	/* Only this direction, and no management packets */
	connect_rc(1);
	assert_int_equal(write_rc(1, LEN), OHCA_WC_RETRY_EXC_ERR);
	set_table(2, 0x8001, 0xffff);
	assert_reaches(true);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_subnet, close_subnet)

static const struct CMUnitTest tests[] = {
	TEST(test_connected),	 TEST(test_datagrams), TEST(test_multicast),
	TEST(test_loopback),	 TEST(test_dead_ends), TEST(test_smp_loop),
	TEST(test_ports_down),	 TEST(test_no_vl),     TEST(test_vls_in_packets),
	TEST(test_capabilities), TEST(test_inbound),   TEST(test_outbound),
};

int main(void)
{
	return RUN_TESTS(tests, NULL, NULL);
}
