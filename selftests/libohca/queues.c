// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of libohca's SRQs, XRC objects and resized queues against a mock kernel and device.
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

static void test_srq_create(const void *arg)
{
	struct ibv_srq_init_attr attr = {
		.srq_context = &attr,
		.attr = {.max_wr = 100, .max_sge = 2, .srq_limit = 7},
	};
	struct ibv_srq_init_attr_ex ex = {.attr = {.max_wr = 1}};
	struct ibv_srq_attr got;
	struct ibv_srq *srq;
	struct bed bed;
	uint32_t srqn;

	(void)arg;
	if (!set_up_bare(&bed, 4))
		return;
	srq = ohca_create_srq(bed.pd, &attr);
	if (!EXPECT(srq))
		return;
	EXPECT_EQ(attr.attr.max_wr, 128);
	EXPECT_EQ(attr.attr.max_sge, 3);
	EXPECT_EQ(srq_dev(srq)->req.log_size, 7);
	EXPECT_EQ(srq_dev(srq)->req.log_stride, 6);
	EXPECT_EQ(srq_dev(srq)->req.buf_addr % 4096, 0);
	EXPECT_EQ(srq_dev(srq)->req.buf_size % 4096, 0);
	EXPECT_EQ(ohca_get_srq_num(srq, &srqn), 0);
	EXPECT_EQ(srqn, srq_dev(srq)->srqn);
	EXPECT_EQ(ohca_query_srq(srq, &got), 0);
	EXPECT_EQ(got.srq_limit, 7);
	got.srq_limit = 9;
	EXPECT_EQ(ohca_modify_srq(srq, &got, IBV_SRQ_LIMIT), 0);
	EXPECT_EQ(srq_dev(srq)->limit, 9);
	EXPECT_EQ(ohca_dealloc_pd(bed.pd), EBUSY);
	mock_fail = EBUSY;
	EXPECT_EQ(ohca_destroy_srq(srq), EBUSY);
	EXPECT_EQ(post_srq(srq, 1), 0);
	EXPECT_EQ(ohca_destroy_srq(srq), 0);

	EXPECT_NULL(make_srq(&bed, 0, 1), EINVAL);
	EXPECT_NULL(make_srq(&bed, 2049, 1), EINVAL);
	EXPECT_NULL(make_srq(&bed, 1, OHCA_MAX_SGE + 1), EINVAL);
	mock_fail = ENOMEM;
	EXPECT_NULL(make_srq(&bed, 1, 1), ENOMEM);
	EXPECT_NULL(ohca_create_srq_ex(bed.ctx, &ex), EINVAL);
	ex.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;
	ex.pd = bed.pd;
	ex.srq_type = IBV_SRQT_TM + 1;
	EXPECT_NULL(ohca_create_srq_ex(bed.ctx, &ex), EOPNOTSUPP);
	ex.srq_type = IBV_SRQT_TM;
	EXPECT_NULL(ohca_create_srq_ex(bed.ctx, &ex), EINVAL);
	ex.srq_type = IBV_SRQT_XRC;
	EXPECT_NULL(ohca_create_srq_ex(bed.ctx, &ex), EINVAL);
	ex.comp_mask |= IBV_SRQ_INIT_ATTR_RESERVED;
	EXPECT_NULL(ohca_create_srq_ex(bed.ctx, &ex), EOPNOTSUPP);
	to_octx(bed.ctx)->caps = ~OHCA_CAP_SRQ;
	EXPECT_NULL(make_srq(&bed, 1, 1), EOPNOTSUPP);
	tear_down(&bed);
}

static void test_srq_post(const void *arg)
{
	struct ibv_recv_wr wr[4], *bad = NULL;
	struct ibv_sge sge[3];
	struct ibv_srq *srq;
	struct bed bed;
	uint32_t i, j;

	(void)arg;
	if (!set_up_bare(&bed, 4))
		return;
	srq = make_srq(&bed, 8, 3);
	for (i = 0; i < 4; i++) {
		if (i < 3)
			sge[i] = (struct ibv_sge){0x123456789abc0000 + i, 77 + i, 0xa5a50000 + i};
		wr[i] = (struct ibv_recv_wr){.wr_id = 100 + i,
					     .next = i == 3 ? NULL : &wr[i + 1],
					     .sg_list = sge,
					     .num_sge = i};
	}
	EXPECT_EQ(ohca_post_srq_recv(srq, wr, &bad), 0);
	EXPECT_EQ(mock_srq_pi(srq_dev(srq)), 4);
	for (i = 0; i < 4; i++) {
		struct ohca_rq_wqe *wqe = mock_srq_wqe(srq_dev(srq), i);

		EXPECT_EQ(le64toh(wqe->wr_id), 100 + i);
		EXPECT_EQ(le32toh(wqe->num_sge), i);
		for (j = 0; j < i; j++)
			EXPECT(le64toh(wqe->sge[j].addr) == sge[j].addr &&
			       le32toh(wqe->sge[j].length) == sge[j].length &&
			       le32toh(wqe->sge[j].lkey) == sge[j].lkey);
	}
	wr[1].num_sge = 4;
	EXPECT_EQ(ohca_post_srq_recv(srq, wr, &bad), EINVAL);
	EXPECT(bad == &wr[1]);
	EXPECT_EQ(mock_srq_pi(srq_dev(srq)), 5);
	EXPECT_EQ(ohca_destroy_srq(srq), 0);
	tear_down(&bed);
}

/* Entries are freed by the number of entries taken, for any order of completions. */
static void test_srq_tail(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 1, .max_recv_wr = 5};
	struct mock_taken taken[4];
	struct ibv_qp *other;
	struct ohca_wq *wq;
	struct ibv_srq *srq;
	struct ibv_wc wc[4];
	struct bed bed;
	int i;

	(void)arg;
	if (!set_up_bare(&bed, 16))
		return;
	srq = make_srq(&bed, 4, 0);
	use_qp(&bed, make_qp_type(&bed, IBV_QPT_RC, srq, cap));
	other = make_qp_type(&bed, IBV_QPT_RC, srq, cap);
	EXPECT_EQ(bed.dev->req.rq_log_stride, 0);
	EXPECT_EQ(bed.dev->req.rq_rec_offset, 0);
	EXPECT_EQ(post_rx(&bed, 1), EINVAL);
	/* Where the index wraps. */
	wq = &to_osrq(srq)->wq;
	wq->pi = wq->seen = srq_dev(srq)->taken = UINT32_MAX - 1;
	atomic_store(&wq->tail, wq->pi);

	for (i = 0; i < 4; i++)
		EXPECT_EQ(post_srq(srq, i), 0);
	EXPECT_EQ(post_srq(srq, 4), ENOMEM);
	for (i = 0; i < 3; i++)
		EXPECT(mock_take(srq_dev(srq), &taken[i]));
	/* Taken, but the completions were not polled. */
	EXPECT_EQ(post_srq(srq, 4), ENOMEM);
	mock_complete_taken(bed.dev, &taken[2]);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 4, wc), 1);
	EXPECT_EQ(wc[0].wr_id, 2);
	EXPECT_EQ(wc[0].opcode, IBV_WC_RECV);
	EXPECT_EQ(wc[0].qp_num, bed.qp->qp_num);
	EXPECT_EQ(atomic_load(&wq->tail), 1);
	for (i = 4; i < 7; i++)
		EXPECT_EQ(post_srq(srq, i), 0);
	EXPECT_EQ(post_srq(srq, 7), ENOMEM);
	/* An older number frees nothing and takes nothing back. */
	srq_dev(srq)->taken--;
	mock_complete_taken(bed.dev, &taken[0]);
	srq_dev(srq)->taken++;
	mock_complete_taken(mock_find_qp(other->qp_num), &taken[1]);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 1, wc), 1);
	EXPECT_EQ(atomic_load(&wq->tail), 1);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 4, wc), 1);
	EXPECT_EQ(atomic_load(&wq->tail), 1);

	/* Completions of a destroyed QP free the entries that they name. */
	EXPECT(mock_take(srq_dev(srq), &taken[3]));
	mock_complete_taken(mock_find_qp(other->qp_num), &taken[3]);
	EXPECT_EQ(post_srq(srq, 7), ENOMEM);
	EXPECT_EQ(ohca_destroy_qp(other), 0);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 4, wc), 0);
	EXPECT_EQ(post_srq(srq, 7), 0);
	EXPECT(mock_take(srq_dev(srq), &taken[0]));
	mock_complete_taken(bed.dev, &taken[0]);
	EXPECT_EQ(to_state(bed.qp, IBV_QPS_RESET), 0);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 4, wc), 0);
	EXPECT_EQ(post_srq(srq, 8), 0);

	/* Entries that it took and never completed are free again, too. */
	use_qp(&bed, bed.qp);
	EXPECT(mock_take(srq_dev(srq), &taken[0]));
	EXPECT_EQ(post_srq(srq, 9), ENOMEM);
	EXPECT_EQ(to_state(bed.qp, IBV_QPS_RESET), 0);
	EXPECT_EQ(post_srq(srq, 9), 0);
	EXPECT(mock_take(srq_dev(srq), &taken[0]));
	EXPECT_EQ(post_srq(srq, 10), ENOMEM);
	EXPECT_EQ(ohca_destroy_qp(bed.qp), 0);
	EXPECT_EQ(post_srq(srq, 10), 0);
	bed.qp = NULL;
	EXPECT_EQ(ohca_destroy_srq(srq), 0);
	tear_down(&bed);
}

static void test_srq_resize(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 1};
	struct ibv_srq_attr attr = {.max_wr = 32, .srq_limit = 3};
	struct mock_taken taken;
	struct ibv_srq *srq;
	struct ibv_wc wc;
	struct bed bed;
	uint64_t i;

	(void)arg;
	if (!set_up_bare(&bed, 16))
		return;
	srq = make_srq(&bed, 4, 3);
	use_qp(&bed, make_qp_type(&bed, IBV_QPT_RC, srq, cap));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(post_srq(srq, i), 0);
	EXPECT(mock_take(srq_dev(srq), &taken));
	EXPECT_EQ(post_srq(srq, 4), ENOMEM);
	mock_fail = ENOMEM;
	EXPECT_EQ(ohca_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), ENOMEM);
	EXPECT_EQ(post_srq(srq, 4), ENOMEM);
	EXPECT_EQ(ohca_modify_srq(srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), 0);
	EXPECT_EQ(srq_dev(srq)->limit, 3);
	EXPECT_EQ(srq_dev(srq)->req.log_size, 5);
	for (; i < 32; i++)
		EXPECT_EQ(post_srq(srq, i), 0);
	EXPECT_EQ(post_srq(srq, 32), ENOMEM);
	/* Smaller again: not before the entries fit. */
	attr.max_wr = 8;
	EXPECT_EQ(ohca_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EINVAL);
	for (i = 0; i < 30; i++) {
		EXPECT_EQ(taken.wr_id, i);
		mock_complete_taken(bed.dev, &taken);
		EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 1);
		EXPECT_EQ(wc.wr_id, i);
		EXPECT(mock_take(srq_dev(srq), &taken));
	}
	EXPECT_EQ(ohca_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), 0);
	EXPECT_EQ(attr.max_wr, 8);
	EXPECT(mock_take(srq_dev(srq), &taken));
	EXPECT_EQ(taken.wr_id, 31);
	EXPECT(!mock_take(srq_dev(srq), &taken));
	EXPECT_EQ(post_srq(srq, 99), 0);
	EXPECT(mock_take(srq_dev(srq), &taken));
	EXPECT_EQ(taken.wr_id, 99);
	attr.max_wr = 4096;
	EXPECT_EQ(ohca_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EINVAL);
	EXPECT_EQ(ohca_destroy_qp(bed.qp), 0);
	bed.qp = NULL;
	EXPECT_EQ(ohca_destroy_srq(srq), 0);
	tear_down(&bed);
}

static void test_xrc(const void *arg)
{
	struct verbs_xrcd xrcd = {};
	struct ibv_qp_init_attr_ex tgt_attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	struct ibv_qp_open_attr open_attr = {.qp_type = IBV_QPT_XRC_RECV, .qp_num = 4711};
	struct ibv_qp_cap cap = {.max_send_wr = 1};
	struct ibv_qp *tgt, *opened;
	struct mock_taken taken;
	struct ibv_srq *srq;
	struct ibv_wc wc;
	struct bed bed;
	int i;

	(void)arg;
	if (!set_up_bare(&bed, 16))
		return;
	srq = make_xrc_srq(&bed, &xrcd.xrcd);
	if (!EXPECT(srq))
		return;
	EXPECT_NULL(make_qp_type(&bed, IBV_QPT_RC, srq, cap), EINVAL);
	EXPECT_NULL(ohca_create_qp_ex(bed.ctx, &tgt_attr), EINVAL);
	tgt_attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
	tgt_attr.xrcd = &xrcd.xrcd;
	tgt_attr.cap.max_send_wr = 5;
	tgt = ohca_create_qp_ex(bed.ctx, &tgt_attr);
	if (!EXPECT(tgt))
		return;
	EXPECT(mock_find_qp(tgt->qp_num));
	/* It has neither queue. */
	EXPECT_EQ(to_state(tgt, IBV_QPS_INIT), 0);
	EXPECT_EQ(to_state(tgt, IBV_QPS_RTS), 0);
	bed.qp = tgt;
	EXPECT_EQ(post(&bed, 1, 0), EINVAL);
	EXPECT_EQ(post_rx(&bed, 1), EINVAL);
	EXPECT_EQ(to_state(tgt, IBV_QPS_RESET), 0);

	/* Completions of a target, or of one that another process has, find the SRQ. */
	for (i = 0; i < 4; i++)
		EXPECT_EQ(post_srq(srq, i), 0);
	EXPECT(mock_take(srq_dev(srq), &taken));
	mock_complete_taken(mock_find_qp(tgt->qp_num), &taken);
	EXPECT(mock_take(srq_dev(srq), &taken));
	mock_complete_taken(&(struct mock_qp){.qpn = 0x777}, &taken);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 1);
	EXPECT_EQ(wc.qp_num, tgt->qp_num);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 1);
	EXPECT_EQ(wc.qp_num, 0x777);
	EXPECT_EQ(wc.wr_id, 1);
	EXPECT_EQ(post_srq(srq, 4), 0);
	EXPECT_EQ(post_srq(srq, 5), 0);
	EXPECT_EQ(post_srq(srq, 6), ENOMEM);
	/* Entries that a destroyed target took and will not complete are freed, too. */
	EXPECT(mock_take(srq_dev(srq), &taken));
	EXPECT_EQ(post_srq(srq, 6), 0);
	EXPECT_EQ(mock_srq_pi(srq_dev(srq)), 7);
	EXPECT_EQ(post_srq(srq, 7), ENOMEM);
	EXPECT_EQ(ohca_destroy_qp(tgt), 0);

	opened = ohca_open_qp(bed.ctx, &open_attr);
	if (EXPECT(opened)) {
		EXPECT_EQ(opened->qp_num, 4711);
		mock_qps[0] = (struct mock_qp){.used = true, .qpn = 4711};
		EXPECT_EQ(ohca_destroy_qp(opened), 0);
	}
	mock_fail = EINVAL;
	EXPECT_NULL(ohca_open_qp(bed.ctx, &open_attr), EINVAL);

	/* A destroyed SRQ leaves no completions behind. */
	EXPECT(mock_take(srq_dev(srq), &taken));
	mock_complete_taken(&(struct mock_qp){.qpn = 0x777}, &taken);
	EXPECT_EQ(ohca_destroy_srq(srq), 0);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 0);
	bed.qp = NULL;
	tear_down(&bed);
}

static void test_cq_resize(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 64};
	struct ibv_modify_cq_attr moder = {};
	struct ibv_wc wc[64];
	uint32_t round, i, n;
	uint64_t next = 0, done = 0;
	struct bed bed;

	(void)arg;
	if (!set_up(&bed, 16, cap))
		return;
	EXPECT_EQ(ohca_req_notify_cq(bed.cq, 0), 0);
	for (round = 0; round < 200 && !tap_failed(); round++) {
		/* For any index in both rings. */
		n = round * 7 % 17;
		for (i = 0; i < n; i++) {
			EXPECT_EQ(post(&bed, next++, IBV_SEND_SIGNALED), 0);
			EXPECT(mock_do_send(bed.dev));
		}
		mock_fail = round % 5 ? 0 : ENOMEM;
		EXPECT_EQ(ohca_resize_cq(bed.cq, round % 2 ? 16 : 64), round % 5 ? 0 : ENOMEM);
		EXPECT_EQ(ohca_poll_cq(bed.cq, 64, wc), n);
		for (i = 0; i < n; i++)
			EXPECT_EQ(wc[i].wr_id, done++);
		EXPECT_EQ(ohca_poll_cq(bed.cq, 1, wc), 0);
		EXPECT_EQ(le32toh(mock_cq_rec(bed.dev->send_cq)->ci), done);
	}
	EXPECT_EQ(le32toh(mock_cq_rec(bed.dev->send_cq)->arm_next), 1);
	EXPECT_EQ(ohca_resize_cq(bed.cq, 33), 0);
	EXPECT_EQ(bed.cq->cqe, 64);
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(post(&bed, i, IBV_SEND_SIGNALED), 0);
		EXPECT(mock_do_send(bed.dev));
	}
	EXPECT_EQ(ohca_resize_cq(bed.cq, 4), EINVAL);
	EXPECT_EQ(ohca_resize_cq(bed.cq, 0), EINVAL);
	EXPECT_EQ(ohca_resize_cq(bed.cq, -1), EINVAL);
	EXPECT_EQ(ohca_poll_cq(bed.cq, 64, wc), 5);
	EXPECT_EQ(ohca_modify_cq(bed.cq, &moder), 0);
	to_octx(bed.ctx)->caps = 0;
	EXPECT_EQ(ohca_resize_cq(bed.cq, 4), EOPNOTSUPP);
	EXPECT_EQ(ohca_modify_cq(bed.cq, &moder), EOPNOTSUPP);
	tear_down(&bed);
}

/**
 * struct pool - an application's own memory for queues
 * @calls: allocations
 * @freed: memory that was freed
 * @last: the last allocation
 * @fail: fail all allocations
 * @skip: leave it to the library
 * @types: bit n: memory of resource type n was requested
 */
struct pool {
	unsigned int calls;
	unsigned int freed;
	void *last;
	bool fail;
	bool skip;
	uint32_t types;
};

static void *pool_alloc(struct ibv_pd *pd, void *context, size_t size, size_t alignment,
			uint64_t type)
{
	struct pool *pool = context;

	(void)pd;
	if (pool->skip)
		return IBV_ALLOCATOR_USE_DEFAULT;
	if (pool->fail || posix_memalign(&pool->last, alignment, size))
		return NULL;
	memset(pool->last, 0xa5, size);
	pool->calls++;
	pool->types |= 1U << type;
	return pool->last;
}

static void pool_free(struct ibv_pd *pd, void *context, void *ptr, uint64_t type)
{
	struct pool *pool = context;

	(void)pd;
	(void)type;
	pool->freed++;
	free(ptr);
}

static void test_allocators(const void *arg)
{
	struct pool pool = {};
	struct ibv_parent_domain_init_attr attr = {
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
		.alloc = pool_alloc,
		.free = pool_free,
		.pd_context = &pool,
	};
	struct ibv_cq_init_attr_ex cq_attr = {
		.cqe = 4,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
	};
	struct ibv_srq_attr srq_attr = {.max_wr = 16};
	struct ibv_qp_cap cap = {.max_send_wr = 1};
	struct ibv_pd *real;
	struct ibv_srq *srq;
	struct ibv_cq_ex *cq;
	struct ibv_wc wc;
	struct bed bed;

	(void)arg;
	if (!set_up_bare(&bed, 4))
		return;
	real = bed.pd;
	attr.pd = real;
	bed.pd = ohca_alloc_parent_domain(bed.ctx, &attr);
	if (!EXPECT(bed.pd))
		return;
	use_qp(&bed, make_qp(&bed, cap));
	EXPECT_EQ(bed.dev->req.buf_addr, (uintptr_t)pool.last);
	EXPECT_EQ(mock_sq_pi(bed.dev), 0);
	EXPECT_EQ(post(&bed, 5, IBV_SEND_SIGNALED), 0);
	EXPECT(mock_do_send(bed.dev));
	EXPECT_EQ(ohca_poll_cq(bed.cq, 1, &wc), 1);
	srq = make_srq(&bed, 4, 1);
	EXPECT_EQ(srq_dev(srq)->req.buf_addr, (uintptr_t)pool.last);
	EXPECT_EQ(ohca_modify_srq(srq, &srq_attr, IBV_SRQ_MAX_WR), 0);
	EXPECT_EQ(srq_dev(srq)->req.buf_addr, (uintptr_t)pool.last);
	cq_attr.parent_domain = bed.pd;
	cq = ohca_create_cq_ex(bed.ctx, &cq_attr);
	EXPECT_EQ(pool.types, 7);
	EXPECT_EQ(ohca_poll_cq(ibv_cq_ex_to_cq(cq), 1, &wc), 0);
	EXPECT_EQ(ohca_dealloc_pd(bed.pd), EBUSY);
	EXPECT_EQ(pool.freed, 1);
	EXPECT_EQ(ohca_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	EXPECT_EQ(ohca_destroy_srq(srq), 0);
	EXPECT_EQ(ohca_destroy_qp(bed.qp), 0);
	EXPECT_EQ(pool.calls, 4);
	EXPECT_EQ(pool.freed, 4);
	pool.fail = true;
	EXPECT_NULL(make_qp(&bed, cap), ENOMEM);
	EXPECT_NULL(make_srq(&bed, 1, 1), ENOMEM);
	pool.skip = true;
	use_qp(&bed, make_qp(&bed, cap));
	EXPECT_EQ(ohca_destroy_qp(bed.qp), 0);
	EXPECT_EQ(pool.freed, 4);
	bed.qp = NULL;
	EXPECT_EQ(ohca_dealloc_pd(bed.pd), 0);
	bed.pd = real;
	tear_down(&bed);
}

/* Two pollers with a CQ each, one poster and the device share an SRQ. */

static struct {
	struct bed bed[2];
	struct ibv_srq *srq;
	atomic_uint polled;
} many;

static void *srq_poster(void *arg)
{
	uint64_t i;

	for (i = 0; i < ROUNDS;)
		if (post_srq(many.srq, i))
			sched_yield();
		else
			i++;
	return arg;
}

static void *srq_poller(void *arg)
{
	struct bed *bed = arg;
	struct ibv_wc wc[5];
	int n;

	while (atomic_load(&many.polled) < ROUNDS) {
		n = ohca_poll_cq(bed->cq, 5, wc);
		if (n)
			atomic_fetch_add(&many.polled, n);
		else
			sched_yield();
	}
	return NULL;
}

static void *srq_device(void *arg)
{
	struct mock_taken taken;
	unsigned int i = 0;

	while (i < ROUNDS) {
		struct bed *bed = &many.bed[i % 3 == 1];

		if (!mock_cq_room(bed->dev->recv_cq) || !mock_take(srq_dev(many.srq), &taken)) {
			sched_yield();
			continue;
		}
		mock_complete_taken(bed->dev, &taken);
		i++;
	}
	return arg;
}

static void test_srq_threads(const void *arg)
{
	struct ibv_qp_cap cap = {.max_send_wr = 1};
	pthread_t threads[4];
	int i;

	(void)arg;
	if (!set_up_bare(&many.bed[0], 8))
		return;
	many.bed[1] = many.bed[0];
	many.bed[1].cq = ohca_create_cq(many.bed[0].ctx, 8, NULL, 0);
	many.srq = make_srq(&many.bed[0], 2, 0);
	for (i = 0; i < 2; i++) {
		use_qp(&many.bed[i], make_qp_type(&many.bed[i], IBV_QPT_RC, many.srq, cap));
		pthread_create(&threads[i], NULL, srq_poller, &many.bed[i]);
	}
	pthread_create(&threads[2], NULL, srq_device, NULL);
	pthread_create(&threads[3], NULL, srq_poster, NULL);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(atomic_load(&to_osrq(many.srq)->wq.tail), ROUNDS);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(ohca_destroy_qp(many.bed[i].qp), 0);
		many.bed[i].qp = NULL;
	}
	EXPECT_EQ(ohca_destroy_srq(many.srq), 0);
	EXPECT_EQ(ohca_destroy_cq(many.bed[1].cq), 0);
	tear_down(&many.bed[0]);
}

static const struct tap_test tests[] = {
	{"SRQ: create, query, arm the limit", test_srq_create, NULL},
	{"SRQ: entries", test_srq_post, NULL},
	{"SRQ: room comes back as entries are taken", test_srq_tail, NULL},
	{"SRQ: resize", test_srq_resize, NULL},
	{"XRC: targets, and completions found by the SRQ", test_xrc, NULL},
	{"CQ: resize", test_cq_resize, NULL},
	{"memory of the application's own", test_allocators, NULL},
	{"SRQ: many threads", test_srq_threads, NULL},
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
