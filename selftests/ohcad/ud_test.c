// SPDX-License-Identifier: GPL-2.0
/* Datagrams: those that arrive, their completions, and those that are dropped. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "rig_assert.h"

#define IOVA 0x7f0000000100ULL
#define LEN (1ULL << 20)
#define INTO (IOVA + 8192)
#define GRH OHCA_GRH_LEN
#define MTU 4096
#define VLAN 7

static struct rig *rig;
static struct rig_qp *a, *b;
static struct rig_mr *ma, *mb;
static struct ohca_av av;

static struct rig_qp *new_qp(unsigned int hca, uint8_t type, uint8_t flags)
{
	struct rig_qp_opts opts = {.type = type, .flags = flags, .max_inline = 100};
	struct rig_qp *qp = rig_qp_new(&rig->hca[hca], &opts);

	assert_to_rts(qp);
	return qp;
}

static struct ohca_av av_to(const struct rig_hca *hca)
{
	struct ohca_av to = {
		.flow_label = htole32(0x12345),
		.hop_limit = 33,
		.tclass = 0x28,
		.sl = 5,
		.port = 1,
	};

	memcpy(to.dgid, hca->gid, 16);
	memcpy(to.dmac, hca->mac, 6);
	return to;
}

static int open_rig(void **state)
{
	(void)state;
	rig = rig_open(server);
	a = new_qp(0, OHCA_QPT_UD, 0);
	b = new_qp(1, OHCA_QPT_UD, 0);
	ma = rig_mr_new(&rig->hca[0], IOVA, LEN, RIG_ALL_ACCESS, 0);
	mb = rig_mr_new(&rig->hca[1], IOVA, LEN, RIG_ALL_ACCESS, 0);
	av = av_to(&rig->hca[1]);
	return 0;
}

static int close_rig(void **state)
{
	(void)state;
	rig_close(rig);
	return 0;
}

static struct rig_wr wr_to(const struct rig_qp *to, const struct ohca_sge *sge)
{
	return rig_datagram(to, &av, sge);
}

/* Send from a; the send succeeds. */
static void send(const struct rig_wr *wr)
{
	rig_post_send(a, wr);
	assert_cqe(rig_wait_send(a), OHCA_WC_SUCCESS, 0, wr->wr_id);
}

static void recv_of(struct rig_qp *qp, struct rig_mr *mr, uint64_t wr_id, uint32_t len)
{
	struct ohca_sge sge = rig_sge(mr, INTO, len);

	rig_post_recv(qp, wr_id, &sge, 1);
}

/* Delivery happens before the send completes, or not at all. */
static void assert_nothing(struct rig_qp *qp)
{
	struct ohca_cqe cqe;

	assert_false(drv_cq_poll(qp->rcq, &cqe));
}

static void test_sizes(void **state)
{
	static const uint16_t sizes[] = {0, 1, 3, 64, 1000, 4095, MTU};
	struct ohca_sge sge[3] = {};
	struct rig_wr wr = wr_to(b, sge);
	struct ohca_cqe cqe;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint32_t len = sizes[i], first = len / 3;

		rig_mr_fill(ma, IOVA, len, i);
		sge[0] = rig_sge(ma, IOVA, first);
		sge[1] = rig_sge(ma, 0, 0);
		sge[2] = rig_sge(ma, IOVA + first, len - first);
		wr.num_sge = 3;
		recv_of(b, mb, i, GRH + len);
		send(&wr);
		cqe = rig_wait_recv(b);
		assert_cqe(cqe, OHCA_WC_SUCCESS, 0, i);
		assert_int_equal(le32toh(cqe.byte_len), GRH + len);
		assert_int_equal(le32toh(cqe.wqe_idx), i);
		assert_true(rig_mr_is(mb, INTO + GRH, len, i));
	}
	assert_int_equal(le32toh(rig_query(a).sq_psn), (RIG_PSN + i) & 0xffffff);
	/* One byte more than a packet can have. */
	sge[0] = rig_sge(ma, IOVA, MTU + 1);
	wr.num_sge = 1;
	rig_post_send(a, &wr);
	assert_cqe(rig_wait_send(a), OHCA_WC_LOC_LEN_ERR, OHCA_VENDOR_ERR_LENGTH, 77);
}

/* All fields of the completion. */
static void test_completion(void **state)
{
	struct ohca_sge sge = rig_sge(ma, IOVA, 10);
	struct rig_wr wr = wr_to(b, &sge);
	struct ohca_cqe cqe;
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		wr.opcode = i & 1 ? OHCA_OP_SEND_IMM : OHCA_OP_SEND;
		wr.imm = 0xabcd0000 + i;
		wr.flags = OHCA_WQE_SIGNALED | (i & 2 ? OHCA_WQE_SOLICITED : 0);
		recv_of(b, mb, i, 100);
		send(&wr);
		cqe = rig_wait_recv(b);
		assert_cqe(cqe, OHCA_WC_SUCCESS, 0, i);
		assert_int_equal(cqe.opcode, OHCA_CQE_RECV);
		assert_int_equal(cqe.flags, OHCA_CQE_F_RQ | OHCA_CQE_F_GRH |
						    (i & 1 ? OHCA_CQE_F_IMM : 0) |
						    (i & 2 ? OHCA_CQE_F_SOLICITED : 0));
		assert_int_equal(be32toh(cqe.imm_data), i & 1 ? wr.imm : 0);
		assert_int_equal(le32toh(cqe.qpn), b->qpn);
		assert_int_equal(le32toh(cqe.src_qpn), a->qpn);
		assert_memory_equal(cqe.smac, rig->hca[0].mac, 6);
		assert_int_equal(le16toh(cqe.vlan), OHCA_VLAN_NONE);
		assert_int_equal(le16toh(cqe.pkey_index), 0);
		/* On a wire, only a VLAN tag carries the service level. */
		assert_int_equal(cqe.sl, ON_WIRE ? 0 : 5);
		assert_int_equal(cqe.net_type, OHCA_NET_IPV4);
	}
}

/* Ones' complement sum of a header with its checksum: all ones. */
static uint16_t ip_sum(const uint8_t *hdr)
{
	uint32_t sum = 0;
	unsigned int i;

	for (i = 0; i < 20; i += 2)
		sum += hdr[i] << 8 | hdr[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

static void test_grh_ipv4(void **state)
{
	/* Total length 20 + 8 + 12 + 8 + 4 + 12 (10 padded), with immediate data 4 more */
	static const uint8_t want[20] = {0x45, 0x28, 0,	 68, 0, 0, 0x40, 0, 33, 17,
					 0,    0,    10, 0,  0, 1, 10,	 0, 0,	2};
	static const uint8_t zero[20];
	struct ohca_sge sge = rig_sge(ma, IOVA, 10);
	struct rig_wr wr = wr_to(b, &sge);
	uint8_t grh[GRH];

	(void)state;
	wr.opcode = OHCA_OP_SEND_IMM;
	recv_of(b, mb, 1, 100);
	send(&wr);
	assert_int_equal(rig_wait_recv(b).status, 0);
	rig_mr_get(mb, INTO, grh, GRH);
	assert_memory_equal(grh, zero, 20);
	assert_int_equal(ip_sum(grh + 20), 0xffff);
	memset(grh + 30, 0, 2);
	assert_memory_equal(grh + 20, want, 20);
}

/* Write an entry of an HCA's GID table. */
static void set_gid(struct rig_hca *hca, uint16_t index, const uint8_t *gid, uint16_t vlan)
{
	struct ohca_set_gid_in in = {
		.index = htole16(index),
		.port = 1,
		.type = OHCA_GID_ROCE_V2,
		.vlan = htole16(vlan),
	};

	memcpy(in.gid, gid, 16);
	memcpy(in.mac, hca->mac, 6);
	assert_int_equal(drv_cmd(hca->drv, OHCA_CMD_SET_GID, &in, sizeof(in), NULL, 0), 0);
}

static void make_ipv6(uint8_t *gid, uint8_t last)
{
	memset(gid, 0, 16);
	gid[0] = 0xfe;
	gid[1] = 0x80;
	gid[15] = last;
}

static void test_grh_ipv6(void **state)
{
	static const uint8_t want[8] = {0x62, 0x81, 0x23, 0x45, 0, 44, 17, 33};
	struct ohca_sge sge = rig_sge(ma, IOVA, 10);
	struct rig_wr wr = wr_to(b, &sge);
	uint8_t from[16], to[16], grh[GRH];
	struct ohca_cqe cqe;

	(void)state;
	make_ipv6(from, 1);
	make_ipv6(to, 2);
	set_gid(&rig->hca[0], 3, from, OHCA_VLAN_NONE);
	set_gid(&rig->hca[1], 3, to, OHCA_VLAN_NONE);
	memcpy(av.dgid, to, 16);
	av.sgid_index = htole16(3);
	recv_of(b, mb, 1, 100);
	send(&wr);
	cqe = rig_wait_recv(b);
	assert_cqe(cqe, OHCA_WC_SUCCESS, 0, 1);
	assert_int_equal(cqe.net_type, OHCA_NET_IPV6);
	rig_mr_get(mb, INTO, grh, GRH);
	assert_memory_equal(grh, want, 8);
	assert_memory_equal(grh + 8, from, 16);
	assert_memory_equal(grh + 24, to, 16);
}

static void test_inline(void **state)
{
	uint8_t data[101], got[100];
	struct rig_wr wr = wr_to(b, NULL);
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(data); i++)
		data[i] = i;
	wr.inl = data;
	for (i = 0; i < sizeof(data); i += 20) {
		wr.inl_len = i;
		recv_of(b, mb, i, 1000);
		send(&wr);
		assert_int_equal(le32toh(rig_wait_recv(b).byte_len), GRH + i);
		rig_mr_get(mb, INTO + GRH, got, i);
		assert_memory_equal(got, data, i);
	}
	wr.inl_len = sizeof(data);
	rig_post_send(a, &wr);
	assert_cqe(rig_wait_send(a), OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE, 77);
}

/*
 * The Q_Key of the packet has to be the receiver's; with the highest bit set, the sender's own
 * Q_Key is sent.
 */
static void test_qkey(void **state)
{
	struct ohca_sge sge = rig_sge(ma, IOVA, 10);
	struct rig_wr wr = wr_to(b, &sge);

	(void)state;
	recv_of(b, mb, 1, 100);
	wr.qkey = RIG_QKEY + 1;
	send(&wr);
	assert_nothing(b);
	wr.qkey = OHCA_QKEY_OF_QP | (RIG_QKEY + 1);
	send(&wr);
	assert_cqe(rig_wait_recv(b), OHCA_WC_SUCCESS, 0, 1);

	recv_of(b, mb, 2, 100);
	a->attr.qkey = htole32(0x222);
	assert_int_equal(rig_modify(a, 0, OHCA_QP_QKEY), 0);
	send(&wr);
	assert_nothing(b);
	b->attr.qkey = htole32(0x222);
	assert_int_equal(rig_modify(b, 0, OHCA_QP_QKEY), 0);
	assert_int_equal(le32toh(rig_query(b).qkey), 0x222);
	send(&wr);
	assert_cqe(rig_wait_recv(b), OHCA_WC_SUCCESS, 0, 2);
}

/* No such QP, not ready, no receive, one that is too short: no difference for the sender. */
static void test_dropped(void **state)
{
	struct ohca_modify_port_in port = {.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN), .port = 1};
	struct rig_qp_opts opts = {.type = OHCA_QPT_UD};
	struct rig_qp *init = rig_qp_new(&rig->hca[1], &opts), *rc = rig_qp_new(&rig->hca[1], NULL);
	struct ohca_sge sge = rig_sge(ma, IOVA, 10);
	struct rig_wr wr = wr_to(b, &sge);
	unsigned int i;

	(void)state;
	send(&wr); /* no receive */
	recv_of(b, mb, 1, GRH + 9);
	recv_of(b, mb, 2, GRH + 1000);
	send(&wr); /* one byte too short; the receive is used for another message */
	assert_nothing(b);
	sge = rig_sge(ma, IOVA, 9);
	send(&wr);
	assert_cqe(rig_wait_recv(b), OHCA_WC_SUCCESS, 0, 1);

	assert_int_equal(rig_to_init(init), 0);
	recv_of(init, mb, 3, 100);
	rig_address(rc, rc);
	assert_to_rts(rc);
	recv_of(rc, mb, 3, 100);
	for (i = 0; i < 6; i++) {
		static const uint8_t nowhere[6] = {2, 9, 9, 9, 9, 9};

		wr = wr_to(b, &sge);
		av = av_to(&rig->hca[1]);
		if (i == 0)
			wr.dest_qpn = 0;
		if (i == 1)
			wr.dest_qpn = 0xabcdef;
		if (i == 2)
			wr.dest_qpn = init->qpn;
		if (i == 3)
			wr.dest_qpn = rc->qpn;
		if (i == 4)
			av.dgid[15] = 99;
		if (i == 5)
			memcpy(av.dmac, nowhere, 6);
		send(&wr);
	}
	av = av_to(&rig->hca[1]);
	wr = wr_to(b, &sge);
	assert_int_equal(
		drv_cmd(rig->hca[1].drv, OHCA_CMD_MODIFY_PORT, &port, sizeof(port), NULL, 0), 0);
	send(&wr);
	port.admin_up = 1;
	assert_int_equal(
		drv_cmd(rig->hca[1].drv, OHCA_CMD_MODIFY_PORT, &port, sizeof(port), NULL, 0), 0);
	assert_nothing(init);
	assert_nothing(rc);
	assert_nothing(b);
	send(&wr);
	assert_cqe(rig_wait_recv(b), OHCA_WC_SUCCESS, 0, 2);
}

/* A GID in a VLAN differs from the same GID without a VLAN. */
static void test_vlan(void **state)
{
	struct ohca_sge sge = rig_sge(ma, IOVA, 10);
	struct rig_wr wr = wr_to(b, &sge);
	uint8_t gid[3][16];
	struct ohca_cqe cqe;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++)
		make_ipv6(gid[i], i + 1);
	set_gid(&rig->hca[0], 1, gid[0], VLAN);
	set_gid(&rig->hca[0], 2, gid[0], OHCA_VLAN_NONE);
	set_gid(&rig->hca[1], 1, gid[1], VLAN);
	set_gid(&rig->hca[1], 2, gid[2], VLAN + 1);
	recv_of(b, mb, 1, 100);
	for (i = 1; i < 3; i++) {
		memcpy(av.dgid, gid[i], 16);
		/* Untagged, and in another VLAN */
		av.sgid_index = htole16(i == 1 ? 2 : 1);
		send(&wr);
	}
	assert_nothing(b);
	memcpy(av.dgid, gid[1], 16);
	av.sgid_index = htole16(1);
	send(&wr);
	cqe = rig_wait_recv(b);
	assert_cqe(cqe, OHCA_WC_SUCCESS, 0, 1);
	assert_int_equal(le16toh(cqe.vlan), VLAN);

	/* A route is looked up again when the table changes. */
	recv_of(b, mb, 2, 100);
	set_gid(&rig->hca[1], 1, gid[1], VLAN + 1);
	send(&wr);
	assert_nothing(b);
}

/* To the QP itself, to another QP of the same HCA, and both at once. */
static void test_loopback(void **state)
{
	struct rig_qp *c = new_qp(0, OHCA_QPT_UD, 0);
	struct ohca_sge sge = rig_sge(ma, IOVA, 100);
	struct rig_wr wr;
	struct ohca_cqe cqe;

	(void)state;
	av = av_to(&rig->hca[0]);
	rig_mr_fill(ma, IOVA, 100, 1);
	wr = wr_to(a, &sge);
	recv_of(a, ma, 1, 1000);
	send(&wr);
	cqe = rig_wait_recv(a);
	assert_cqe(cqe, OHCA_WC_SUCCESS, 0, 1);
	assert_int_equal(le32toh(cqe.src_qpn), a->qpn);
	assert_true(rig_mr_is(ma, INTO + GRH, 100, 1));

	rig_mr_fill(ma, IOVA, 100, 2);
	wr.dest_qpn = c->qpn;
	recv_of(c, ma, 2, 1000);
	send(&wr);
	assert_cqe(rig_wait_recv(c), OHCA_WC_SUCCESS, 0, 2);
	assert_true(rig_mr_is(ma, INTO + GRH, 100, 2));
}

/*
 * Post a request that fails, and others: the QP enters SQE, its sends are flushed, it still
 * receives.
 */
static void check_failure(const struct rig_wr *bad, uint8_t status, uint32_t vendor_err)
{
	struct ohca_sge sge = rig_sge(ma, IOVA, 10), into = rig_sge(ma, INTO, 100);
	struct rig_wr good = wr_to(b, &sge);
	struct ohca_av back = av_to(&rig->hca[0]), there = av_to(&rig->hca[1]);
	struct rig_wr answer = good;
	struct ohca_cqe cqe;

	good.av = &there;
	good.wr_id = 1;
	rig_put_send(a, &good);
	rig_put_send(a, bad);
	good.wr_id = 2;
	rig_put_send(a, &good);
	rig_ring(a);
	assert_cqe(rig_wait_send(a), OHCA_WC_SUCCESS, 0, 1);
	cqe = rig_wait_send(a);
	assert_cqe(cqe, status, vendor_err, bad->wr_id);
	assert_int_equal(cqe.opcode, bad->opcode);
	assert_cqe(rig_wait_send(a), OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH, 2);
	assert_state(a, OHCA_QPS_SQE);
	good.wr_id = 3;
	rig_post_send(a, &good);
	assert_cqe(rig_wait_send(a), OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH, 3);

	rig_post_recv(a, 9, &into, 1);
	sge = rig_sge(mb, IOVA, 10);
	answer.av = &back;
	answer.dest_qpn = a->qpn;
	rig_post_send(b, &answer);
	assert_int_equal(rig_wait_send(b).status, 0);
	assert_cqe(rig_wait_recv(a), OHCA_WC_SUCCESS, 0, 9);

	a->attr.cur_state = OHCA_QPS_SQE;
	assert_int_equal(
		rig_modify(a, OHCA_QPS_RTS, OHCA_QP_STATE | OHCA_QP_CUR_STATE | OHCA_QP_QKEY), 0);
	sge = rig_sge(ma, IOVA, 10);
	good.wr_id = 4;
	rig_post_send(a, &good);
	assert_cqe(rig_wait_send(a), OHCA_WC_SUCCESS, 0, 4);
}

static void test_bad_wqe(void **state)
{
	static const uint8_t opcodes[] = {0,
					  OHCA_OP_SEND_INV,
					  OHCA_OP_RDMA_WRITE,
					  OHCA_OP_RDMA_READ,
					  OHCA_OP_FETCH_ADD,
					  OHCA_OP_LSO,
					  0xff};
	struct ohca_sge sge[5] = {rig_sge(ma, IOVA, 10)};
	struct rig_wr wr = wr_to(b, sge);
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(opcodes); i++) {
		wr.opcode = opcodes[i];
		check_failure(&wr, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE);
	}
	wr = wr_to(b, sge);
	wr.flags |= OHCA_WQE_CSUM;
	check_failure(&wr, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE);
	/* Without an address */
	wr = wr_to(b, sge);
	wr.av = NULL;
	check_failure(&wr, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE);
	wr = wr_to(b, sge);
	wr.num_sge = 5;
	check_failure(&wr, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE);
	wr.num_sge = 1;
	sge[0].length = htole32(MTU + 1);
	check_failure(&wr, OHCA_WC_LOC_LEN_ERR, OHCA_VENDOR_ERR_LENGTH);
	sge[0] = rig_sge(ma, IOVA, 10);
	sge[0].lkey = htole32(1);
	check_failure(&wr, OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_KEY);
	sge[0] = rig_sge(ma, IOVA + LEN - 9, 10);
	check_failure(&wr, OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_BOUNDS);
}

/* A packet has 24 bits for the number of a QP. */
static void test_wide_number(void **state)
{
	struct ohca_sge sge = rig_sge(ma, IOVA, 10);
	struct ohca_sge into = rig_sge(mb, INTO, 100);
	struct rig_wr wr = wr_to(b, &sge);

	(void)state;
	wr.dest_qpn = b->qpn | 0xa5000000;
	rig_post_recv(b, 1, &into, 1);
	send(&wr);
	assert_int_equal(rig_wait_recv(b).status, 0);
}

static void test_bad_address(void **state)
{
	struct ohca_sge sge = rig_sge(ma, IOVA, 10);
	struct rig_wr wr = wr_to(b, &sge);
	const struct ohca_av good = av;
	unsigned int i;

	(void)state;
	for (i = 0; i < 7; i++) {
		av = good;
		wr.dest_qpn = b->qpn;
		if (i == 0)
			av.port = 0;
		if (i == 1)
			av.port = 2;
		if (i == 2)
			av.sgid_index = htole16(1);
		if (i == 3)
			av.sgid_index = htole16(128);
		if (i == 4)
			av.flow_label = htole32(1 << 20);
		if (i == 5)
			av.sl = 16;
		if (i == 6)
			av.dgid[0] = 0xfe; /* IPv6 from IPv4 */
		check_failure(&wr, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_AV);
	}
}

/* An invalid receive: the whole QP enters the error state. */
static void test_bad_receive(void **state)
{
	struct ohca_sge sge = rig_sge(ma, IOVA, 10), into;
	struct rig_wr wr = wr_to(b, &sge);
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		into = rig_sge(mb, INTO, 100);
		if (i == 0)
			into.lkey = 0;
		rig_post_recv(b, 1, &into, 1);
		rig_post_recv(b, 2, &into, 1);
		if (i == 1)
			((struct ohca_rq_wqe *)rig_rq_entry(b, 0))->num_sge = htole32(5);
		if (i == 2)
			__atomic_store_n(&b->rq_rec->pi, htole32(1000), __ATOMIC_RELEASE);
		send(&wr);
		if (i == 0)
			assert_cqe(rig_wait_recv(b), OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_KEY, 1);
		if (i == 1)
			assert_cqe(rig_wait_recv(b), OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE,
				   1);
		if (i == 2)
			rig_wait_event(b->hca, OHCA_EVENT_QP_FATAL, b->qpn);
		else
			assert_cqe(rig_wait_recv(b), OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH,
				   2);
		assert_state(b, OHCA_QPS_ERR);
		rig_to_reset(b);
		assert_to_rts(b);
	}
	assert_state(a, OHCA_QPS_RTS);
}

static void test_sqd(void **state)
{
	struct ohca_sge sge = rig_sge(ma, IOVA, 10);
	struct rig_wr wr = wr_to(b, &sge);
	struct ohca_cqe cqe;

	(void)state;
	send(&wr);
	a->attr.en_sqd_async_notify = 1;
	assert_int_equal(rig_modify(a, OHCA_QPS_SQD, OHCA_QP_STATE | OHCA_QP_EN_SQD_ASYNC_NOTIFY),
			 0);
	rig_wait_event(a->hca, OHCA_EVENT_SQ_DRAINED, a->qpn);
	rig_post_send(a, &wr);
	assert_int_equal(rig_query(a).sq_draining, 0);
	assert_false(drv_cq_poll(a->scq, &cqe));
	assert_int_equal(rig_modify(a, OHCA_QPS_RTS, OHCA_QP_STATE), 0);
	assert_cqe(rig_wait_send(a), OHCA_WC_SUCCESS, 0, 77);
}

static void test_flush(void **state)
{
	struct ohca_sge sge = rig_sge(ma, IOVA, 10);
	struct rig_wr wr = wr_to(b, &sge);

	(void)state;
	recv_of(a, ma, 5, 100);
	assert_int_equal(rig_modify(a, OHCA_QPS_ERR, OHCA_QP_STATE), 0);
	assert_cqe(rig_wait_recv(a), OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH, 5);
	rig_post_send(a, &wr);
	assert_cqe(rig_wait_send(a), OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH, 77);
	/* In ERR nothing arrives. */
	rig_to_reset(a);
	assert_to_rts(a);
	send(&wr);
}

/* Unsignaled, in order, more than fit into the queue at once. */
static void test_many(void **state)
{
	struct ohca_sge sge = rig_sge(ma, IOVA, 2000);
	struct rig_wr wr = wr_to(b, &sge);
	unsigned int i, j;

	(void)state;
	for (i = 0; i < 50; i++) {
		for (j = 0; j < 32; j++) {
			recv_of(b, mb, i * 32 + j, 3000);
			wr.opcode = OHCA_OP_SEND_IMM;
			wr.imm = i * 32 + j;
			wr.flags = j == 31 ? OHCA_WQE_SIGNALED : 0;
			rig_put_send(a, &wr);
		}
		rig_ring(a);
		assert_cqe(rig_wait_send(a), OHCA_WC_SUCCESS, 0, 77);
		for (j = 0; j < 32; j++) {
			struct ohca_cqe cqe = rig_wait_recv(b);

			assert_cqe(cqe, OHCA_WC_SUCCESS, 0, i * 32 + j);
			assert_int_equal(be32toh(cqe.imm_data), i * 32 + j);
		}
		drv_cq_ack(a->scq);
		drv_cq_ack(b->rcq);
	}
}

/* The stride has room for the address too. */
static void test_create(void **state)
{
	struct rig_hca *hca = &rig->hca[0];
	struct rig_qp_opts opts = {.type = OHCA_QPT_UD, .max_sge = 3, .max_inline = 48};
	struct ohca_create_qp_in in;
	struct rig_qp qp;

	(void)state;
	in = rig_qp_in(hca, &opts, &qp);
	assert_int_equal(in.sq_log_stride, 7);
	assert_int_equal(try_create_qp(hca, &in), OHCA_CMD_OK);
	in.max_send_sge = htole16(4);
	assert_int_equal(try_create_qp(hca, &in), OHCA_CMD_BAD_PARAM);
	in.max_send_sge = htole16(3);
	in.max_inline = htole16(49);
	assert_int_equal(try_create_qp(hca, &in), OHCA_CMD_BAD_PARAM);
	in.max_inline = htole16(48);
	in.flags = OHCA_QP_F_NO_MCAST_LOOPBACK;
	assert_int_equal(try_create_qp(hca, &in), OHCA_CMD_OK);
	in.flags = 0;
	in.sq_log_stride = 6;
	assert_int_equal(try_create_qp(hca, &in), OHCA_CMD_BAD_PARAM);
	in.max_send_sge = 0;
	in.max_inline = 0;
	assert_int_equal(try_create_qp(hca, &in), OHCA_CMD_BAD_PARAM);
}

/* QP 1: one for each HCA, used by the kernel, with the well-known Q_Key. */
static void test_gsi(void **state)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_GSI};
	struct rig_hca *hca = &rig->hca[1];
	struct ohca_sge sge = rig_sge(ma, IOVA, 256), into = rig_sge(ma, INTO, 1000);
	struct ohca_create_qp_in in;
	struct rig_qp *g0, *g1, tmp;
	struct ohca_cqe cqe;
	struct rig_wr wr;

	(void)state;
	in = rig_qp_in(hca, &opts, &tmp);
	assert_int_equal(try_create_qp(hca, &in), OHCA_CMD_BAD_PARAM);
	assert_int_equal(hca->drv->syndrome, offsetof(struct ohca_create_qp_in, flags));
	opts.flags = OHCA_QP_F_PRIVILEGED;
	g1 = rig_qp_new(hca, &opts);
	assert_int_equal(g1->qpn, 1);
	in.flags = OHCA_QP_F_PRIVILEGED;
	assert_int_equal(try_create_qp(hca, &in), OHCA_CMD_NO_RESOURCE);
	assert_int_equal(rig_qp_destroy(g1), 0);
	assert_int_equal(try_create_qp(hca, &in), OHCA_CMD_OK);

	g0 = new_qp(0, OHCA_QPT_GSI, OHCA_QP_F_PRIVILEGED);
	g1 = new_qp(1, OHCA_QPT_GSI, OHCA_QP_F_PRIVILEGED);
	assert_int_equal(g0->qpn, 1);
	g1->attr.qkey = htole32(RIG_QKEY);
	assert_int_equal(rig_modify(g1, 0, OHCA_QP_QKEY), OHCA_CMD_BAD_PARAM);

	/* From QP 1 to QP 1 */
	recv_of(g1, mb, 1, 1000);
	wr = wr_to(g1, &sge);
	wr.qkey = RIG_GSI_QKEY;
	rig_post_send(g0, &wr);
	assert_cqe(rig_wait_send(g0), OHCA_WC_SUCCESS, 0, 77);
	cqe = rig_wait_recv(g1);
	assert_cqe(cqe, OHCA_WC_SUCCESS, 0, 1);
	assert_int_equal(le32toh(cqe.src_qpn), 1);
	assert_int_equal(le16toh(cqe.pkey_index), 0);

	/* Other QPs don't reach it by accident: the high bit stands for their own Q_Key. */
	recv_of(g1, mb, 2, 1000);
	send(&wr);
	assert_nothing(g1);
	/* From QP 1 to other QPs */
	recv_of(b, mb, 3, 1000);
	wr.dest_qpn = b->qpn;
	wr.qkey = RIG_QKEY;
	rig_post_send(g0, &wr);
	assert_cqe(rig_wait_recv(b), OHCA_WC_SUCCESS, 0, 3);
	assert_cqe(rig_wait_send(g0), OHCA_WC_SUCCESS, 0, 77);

	/* A P_Key that does not exist; the queue is usable again afterwards. */
	rig_put_send(g0, &wr);
	((struct ohca_sq_wqe *)rig_sq_entry(g0, g0->sq_pi - 1))->ud.pkey_index = htole16(1);
	rig_ring(g0);
	assert_cqe(rig_wait_send(g0), OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE, 77);
	assert_state(g0, OHCA_QPS_SQE);
	rig_post_recv(g0, 4, &into, 1);
	assert_int_equal(rig_modify(g0, OHCA_QPS_RTS, OHCA_QP_STATE), 0);
	av = av_to(&rig->hca[0]);
	wr.dest_qpn = 1;
	wr.qkey = OHCA_QKEY_OF_QP;
	rig_post_send(g0, &wr);
	assert_cqe(rig_wait_recv(g0), OHCA_WC_SUCCESS, 0, 4);
}

#define UD_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UD_TEST(test_sizes),	   UD_TEST(test_completion),  UD_TEST(test_grh_ipv4),
		UD_TEST(test_grh_ipv6),	   UD_TEST(test_inline),      UD_TEST(test_qkey),
		UD_TEST(test_dropped),	   UD_TEST(test_vlan),	      UD_TEST(test_loopback),
		UD_TEST(test_bad_wqe),	   UD_TEST(test_wide_number), UD_TEST(test_bad_address),
		UD_TEST(test_bad_receive), UD_TEST(test_sqd),	      UD_TEST(test_flush),
		UD_TEST(test_many),	   UD_TEST(test_create),      UD_TEST(test_gsi),
	};

	return RUN_TESTS(tests, start_three_hcas, stop_hcas);
}
