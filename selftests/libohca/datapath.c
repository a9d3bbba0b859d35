// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of libohca's data path against a mock kernel and device: contents of memory, completions,
 * and every request that must be refused.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bed.h"
#include "tap.h"

#ifndef ROUNDS
#define ROUNDS 200000
#endif

static void test_create(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 100,
				 .max_recv_wr = 5,
				 .max_send_sge = 2,
				 .max_recv_sge = 2,
				 .max_inline_data = 0};
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct bed bed;

	(void)arg;
	if (!set_up(&bed, 33, cap))
		return;
	EXPECT_EQ(bed.cq->cqe, 64);
	EXPECT_EQ(ohca_query_qp(bed.qp, &attr, 0, &init), 0);
	EXPECT_EQ(init.cap.max_send_wr, 128);
	EXPECT_EQ(init.cap.max_recv_wr, 8);
	EXPECT_EQ(init.cap.max_send_sge, 5);
	EXPECT_EQ(init.cap.max_recv_sge, 3);
	EXPECT_EQ(init.cap.max_inline_data, 80);
	EXPECT_EQ(attr.cap.max_send_wr, 128);
	EXPECT_EQ(bed.dev->req.buf_addr % 4096, 0);
	EXPECT_EQ(bed.dev->req.buf_size % 4096, 0);
	EXPECT_EQ(bed.dev->req.sq_log_stride, 7);
	EXPECT_EQ(ohca_dealloc_pd(bed.pd), EBUSY);
	tear_down(&bed);
}

static void test_create_refused(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 4, .max_recv_wr = 4};
	struct ibv_cq_init_attr_ex cq = {.cqe = 1};
	struct bed bed;

	(void)arg;
	if (!set_up(&bed, 1, cap))
		return;
	struct ibv_qp_init_attr_ex ex = {
		.send_cq = bed.cq,
		.recv_cq = bed.cq,
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = bed.pd,
	};

	EXPECT_NULL(ohca_create_qp_ex(bed.ctx, &ex), EOPNOTSUPP);
	to_octx(bed.ctx)->caps = 0;
	ex.qp_type = IBV_QPT_RAW_PACKET;
	EXPECT_NULL(ohca_create_qp_ex(bed.ctx, &ex), EOPNOTSUPP);
	ex.qp_type = IBV_QPT_UD;
	EXPECT_NULL(ohca_create_qp_ex(bed.ctx, &ex), EOPNOTSUPP);
	ex.qp_type = IBV_QPT_UC;
	EXPECT_NULL(ohca_create_qp_ex(bed.ctx, &ex), EOPNOTSUPP);
	ex.qp_type = IBV_QPT_XRC_SEND;
	EXPECT_NULL(ohca_create_qp_ex(bed.ctx, &ex), EOPNOTSUPP);
	ex.qp_type = IBV_QPT_XRC_RECV;
	EXPECT_NULL(ohca_create_qp_ex(bed.ctx, &ex), EOPNOTSUPP);
	ex.qp_type = IBV_QPT_RC;
	ex.comp_mask |= IBV_QP_INIT_ATTR_IND_TABLE;
	EXPECT_NULL(ohca_create_qp_ex(bed.ctx, &ex), EOPNOTSUPP);
	ex.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	ex.create_flags = IBV_QP_CREATE_SCATTER_FCS;
	EXPECT_NULL(ohca_create_qp_ex(bed.ctx, &ex), EOPNOTSUPP);
	ex.comp_mask = IBV_QP_INIT_ATTR_PD;
	ex.cap.max_send_sge = OHCA_MAX_SGE + 1;
	EXPECT_NULL(ohca_create_qp_ex(bed.ctx, &ex), EINVAL);
	ex.cap.max_send_sge = 0;
	mock_fail = ENODEV;
	EXPECT_NULL(ohca_create_qp_ex(bed.ctx, &ex), ENODEV);

	EXPECT_NULL(ohca_create_cq(bed.ctx, 0, NULL, 0), EINVAL);
	EXPECT_NULL(ohca_create_cq(bed.ctx, -1, NULL, 0), EINVAL);
	EXPECT_NULL(ohca_create_cq(bed.ctx, (1 << 16) + 1, NULL, 0), EINVAL);
	mock_fail = ENODEV;
	EXPECT_NULL(ohca_create_cq(bed.ctx, 1, NULL, 0), ENODEV);
	cq.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	EXPECT_NULL(ohca_create_cq_ex(bed.ctx, &cq), EOPNOTSUPP);
	cq.wc_flags = 0;
	cq.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	cq.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN << 1;
	EXPECT_NULL(ohca_create_cq_ex(bed.ctx, &cq), EOPNOTSUPP);
	cq.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
	cq.parent_domain = bed.pd;
	EXPECT_NULL(ohca_create_cq_ex(bed.ctx, &cq), EINVAL);
	cq.comp_mask = 0x100;
	EXPECT_NULL(ohca_create_cq_ex(bed.ctx, &cq), EOPNOTSUPP);
	tear_down(&bed);
}

static void test_states(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 4, .max_recv_wr = 4};
	struct bed bed;

	(void)arg;
	if (!set_up(&bed, 16, cap))
		return;
	EXPECT_EQ(to_state(bed.qp, IBV_QPS_RESET), 0);
	errno = 0;
	EXPECT_EQ(post(&bed, 1, 0), EINVAL);
	EXPECT_EQ(errno, EINVAL);
	errno = 0;
	EXPECT_EQ(post_rx(&bed, 1), EINVAL);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(to_state(bed.qp, IBV_QPS_INIT), 0);
	EXPECT_EQ(post(&bed, 1, 0), EINVAL);
	EXPECT_EQ(post_rx(&bed, 1), 0);
	mock_fail = EINVAL;
	EXPECT_EQ(to_state(bed.qp, IBV_QPS_RTS), EINVAL);
	EXPECT_EQ(post(&bed, 1, 0), EINVAL);
	EXPECT_EQ(to_state(bed.qp, IBV_QPS_RTR), 0);
	EXPECT_EQ(post(&bed, 1, 0), EINVAL);
	EXPECT_EQ(to_state(bed.qp, IBV_QPS_RTS), 0);
	EXPECT_EQ(post(&bed, 1, 0), 0);
	EXPECT_EQ(to_state(bed.qp, IBV_QPS_ERR), 0);
	EXPECT_EQ(post(&bed, 1, 0), 0);
	EXPECT_EQ(post_rx(&bed, 1), 0);
	EXPECT_EQ(mock_sq_pi(bed.dev), 2);
	EXPECT_EQ(mock_rq_pi(bed.dev), 2);
	tear_down(&bed);
}

static void test_send_wqe(const void *arg)
{
	static const struct {
		enum ibv_wr_opcode ibv;
		uint8_t op;
		bool rdma, imm;
	} ops[] = {
		{IBV_WR_SEND, OHCA_OP_SEND, false, false},
		{IBV_WR_SEND_WITH_IMM, OHCA_OP_SEND_IMM, false, true},
		{IBV_WR_RDMA_WRITE, OHCA_OP_RDMA_WRITE, true, false},
		{IBV_WR_RDMA_WRITE_WITH_IMM, OHCA_OP_RDMA_WRITE_IMM, true, true},
		{IBV_WR_RDMA_READ, OHCA_OP_RDMA_READ, true, false},
	};
	struct ibv_qp_cap cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 32};
	struct ibv_sge sge[32];
	struct bed bed;
	uint32_t i, j;

	(void)arg;
	if (!set_up(&bed, 16, cap))
		return;
	for (i = 0; i < 32; i++)
		sge[i] = (struct ibv_sge){0x123456789abc0000 + i, 0xfedcba00 + i, 0xa5a50000 + i};
	for (i = 0; i < 330; i++) {
		int op = i % 5, num = i % 33;
		struct ibv_send_wr *bad, wr = {
						 .wr_id = 0x1122334455667700 + i,
						 .sg_list = sge,
						 .num_sge = num,
						 .opcode = ops[op].ibv,
						 .send_flags = (i % 8) | IBV_SEND_SIGNALED,
						 .imm_data = htobe32(0xdeadbe00 + i),
						 .wr.rdma = {.remote_addr = 0xcafe000000000000 + i,
							     .rkey = 0x77770000 + i},
					 };
		struct ohca_sq_wqe *wqe = mock_sq_wqe(bed.dev, i);
		struct ibv_wc wc;

		EXPECT_EQ(ohca_post_send(bed.qp, &wr, &bad), 0);
		EXPECT_EQ(mock_sq_pi(bed.dev), i + 1);
		EXPECT_EQ(wqe->opcode, ops[op].op);
		EXPECT_EQ(wqe->flags, OHCA_WQE_SIGNALED | (i & 1 ? OHCA_WQE_FENCE : 0) |
					      (i & 4 ? OHCA_WQE_SOLICITED : 0));
		EXPECT_EQ(le16toh(wqe->num_sge), num);
		EXPECT_EQ(wqe->imm_data, ops[op].imm ? wr.imm_data : 0);
		EXPECT_EQ(le64toh(wqe->wr_id), wr.wr_id);
		EXPECT_EQ(le64toh(wqe->rdma.raddr), ops[op].rdma ? wr.wr.rdma.remote_addr : 0);
		EXPECT_EQ(le32toh(wqe->rdma.rkey), ops[op].rdma ? wr.wr.rdma.rkey : 0);
		EXPECT_EQ(wqe->rdma.srqn, 0);
		for (j = 0; j < (uint32_t)num; j++)
			EXPECT(le64toh(wqe->sge[j].addr) == sge[j].addr &&
			       le32toh(wqe->sge[j].length) == sge[j].length &&
			       le32toh(wqe->sge[j].lkey) == sge[j].lkey);
		EXPECT(mock_do_send(bed.dev));
		EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 1);
		EXPECT_EQ(wc.wr_id, wr.wr_id);
		EXPECT_EQ(wc.qp_num, bed.qp->qp_num);
		EXPECT_EQ(wc.opcode, op < 2   ? IBV_WC_SEND
				     : op < 4 ? IBV_WC_RDMA_WRITE
					      : IBV_WC_RDMA_READ);
		if (tap_failed())
			break;
	}
	tear_down(&bed);
}

static void test_inline(const void *arg)
{
	struct ibv_qp_cap cap = {
		.max_send_wr = 4, .max_send_sge = 4, .max_inline_data = OHCA_MAX_INLINE};
	uint8_t data[OHCA_MAX_INLINE + 1];
	struct bed bed;
	uint32_t i;

	(void)arg;
	if (!set_up(&bed, 16, cap))
		return;
	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + 3;
	for (i = 0; i <= sizeof(data); i++) {
		struct ibv_sge sge[3] = {
			{(uintptr_t)data, i / 3, 0},
			{(uintptr_t)data + i / 3, i / 2 - i / 3, 0},
			{(uintptr_t)data + i / 2, i - i / 2, 0},
		};
		struct ibv_send_wr *bad = NULL,
				   wr = {
					   .sg_list = sge,
					   .num_sge = 3,
					   .opcode = IBV_WR_RDMA_WRITE,
					   .send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
				   };
		struct ohca_sq_wqe *wqe = mock_sq_wqe(bed.dev, i);
		struct ibv_wc wc;
		int ret = ohca_post_send(bed.qp, &wr, &bad);

		if (i > OHCA_MAX_INLINE) {
			EXPECT_EQ(ret, EINVAL);
			EXPECT(bad == &wr);
			break;
		}
		EXPECT_EQ(ret, 0);
		EXPECT_EQ(wqe->flags, OHCA_WQE_INLINE | OHCA_WQE_SIGNALED);
		EXPECT_EQ(le16toh(wqe->num_sge), i);
		EXPECT(!memcmp(wqe->sge, data, i));
		EXPECT(mock_do_send(bed.dev));
		EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 1);
	}
	tear_down(&bed);
}

static void test_send_refused(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 8, .max_send_sge = 1};
	struct ibv_sge sge = {.length = UINT32_MAX};
	struct ibv_send_wr bad_ones[] = {
		{.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 2},
		{.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = -1},
		{.opcode = IBV_WR_ATOMIC_CMP_AND_SWP},
		{.opcode = IBV_WR_SEND_WITH_INV},
		{.opcode = 0x7fffffff},
		{.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_IP_CSUM},
		{.opcode = IBV_WR_SEND,
		 .send_flags = IBV_SEND_INLINE,
		 .sg_list = &sge,
		 .num_sge = 1},
		{.opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_INLINE},
	};
	struct bed bed;
	size_t i;

	(void)arg;
	if (!set_up_bare(&bed, 16))
		return;
	to_octx(bed.ctx)->caps = 0;
	use_qp(&bed, make_qp(&bed, cap));
	for (i = 0; i < ARRAY_SIZE(bad_ones); i++) {
		struct ibv_send_wr *bad = NULL, third = {.opcode = IBV_WR_SEND};
		struct ibv_send_wr first = {.opcode = IBV_WR_SEND,
					    .next = &bad_ones[i],
					    .send_flags = IBV_SEND_SIGNALED};
		struct ibv_wc wc;

		bad_ones[i].next = &third;
		memset(mock_shadow.direct, 0, sizeof(mock_shadow.direct));
		EXPECT_EQ(ohca_post_send(bed.qp, &first, &bad), EINVAL);
		/* Requests before it are posted with a doorbell, those after it are not. */
		EXPECT(bad == &bad_ones[i]);
		EXPECT_EQ(mock_sq_pi(bed.dev), i + 1);
		EXPECT_EQ(le64toh(mock_shadow.direct[bed.dev->req.slot / 64]),
			  1ULL << bed.dev->req.slot % 64);
		EXPECT(mock_do_send(bed.dev));
		EXPECT(!mock_do_send(bed.dev));
		EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 1);
	}
	tear_down(&bed);
}

static void test_full(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 8, .max_recv_wr = 4};
	struct ohca_qp *qp;
	struct ibv_wc wc[8];
	struct bed bed;
	int i;

	(void)arg;
	if (!set_up(&bed, 16, cap))
		return;
	/* Where the indices wrap. */
	qp = to_oqp(bed.qp);
	qp->sq.pi = qp->sq.seen = bed.dev->sq_ci = UINT32_MAX - 3;
	atomic_store(&qp->sq.tail, qp->sq.pi);
	qp->rq.pi = qp->rq.seen = bed.dev->rq_ci = UINT32_MAX - 1;
	atomic_store(&qp->rq.tail, qp->rq.pi);

	for (i = 0; i < 8; i++)
		EXPECT_EQ(post(&bed, i, i == 6 ? IBV_SEND_SIGNALED : 0), 0);
	errno = 0;
	EXPECT_EQ(post(&bed, 8, 0), ENOMEM);
	EXPECT_EQ(errno, ENOMEM);
	while (mock_do_send(bed.dev))
		;
	/* Completed, but the completions were not polled. */
	EXPECT_EQ(post(&bed, 8, 0), ENOMEM);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 8, wc), 1);
	EXPECT_EQ(wc[0].wr_id, 6);
	for (i = 0; i < 7; i++)
		EXPECT_EQ(post(&bed, i, 0), 0);
	EXPECT_EQ(post(&bed, 8, 0), ENOMEM);

	for (i = 0; i < 4; i++)
		EXPECT_EQ(post_rx(&bed, i), 0);
	errno = 0;
	EXPECT_EQ(post_rx(&bed, 4), ENOMEM);
	EXPECT_EQ(errno, ENOMEM);
	EXPECT(mock_do_recv(bed.dev, 17));
	EXPECT_EQ(ohca_poll_cq(bed.cq, 8, wc), 1);
	EXPECT_EQ(wc[0].byte_len, 17);
	EXPECT_EQ(wc[0].opcode, IBV_WC_RECV);
	EXPECT_EQ(post_rx(&bed, 4), 0);
	EXPECT_EQ(post_rx(&bed, 5), ENOMEM);
	tear_down(&bed);
}

static void test_recv_wqe(const void *arg)
{
	struct ibv_qp_cap cap = {.max_recv_wr = 64, .max_recv_sge = 32};
	struct ibv_recv_wr wr[33], *bad = NULL;
	struct ibv_sge sge[33];
	struct bed bed;
	uint32_t i, j;

	(void)arg;
	if (!set_up(&bed, 16, cap))
		return;
	for (i = 0; i < 33; i++) {
		sge[i] = (struct ibv_sge){0x123456789abc0000 + i, 0xfedcba00 + i, 0xa5a50000 + i};
		wr[i] = (struct ibv_recv_wr){.wr_id = i,
					     .next = i == 32 ? NULL : &wr[i + 1],
					     .sg_list = sge,
					     .num_sge = i};
	}
	EXPECT_EQ(ohca_post_recv(bed.qp, wr, &bad), 0);
	EXPECT_EQ(mock_rq_pi(bed.dev), 33);
	for (i = 0; i < 33; i++) {
		struct ohca_rq_wqe *wqe = mock_rq_wqe(bed.dev, i);

		EXPECT_EQ(le64toh(wqe->wr_id), i);
		EXPECT_EQ(le32toh(wqe->num_sge), i);
		for (j = 0; j < i; j++)
			EXPECT(le64toh(wqe->sge[j].addr) == sge[j].addr &&
			       le32toh(wqe->sge[j].length) == sge[j].length &&
			       le32toh(wqe->sge[j].lkey) == sge[j].lkey);
	}
	wr[1].num_sge = 33;
	EXPECT_EQ(ohca_post_recv(bed.qp, wr, &bad), EINVAL);
	EXPECT(bad == &wr[1]);
	wr[1].num_sge = -1;
	EXPECT_EQ(ohca_post_recv(bed.qp, wr, &bad), EINVAL);
	EXPECT_EQ(mock_rq_pi(bed.dev), 35);
	tear_down(&bed);
}

static void test_poll(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 8};
	struct ohca_cqe cqe = {
		.byte_len = htole32(0x12345678),
		.imm_data = htobe32(0xfeedf00d),
		.status = OHCA_WC_REM_ACCESS_ERR,
		.vendor_err = htole32(OHCA_VENDOR_ERR_NAK),
		.opcode = OHCA_OP_RDMA_READ,
	};
	struct mock_qp stranger = {.qpn = 0x1234};
	struct mock_cq *cq;
	struct ibv_wc wc[5];
	struct bed bed;

	(void)arg;
	if (!set_up(&bed, 4, cap))
		return;
	cq = bed.dev->send_cq;
	EXPECT_EQ(ohca_poll_cq(bed.cq, 5, wc), 0);
	mock_complete(cq, bed.dev, 1, &cqe);
	cqe.status = 0;
	cqe.flags = OHCA_CQE_F_IMM | OHCA_CQE_F_RQ | OHCA_CQE_F_SOLICITED;
	cqe.opcode = OHCA_CQE_RECV_RDMA_IMM;
	mock_complete(cq, bed.dev, 2, &cqe);
	mock_complete(cq, &stranger, 3, &cqe);
	mock_complete(cq, bed.dev, 4, &cqe);
	EXPECT(!mock_cq_room(cq));
	EXPECT_EQ(ohca_poll_cq(bed.cq, 0, wc), 0);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 3, wc), 3);
	EXPECT_EQ(le32toh(mock_cq_rec(cq)->ci), 3);
	EXPECT_EQ(wc[0].status, IBV_WC_REM_ACCESS_ERR);
	EXPECT_EQ(wc[0].vendor_err, OHCA_VENDOR_ERR_NAK);
	EXPECT_EQ(wc[0].opcode, IBV_WC_RDMA_READ);
	EXPECT_EQ(wc[0].wc_flags, 0);
	EXPECT_EQ(wc[0].qp_num, bed.qp->qp_num);
	EXPECT_EQ(wc[1].status, IBV_WC_SUCCESS);
	EXPECT_EQ(wc[1].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	EXPECT_EQ(wc[1].wc_flags, IBV_WC_WITH_IMM);
	EXPECT_EQ(wc[1].imm_data, htobe32(0xfeedf00d));
	EXPECT_EQ(wc[1].byte_len, 0x12345678);
	EXPECT_EQ(wc[2].qp_num, 0x1234);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 5, wc), 1);
	EXPECT_EQ(wc[0].wr_id, 4);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 5, wc), 0);

	EXPECT_EQ(ohca_req_notify_cq(bed.cq, 0), 0);
	EXPECT_EQ(le32toh(mock_cq_rec(cq)->arm_next), 1);
	EXPECT_EQ(le32toh(mock_cq_rec(cq)->arm_solicited), 0);
	EXPECT_EQ(ohca_req_notify_cq(bed.cq, 1), 0);
	EXPECT_EQ(ohca_req_notify_cq(bed.cq, 1), 0);
	EXPECT_EQ(le32toh(mock_cq_rec(cq)->arm_next), 1);
	EXPECT_EQ(le32toh(mock_cq_rec(cq)->arm_solicited), 2);
	tear_down(&bed);
}

static void test_poll_ex(const void *arg)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 4, .wc_flags = IBV_WC_STANDARD_FLAGS};
	struct ohca_cqe cqe = {
		.byte_len = htole32(77),
		.imm_data = htobe32(5),
		.flags = OHCA_CQE_F_IMM | OHCA_CQE_F_RQ,
		.opcode = OHCA_CQE_RECV,
	};
	struct mock_qp stranger = {.qpn = 0x1234};
	struct ibv_poll_cq_attr poll = {};
	struct ibv_cq_ex *cq;
	struct mock_cq *mock;
	struct bed bed = {};

	(void)arg;
	bed.ctx = mock_open();
	cq = ohca_create_cq_ex(bed.ctx, &attr);
	if (!EXPECT(cq))
		return;
	mock = cq->cq_context;
	poll.comp_mask = 1;
	EXPECT_EQ(ibv_start_poll(cq, &poll), EINVAL);
	poll.comp_mask = 0;
	EXPECT_EQ(ibv_start_poll(cq, &poll), ENOENT);
	mock_complete(mock, &stranger, 8, &cqe);
	mock_complete(mock, &stranger, 9, &cqe);
	EXPECT_EQ(ibv_start_poll(cq, &poll), 0);
	EXPECT_EQ(cq->wr_id, 8);
	EXPECT_EQ(cq->status, IBV_WC_SUCCESS);
	EXPECT_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV);
	EXPECT_EQ(ibv_wc_read_byte_len(cq), 77);
	EXPECT_EQ(ibv_wc_read_imm_data(cq), htobe32(5));
	EXPECT_EQ(ibv_wc_read_wc_flags(cq), IBV_WC_WITH_IMM);
	EXPECT_EQ(ibv_wc_read_qp_num(cq), 0x1234);
	EXPECT_EQ(ibv_wc_read_src_qp(cq), 0);
	EXPECT_EQ(ibv_wc_read_slid(cq), 0);
	EXPECT_EQ(ibv_wc_read_sl(cq), 0);
	EXPECT_EQ(ibv_wc_read_dlid_path_bits(cq), 0);
	EXPECT_EQ(ibv_next_poll(cq), 0);
	EXPECT_EQ(cq->wr_id, 9);
	EXPECT_EQ(ibv_next_poll(cq), ENOENT);
	ibv_end_poll(cq);
	EXPECT_EQ(le32toh(mock_cq_rec(mock)->ci), 2);
	EXPECT_EQ(ohca_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	mock_close(bed.ctx);
}

/* Waits until the main thread unlocks @arg. */
static void *other_thread(void *arg)
{
	pthread_mutex_lock(arg);
	pthread_mutex_unlock(arg);
	return NULL;
}

/* While it looks at completions, a program of several threads asks for an event. */
static void test_notify_ex(const void *arg)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 4, .wc_flags = IBV_WC_STANDARD_FLAGS};
	pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;
	struct mock_qp stranger = {.qpn = 0x1234};
	struct ibv_poll_cq_attr poll = {};
	struct ohca_cqe cqe = {};
	struct ibv_cq_ex *cq;
	struct bed bed = {};
	pthread_t other;

	(void)arg;
	bed.ctx = mock_open();
	cq = ohca_create_cq_ex(bed.ctx, &attr);
	if (!EXPECT(cq))
		return;
	pthread_mutex_lock(&end);
	EXPECT_EQ(pthread_create(&other, NULL, other_thread, &end), 0);
	mock_complete(cq->cq_context, &stranger, 8, &cqe);
	EXPECT_EQ(ibv_start_poll(cq, &poll), 0);
	EXPECT_EQ(ohca_req_notify_cq(ibv_cq_ex_to_cq(cq), 0), 0);
	EXPECT_EQ(le32toh(mock_cq_rec(cq->cq_context)->arm_next), 1);
	EXPECT_EQ(ibv_next_poll(cq), ENOENT);
	ibv_end_poll(cq);
	pthread_mutex_unlock(&end);
	EXPECT_EQ(pthread_join(other, NULL), 0);
	EXPECT_EQ(ohca_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	mock_close(bed.ctx);
}

/* An imported PD is unimported before its QP is destroyed. */
static void test_unimport(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 1};
	struct ibv_pd *own, *pd;
	struct bed bed;

	(void)arg;
	if (!set_up_bare(&bed, 4))
		return;
	own = bed.pd;
	pd = ohca_import_pd(bed.ctx, 7);
	if (!EXPECT(pd))
		return;
	EXPECT_EQ(pd->handle, 7);
	bed.pd = pd;
	bed.qp = make_qp(&bed, cap);
	EXPECT(bed.qp);
	ohca_unimport_pd(pd);
	bed.pd = own;
	tear_down(&bed);
}

static void test_forget(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 8, .max_recv_wr = 8};
	struct ibv_qp *first, *second;
	struct ibv_wc wc[16];
	struct bed bed;
	int i;

	(void)arg;
	if (!set_up(&bed, 16, cap))
		return;
	first = bed.qp;
	second = make_qp(&bed, cap);
	EXPECT_EQ(to_state(second, IBV_QPS_RTS), 0);
	for (i = 0; i < 8; i++) {
		bed.qp = i % 2 ? first : second;
		EXPECT_EQ(post(&bed, i, IBV_SEND_SIGNALED), 0);
		EXPECT(mock_do_send(mock_find_qp(bed.qp->qp_num)));
	}
	EXPECT_EQ(ohca_poll_cq(bed.cq, 2, wc), 2);
	/* A reset QP has no old requests, and starts from zero. */
	EXPECT_EQ(to_state(second, IBV_QPS_RESET), 0);
	EXPECT_EQ(mock_sq_pi(mock_find_qp(second->qp_num)), 0);
	EXPECT_EQ(le32toh(mock_cq_rec(bed.dev->send_cq)->ci), 5);
	EXPECT_EQ(to_state(second, IBV_QPS_RTS), 0);
	bed.qp = second;
	EXPECT_EQ(post(&bed, 100, IBV_SEND_SIGNALED), 0);
	EXPECT_EQ(mock_sq_pi(mock_find_qp(second->qp_num)), 1);
	EXPECT(mock_do_send(mock_find_qp(second->qp_num)));
	EXPECT_EQ(ohca_poll_cq(bed.cq, 2, wc), 2);
	EXPECT_EQ(wc[0].wr_id, 3);
	EXPECT_EQ(wc[1].wr_id, 5);
	/* A destroyed QP leaves no completions; a failure to destroy changes nothing. */
	mock_fail = EBUSY;
	EXPECT_EQ(ohca_destroy_qp(first), EBUSY);
	EXPECT_EQ(ohca_destroy_qp(first), 0);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 16, wc), 1);
	EXPECT_EQ(wc[0].wr_id, 100);
	tear_down(&bed);
}

static void test_doorbell(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 8};
	struct ibv_send_wr wr[3] = {
		{.opcode = IBV_WR_SEND, .next = &wr[1]},
		{.opcode = IBV_WR_SEND, .next = &wr[2]},
		{.opcode = IBV_WR_SEND},
	};
	static const uint8_t none[OHCA_UAR_SIZE];
	struct ibv_send_wr *bad;
	struct bed bed;
	uint64_t db;

	(void)arg;
	if (!set_up(&bed, 4, cap))
		return;
	EXPECT_EQ(ohca_post_send(bed.qp, wr, &bad), 0);
	EXPECT(!memcmp(mock_uar, none, sizeof(none)));
	mock_shadow.asleep = htole32(1);
	EXPECT_EQ(ohca_post_send(bed.qp, wr, &bad), 0);
	EXPECT(mock_uar[OHCA_UAR_WAKE]);
	EXPECT(!memcmp(mock_uar, none, OHCA_UAR_WAKE));

	/* without shadow doorbells */
	memset(mock_uar, 0, sizeof(mock_uar));
	to_octx(bed.ctx)->shadow = NULL;
	EXPECT_EQ(ohca_post_send(bed.qp, &wr[1], &bad), 0);
	memcpy(&db, mock_uar + OHCA_UAR_SQ_DB, 8);
	EXPECT_EQ(le64toh(db), (uint64_t)bed.qp->qp_num << 32 | 8);
	EXPECT_EQ(mock_sq_pi(bed.dev), 8);
	EXPECT(!mock_uar[OHCA_UAR_WAKE]);
	EXPECT_EQ(ohca_post_send(bed.qp, wr, &bad), ENOMEM);
	tear_down(&bed);
}

static void test_parent_domain(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 8};
	struct ibv_parent_domain_init_attr attr = {};
	struct ibv_td_init_attr td_attr = {.comp_mask = 1};
	struct ibv_pd *real, *parent;
	struct ibv_td *td;
	struct bed bed;

	(void)arg;
	if (!set_up(&bed, 4, cap))
		return;
	EXPECT_NULL(ohca_alloc_td(bed.ctx, &td_attr), EOPNOTSUPP);
	td_attr.comp_mask = 0;
	td = ohca_alloc_td(bed.ctx, &td_attr);
	EXPECT_NULL(ohca_alloc_parent_domain(bed.ctx, &attr), EINVAL);
	real = ohca_alloc_pd(bed.ctx);
	attr.pd = real;
	attr.td = td;
	attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	EXPECT_NULL(ohca_alloc_parent_domain(bed.ctx, &attr), EINVAL);
	attr.comp_mask = 4;
	EXPECT_NULL(ohca_alloc_parent_domain(bed.ctx, &attr), EOPNOTSUPP);
	attr.comp_mask = 0;
	parent = ohca_alloc_parent_domain(bed.ctx, &attr);
	if (!EXPECT(parent))
		return;
	attr.pd = parent;
	EXPECT_NULL(ohca_alloc_parent_domain(bed.ctx, &attr), EINVAL);
	EXPECT_EQ(ohca_dealloc_td(td), EBUSY);
	EXPECT_EQ(ohca_dealloc_pd(real), EBUSY);
	ohca_destroy_qp(bed.qp);
	ohca_dealloc_pd(bed.pd);
	bed.pd = parent;
	bed.qp = make_qp(&bed, cap);
	EXPECT(to_oqp(bed.qp)->sq.lock.off);
	EXPECT_EQ(ohca_dealloc_pd(parent), EBUSY);
	ohca_destroy_qp(bed.qp);
	EXPECT_EQ(ohca_dealloc_pd(parent), 0);
	EXPECT_EQ(ohca_dealloc_td(td), 0);
	bed.qp = NULL;
	bed.pd = real;
	tear_down(&bed);
}

/*
 * Many threads: two post to a QP each, one creates and destroys QPs, one polls, one is the device.
 */

static struct {
	struct bed bed;
	struct ibv_qp *qp[2];
	struct mock_qp *dev[2];
	atomic_bool stop;
	unsigned int next[2];
	unsigned int errors;
} many;

static void *poster(void *arg)
{
	int n = (struct ibv_qp **)arg - many.qp;
	unsigned int i;

	for (i = 0; i < ROUNDS;) {
		struct ibv_send_wr *bad, wr = {
						 .wr_id = i,
						 .opcode = IBV_WR_SEND,
						 .send_flags = i % 4 == 3 ? IBV_SEND_SIGNALED : 0,
					 };

		if (ohca_post_send(many.qp[n], &wr, &bad))
			sched_yield();
		else
			i++;
	}
	return NULL;
}

static void *churner(void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 1};

	while (!atomic_load(&many.stop)) {
		struct ibv_qp *qp = make_qp(&many.bed, cap);

		if (!qp || ohca_destroy_qp(qp))
			abort();
		sched_yield();
	}
	return arg;
}

static void *poller(void *arg)
{
	struct ibv_wc wc[7];
	int i, n, qp;

	while (many.next[0] < ROUNDS || many.next[1] < ROUNDS) {
		n = ohca_poll_cq(many.bed.cq, 7, wc);
		if (!n)
			sched_yield();
		for (i = 0; i < n; i++) {
			qp = wc[i].qp_num == many.qp[1]->qp_num;
			if (wc[i].wr_id != many.next[qp] + 3)
				many.errors++;
			many.next[qp] = wc[i].wr_id + 1;
		}
	}
	atomic_store(&many.stop, true);
	return arg;
}

static void *mock_device(void *arg)
{
	while (!atomic_load(&many.stop))
		if (!mock_do_send(many.dev[0]) & !mock_do_send(many.dev[1]))
			sched_yield();
	return arg;
}

static void test_threads(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 16};
	pthread_t threads[5];
	unsigned int i;

	(void)arg;
	if (!set_up(&many.bed, 8, cap))
		return;
	many.qp[0] = many.bed.qp;
	many.qp[1] = make_qp(&many.bed, cap);
	EXPECT_EQ(to_state(many.qp[1], IBV_QPS_RTS), 0);
	for (i = 0; i < 2; i++) {
		many.dev[i] = mock_find_qp(many.qp[i]->qp_num);
		pthread_create(&threads[i], NULL, poster, &many.qp[i]);
	}
	pthread_create(&threads[2], NULL, churner, NULL);
	pthread_create(&threads[3], NULL, poller, NULL);
	pthread_create(&threads[4], NULL, mock_device, NULL);
	for (i = 0; i < 5; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(many.errors, 0);
	EXPECT_EQ(ohca_destroy_qp(many.qp[1]), 0);
	tear_down(&many.bed);
}

static const struct tap_test tests[] = {
	{"create: real capacities", test_create, NULL},
	{"create: what is not supported", test_create_refused, NULL},
	{"post: states", test_states, NULL},
	{"post: send work queue entries", test_send_wqe, NULL},
	{"post: inline data of each length", test_inline, NULL},
	{"post: what is refused, in the middle of a list", test_send_refused, NULL},
	{"post: full queues, across the wrap of the index", test_full, NULL},
	{"post: receive work queue entries", test_recv_wqe, NULL},
	{"poll: each field", test_poll, NULL},
	{"poll: extended interface", test_poll_ex, NULL},
	{"reset and destroy leave no completions behind", test_forget, NULL},
	{"doorbells: shadow, wake-up, register", test_doorbell, NULL},
	{"thread domains and parent domains", test_parent_domain, NULL},
	{"an imported PD", test_unimport, NULL},
	{"an event is asked for between completions", test_notify_ex, NULL},
	{"many threads", test_threads, NULL},
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
