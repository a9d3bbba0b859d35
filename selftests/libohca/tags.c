// SPDX-License-Identifier: GPL-2.0
/* Tests of libohca's tag matching against a mock kernel and device. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bed.h"
#include "tap.h"

#define TAGS 4
#define OPS 4

static struct ibv_srq *make_tagged(struct bed *bed, struct ibv_srq_init_attr_ex *attr)
{
	*attr = (struct ibv_srq_init_attr_ex){
		.attr = {.max_wr = 8, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ |
			     IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.pd = bed->pd,
		.cq = bed->cq,
		.tm_cap = {.max_num_tags = TAGS, .max_ops = OPS},
	};
	return ohca_create_srq_ex(bed->ctx, attr);
}

static struct mock_qp *ops_of(struct ibv_srq *srq)
{
	return mock_find_qp(to_osrq(srq)->ops->qpn);
}

/* Add a tag; returns the result of posting, and the handle. */
static int add(struct ibv_srq *srq, uint64_t wr_id, int flags, uint32_t *handle)
{
	struct ibv_ops_wr *bad, wr = {
					.wr_id = wr_id,
					.opcode = IBV_WR_TAG_ADD,
					.flags = flags,
				};
	int ret = ohca_post_srq_ops(srq, &wr, &bad);

	*handle = wr.tm.handle;
	return ret;
}

static int del(struct ibv_srq *srq, uint32_t handle)
{
	struct ibv_ops_wr *bad,
		wr = {.wr_id = 6, .opcode = IBV_WR_TAG_DEL, .tm = {.handle = handle}};

	return ohca_post_srq_ops(srq, &wr, &bad);
}

/* A completion of the SRQ, as the device writes it. */
static void complete(struct bed *bed, struct ibv_srq *srq, uint8_t opcode, uint8_t flags,
		     uint32_t handle)
{
	struct ohca_cqe cqe = {
		.srqn = htole32(to_osrq(srq)->srqn),
		.inv_key = htole32(0x1234),
		.tag_handle = htole32(handle),
		.tag = {.app_ctx = htole32(3), .low = htole32(1), .high = htole32(2)},
		.opcode = opcode,
		.flags = OHCA_CQE_F_RQ | OHCA_CQE_F_SRQ | flags,
	};

	mock_complete(bed->cq->cq_context, bed->dev, 11, &cqe);
}

static void test_create(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 1, .max_send_sge = 1};
	struct ibv_srq_init_attr_ex attr;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct bed bed;

	(void)arg;
	if (!set_up_bare(&bed, 16))
		return;
	srq = make_tagged(&bed, &attr);
	if (!EXPECT(srq))
		return;
	EXPECT_EQ(attr.tm_cap.max_ops, OPS);
	EXPECT_EQ(attr.tm_cap.max_num_tags, TAGS);
	EXPECT_EQ(ops_of(srq)->req.sq_log_stride, 8);
	EXPECT_EQ(ops_of(srq)->req.rq_log_stride, 0);

	/* QPs that receive from it have no queues of their own. */
	EXPECT(!make_qp_type(&bed, IBV_QPT_RC, srq, cap));
	EXPECT_EQ(errno, EINVAL);
	cap = (struct ibv_qp_cap){};
	EXPECT(!make_qp_type(&bed, IBV_QPT_UC, srq, cap));
	qp = make_qp_type(&bed, IBV_QPT_RC, srq, cap);
	if (EXPECT(qp)) {
		static const struct ohca_create_qp_req none;

		EXPECT(!memcmp(&mock_find_qp(to_oqp(qp)->qpn)->req, &none, sizeof(none)));
		errno = 0;
		EXPECT_EQ(ohca_destroy_srq(srq), EBUSY);
		EXPECT_EQ(errno, EBUSY);
		EXPECT_EQ(ohca_destroy_qp(qp), 0);
	}
	EXPECT(!make_qp_type(&bed, IBV_QPT_DRIVER, srq, cap));
	EXPECT_EQ(ohca_destroy_srq(srq), 0);
	tear_down(&bed);
}

/* Who posts operations and who polls the CQ change the same list: it has a lock, whatever the domain. */
static void test_thread_domain(const void *arg)
{
	struct ibv_td_init_attr td_attr = {};
	struct ibv_parent_domain_init_attr attr = {};
	struct ibv_srq_init_attr_ex srq_attr;
	struct ibv_srq *srq;
	struct ibv_pd *real;
	struct bed bed;

	(void)arg;
	if (!set_up_bare(&bed, 16))
		return;
	real = bed.pd;
	attr.pd = real;
	attr.td = ohca_alloc_td(bed.ctx, &td_attr);
	bed.pd = ohca_alloc_parent_domain(bed.ctx, &attr);
	if (!EXPECT(bed.pd))
		return;
	srq = make_tagged(&bed, &srq_attr);
	if (EXPECT(srq)) {
		EXPECT(to_osrq(srq)->wq.lock.off);
		EXPECT(!to_osrq(srq)->ops->sq.lock.off);
		EXPECT_EQ(ohca_destroy_srq(srq), 0);
	}
	EXPECT_EQ(ohca_dealloc_pd(bed.pd), 0);
	EXPECT_EQ(ohca_dealloc_td(attr.td), 0);
	bed.pd = real;
	tear_down(&bed);
}

static void test_operations(const void *arg)
{
	struct ibv_sge sge[2] = {{1, 2, 3}, {4, 5, 6}};
	struct ibv_ops_wr *bad, wr[3] = {
					{
						.wr_id = 1,
						.opcode = IBV_WR_TAG_ADD,
						.flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC,
						.next = &wr[1],
						.tm = {.unexpected_cnt = 7,
						       .add = {.recv_wr_id = 8,
							       .sg_list = sge,
							       .num_sge = 2,
							       .tag = 9,
							       .mask = 10}},
					},
					{.wr_id = 2, .opcode = IBV_WR_TAG_SYNC, .next = &wr[2]},
					{.wr_id = 3, .opcode = 99},
				};
	struct ibv_srq_init_attr_ex attr;
	const struct ohca_sq_wqe *wqe;
	struct ibv_srq *srq;
	struct bed bed;

	(void)arg;
	if (!set_up_bare(&bed, 16))
		return;
	srq = make_tagged(&bed, &attr);
	EXPECT_EQ(ohca_post_srq_ops(srq, wr, &bad), EINVAL);
	EXPECT(bad == &wr[2]);
	EXPECT_EQ(mock_sq_pi(ops_of(srq)), 2);
	wqe = mock_sq_wqe(ops_of(srq), 0);
	EXPECT_EQ(wqe->opcode, OHCA_OP_TAG_ADD);
	EXPECT_EQ(wqe->flags, OHCA_WQE_SIGNALED | OHCA_WQE_TAG_SYNC);
	EXPECT_EQ(le16toh(wqe->num_sge), 2);
	EXPECT_EQ(le64toh(wqe->wr_id), 1);
	EXPECT_EQ(le64toh(wqe->tag.recv_wr_id), 8);
	EXPECT_EQ(le64toh(wqe->tag.tag), 9);
	EXPECT_EQ(le64toh(wqe->tag.mask), 10);
	EXPECT_EQ(le32toh(wqe->tag.handle), wr[0].tm.handle);
	EXPECT(le32toh(wqe->tag.handle) % 0x10000 < TAGS);
	EXPECT_EQ(le32toh(wqe->tag.unexpected), 7);
	EXPECT_EQ(le32toh(wqe->sge[1].length), 5);
	wqe = mock_sq_wqe(ops_of(srq), 1);
	EXPECT_EQ(wqe->opcode, OHCA_OP_TAG_SYNC);
	EXPECT_EQ(wqe->flags, OHCA_WQE_TAG_SYNC);
	EXPECT_EQ(del(srq, wr[0].tm.handle), 0);
	wqe = mock_sq_wqe(ops_of(srq), 2);
	EXPECT_EQ(wqe->opcode, OHCA_OP_TAG_DEL);
	EXPECT_EQ(wqe->flags, 0);
	EXPECT_EQ(le32toh(wqe->tag.handle), wr[0].tm.handle);
	EXPECT_EQ(del(srq, TAGS), EINVAL);
	EXPECT_EQ(ohca_destroy_srq(srq), 0);
	tear_down(&bed);
}

/* Places are free when the device has matched their tags, and earlier operations are complete. */
static void test_places(const void *arg)
{
	struct ibv_srq_init_attr_ex attr;
	struct ibv_qp_cap cap = {};
	uint32_t handle[TAGS], more;
	struct ibv_srq *srq;
	struct ibv_wc wc;
	struct bed bed;
	int i;

	(void)arg;
	if (!set_up_bare(&bed, 16))
		return;
	srq = make_tagged(&bed, &attr);
	use_qp(&bed, make_qp_type(&bed, IBV_QPT_RC, srq, cap));
	for (i = 0; i < TAGS; i++)
		EXPECT_EQ(add(srq, i, 0, &handle[i]), 0);
	EXPECT_EQ(add(srq, 9, 0, &more), ENOMEM);

	complete(&bed, srq, OHCA_CQE_TAG_MATCH, 0, handle[2]);
	EXPECT_EQ(add(srq, 9, 0, &more), ENOMEM);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 1);
	EXPECT_EQ(atomic_load(&to_osrq(srq)->ops->sq.tail), 3);
	EXPECT_EQ(add(srq, 9, 0, &more), 0);
	EXPECT_EQ(more % 0x10000, handle[2] % 0x10000);
	EXPECT(more != handle[2]);

	/*
	 * A completion of a tag that was removed frees nothing, and does not move back the count.
	 */
	complete(&bed, srq, OHCA_CQE_TAG_RECV, 0, handle[2]);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 1);
	EXPECT_EQ(add(srq, 9, 0, &more), ENOMEM);
	complete(&bed, srq, OHCA_CQE_TAG_RECV, 0, handle[0]);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 1);
	EXPECT_EQ(atomic_load(&to_osrq(srq)->ops->sq.tail), 3);

	/*
	 * The place of a deleted tag is free at once, because the device executes operations in
	 * order.
	 */
	EXPECT_EQ(del(srq, handle[1]), 0);
	EXPECT_EQ(del(srq, handle[3]), 0);
	EXPECT_EQ(del(srq, handle[3]), ENOMEM);
	EXPECT_EQ(ohca_destroy_qp(bed.qp), 0);
	bed.qp = NULL;
	EXPECT_EQ(ohca_destroy_srq(srq), 0);
	tear_down(&bed);
}

static void expect_wc(struct bed *bed, enum ibv_wc_opcode opcode, unsigned int flags)
{
	struct ibv_wc wc;

	if (!EXPECT_EQ(ohca_poll_cq(bed->cq, 1, &wc), 1))
		return;
	EXPECT_EQ(wc.opcode, opcode);
	EXPECT_EQ(wc.wc_flags, flags);
	EXPECT_EQ(wc.wr_id, 11);
	EXPECT_EQ(wc.src_qp, 0);
	EXPECT_EQ(wc.sl, 0);
	if (flags & IBV_WC_WITH_INV)
		EXPECT_EQ(wc.invalidated_rkey, 0x1234);
}

/* Their contents; they are kept when the QP is destroyed, but not when the SRQ is. */
static void test_completions(const void *arg)
{
	struct ibv_srq_init_attr_ex attr;
	struct ibv_qp_cap cap = {};
	struct ibv_srq *srq;
	struct ibv_wc wc;
	struct bed bed;

	(void)arg;
	if (!set_up_bare(&bed, 16))
		return;
	srq = make_tagged(&bed, &attr);
	use_qp(&bed, make_qp_type(&bed, IBV_QPT_RC, srq, cap));
	complete(&bed, srq, OHCA_CQE_RECV_NO_TAG, 0, 0);
	complete(&bed, srq, OHCA_CQE_RECV_NO_TAG, OHCA_CQE_F_INV, 0);
	complete(&bed, srq, OHCA_CQE_RECV_UNEXPECTED, OHCA_CQE_F_TAG_SYNC, 0);
	complete(&bed, srq, OHCA_CQE_TAG_MATCH, 0, 0);
	complete(&bed, srq, OHCA_CQE_TAG_DATA, OHCA_CQE_F_TAG_SYNC, 0);
	complete(&bed, srq, OHCA_CQE_TAG_RECV, 0, 0);
	complete(&bed, srq, OHCA_CQE_RECV_RDMA_IMM, 0, 0);
	complete(&bed, srq, OHCA_CQE_TAG_RECV, 0, 0);
	EXPECT_EQ(ohca_destroy_qp(bed.qp), 0);
	bed.qp = NULL;
	expect_wc(&bed, IBV_WC_TM_NO_TAG, 0);
	expect_wc(&bed, IBV_WC_TM_NO_TAG, IBV_WC_WITH_INV);
	expect_wc(&bed, IBV_WC_TM_RECV, IBV_WC_TM_SYNC_REQ);
	expect_wc(&bed, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
	expect_wc(&bed, IBV_WC_TM_RECV, IBV_WC_TM_DATA_VALID | IBV_WC_TM_SYNC_REQ);
	expect_wc(&bed, IBV_WC_TM_RECV, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID);
	expect_wc(&bed, IBV_WC_RECV_RDMA_WITH_IMM, 0);
	EXPECT_EQ(ohca_destroy_srq(srq), 0);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 0);
	tear_down(&bed);
}

/* A QP that has the number of one whose completions are kept does not take them with it. */
static void test_number_again(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 1};
	struct ibv_srq_init_attr_ex attr;
	struct ibv_srq *srq;
	struct bed bed;
	uint32_t qpn;

	(void)arg;
	if (!set_up_bare(&bed, 16))
		return;
	srq = make_tagged(&bed, &attr);
	use_qp(&bed, make_qp_type(&bed, IBV_QPT_RC, srq, (struct ibv_qp_cap){}));
	qpn = bed.qp->qp_num;
	complete(&bed, srq, OHCA_CQE_RECV_NO_TAG, 0, 0);
	complete(&bed, srq, OHCA_CQE_TAG_RECV, 0, 0);
	EXPECT_EQ(ohca_destroy_qp(bed.qp), 0);

	use_qp(&bed, make_qp(&bed, cap));
	EXPECT_EQ(bed.qp->qp_num, qpn);
	EXPECT_EQ(to_state(bed.qp, IBV_QPS_RESET), 0);
	expect_wc(&bed, IBV_WC_TM_NO_TAG, 0);
	EXPECT_EQ(ohca_destroy_qp(bed.qp), 0);
	bed.qp = NULL;
	expect_wc(&bed, IBV_WC_TM_RECV, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID);
	EXPECT_EQ(ohca_destroy_srq(srq), 0);
	tear_down(&bed);
}

static const struct tap_test tests[] = {
	{"SRQ with tags: create, and its QPs", test_create, NULL},
	{"tags: a thread domain", test_thread_domain, NULL},
	{"operations on tags", test_operations, NULL},
	{"places of tags", test_places, NULL},
	{"completions", test_completions, NULL},
	{"completions of a QP whose number is used again", test_number_again, NULL},
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
