// SPDX-License-Identifier: GPL-2.0
/*
 * Commands on long queues of one HCA take place in slices: in each round in which one goes on, a message of another HCA is
 * sent and received.
 */

#include <endian.h>
#include <string.h>

#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "pair.h"
#include "rig_srq.h"
#include "slice_bed.h"

#define LOG_LONG 15 /* entries of the longest queues */
#define LOG_EQES 20
#define MAX_SGE 31 /* entries of 512 bytes */
#define TARGETS 600

static const struct rig_qp_opts long_opts = {.log_size = LOG_LONG, .max_sge = MAX_SGE};

static struct rig_hca *busy(void)
{
	return &slice_rig->hca[BUSY];
}

/* The device has all of the pages and all of the memory, and the QP works. */
static void test_create_qp(void **state)
{
	struct rig_qp qp;
	struct ohca_create_qp_in in = rig_qp_in(busy(), &long_opts, &qp);
	uint64_t used = slice_quota(QUOTA_PAGES)->used;
	struct slice_command command;

	(void)state;
	command = slice_begin(OHCA_CMD_CREATE_QP, &in, sizeof(in));
	slice_end(0);
	assert_int_equal(slice_quota(QUOTA_PAGES)->used, used + le32toh(in.buf.npages));
	slice_begin_destroy(OHCA_CMD_DESTROY_QP, slice_id_of(&command));
	while (!slice_is_done())
		slice_round();
	assert_int_equal(drv_wait(slice_drv()).status, 0);
	assert_int_equal(slice_quota(QUOTA_PAGES)->used, used);
	slice_begin(OHCA_CMD_CREATE_QP, &in, sizeof(in));
	slice_reset_in_the_middle();
}

/* A QP with a ring that is not all memory is refused, and nothing of it is left. */
static void test_qp_without_memory(void **state)
{
	struct rig_qp qp;
	struct ohca_create_qp_in in = rig_qp_in(busy(), &long_opts, &qp);
	uint64_t pages = slice_quota(QUOTA_PAGES)->used, memory = slice_quota(QUOTA_MEMORY)->used;
	uint64_t addr = le64toh(in.buf.addr), last = le32toh(in.buf.npages) - 1;
	__le64 *entry = NULL, old;
	unsigned int level;

	(void)state;
	/* The receive queue is behind the send queue. */
	for (level = in.buf.levels; level; level--) {
		entry = (__le64 *)drv_ptr(slice_drv(), addr) + (last >> (9 * (level - 1)) & 511);
		addr = le64toh(*entry);
	}
	old = entry[-1];
	entry[-1] = htole64(1ULL << 60);
	slice_begin(OHCA_CMD_CREATE_QP, &in, sizeof(in));
	slice_end(OHCA_CMD_BAD_ADDR);
	assert_int_equal(slice_quota(QUOTA_PAGES)->used, pages);
	assert_int_equal(slice_quota(QUOTA_MEMORY)->used, memory);
	entry[-1] = old;
	drv_destroy(slice_drv(), OHCA_CMD_DESTROY_QP,
		    drv_create(slice_drv(), OHCA_CMD_CREATE_QP, &in, sizeof(in)));
}

static void test_create_srq(void **state)
{
	const struct rig_srq_opts opts = {.log_size = LOG_LONG, .max_sge = MAX_SGE};
	struct rig_srq srq;
	struct ohca_create_srq_in in = rig_srq_in(busy(), &opts, &srq);
	uint64_t used = slice_quota(QUOTA_PAGES)->used;

	(void)state;
	slice_begin(OHCA_CMD_CREATE_SRQ, &in, sizeof(in));
	slice_end(0);
	assert_int_equal(slice_quota(QUOTA_PAGES)->used, used + le32toh(in.buf.npages));
	slice_begin(OHCA_CMD_CREATE_SRQ, &in, sizeof(in));
	slice_reset_in_the_middle();
}

static void test_create_eq(void **state)
{
	struct drv_eq eq;
	struct ohca_create_eq_in in = drv_eq_in(slice_drv(), LOG_EQES, 1, 0, &eq);

	(void)state;
	slice_begin(OHCA_CMD_CREATE_EQ, &in, sizeof(in));
	slice_end(0);
	slice_begin(OHCA_CMD_CREATE_EQ, &in, sizeof(in));
	slice_reset_in_the_middle();
}

/**
 * struct receiver - a QP that receives from an SRQ, its peer, and memory
 */
struct receiver {
	struct rig_qp *from, *to;
	struct rig_srq *srq;
	struct rig_mr *mr;
	uint64_t posted, got;
};

static struct receiver receiver_new(uint8_t log_size)
{
	const struct rig_srq_opts opts = {.log_size = log_size, .max_sge = MAX_SGE};
	struct rig_qp_opts qp_opts = {.cq_log_size = 12};
	struct receiver r = {.srq = rig_srq_new(busy(), &opts)};

	r.mr = rig_mr_new(busy(), PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0);
	r.from = rig_qp_new(busy(), &qp_opts);
	qp_opts.srqn = r.srq->srqn;
	r.to = rig_qp_new(busy(), &qp_opts);
	rig_connect(r.from, r.to);
	return r;
}

static void post_receives(struct receiver *r, unsigned int num)
{
	struct ohca_sge sge = rig_sge(r->mr, PAIR_IOVA, 8);

	for (; num; num--)
		rig_srq_post(r->srq, r->posted++, &sge, 1);
}

static void post_message(struct receiver *r)
{
	struct ohca_sge sge = rig_sge(r->mr, PAIR_IOVA + 64, 8);
	struct rig_wr wr = {.opcode = OHCA_OP_SEND, .num_sge = 1, .sge = &sge};

	rig_post_send(r->from, &wr);
}

/* Messages have taken receives in their order. */
static void take_messages(struct receiver *r)
{
	struct ohca_cqe cqe;

	for (; drv_cq_poll(r->to->rcq, &cqe); drv_cq_ack(r->to->rcq)) {
		assert_int_equal(cqe.status, 0);
		assert_int_equal(le64toh(cqe.wr_id), r->got++);
	}
}

#define RECEIVES 4000

/* Entries move to the new ring, while messages take some of them. */
static void test_resize_srq(void **state)
{
	struct receiver r = receiver_new(12);
	struct ohca_modify_srq_in in;
	struct rig_srq to;
	unsigned int sent, i;

	(void)state;
	post_receives(&r, RECEIVES);
	in = rig_srq_resize_in(r.srq, LOG_LONG, &to);
	slice_round();
	slice_begin(OHCA_CMD_MODIFY_SRQ, &in, sizeof(in));
	for (sent = 0; !slice_is_done(); sent++) {
		if (sent < 50)
			post_message(&r);
		slice_round();
	}
	assert_int_equal(drv_wait(slice_drv()).status, 0);
	assert_true(sent >= SLICE_ROUNDS);
	take_messages(&r);
	assert_true(r.got > 0);
	memset(r.srq->ring, 0xff, 1U << (r.srq->log_size + r.srq->log_stride));
	*r.srq = to;
	post_receives(&r, 100);
	for (i = r.got; i < RECEIVES + 100; i++) {
		post_message(&r);
		inproc_settle();
		take_messages(&r);
	}
	inproc_settle();
	take_messages(&r);
	assert_int_equal(r.got, r.posted);
	post_receives(&r, RECEIVES);
	in = rig_srq_resize_in(r.srq, LOG_LONG, &to);
	slice_begin(OHCA_CMD_MODIFY_SRQ, &in, sizeof(in));
	slice_reset_in_the_middle();
}

/* Software that posts while the entries move: the command fails, and the old ring goes on. */
static void test_post_in_resize(void **state)
{
	struct receiver r = receiver_new(12);
	struct ohca_modify_srq_in in;
	struct rig_srq to;
	uint64_t pages, memory;
	unsigned int i;

	(void)state;
	post_receives(&r, RECEIVES);
	in = rig_srq_resize_in(r.srq, LOG_LONG, &to);
	pages = slice_quota(QUOTA_PAGES)->used;
	memory = slice_quota(QUOTA_MEMORY)->used;
	slice_round();
	slice_begin(OHCA_CMD_MODIFY_SRQ, &in, sizeof(in));
	for (i = 0; i < SLICE_ROUNDS; i++)
		slice_round();
	assert_false(slice_is_done());
	post_receives(&r, 1);
	while (!slice_is_done())
		slice_round();
	assert_int_equal(drv_wait(slice_drv()).status, OHCA_CMD_BAD_PARAM);
	assert_int_equal(slice_quota(QUOTA_PAGES)->used, pages);
	assert_int_equal(slice_quota(QUOTA_MEMORY)->used, memory);
	for (i = 0; i < RECEIVES + 1; i++) {
		post_message(&r);
		inproc_settle();
		take_messages(&r);
	}
	assert_int_equal(r.got, r.posted);
}

/* An SRQ of type XRC from which many QPs have taken receives */
static struct rig_srq *srq_with_targets(struct rig_qp **last)
{
	struct rig_mr *mr = rig_mr_new(busy(), PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0);
	uint32_t xrcdn = drv_create(slice_drv(), OHCA_CMD_ALLOC_XRCD, NULL, 0);
	const struct rig_srq_opts opts = {
		.log_size = 10,
		.xrcdn = xrcdn,
		.cqn = drv_cq_new(slice_drv(), 12, busy()->comp->eqn)->cqn};
	struct rig_srq *srq = rig_srq_new(busy(), &opts);
	struct ohca_sge sge = rig_sge(mr, PAIR_IOVA, 8);
	struct rig_wr wr = {.opcode = OHCA_OP_SEND, .num_sge = 1, .sge = &sge, .srqn = srq->srqn};
	unsigned int i;

	for (i = 0; i < TARGETS; i++) {
		const struct rig_qp_opts ini = {
			.type = OHCA_QPT_XRC_INI, .log_size = 1, .cq_log_size = 2};
		const struct rig_qp_opts tgt = {.type = OHCA_QPT_XRC_TGT, .xrcdn = xrcdn};
		struct rig_qp *target = rig_qp_new(busy(), &tgt);

		*last = rig_qp_new(busy(), &ini);
		rig_connect(*last, target);
		rig_srq_post(srq, i, &sge, 1);
		rig_post_send(*last, &wr);
		inproc_settle();
	}
	return srq;
}

static void test_destroy_xrc_srq(void **state)
{
	struct rig_qp *ini;
	struct rig_srq *srq = srq_with_targets(&ini);
	struct rig_wr wr = {.opcode = OHCA_OP_SEND, .srqn = srq->srqn};
	struct ohca_cqe cqe;

	(void)state;
	slice_begin_destroy(OHCA_CMD_DESTROY_SRQ, srq->srqn);
	slice_end(0);
	rig_post_send(ini, &wr);
	inproc_settle();
	assert_true(drv_cq_poll(ini->scq, &cqe));
	assert_int_equal(cqe.status, OHCA_WC_REM_INV_REQ_ERR);
	rig_renew_hca(slice_rig, BUSY);
	srq = srq_with_targets(&ini);
	slice_begin_destroy(OHCA_CMD_DESTROY_SRQ, srq->srqn);
	slice_reset_in_the_middle();
}

#define SLICE_TEST(fn) cmocka_unit_test_setup_teardown(fn, slice_open, slice_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SLICE_TEST(test_create_qp),	  SLICE_TEST(test_qp_without_memory),
		SLICE_TEST(test_create_srq),	  SLICE_TEST(test_create_eq),
		SLICE_TEST(test_resize_srq),	  SLICE_TEST(test_post_in_resize),
		SLICE_TEST(test_destroy_xrc_srq),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
