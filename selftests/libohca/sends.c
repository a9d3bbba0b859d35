// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of libohca's send work requests of every operation and transport, and of their completions,
 * against a mock kernel and device.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bed.h"
#include "tap.h"

static const struct ibv_qp_cap one = {.max_send_wr = 8, .max_send_sge = 2};

static struct ibv_sge data_sge = {0x123456789abc, 64, 0x5a5a00};

/* Post one work request.  Return: its entry, of which the whole header is as in @want. */
static struct ohca_sq_wqe *post_wr(struct bed *bed, struct ibv_send_wr *wr,
				   const struct ohca_sq_wqe *want)
{
	uint32_t pi = mock_sq_pi(bed->dev);
	struct ohca_sq_wqe *wqe = mock_sq_wqe(bed->dev, pi);
	struct ibv_send_wr *bad;

	/* Nothing of an earlier request remains. */
	memset(wqe->rsvd, 0xff, sizeof(wqe->rsvd));
	wr->wr_id = 0xfeed;
	wr->send_flags |= IBV_SEND_SIGNALED;
	EXPECT_EQ(ohca_post_send(bed->qp, wr, &bad), 0);
	EXPECT_EQ(mock_sq_pi(bed->dev), pi + 1);
	EXPECT_EQ(wqe->opcode, want->opcode);
	EXPECT_EQ(wqe->flags, want->flags | OHCA_WQE_SIGNALED);
	EXPECT_EQ(wqe->num_sge, want->num_sge);
	EXPECT_EQ(wqe->imm_data, want->imm_data);
	EXPECT_EQ(le64toh(wqe->wr_id), 0xfeed);
	EXPECT(!memcmp(wqe->rsvd, want->rsvd, sizeof(wqe->rsvd)));
	return wqe;
}

static bool is_data(const void *list)
{
	const struct ohca_sge *sge = list;

	return le64toh(sge->addr) == data_sge.addr && le32toh(sge->length) == data_sge.length &&
	       le32toh(sge->lkey) == data_sge.lkey;
}

/* Complete what was posted.  Return: its opcode. */
static int complete(struct bed *bed)
{
	struct ibv_wc wc = {};

	EXPECT(mock_do_send(bed->dev));
	EXPECT_EQ(ohca_poll_cq(bed->cq, 1, &wc), 1);
	EXPECT_EQ(wc.wr_id, 0xfeed);
	return wc.opcode;
}

static void test_atomic(const void *arg)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.sg_list = &data_sge,
		.num_sge = 1,
		.wr.atomic = {.remote_addr = 0x1000, .compare_add = 5, .swap = 6, .rkey = 0x77},
	};
	struct ohca_sq_wqe want = {
		.opcode = OHCA_OP_CMP_SWAP,
		.num_sge = htole16(1),
		.rdma = {.raddr = htole64(0x1000),
			 .rkey = htole32(0x77),
			 .compare_add = htole64(5),
			 .swap = htole64(6)},
	};
	struct ibv_send_wr *bad;
	struct bed bed;

	(void)arg;
	if (!set_up(&bed, 16, one))
		return;
	EXPECT(is_data(post_wr(&bed, &wr, &want)->sge));
	EXPECT_EQ(complete(&bed), IBV_WC_COMP_SWAP);
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	want.opcode = OHCA_OP_FETCH_ADD;
	want.rdma.swap = 0;
	EXPECT(is_data(post_wr(&bed, &wr, &want)->sge));
	EXPECT_EQ(complete(&bed), IBV_WC_FETCH_ADD);
	wr.send_flags = IBV_SEND_INLINE;
	EXPECT_EQ(ohca_post_send(bed.qp, &wr, &bad), EINVAL);

	wr.send_flags = 0;
	wr.opcode = IBV_WR_ATOMIC_WRITE;
	wr.wr.rdma.remote_addr = 0x2000;
	wr.wr.rdma.rkey = 0x88;
	want = (struct ohca_sq_wqe){
		.opcode = OHCA_OP_ATOMIC_WRITE,
		.num_sge = htole16(1),
		.rdma = {.raddr = htole64(0x2000), .rkey = htole32(0x88)},
	};
	EXPECT(is_data(post_wr(&bed, &wr, &want)->sge));
	EXPECT_EQ(complete(&bed), IBV_WC_ATOMIC_WRITE);
	wr.opcode = IBV_WR_FLUSH;
	EXPECT_EQ(ohca_post_send(bed.qp, &wr, &bad), EINVAL);
	tear_down(&bed);
}

static void test_keys(const void *arg)
{
	struct ibv_mr mr = {.lkey = 0x9900};
	struct ohca_mw mw = {.mw = {.type = IBV_MW_TYPE_2, .rkey = 0x4401}};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND_WITH_INV,
		.sg_list = &data_sge,
		.num_sge = 1,
		.invalidate_rkey = 0x1234,
	};
	struct ohca_sq_wqe want = {
		.opcode = OHCA_OP_SEND_INV,
		.num_sge = htole16(1),
		.inv_key = htole32(0x1234),
	};
	struct ibv_send_wr *bad;
	struct bed bed;

	(void)arg;
	if (!set_up(&bed, 16, one))
		return;
	EXPECT(is_data(post_wr(&bed, &wr, &want)->sge));
	EXPECT_EQ(complete(&bed), IBV_WC_SEND);
	wr.opcode = IBV_WR_LOCAL_INV;
	EXPECT_EQ(ohca_post_send(bed.qp, &wr, &bad), EINVAL);
	wr.num_sge = 0;
	wr.send_flags = IBV_SEND_SOLICITED | IBV_SEND_INLINE | IBV_SEND_FENCE;
	want.opcode = OHCA_OP_LOCAL_INV;
	want.flags = OHCA_WQE_FENCE;
	want.num_sge = 0;
	post_wr(&bed, &wr, &want);
	EXPECT_EQ(complete(&bed), IBV_WC_LOCAL_INV);

	wr.opcode = IBV_WR_BIND_MW;
	wr.bind_mw.mw = &mw.mw;
	wr.bind_mw.rkey = 0x9902; /* the low bits count */
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
		.mr = &mr,
		.addr = 0x10000,
		.length = 0x300000000,
		.mw_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED,
	};
	want = (struct ohca_sq_wqe){
		.opcode = OHCA_OP_BIND_MW,
		.flags = OHCA_WQE_FENCE,
		.bind = {.addr = htole64(0x10000),
			 .length = htole64(0x300000000),
			 .lkey = htole32(0x9900),
			 .rkey = htole32(0x4401),
			 .new_rkey = htole32(0x4402),
			 .access = OHCA_ACCESS_REMOTE_READ | OHCA_ACCESS_ZERO_BASED},
	};
	post_wr(&bed, &wr, &want);
	EXPECT_EQ(complete(&bed), IBV_WC_BIND_MW);
	EXPECT_EQ(mw.mw.rkey, 0x4402);
	wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_LOCAL_WRITE;
	want.bind.access = 0;
	want.bind.rkey = htole32(0x4402);
	post_wr(&bed, &wr, &want);
	wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_MW_BIND;
	EXPECT_EQ(ohca_post_send(bed.qp, &wr, &bad), EINVAL);
	tear_down(&bed);
}

static void test_ud(const void *arg)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_type = IBV_QPT_UD,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB,
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND_WITH_IMM,
		.sg_list = &data_sge,
		.num_sge = 1,
		.send_flags = IBV_SEND_SOLICITED,
		.imm_data = htobe32(0xabcd),
		.wr.ud = {.remote_qpn = 0x123456, .remote_qkey = 0x80010000},
	};
	struct ohca_sq_wqe *wqe,
		want = {
			.opcode = OHCA_OP_SEND_IMM,
			.flags = OHCA_WQE_EXT | OHCA_WQE_SOLICITED,
			.num_sge = htole16(1),
			.imm_data = htobe32(0xabcd),
			.ud = {.dest_qpn = htole32(0x123456), .qkey = htole32(0x80010000)},
		};
	struct ibv_sge local = {.addr = (uintptr_t)"datagram", .length = 9};
	struct ibv_ah_attr ah_attr = {};
	struct ohca_wqe_ext *ext;
	struct ibv_send_wr *bad;
	struct ibv_ah *ah;
	struct bed bed;

	(void)arg;
	if (!set_up_bare(&bed, 16))
		return;
	memset(&mock_av, 0x5c, sizeof(mock_av));
	ah = ohca_create_ah(bed.pd, &ah_attr);
	if (!EXPECT(ah))
		return;
	wr.wr.ud.ah = ah;
	use_qp(&bed, make_qp_type(&bed, IBV_QPT_UD, NULL, one));
	/* 48 of header, 32 of extension, 2 elements */
	EXPECT_EQ(bed.dev->req.sq_log_stride, 7);
	EXPECT_EQ(to_oqp(bed.qp)->cap.max_send_sge, 3);
	EXPECT_EQ(to_oqp(bed.qp)->cap.max_inline_data, 48);
	wqe = post_wr(&bed, &wr, &want);
	ext = (struct ohca_wqe_ext *)wqe->sge;
	EXPECT(!memcmp(&ext->av, &mock_av, sizeof(mock_av)));
	EXPECT(is_data(ext + 1));
	EXPECT_EQ(complete(&bed), IBV_WC_SEND);

	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_INLINE;
	wr.sg_list = &local;
	want.opcode = OHCA_OP_SEND;
	want.flags = OHCA_WQE_EXT | OHCA_WQE_INLINE;
	want.num_sge = htole16(9);
	want.imm_data = 0;
	wqe = post_wr(&bed, &wr, &want);
	ext = (struct ohca_wqe_ext *)wqe->sge;
	EXPECT(!memcmp(ext + 1, "datagram", 9));
	EXPECT(!memcmp(&ext->av, &mock_av, sizeof(mock_av)));
	EXPECT_EQ(complete(&bed), IBV_WC_SEND);
	wr.send_flags |= IBV_SEND_IP_CSUM;
	want.flags |= OHCA_WQE_CSUM;
	post_wr(&bed, &wr, &want);
	EXPECT_EQ(complete(&bed), IBV_WC_SEND);
	wr.send_flags = 0;
	wr.opcode = IBV_WR_RDMA_WRITE;
	EXPECT_EQ(ohca_post_send(bed.qp, &wr, &bad), EINVAL);
	wr.opcode = IBV_WR_LOCAL_INV;
	EXPECT_EQ(ohca_post_send(bed.qp, &wr, &bad), EINVAL);
	wr.opcode = IBV_WR_TSO;
	EXPECT_EQ(ohca_post_send(bed.qp, &wr, &bad), EINVAL);

	EXPECT_EQ(ohca_destroy_qp(bed.qp), 0);
	to_octx(bed.ctx)->caps = ~OHCA_CAP_UD_CSUM;
	use_qp(&bed, make_qp_type(&bed, IBV_QPT_UD, NULL, one));
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_IP_CSUM;
	EXPECT_EQ(ohca_post_send(bed.qp, &wr, &bad), EINVAL);
	to_octx(bed.ctx)->caps = UINT64_MAX;

	ex.send_cq = bed.cq;
	ex.recv_cq = bed.cq;
	ex.pd = bed.pd;
	EXPECT_EQ(ohca_destroy_qp(bed.qp), 0);
	bed.qp = ohca_create_qp_ex(bed.ctx, &ex);
	EXPECT(bed.qp);
	EXPECT_EQ(mock_create_flags, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);
	ex.qp_type = IBV_QPT_RC;
	EXPECT_NULL(ohca_create_qp_ex(bed.ctx, &ex), EOPNOTSUPP);

	mock_fail = EBUSY;
	EXPECT_EQ(ohca_destroy_ah(ah), EBUSY);
	EXPECT_EQ(ohca_destroy_ah(ah), 0);
	mock_fail = EHOSTUNREACH;
	EXPECT_NULL(ohca_create_ah(bed.pd, &ah_attr), EHOSTUNREACH);
	to_octx(bed.ctx)->caps = ~OHCA_CAP_UD;
	EXPECT_NULL(ohca_create_ah(bed.pd, &ah_attr), EOPNOTSUPP);
	tear_down(&bed);
}

static void test_uc(const void *arg)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.sg_list = &data_sge,
		.num_sge = 1,
		.imm_data = htobe32(7),
		.wr.rdma = {.remote_addr = 0x3000, .rkey = 0x99},
	};
	struct ohca_sq_wqe want = {
		.opcode = OHCA_OP_RDMA_WRITE_IMM,
		.num_sge = htole16(1),
		.imm_data = htobe32(7),
		.rdma = {.raddr = htole64(0x3000), .rkey = htole32(0x99)},
	};
	static const enum ibv_wr_opcode not_uc[] = {
		IBV_WR_RDMA_READ,     IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_SEND_WITH_INV, IBV_WR_ATOMIC_WRITE,	 IBV_WR_FLUSH,
		IBV_WR_TSO,
	};
	struct ibv_send_wr *bad;
	struct bed bed;
	size_t i;

	(void)arg;
	if (!set_up_bare(&bed, 16))
		return;
	use_qp(&bed, make_qp_type(&bed, IBV_QPT_UC, NULL, one));
	EXPECT(is_data(post_wr(&bed, &wr, &want)->sge));
	EXPECT_EQ(complete(&bed), IBV_WC_RDMA_WRITE);
	for (i = 0; i < ARRAY_SIZE(not_uc); i++) {
		wr.opcode = not_uc[i];
		EXPECT_EQ(ohca_post_send(bed.qp, &wr, &bad), EINVAL);
	}
	tear_down(&bed);
}

static void test_xrc(const void *arg)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND,
		.sg_list = &data_sge,
		.num_sge = 1,
		.qp_type.xrc.remote_srqn = 0x4321,
	};
	struct ohca_sq_wqe want = {
		.opcode = OHCA_OP_SEND,
		.num_sge = htole16(1),
		.rdma = {.srqn = htole32(0x4321)},
	};
	struct bed bed;

	(void)arg;
	if (!set_up_bare(&bed, 16))
		return;
	use_qp(&bed, make_qp_type(&bed, IBV_QPT_XRC_SEND, NULL, one));
	EXPECT(!bed.qp->recv_cq);
	EXPECT_EQ(bed.dev->req.rq_log_stride, 0);
	EXPECT_EQ(post_rx(&bed, 1), EINVAL);
	EXPECT(is_data(post_wr(&bed, &wr, &want)->sge));
	EXPECT_EQ(complete(&bed), IBV_WC_SEND);
	wr.opcode = IBV_WR_RDMA_READ;
	wr.wr.rdma.remote_addr = 0x3000;
	wr.wr.rdma.rkey = 0x99;
	want.opcode = OHCA_OP_RDMA_READ;
	want.rdma.raddr = htole64(0x3000);
	want.rdma.rkey = htole32(0x99);
	EXPECT(is_data(post_wr(&bed, &wr, &want)->sge));
	EXPECT_EQ(complete(&bed), IBV_WC_RDMA_READ);
	tear_down(&bed);
}

static void test_poll_ud(const void *arg)
{
	const struct ohca_cqe cqes[] = {
		{.opcode = OHCA_CQE_RECV,
		 .flags = OHCA_CQE_F_RQ | OHCA_CQE_F_GRH | OHCA_CQE_F_IMM | OHCA_CQE_F_CSUM_OK,
		 .src_qpn = htole32(0x654321),
		 .pkey_index = htole16(3),
		 .vlan = htole16(55),
		 .timestamp = htole64(0x1122334455667788),
		 .sl = 5,
		 .net_type = OHCA_NET_IPV6},
		{.opcode = OHCA_CQE_RECV,
		 .flags = OHCA_CQE_F_RQ | OHCA_CQE_F_INV,
		 .vlan = htole16(OHCA_VLAN_NONE),
		 .inv_key = htole32(0x1234)},
	};
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			    IBV_WC_EX_WITH_CVLAN,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN | IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
	};
	struct mock_qp stranger = {.qpn = 0x1234};
	struct ibv_poll_cq_attr poll = {};
	struct ibv_wc wc[2];
	struct ibv_cq_ex *cq;
	struct mock_cq *mock;
	struct bed bed;
	int i;

	(void)arg;
	if (!set_up_bare(&bed, 4))
		return;
	cq = ohca_create_cq_ex(bed.ctx, &attr);
	if (!EXPECT(cq))
		return;
	mock = cq->cq_context;
	EXPECT(mock->flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN);
	EXPECT(to_ocq_ex(cq)->lock.off);
	for (i = 0; i < 4; i++)
		mock_complete(mock, &stranger, i, &cqes[i % 2]);
	EXPECT_EQ(ohca_poll_cq(ibv_cq_ex_to_cq(cq), 2, wc), 2);
	EXPECT_EQ(wc[0].wc_flags, IBV_WC_GRH | IBV_WC_WITH_IMM | IBV_WC_IP_CSUM_OK);
	EXPECT_EQ(wc[0].src_qp, 0x654321);
	EXPECT_EQ(wc[0].pkey_index, 3);
	EXPECT_EQ(wc[0].sl, 5);
	EXPECT_EQ(wc[0].slid, 0);
	EXPECT_EQ(wc[0].dlid_path_bits, 0);
	EXPECT_EQ(wc[1].wc_flags, IBV_WC_WITH_INV);
	EXPECT_EQ(wc[1].invalidated_rkey, 0x1234);
	EXPECT_EQ(ibv_start_poll(cq, &poll), 0);
	EXPECT_EQ(ibv_wc_read_wc_flags(cq), IBV_WC_GRH | IBV_WC_WITH_IMM | IBV_WC_IP_CSUM_OK);
	EXPECT_EQ(ibv_wc_read_src_qp(cq), 0x654321);
	EXPECT_EQ(ibv_wc_read_sl(cq), 5);
	EXPECT_EQ(ibv_wc_read_slid(cq), 0);
	EXPECT_EQ(ibv_wc_read_dlid_path_bits(cq), 0);
	EXPECT_EQ(ibv_wc_read_cvlan(cq), 55);
	EXPECT_EQ(ibv_wc_read_completion_ts(cq), 0x1122334455667788);
	EXPECT_EQ(ibv_next_poll(cq), 0);
	EXPECT_EQ(ibv_wc_read_wc_flags(cq), IBV_WC_WITH_INV);
	EXPECT_EQ(ibv_wc_read_invalidated_rkey(cq), 0x1234);
	EXPECT_EQ(ibv_wc_read_cvlan(cq), 0);
	ibv_end_poll(cq);
	EXPECT_EQ(ohca_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	attr.wc_flags = IBV_WC_EX_WITH_FLOW_TAG;
	EXPECT_NULL(ohca_create_cq_ex(bed.ctx, &attr), EOPNOTSUPP);
	attr.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	EXPECT_NULL(ohca_create_cq_ex(bed.ctx, &attr), EOPNOTSUPP);
	tear_down(&bed);
}

/* On an InfiniBand port a datagram may have no GRH. */
static void test_poll_ib(const void *arg)
{
	static const unsigned int grh[] = {IBV_WC_GRH, 0};
	const struct ohca_cqe cqe = {
		.opcode = OHCA_CQE_RECV,
		.flags = OHCA_CQE_F_RQ,
		.src_qpn = htole32(0x654321),
		.ib = {.slid = htole16(0xb123), .dlid_path_bits = 6},
		.pkey_index = htole16(3),
		.sl = 5,
		.net_type = OHCA_NET_IB,
	};
	struct ibv_cq_init_attr_ex attr = {.cqe = 4, .wc_flags = IBV_WC_STANDARD_FLAGS};
	struct mock_qp stranger = {.qpn = 0x1234};
	struct ibv_poll_cq_attr poll = {};
	struct ibv_cq_ex *cq;
	struct ohca_cqe copy;
	struct ibv_wc wc[2];
	struct bed bed;
	int i;

	(void)arg;
	if (!set_up_bare(&bed, 4))
		return;
	cq = ohca_create_cq_ex(bed.ctx, &attr);
	if (!EXPECT(cq))
		return;
	for (i = 0; i < 3; i++) {
		copy = cqe;
		if (i != 1)
			copy.flags |= OHCA_CQE_F_GRH;
		mock_complete(cq->cq_context, &stranger, i, &copy);
	}
	EXPECT_EQ(ohca_poll_cq(ibv_cq_ex_to_cq(cq), 2, wc), 2);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(wc[i].wc_flags, grh[i]);
		EXPECT_EQ(wc[i].src_qp, 0x654321);
		EXPECT_EQ(wc[i].slid, 0xb123);
		EXPECT_EQ(wc[i].dlid_path_bits, 6);
		EXPECT_EQ(wc[i].pkey_index, 3);
		EXPECT_EQ(wc[i].sl, 5);
	}
	EXPECT_EQ(ibv_start_poll(cq, &poll), 0);
	EXPECT_EQ(ibv_wc_read_wc_flags(cq), IBV_WC_GRH);
	EXPECT_EQ(ibv_wc_read_src_qp(cq), 0x654321);
	EXPECT_EQ(ibv_wc_read_slid(cq), 0xb123);
	EXPECT_EQ(ibv_wc_read_dlid_path_bits(cq), 6);
	EXPECT_EQ(ibv_wc_read_sl(cq), 5);
	ibv_end_poll(cq);
	EXPECT_EQ(ohca_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	tear_down(&bed);
}

static const struct tap_test tests[] = {
	{"atomic operations", test_atomic, NULL},
	{"invalidation and windows", test_keys, NULL},
	{"UD: address vector, extension, inline data", test_ud, NULL},
	{"UC", test_uc, NULL},
	{"XRC initiator", test_xrc, NULL},
	{"completions of datagrams and invalidations, each field", test_poll_ud, NULL},
	{"completions of datagrams of an InfiniBand port", test_poll_ib, NULL},
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
