// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of libohca's extended interface of send queues, and of memory windows, against a mock
 * kernel and device.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bed.h"
#include "tap.h"

#define RC_OPS                                                                                  \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND | \
	 IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |                              \
	 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |              \
	 IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV |     \
	 IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_ATOMIC_WRITE)
#define XRC_OPS (RC_OPS & ~(IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_ATOMIC_WRITE))
#define UC_OPS                                                                                  \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND | \
	 IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW)
#define UD_OPS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)

static struct ibv_qp *make_ex(struct bed *bed, enum ibv_qp_type type, uint64_t ops)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = bed->cq,
		.recv_cq = bed->cq,
		.cap = {.max_send_wr = 16, .max_send_sge = 2, .max_inline_data = 32},
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = bed->pd,
		.send_ops_flags = ops,
	};

	return ohca_create_qp_ex(bed->ctx, &attr);
}

static struct ibv_qp_ex *set_up_ex(struct bed *bed, enum ibv_qp_type type, uint64_t ops)
{
	struct ibv_qp *qp;

	if (!set_up_bare(bed, 16))
		return NULL;
	qp = make_ex(bed, type, ops);
	if (!EXPECT(qp))
		return NULL;
	use_qp(bed, qp);
	EXPECT(to_oqp(qp)->vqp.comp_mask & VERBS_QP_EX);
	return &to_oqp(qp)->vqp.qp_ex;
}

static void test_ops(const void *arg)
{
	static const struct {
		enum ibv_qp_type type;
		uint64_t ops;
	} types[] = {
		{IBV_QPT_RC, RC_OPS},
		{IBV_QPT_UC, UC_OPS},
		{IBV_QPT_UD, UD_OPS},
		{IBV_QPT_XRC_SEND, XRC_OPS},
	};
	struct bed bed;
	unsigned int bit;
	size_t i;

	(void)arg;
	if (!set_up_bare(&bed, 16))
		return;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		for (bit = 0; bit < 64; bit++) {
			struct ibv_qp *qp = make_ex(&bed, types[i].type, 1ULL << bit);

			EXPECT_EQ(!!qp, types[i].ops >> bit & 1);
			if (qp)
				EXPECT_EQ(ohca_destroy_qp(qp), 0);
			else
				EXPECT_EQ(errno, EOPNOTSUPP);
		}
	}
	to_octx(bed.ctx)->caps = 0;
	EXPECT_NULL(make_ex(&bed, IBV_QPT_RC, IBV_QP_EX_WITH_ATOMIC_WRITE), EOPNOTSUPP);
	EXPECT_NULL(make_ex(&bed, IBV_QPT_RC, IBV_QP_EX_WITH_BIND_MW), EOPNOTSUPP);
	tear_down(&bed);
}

/* Entry @idx, of which the header is as in @want. */
static struct ohca_sq_wqe *check_wqe(struct bed *bed, uint32_t idx, const struct ohca_sq_wqe *want)
{
	struct ohca_sq_wqe *wqe = mock_sq_wqe(bed->dev, idx);

	EXPECT_EQ(wqe->opcode, want->opcode);
	EXPECT_EQ(wqe->flags, want->flags);
	EXPECT_EQ(wqe->num_sge, want->num_sge);
	EXPECT_EQ(wqe->imm_data, want->imm_data);
	EXPECT_EQ(le64toh(wqe->wr_id), idx);
	EXPECT(!memcmp(wqe->rsvd, want->rsvd, sizeof(wqe->rsvd)));
	return wqe;
}

static void next_wr(struct ibv_qp_ex *ex, unsigned int flags)
{
	struct ohca_qp *qp = to_oqp(&ex->qp_base);
	uint32_t stride = 1U << qp->sq.log_stride;

	/* Nothing of an earlier request remains. */
	memset(qp->sq.ring + (size_t)(qp->wr_pi & qp->sq.mask) * stride, 0xff, stride);
	ex->wr_id = qp->wr_pi;
	ex->wr_flags = flags;
}

static void test_rc(const void *arg)
{
	struct ibv_mr mr = {.lkey = 0x9900};
	struct ohca_mw mw = {.mw = {.type = IBV_MW_TYPE_2, .rkey = 0x4401}};
	struct ibv_mw_bind_info bind = {.mr = &mr,
					.addr = 0x10000,
					.length = 0x5000,
					.mw_access_flags = IBV_ACCESS_REMOTE_WRITE};
	struct ibv_sge sges[2] = {{0x1111, 11, 0x11}, {0x2222, 22, 0x22}};
	struct ibv_data_buf bufs[3] = {{"extended", 8}, {NULL, 0}, {"inline", 6}};
	struct ohca_sq_wqe *wqe;
	struct ibv_qp_ex *ex;
	struct bed bed;

	(void)arg;
	ex = set_up_ex(&bed, IBV_QPT_RC, RC_OPS);
	if (!ex)
		return;
	ibv_wr_start(ex);
	next_wr(ex, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, 0x33, 0x3333, 33);
	next_wr(ex, IBV_SEND_SOLICITED);
	ibv_wr_send_imm(ex, htobe32(0x1234));
	ibv_wr_set_sge_list(ex, 2, sges);
	next_wr(ex, IBV_SEND_FENCE);
	ibv_wr_send_inv(ex, 0x8888);
	next_wr(ex, 0);
	ibv_wr_rdma_write(ex, 0x77, 0x7000);
	ibv_wr_set_inline_data(ex, "hello", 5);
	next_wr(ex, 0);
	ibv_wr_rdma_write_imm(ex, 0x77, 0x7000, htobe32(0x4321));
	ibv_wr_set_inline_data_list(ex, 3, bufs);
	next_wr(ex, 0);
	ibv_wr_rdma_read(ex, 0x77, 0x7000);
	next_wr(ex, 0);
	ibv_wr_atomic_cmp_swp(ex, 0x77, 0x7000, 5, 6);
	next_wr(ex, 0);
	ibv_wr_atomic_fetch_add(ex, 0x77, 0x7000, 5);
	next_wr(ex, 0);
	ibv_wr_atomic_write(ex, 0x77, 0x7000, "8 bytes");
	next_wr(ex, IBV_SEND_SOLICITED | IBV_SEND_INLINE);
	ibv_wr_flush(ex, 0x77, 0x7000, 0x123456789, IBV_FLUSH_PERSISTENT, IBV_FLUSH_MR);
	next_wr(ex, IBV_SEND_SOLICITED | IBV_SEND_INLINE);
	ibv_wr_local_inv(ex, 0x8888);
	next_wr(ex, IBV_SEND_SOLICITED | IBV_SEND_INLINE);
	ibv_wr_bind_mw(ex, &mw.mw, 0x4402, &bind);
	/* Nothing has been posted yet. */
	EXPECT_EQ(mock_sq_pi(bed.dev), 0);
	EXPECT_EQ(ibv_wr_complete(ex), 0);
	EXPECT_EQ(mock_sq_pi(bed.dev), 12);
	EXPECT_EQ(le64toh(mock_shadow.direct[bed.dev->req.slot / 64]),
		  1ULL << bed.dev->req.slot % 64);

	wqe = check_wqe(&bed, 0,
			&(struct ohca_sq_wqe){.opcode = OHCA_OP_SEND,
					      .flags = OHCA_WQE_SIGNALED,
					      .num_sge = htole16(1)});
	EXPECT_EQ(le64toh(wqe->sge[0].addr), 0x3333);
	EXPECT_EQ(le32toh(wqe->sge[0].length), 33);
	EXPECT_EQ(le32toh(wqe->sge[0].lkey), 0x33);
	wqe = check_wqe(&bed, 1,
			&(struct ohca_sq_wqe){.opcode = OHCA_OP_SEND_IMM,
					      .flags = OHCA_WQE_SOLICITED,
					      .num_sge = htole16(2),
					      .imm_data = htobe32(0x1234)});
	EXPECT_EQ(le64toh(wqe->sge[0].addr), 0x1111);
	EXPECT_EQ(le32toh(wqe->sge[1].length), 22);
	check_wqe(&bed, 2,
		  &(struct ohca_sq_wqe){.opcode = OHCA_OP_SEND_INV,
					.flags = OHCA_WQE_FENCE,
					.inv_key = htole32(0x8888)});
	struct ohca_sq_wqe want = {
		.opcode = OHCA_OP_RDMA_WRITE,
		.flags = OHCA_WQE_INLINE,
		.num_sge = htole16(5),
		.rdma = {.raddr = htole64(0x7000), .rkey = htole32(0x77)},
	};
	EXPECT(!memcmp(check_wqe(&bed, 3, &want)->sge, "hello", 5));
	want.opcode = OHCA_OP_RDMA_WRITE_IMM;
	want.num_sge = htole16(14);
	want.imm_data = htobe32(0x4321);
	EXPECT(!memcmp(check_wqe(&bed, 4, &want)->sge, "extendedinline", 14));
	want.opcode = OHCA_OP_RDMA_READ;
	want.flags = 0;
	want.num_sge = 0;
	want.imm_data = 0;
	check_wqe(&bed, 5, &want);
	want.opcode = OHCA_OP_CMP_SWAP;
	want.rdma.compare_add = htole64(5);
	want.rdma.swap = htole64(6);
	check_wqe(&bed, 6, &want);
	want.opcode = OHCA_OP_FETCH_ADD;
	want.rdma.swap = 0;
	check_wqe(&bed, 7, &want);
	want.opcode = OHCA_OP_ATOMIC_WRITE;
	want.rdma.compare_add = 0;
	want.flags = OHCA_WQE_INLINE;
	want.num_sge = htole16(8);
	EXPECT(!memcmp(check_wqe(&bed, 8, &want)->sge, "8 bytes", 8));
	check_wqe(&bed, 9,
		  &(struct ohca_sq_wqe){.opcode = OHCA_OP_FLUSH,
					.flush = {.raddr = htole64(0x7000),
						  .length = htole64(0x123456789),
						  .rkey = htole32(0x77),
						  .placement = OHCA_FLUSH_PERSISTENT,
						  .level = OHCA_FLUSH_MR}});
	check_wqe(&bed, 10,
		  &(struct ohca_sq_wqe){.opcode = OHCA_OP_LOCAL_INV, .inv_key = htole32(0x8888)});
	check_wqe(&bed, 11,
		  &(struct ohca_sq_wqe){.opcode = OHCA_OP_BIND_MW,
					.bind = {.addr = htole64(0x10000),
						 .length = htole64(0x5000),
						 .lkey = htole32(0x9900),
						 .rkey = htole32(0x4401),
						 .new_rkey = htole32(0x4402),
						 .access = OHCA_ACCESS_REMOTE_WRITE}});
	tear_down(&bed);
}

static void test_ud(const void *arg)
{
	struct ibv_ah_attr ah_attr = {};
	struct ohca_wqe_ext *ext;
	struct ibv_qp_ex *ex;
	struct ibv_ah *ah;
	struct bed bed;

	(void)arg;
	ex = set_up_ex(&bed, IBV_QPT_UD, UD_OPS);
	if (!ex)
		return;
	memset(&mock_av, 0x5c, sizeof(mock_av));
	ah = ohca_create_ah(bed.pd, &ah_attr);
	ibv_wr_start(ex);
	next_wr(ex, 0);
	ibv_wr_send_imm(ex, htobe32(3));
	ibv_wr_set_ud_addr(ex, ah, 0x123456, 0x11111111);
	ibv_wr_set_inline_data(ex, "datagram", 9);
	EXPECT_EQ(ibv_wr_complete(ex), 0);
	ext = (void *)check_wqe(&bed, 0,
				&(struct ohca_sq_wqe){.opcode = OHCA_OP_SEND_IMM,
						      .flags = OHCA_WQE_EXT | OHCA_WQE_INLINE,
						      .num_sge = htole16(9),
						      .imm_data = htobe32(3),
						      .ud = {.dest_qpn = htole32(0x123456),
							     .qkey = htole32(0x11111111)}})
		      ->sge;
	EXPECT(!memcmp(&ext->av, &mock_av, sizeof(mock_av)));
	EXPECT(!memcmp(ext + 1, "datagram", 9));
	EXPECT_EQ(ohca_destroy_ah(ah), 0);
	tear_down(&bed);
}

static void test_xrc(const void *arg)
{
	struct ibv_qp_ex *ex;
	struct bed bed;

	(void)arg;
	ex = set_up_ex(&bed, IBV_QPT_XRC_SEND, XRC_OPS);
	if (!ex)
		return;
	ibv_wr_start(ex);
	next_wr(ex, 0);
	ibv_wr_atomic_fetch_add(ex, 0x77, 0x7000, 5);
	ibv_wr_set_xrc_srqn(ex, 0x4321);
	ibv_wr_set_sge(ex, 1, 2, 8);
	EXPECT_EQ(ibv_wr_complete(ex), 0);
	check_wqe(&bed, 0,
		  &(struct ohca_sq_wqe){.opcode = OHCA_OP_FETCH_ADD,
					.num_sge = htole16(1),
					.rdma = {.raddr = htole64(0x7000),
						 .rkey = htole32(0x77),
						 .srqn = htole32(0x4321),
						 .compare_add = htole64(5)}});
	tear_down(&bed);
}

/* After any error, nothing is posted, and the queue continues as before. */
static void test_errors(const void *arg)
{
	struct ohca_mw mw = {.mw = {.type = IBV_MW_TYPE_2, .rkey = 0x4401}};
	struct ibv_mw_bind_info bind = {.mw_access_flags = IBV_ACCESS_MW_BIND};
	struct ibv_sge sges[OHCA_MAX_SGE] = {};
	struct ibv_qp_ex *ex;
	struct ibv_wc wc;
	struct bed bed;
	char data[257];
	int i, n;

	(void)arg;
	ex = set_up_ex(&bed, IBV_QPT_RC, RC_OPS);
	if (!ex)
		return;
	for (i = 0; i < 7; i++) {
		ibv_wr_start(ex);
		next_wr(ex, 0);
		ibv_wr_send(ex);
		if (i == 0)
			ibv_wr_set_sge_list(ex, OHCA_MAX_SGE, sges);
		else if (i == 1)
			ibv_wr_set_inline_data(ex, data, sizeof(data));
		else if (i == 2)
			next_wr(ex, IBV_SEND_IP_CSUM);
		else if (i == 3)
			ibv_wr_bind_mw(ex, &mw.mw, 0x4402, &bind);
		/* Setters and operations after the error have no effect. */
		ibv_wr_send(ex);
		ibv_wr_set_sge(ex, 1, 2, 3);
		ibv_wr_set_inline_data(ex, data, 1);
		for (n = 0; i == 4 && n < 15; n++)
			ibv_wr_send(ex);
		if (i == 5)
			ibv_wr_abort(ex);
		else
			EXPECT_EQ(ibv_wr_complete(ex), i == 6 ? 0 : i == 4 ? ENOMEM : EINVAL);
		EXPECT_EQ(mock_sq_pi(bed.dev), i == 6 ? 2 : 0);
	}
	EXPECT(mock_do_send(bed.dev));
	EXPECT(mock_do_send(bed.dev));
	EXPECT_EQ(post(&bed, 9, IBV_SEND_SIGNALED), 0);
	EXPECT(mock_do_send(bed.dev));
	EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 1);
	EXPECT_EQ(wc.wr_id, 9);
	EXPECT_EQ(to_state(bed.qp, IBV_QPS_RESET), 0);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, 1, 2, 3);
	EXPECT_EQ(ibv_wr_complete(ex), EINVAL);
	EXPECT_EQ(mock_sq_pi(bed.dev), 0);
	ibv_wr_start(ex);
	EXPECT_EQ(ibv_wr_complete(ex), EINVAL);
	tear_down(&bed);
}

static void test_window(const void *arg)
{
	struct ibv_mr mr = {.lkey = 0x9900};
	struct ibv_mw_bind bind = {
		.wr_id = 0,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {.mr = &mr, .addr = 0x10000, .length = 0x5000},
	};
	struct ibv_mw *mw;
	struct bed bed;

	(void)arg;
	if (!set_up(&bed, 4, (struct ibv_qp_cap){.max_send_wr = 2}))
		return;
	mw = ohca_alloc_mw(bed.pd, IBV_MW_TYPE_1);
	if (!EXPECT(mw))
		return;
	EXPECT_EQ(mw->rkey, 0xab12ff);
	EXPECT_EQ(ohca_bind_mw(bed.qp, mw, &bind), 0);
	EXPECT_EQ(mw->rkey, 0xab1200);
	check_wqe(&bed, 0,
		  &(struct ohca_sq_wqe){.opcode = OHCA_OP_BIND_MW,
					.flags = OHCA_WQE_SIGNALED,
					.bind = {.addr = htole64(0x10000),
						 .length = htole64(0x5000),
						 .lkey = htole32(0x9900),
						 .rkey = htole32(0xab12ff),
						 .new_rkey = htole32(0xab1200)}});
	/* Unbinding; and a failure leaves the key unchanged. */
	bind.wr_id = 1;
	bind.bind_info = (struct ibv_mw_bind_info){};
	EXPECT_EQ(ohca_bind_mw(bed.qp, mw, &bind), 0);
	check_wqe(&bed, 1,
		  &(struct ohca_sq_wqe){.opcode = OHCA_OP_BIND_MW,
					.flags = OHCA_WQE_SIGNALED,
					.bind = {.rkey = htole32(0xab1200),
						 .new_rkey = htole32(0xab1201)}});
	EXPECT_EQ(ohca_bind_mw(bed.qp, mw, &bind), ENOMEM);
	EXPECT_EQ(mw->rkey, 0xab1201);
	mock_fail = EBUSY;
	EXPECT_EQ(ohca_dealloc_mw(mw), EBUSY);
	EXPECT_EQ(ohca_dealloc_mw(mw), 0);
	EXPECT_NULL(ohca_alloc_mw(bed.pd, 3), EINVAL);
	mock_fail = ENOSPC;
	EXPECT_NULL(ohca_alloc_mw(bed.pd, IBV_MW_TYPE_2), ENOSPC);
	to_octx(bed.ctx)->caps = ~OHCA_CAP_MW;
	EXPECT_NULL(ohca_alloc_mw(bed.pd, IBV_MW_TYPE_2), EOPNOTSUPP);
	tear_down(&bed);
}

static void bind_both(struct ibv_qp_ex *ex, struct ibv_mw *mw[2])
{
	struct ibv_mw_bind_info bind = {};
	int i;

	ibv_wr_start(ex);
	for (i = 0; i < 3; i++) {
		next_wr(ex, 0);
		ibv_wr_bind_mw(ex, mw[i % 2], 1 + i, &bind);
	}
}

/* The keys of windows are as before if their requests are not posted. */
static void test_window_keys(const void *arg)
{
	struct ibv_mw *mw[2];
	struct ibv_qp_ex *ex;
	struct bed bed;
	int i;

	(void)arg;
	ex = set_up_ex(&bed, IBV_QPT_RC, RC_OPS);
	if (!ex)
		return;
	for (i = 0; i < 2; i++) {
		mw[i] = ohca_alloc_mw(bed.pd, IBV_MW_TYPE_2);
		if (!EXPECT(mw[i]))
			return;
		EXPECT_EQ(mw[i]->rkey, 0xab12ff);
	}
	for (i = 0; i < 3; i++) {
		bind_both(ex, mw);
		if (i == 0) {
			ibv_wr_abort(ex);
		} else if (i == 1) {
			ex->wr_flags = IBV_SEND_IP_CSUM;
			ibv_wr_send(ex);
			EXPECT_EQ(ibv_wr_complete(ex), EINVAL);
		} else {
			EXPECT_EQ(ibv_wr_complete(ex), 0);
		}
		EXPECT_EQ(mw[0]->rkey, i == 2 ? 0xab1203 : 0xab12ff);
		EXPECT_EQ(mw[1]->rkey, i == 2 ? 0xab1202 : 0xab12ff);
	}
	check_wqe(&bed, 0,
		  &(struct ohca_sq_wqe){.opcode = OHCA_OP_BIND_MW,
					.bind = {.rkey = htole32(0xab12ff),
						 .new_rkey = htole32(0xab1201)}});
	check_wqe(&bed, 2,
		  &(struct ohca_sq_wqe){.opcode = OHCA_OP_BIND_MW,
					.bind = {.rkey = htole32(0xab1201),
						 .new_rkey = htole32(0xab1203)}});
	for (i = 0; i < 2; i++)
		EXPECT_EQ(ohca_dealloc_mw(mw[i]), 0);
	tear_down(&bed);
}

/* A window is bound in the section of one QP at a time. */
static void test_window_sections(const void *arg)
{
	struct ibv_mw_bind_info info = {};
	struct ibv_qp_ex *ex, *other;
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_BIND_MW};
	struct bed bed, second;
	struct ibv_mw *mw[2];
	int i;

	(void)arg;
	ex = set_up_ex(&bed, IBV_QPT_RC, RC_OPS);
	if (!ex)
		return;
	second = bed;
	use_qp(&second, make_ex(&bed, IBV_QPT_RC, RC_OPS));
	other = &to_oqp(second.qp)->vqp.qp_ex;
	for (i = 0; i < 2; i++)
		mw[i] = ohca_alloc_mw(bed.pd, IBV_MW_TYPE_2);
	wr.bind_mw.mw = mw[0];
	wr.bind_mw.rkey = 7;

	bind_both(ex, mw);
	ibv_wr_start(other);
	next_wr(other, 0);
	ibv_wr_bind_mw(other, mw[1], 9, &info);
	EXPECT_EQ(mw[1]->rkey, 0xab1202);
	ibv_wr_abort(ex);
	EXPECT_EQ(ibv_wr_complete(other), EBUSY);
	EXPECT_EQ(mw[0]->rkey, 0xab12ff);
	EXPECT_EQ(mw[1]->rkey, 0xab12ff);
	EXPECT_EQ(mock_sq_pi(bed.dev), 0);
	EXPECT_EQ(mock_sq_pi(second.dev), 0);

	bind_both(ex, mw);
	EXPECT_EQ(ohca_post_send(second.qp, &wr, &bad), EBUSY);
	EXPECT(bad == &wr);
	EXPECT_EQ(mw[0]->rkey, 0xab1203);
	EXPECT_EQ(ibv_wr_complete(ex), 0);
	EXPECT_EQ(mw[0]->rkey, 0xab1203);
	EXPECT_EQ(ohca_post_send(second.qp, &wr, &bad), 0);
	EXPECT_EQ(mw[0]->rkey, 0xab1207);
	ibv_wr_start(other);
	next_wr(other, 0);
	ibv_wr_bind_mw(other, mw[1], 9, &info);
	EXPECT_EQ(ibv_wr_complete(other), 0);
	EXPECT_EQ(mw[1]->rkey, 0xab1209);
	EXPECT_EQ(mock_sq_pi(bed.dev), 3);
	EXPECT_EQ(mock_sq_pi(second.dev), 2);

	for (i = 0; i < 2; i++)
		EXPECT_EQ(ohca_dealloc_mw(mw[i]), 0);
	EXPECT_EQ(ohca_destroy_qp(second.qp), 0);
	tear_down(&bed);
}

static const struct tap_test tests[] = {
	{"operations of each type of QP, and no others", test_ops, NULL},
	{"RC: every operation and setter", test_rc, NULL},
	{"UD", test_ud, NULL},
	{"XRC", test_xrc, NULL},
	{"mistakes, abort, full queue, state", test_errors, NULL},
	{"windows of type 1", test_window, NULL},
	{"windows: requests that are not posted", test_window_keys, NULL},
	{"windows: requests of two QPs at the same time", test_window_sections, NULL},
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
