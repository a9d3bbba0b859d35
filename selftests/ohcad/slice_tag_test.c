// SPDX-License-Identifier: GPL-2.0
/*
 * Messages to an SRQ with many tags, each of which has to be compared with all of them: few come in each round, in which a
 * message of another HCA is sent and received.
 */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "pair.h"
#include "qp/srq.h"
#include "qp/tag_list.h"
#include "rig_srq.h"
#include "slice_bed.h"

#define TAGS 4096U
#define MESSAGES 32U

static struct rig_qp *from, *ops;
static struct rig_srq *srq;
static struct rig_mr *mr;
static struct drv_cq *cq;

static void open_srq(void)
{
	struct rig_hca *hca = &slice_rig->hca[BUSY];
	struct rig_srq_opts srq_opts = {.max_tags = TAGS, .log_size = 6};
	struct rig_qp_opts opts = {.type = OHCA_QPT_TM, .max_sge = OHCA_TM_MAX_SGE};
	struct rig_qp *to;

	mr = rig_mr_new(hca, PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0);
	cq = drv_cq_new(hca->drv, 8, hca->comp->eqn);
	srq_opts.cqn = cq->cqn;
	srq = rig_srq_new(hca, &srq_opts);
	opts.srqn = srq->srqn;
	ops = rig_qp_new(hca, &opts);
	assert_int_equal(rig_modify(ops, OHCA_QPS_RTS, OHCA_QP_STATE), OHCA_CMD_OK);
	opts = (struct rig_qp_opts){0};
	from = rig_qp_new(hca, &opts);
	opts.srqn = srq->srqn;
	opts.tags = true;
	to = rig_qp_new(hca, &opts);
	rig_connect(from, to);
}

/* Tags that no message of the test matches */
static void add_tags(void)
{
	assert_true(rig_srq_add_tags(ops, rig_sge(mr, PAIR_IOVA, 64), TAGS));
}

static void post_messages(void)
{
	const struct ohca_tmh tmh = {.opcode = OHCA_TMH_EAGER};
	struct ohca_sge sge = rig_sge(mr, PAIR_IOVA, sizeof(tmh)),
			room = rig_sge(mr, PAIR_IOVA + 4096, 64);
	struct rig_wr wr = {.opcode = OHCA_OP_SEND, .num_sge = 1, .sge = &sge};
	unsigned int i;

	rig_mr_set(mr, PAIR_IOVA, &tmh, sizeof(tmh));
	for (i = 0; i < MESSAGES; i++) {
		rig_srq_post(srq, i, &room, 1);
		rig_post_send(from, &wr);
	}
}

/* Messages that have come */
static unsigned int take(void)
{
	unsigned int num = 0;
	struct ohca_cqe cqe;

	for (; drv_cq_poll(cq, &cqe); num++) {
		drv_cq_ack(cq);
		assert_int_equal(cqe.opcode, OHCA_CQE_RECV_UNEXPECTED);
		assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
	}
	return num;
}

/* Each search costs as much as reading what is compared: more than a short turn.  inproc_step() has two rounds. */
static void test_many_tags(void **state)
{
	unsigned int num = 0, part, rounds;

	(void)state;
	open_srq();
	add_tags();
	slice_round();
	post_messages();
	for (rounds = 0; num < MESSAGES; rounds++) {
		slice_round();
		part = take();
		assert_in_range(part, 0, 2);
		num += part;
	}
	assert_true(rounds >= MESSAGES / 2);
}

#define SLICE_TEST(fn) cmocka_unit_test_setup_teardown(fn, slice_open, slice_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SLICE_TEST(test_many_tags),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
