// SPDX-License-Identifier: GPL-2.0
/* Queue pairs: commands, the state machine, events. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "pair.h"
#include "rig_assert.h"

#define INIT_MASK (OHCA_QP_STATE | OHCA_QP_PKEY_INDEX | OHCA_QP_PORT | OHCA_QP_ACCESS_FLAGS)
#define RTR_MASK                                                                             \
	(OHCA_QP_STATE | OHCA_QP_AV | OHCA_QP_PATH_MTU | OHCA_QP_DEST_QPN | OHCA_QP_RQ_PSN | \
	 OHCA_QP_MAX_DEST_RD_ATOMIC | OHCA_QP_MIN_RNR_TIMER)
#define RTS_MASK                                                                   \
	(OHCA_QP_STATE | OHCA_QP_TIMEOUT | OHCA_QP_RETRY_CNT | OHCA_QP_RNR_RETRY | \
	 OHCA_QP_SQ_PSN | OHCA_QP_MAX_QP_RD_ATOMIC)
#define SQD_MASK                                                                               \
	(OHCA_QP_PORT | OHCA_QP_AV | OHCA_QP_TIMEOUT | OHCA_QP_RETRY_CNT | OHCA_QP_RNR_RETRY | \
	 OHCA_QP_MAX_QP_RD_ATOMIC | OHCA_QP_MAX_DEST_RD_ATOMIC | OHCA_QP_ACCESS_FLAGS |        \
	 OHCA_QP_PKEY_INDEX | OHCA_QP_MIN_RNR_TIMER)

#define MIG_MASK (OHCA_QP_ALT_PATH | OHCA_QP_PATH_MIG_STATE)

/* A good command with one field changed. */
#define CHECK_CREATE(field, value, expect)                                             \
	do {                                                                           \
		bad = in;                                                              \
		bad.field = value;                                                     \
		assert_int_equal(try_create_qp(hca, &bad), expect);                    \
		if ((expect) == OHCA_CMD_BAD_PARAM || (expect) == OHCA_CMD_BAD_HANDLE) \
			assert_int_equal(hca->drv->syndrome,                           \
					 offsetof(struct ohca_create_qp_in, field));   \
	} while (0)

static void test_create(void **state)
{
	struct rig *rig = rig_open(server);
	struct rig_hca *hca = &rig->hca[0];
	struct rig_qp_opts opts = {.max_sge = 4, .max_inline = 64};
	struct ohca_create_qp_in in, bad;
	struct rig_qp qp;

	(void)state;
	in = rig_qp_in(hca, &opts, &qp);
	assert_int_equal(try_create_qp(hca, &in), OHCA_CMD_OK);
	CHECK_CREATE(type, 0, OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(type, 5, OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(type, OHCA_QPT_RSS, OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(type, OHCA_QPT_TM + 1, OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(flags, 0x10, OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(flags, OHCA_QP_F_NO_MCAST_LOOPBACK, OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(srqn, htole32(1), OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(xrcdn, htole32(1), OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(rsvd, 1, OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(port, 1, OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(slot, htole16(OHCA_SHADOW_SLOTS), OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(slot, htole16(OHCA_SHADOW_SLOTS - 1), OHCA_CMD_OK);
	CHECK_CREATE(pdn, htole32(0), OHCA_CMD_BAD_HANDLE);
	CHECK_CREATE(pdn, htole32(~0), OHCA_CMD_BAD_HANDLE);
	CHECK_CREATE(uar, htole32(1), OHCA_CMD_BAD_HANDLE);
	CHECK_CREATE(send_cqn, htole32(0), OHCA_CMD_BAD_HANDLE);
	CHECK_CREATE(recv_cqn, htole32(0x1000000), OHCA_CMD_BAD_HANDLE);
	CHECK_CREATE(sq_log_size, 16, OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(sq_log_size, 255, OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(rq_log_size, 16, OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(rq_log_size, 64, OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(sq_log_stride, 5, OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(sq_log_stride, 12, OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(rq_log_stride, 4, OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(rq_log_stride, 12, OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(max_send_sge, htole16(6), OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(max_send_sge, htole16(5), OHCA_CMD_OK);
	CHECK_CREATE(max_send_sge, htole16(33), OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(max_recv_sge, htole16(8), OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(max_inline, htole16(81), OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(max_inline, htole16(80), OHCA_CMD_OK);
	CHECK_CREATE(sq_offset, htole32(32), OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(rq_offset, htole32(16), OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(sq_rec_offset, htole32(32), OHCA_CMD_BAD_PARAM);
	CHECK_CREATE(rq_rec_offset, htole32(8), OHCA_CMD_BAD_PARAM);
	/* A ring begins at a multiple of its stride. */
	bad = in;
	bad.sq_log_size--;
	bad.sq_offset = htole32(64);
	assert_int_equal(try_create_qp(hca, &bad), OHCA_CMD_BAD_PARAM);
	bad.sq_offset = htole32(1U << in.sq_log_stride);
	assert_int_equal(try_create_qp(hca, &bad), OHCA_CMD_OK);
	/* Behind the end of the buffer: the page count is wrong then */
	bad = in;
	bad.rq_rec_offset = htole32(0x100000);
	assert_int_equal(try_create_qp(hca, &bad), OHCA_CMD_BAD_PARAM);
	bad = in;
	bad.rq_offset = htole32(0xffffffe0);
	assert_int_equal(try_create_qp(hca, &bad), OHCA_CMD_BAD_PARAM);
	bad = in;
	bad.buf.addr = htole64(DRV_NOWHERE);
	assert_int_equal(try_create_qp(hca, &bad), OHCA_CMD_BAD_ADDR);
	bad = in;
	bad.buf.levels = 4;
	assert_int_equal(try_create_qp(hca, &bad), OHCA_CMD_BAD_PARAM);
	rig_close(rig);
}

/* Objects that a QP uses can't be destroyed before it. */
static void test_references(void **state)
{
	struct rig *rig = rig_open(server);
	struct rig_qp *qp = rig_qp_new(&rig->hca[0], NULL);
	struct drv *drv = rig->hca[0].drv;

	(void)state;
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_PD, rig->hca[0].pdn), OHCA_CMD_BUSY);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_CQ, qp->scq->cqn), OHCA_CMD_BUSY);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_CQ, qp->rcq->cqn), OHCA_CMD_BUSY);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_UAR, 0), OHCA_CMD_BUSY);
	assert_int_equal(rig_qp_destroy(qp), OHCA_CMD_OK);
	assert_int_equal(rig_qp_destroy(qp), OHCA_CMD_BAD_HANDLE);
	assert_int_equal(rig_modify(qp, OHCA_QPS_RESET, OHCA_QP_STATE), OHCA_CMD_BAD_HANDLE);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_PD, rig->hca[0].pdn), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_CQ, qp->scq->cqn), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_CQ, qp->rcq->cqn), OHCA_CMD_OK);
	rig_close(rig);
}

/* Bring a QP to a state, the shortest way. */
static void bring_to(struct rig_qp *qp, enum ohca_qp_state state)
{
	rig_to_reset(qp);
	if (state == OHCA_QPS_RESET)
		return;
	assert_int_equal(rig_to_init(qp), 0);
	if (state == OHCA_QPS_INIT)
		return;
	if (state == OHCA_QPS_ERR) {
		assert_int_equal(rig_modify(qp, OHCA_QPS_ERR, OHCA_QP_STATE), 0);
		return;
	}
	assert_int_equal(rig_to_rtr(qp), 0);
	if (state == OHCA_QPS_RTR)
		return;
	assert_int_equal(rig_to_rts(qp), 0);
	if (state == OHCA_QPS_SQD)
		assert_int_equal(rig_modify(qp, OHCA_QPS_SQD, OHCA_QP_STATE), 0);
}

/* The transitions of the specification: required and optional attributes. */
static const struct transition {
	enum ohca_qp_state from, to;
	uint32_t required, optional;
} transitions[] = {
	{OHCA_QPS_RESET, OHCA_QPS_RESET, 0, 0},
	{OHCA_QPS_RESET, OHCA_QPS_INIT, INIT_MASK, 0},
	{OHCA_QPS_INIT, OHCA_QPS_RESET, 0, 0},
	{OHCA_QPS_INIT, OHCA_QPS_ERR, 0, 0},
	{OHCA_QPS_INIT, OHCA_QPS_INIT, 0, INIT_MASK},
	{OHCA_QPS_INIT, OHCA_QPS_RTR, RTR_MASK, OHCA_QP_ACCESS_FLAGS | OHCA_QP_PKEY_INDEX},
	{OHCA_QPS_RTR, OHCA_QPS_RESET, 0, 0},
	{OHCA_QPS_RTR, OHCA_QPS_ERR, 0, 0},
	{OHCA_QPS_RTR, OHCA_QPS_RTS, RTS_MASK,
	 OHCA_QP_CUR_STATE | OHCA_QP_ACCESS_FLAGS | OHCA_QP_MIN_RNR_TIMER},
	{OHCA_QPS_RTS, OHCA_QPS_RESET, 0, 0},
	{OHCA_QPS_RTS, OHCA_QPS_ERR, 0, 0},
	{OHCA_QPS_RTS, OHCA_QPS_RTS, 0,
	 OHCA_QP_CUR_STATE | OHCA_QP_ACCESS_FLAGS | OHCA_QP_MIN_RNR_TIMER},
	{OHCA_QPS_RTS, OHCA_QPS_SQD, 0, OHCA_QP_EN_SQD_ASYNC_NOTIFY},
	{OHCA_QPS_SQD, OHCA_QPS_RESET, 0, 0},
	{OHCA_QPS_SQD, OHCA_QPS_ERR, 0, 0},
	{OHCA_QPS_SQD, OHCA_QPS_RTS, 0,
	 OHCA_QP_CUR_STATE | OHCA_QP_ACCESS_FLAGS | OHCA_QP_MIN_RNR_TIMER},
	{OHCA_QPS_SQD, OHCA_QPS_SQD, 0, SQD_MASK},
	{OHCA_QPS_ERR, OHCA_QPS_RESET, 0, 0},
	{OHCA_QPS_ERR, OHCA_QPS_ERR, 0, 0},
};

static const struct transition *transition(enum ohca_qp_state from, enum ohca_qp_state to)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(transitions); i++) {
		if (transitions[i].from == from && transitions[i].to == to)
			return &transitions[i];
	}
	return NULL;
}

static void check_transition(struct rig_qp *qp, enum ohca_qp_state from, enum ohca_qp_state to)
{
	const struct transition *tr = transition(from, to);
	uint32_t required = tr ? (tr->required & ~OHCA_QP_STATE) : 0;
	unsigned int bit;

	qp->attr.cur_state = from;
	if (!tr) {
		assert_int_equal(rig_modify(qp, to, OHCA_QP_STATE), OHCA_CMD_BAD_STATE);
		assert_int_equal(rig_query(qp).state, from);
		return;
	}
	for (bit = 0; bit < 32; bit++) {
		uint32_t one = 1U << bit;

		if (one == OHCA_QP_STATE || one == OHCA_QP_COUNTERS)
			continue;
		if (one & MIG_MASK) {
			/* There is none on an Ethernet port. */
			assert_int_equal(rig_modify(qp, to, OHCA_QP_STATE | required | one),
					 OHCA_CMD_UNSUPPORTED);
		} else if (required & one) {
			assert_int_equal(rig_modify(qp, to, OHCA_QP_STATE | (required & ~one)),
					 OHCA_CMD_BAD_STATE);
		} else if (!(tr->optional & one)) {
			assert_int_equal(rig_modify(qp, to, OHCA_QP_STATE | required | one),
					 OHCA_CMD_BAD_STATE);
		}
		assert_int_equal(rig_query(qp).state, from);
	}
	assert_int_equal(rig_modify(qp, to, OHCA_QP_STATE | required), 0);
	assert_int_equal(rig_query(qp).state, to);
	bring_to(qp, from);
	qp->attr.cur_state = from;
	assert_int_equal(rig_modify(qp, to, OHCA_QP_STATE | required | tr->optional), 0);
	assert_int_equal(rig_query(qp).state, to);
}

static void test_transitions(void **state)
{
	struct pair p = pair_new(server, NULL);
	unsigned int from, to;

	(void)state;
	rig_address(p.a, p.b);
	for (from = OHCA_QPS_RESET; from <= OHCA_QPS_ERR; from++) {
		if (from == OHCA_QPS_SQE)
			continue;
		for (to = OHCA_QPS_RESET; to <= OHCA_QPS_ERR; to++) {
			bring_to(p.a, from);
			check_transition(p.a, from, to);
		}
		bring_to(p.a, from);
		assert_int_equal(rig_modify(p.a, 7, OHCA_QP_STATE), OHCA_CMD_BAD_PARAM);
		assert_int_equal(rig_modify(p.a, 255, OHCA_QP_STATE), OHCA_CMD_BAD_PARAM);
	}
	rig_close(p.rig);
}

/*
 * The current state in the command has to be correct; without OHCA_QP_STATE the state does not
 * change.
 */
static void test_cur_state(void **state)
{
	struct pair p = pair_open(server, NULL);

	(void)state;
	p.a->attr.cur_state = OHCA_QPS_SQD;
	assert_int_equal(rig_modify(p.a, OHCA_QPS_RTS, OHCA_QP_STATE | OHCA_QP_CUR_STATE),
			 OHCA_CMD_BAD_STATE);
	p.a->attr.cur_state = OHCA_QPS_RTS;
	assert_int_equal(rig_modify(p.a, OHCA_QPS_RTS, OHCA_QP_STATE | OHCA_QP_CUR_STATE), 0);
	p.a->attr.access = OHCA_ACCESS_REMOTE_READ;
	assert_int_equal(rig_modify(p.a, 0, OHCA_QP_ACCESS_FLAGS), 0);
	assert_int_equal(rig_query(p.a).state, OHCA_QPS_RTS);
	assert_int_equal(rig_query(p.a).access, OHCA_ACCESS_REMOTE_READ);
	rig_close(p.rig);
}

/* An invalid value of one attribute, on a transition that allows it. */
#define CHECK_ATTR(step, field, value)                                            \
	do {                                                                      \
		struct ohca_qp_attr good = qp->attr;                              \
		qp->attr.field = value;                                           \
		assert_int_equal(step(qp), OHCA_CMD_BAD_PARAM);                   \
		assert_int_equal(qp->hca->drv->syndrome,                          \
				 offsetof(struct ohca_modify_qp_in, attr.field)); \
		qp->attr = good;                                                  \
	} while (0)

static void test_attributes(void **state)
{
	struct pair p = pair_new(server, NULL);
	struct rig_qp *qp = p.a;

	(void)state;
	rig_address(p.a, p.b);
	CHECK_ATTR(rig_to_init, port, 0);
	CHECK_ATTR(rig_to_init, port, 2);
	CHECK_ATTR(rig_to_init, pkey_index, htole16(1));
	CHECK_ATTR(rig_to_init, access, OHCA_ACCESS_LOCAL_WRITE);
	CHECK_ATTR(rig_to_init, access, 0x10);
	CHECK_ATTR(rig_to_init, sq_draining, 1);
	assert_int_equal(rig_to_init(qp), 0);
	CHECK_ATTR(rig_to_rtr, path_mtu, 0);
	CHECK_ATTR(rig_to_rtr, path_mtu, 6);
	CHECK_ATTR(rig_to_rtr, dest_qpn, htole32(1 << 24));
	CHECK_ATTR(rig_to_rtr, rq_psn, htole32(1 << 24));
	CHECK_ATTR(rig_to_rtr, max_dest_rd_atomic, 129);
	CHECK_ATTR(rig_to_rtr, min_rnr_timer, 32);
	CHECK_ATTR(rig_to_rtr, av.port, 0);
	CHECK_ATTR(rig_to_rtr, av.sgid_index, htole16(1));
	CHECK_ATTR(rig_to_rtr, av.sgid_index, htole16(128));
	CHECK_ATTR(rig_to_rtr, av.flow_label, htole32(1 << 20));
	CHECK_ATTR(rig_to_rtr, av.sl, 16);
	assert_int_equal(rig_to_rtr(qp), 0);
	CHECK_ATTR(rig_to_rts, timeout, 32);
	CHECK_ATTR(rig_to_rts, retry_cnt, 8);
	CHECK_ATTR(rig_to_rts, rnr_retry, 8);
	CHECK_ATTR(rig_to_rts, sq_psn, htole32(1 << 24));
	CHECK_ATTR(rig_to_rts, max_rd_atomic, 129);
	assert_int_equal(rig_to_rts(qp), 0);
	rig_close(p.rig);
}

static void test_query(void **state)
{
	struct pair p = pair_new(server, NULL);
	struct ohca_qp_attr *want = &p.a->attr, got;

	(void)state;
	want->timeout = 17;
	want->retry_cnt = 5;
	want->rnr_retry = 3;
	want->min_rnr_timer = 12;
	want->max_rd_atomic = 9;
	want->max_dest_rd_atomic = 11;
	want->path_mtu = 4;
	want->sq_psn = htole32(0x123456);
	want->rq_psn = htole32(0x654321);
	p.b->attr.path_mtu = 4;
	p.b->attr.rq_psn = want->sq_psn;
	p.b->attr.sq_psn = want->rq_psn;
	rig_connect(p.a, p.b);
	got = rig_query(p.a);
	want->state = OHCA_QPS_RTS;
	want->cur_state = OHCA_QPS_RTS;
	assert_memory_equal(&got, want, sizeof(got));

	/* Three packets in one direction and one in the other */
	struct pair_layout l = {4097, 0, 0, 1, 1};

	pair_check_message(&p, OHCA_OP_SEND, &l, 1);
	pair_check_message(&p, OHCA_OP_RDMA_READ, &l, 2);
	assert_int_equal(le32toh(rig_query(p.a).sq_psn), 0x123456 + 6);
	assert_int_equal(le32toh(rig_query(p.b).rq_psn), 0x123456 + 6);
	assert_int_equal(le32toh(rig_query(p.b).sq_psn), 0x654321);
	rig_close(p.rig);
}

/* A receiver in RTR receives messages, and reports the first one. */
static void test_comm_est(void **state)
{
	struct pair p = pair_new(server, NULL);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 64), into = rig_sge(p.mb, PAIR_IOVA, 64);
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED, .num_sge = 1, .sge = &sge};

	(void)state;
	rig_address(p.a, p.b);
	assert_int_equal(rig_to_init(p.a) || rig_to_rtr(p.a) || rig_to_rts(p.a), 0);
	assert_int_equal(rig_to_init(p.b), 0);
	rig_post_recv(p.b, 1, &into, 1); /* in INIT already */
	assert_int_equal(rig_to_rtr(p.b), 0);
	rig_post_send(p.a, &wr);
	pair_assert_send_done(p.a, 0, OHCA_OP_SEND);
	assert_int_equal(rig_wait_recv(p.b).status, 0);
	rig_wait_event(p.b->hca, OHCA_EVENT_COMM_EST, p.b->qpn);
	assert_int_equal(rig_query(p.b).state, OHCA_QPS_RTR);

	/* Posted sends wait for RTS. */
	wr.opcode = OHCA_OP_RDMA_WRITE;
	wr.raddr = PAIR_IOVA;
	wr.rkey = p.ma->key;
	into = rig_sge(p.mb, PAIR_IOVA, 8);
	wr.sge = &into;
	rig_post_send(p.b, &wr);
	assert_int_equal(rig_to_rts(p.b), 0);
	pair_assert_send_done(p.b, 0, OHCA_OP_RDMA_WRITE);
	rig_close(p.rig);
}

static void test_sqd(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 64), into = rig_sge(p.mb, PAIR_IOVA, 64);
	struct rig_wr wr = {.wr_id = 1,
			    .opcode = OHCA_OP_SEND,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge};
	struct ohca_cqe cqe;

	(void)state;
	/* Drained at once if nothing is outstanding */
	p.a->attr.en_sqd_async_notify = 1;
	assert_int_equal(rig_modify(p.a, OHCA_QPS_SQD, OHCA_QP_STATE | OHCA_QP_EN_SQD_ASYNC_NOTIFY),
			 0);
	rig_wait_event(p.a->hca, OHCA_EVENT_SQ_DRAINED, p.a->qpn);
	assert_int_equal(rig_query(p.a).sq_draining, 0);
	/* No request is started in SQD */
	rig_post_send(p.a, &wr);
	rig_post_recv(p.b, 1, &into, 1);
	assert_int_equal(rig_query(p.a).sq_psn, htole32(RIG_PSN));
	assert_false(drv_cq_poll(p.a->scq, &cqe));
	assert_int_equal(rig_modify(p.a, OHCA_QPS_RTS, OHCA_QP_STATE), 0);
	pair_assert_send_done(p.a, 1, OHCA_OP_SEND);
	assert_int_equal(rig_wait_recv(p.b).status, 0);

	/* A message that waits for its receiver is completed; the next one is not started. */
	rig_post_send(p.a, &wr);
	while (le32toh(rig_query(p.a).sq_psn) != ((RIG_PSN + 2) & 0xffffff))
		;
	assert_int_equal(rig_modify(p.a, OHCA_QPS_SQD, OHCA_QP_STATE | OHCA_QP_EN_SQD_ASYNC_NOTIFY),
			 0);
	assert_int_equal(rig_query(p.a).sq_draining, 1);
	wr.wr_id = 2;
	rig_post_send(p.a, &wr);
	rig_post_recv(p.b, 2, &into, 1);
	rig_post_recv(p.b, 3, &into, 1);
	rig_wait_event(p.a->hca, OHCA_EVENT_SQ_DRAINED, p.a->qpn);
	assert_int_equal(rig_query(p.a).sq_draining, 0);
	pair_assert_send_done(p.a, 1, OHCA_OP_SEND);
	assert_false(drv_cq_poll(p.a->scq, &cqe));
	/* Attributes of the path may change meanwhile. */
	p.a->attr.timeout = 9;
	assert_int_equal(
		rig_modify(p.a, OHCA_QPS_SQD, OHCA_QP_STATE | OHCA_QP_TIMEOUT | OHCA_QP_AV), 0);
	assert_int_equal(rig_query(p.a).timeout, 9);
	assert_int_equal(rig_modify(p.a, OHCA_QPS_RTS, OHCA_QP_STATE), 0);
	pair_assert_send_done(p.a, 2, OHCA_OP_SEND);
	rig_close(p.rig);
}

/* After a reset a QP has empty queues that begin at index 0. */
static void test_reset(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct pair_layout l = {100, 0, 0, 1, 1};
	struct ohca_sge into = rig_sge(p.mb, PAIR_IOVA, 64);
	static const struct ohca_qp_attr none = {.state = OHCA_QPS_RESET};
	struct ohca_qp_attr attr;
	struct ohca_cqe cqe;
	unsigned int i;

	(void)state;
	for (i = 0; i < 100; i++) {
		unsigned int o;

		for (o = 0; o < PAIR_OPS; o++)
			pair_check_message(&p, pair_all_ops[o], &l, i * PAIR_OPS + o);
		rig_post_recv(p.b, 0, &into, 1);
		rig_to_reset(p.a);
		rig_to_reset(p.b);
		attr = rig_query(p.a);
		assert_memory_equal(&attr, &none, sizeof(attr));
		rig_connect(p.a, p.b);
		assert_false(drv_cq_poll(p.b->rcq, &cqe));
	}
	rig_close(p.rig);
}

/*
 * A peer may still be connected to QPs of before the reset: their numbers are not used again at
 * once.
 */
static void test_numbers_after_reset(void **state)
{
	struct rig *rig = rig_open(server);
	struct rig_hca *hca = &rig->hca[0];
	struct rig_qp_opts opts = {0};
	uint32_t old[3];
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++)
		old[i] = rig_qp_new(hca, &opts)->qpn;
	rig_renew(rig);
	for (i = 0; i < 3; i++) {
		struct rig_qp *qp = rig_qp_new(hca, &opts);

		assert_int_not_equal(qp->qpn, old[0]);
		assert_int_not_equal(qp->qpn, old[1]);
		assert_int_not_equal(qp->qpn, old[2]);
	}
	rig_close(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create),	    cmocka_unit_test(test_references),
		cmocka_unit_test(test_transitions), cmocka_unit_test(test_cur_state),
		cmocka_unit_test(test_attributes),  cmocka_unit_test(test_query),
		cmocka_unit_test(test_comm_est),    cmocka_unit_test(test_sqd),
		cmocka_unit_test(test_reset),	    cmocka_unit_test(test_numbers_after_reset),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
