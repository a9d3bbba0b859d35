// SPDX-License-Identifier: GPL-2.0
/*
 * A datagram to a multicast group with many members comes to a few of them in each round, in which a message of another HCA is
 * sent and received.
 */

#include <endian.h>
#include <string.h>

#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "qp/sched.h"
#include "rig_assert.h"
#include "slice_bed.h"

#define MEMBERS 128U
#define LEN 100U
#define IOVA 0x10000ULL
#define ROOM 4096U
#define GROUP {[10] = 0xff, 0xff, 239, 1, 2, 3}
#define MCAST_QPN 0xffffff
/* Members that short turns have room for; inproc_step() has two rounds */
#define IN_A_STEP (2 * SCHED_SHORT / SCHED_MESSAGE)

static struct rig_qp *sender, *member[MEMBERS + 1];
static struct rig_mr *mr, *other_mr;

/* How many datagrams each member got */
static unsigned int got[MEMBERS + 1];

static struct rig_qp *new_qp(unsigned int hca)
{
	const struct rig_qp_opts opts = {.type = OHCA_QPT_UD, .log_size = 2, .ext = true};
	struct rig_qp *qp = rig_qp_new(&slice_rig->hca[hca], &opts);

	assert_int_equal(rig_to_init(qp) || rig_to_rtr(qp) || rig_to_rts(qp), 0);
	return qp;
}

static int mcast(uint16_t opcode, struct rig_qp *qp)
{
	struct ohca_mcast_in in = {.qpn = htole32(qp->qpn), .gid = GROUP};

	return drv_cmd(qp->hca->drv, opcode, &in, sizeof(in), NULL, 0);
}

static struct rig_qp *new_member(unsigned int hca)
{
	struct rig_qp *qp = new_qp(hca);
	struct ohca_sge sge = rig_sge(hca == BUSY ? mr : other_mr, IOVA + ROOM, ROOM);

	assert_int_equal(mcast(OHCA_CMD_ATTACH_MCAST, qp), 0);
	rig_post_recv(qp, 1, &sge, 1);
	rig_post_recv(qp, 2, &sge, 1);
	return qp;
}

/* One half of the members is the busy HCA's, and the other half the other one's. */
static void open_group(void)
{
	unsigned int i;

	mr = rig_mr_new(&slice_rig->hca[BUSY], IOVA, 2 * ROOM, OHCA_ACCESS_LOCAL_WRITE, 0);
	other_mr = rig_mr_new(&slice_rig->hca[OTHER], IOVA, 2 * ROOM, OHCA_ACCESS_LOCAL_WRITE, 0);
	sender = new_qp(BUSY);
	memset(got, 0, sizeof(got));
	memset(member, 0, sizeof(member));
	for (i = 0; i < MEMBERS; i++)
		member[i] = new_member(i < MEMBERS / 2 ? BUSY : OTHER);
	slice_round();
}

static void post(uint64_t wr_id)
{
	struct ohca_sge sge = rig_sge(mr, IOVA, LEN);
	struct ohca_av av = {.dmac = {0x33, 0x33}, .hop_limit = 1, .port = 1, .dgid = GROUP};
	struct rig_wr wr = {.wr_id = wr_id,
			    .opcode = OHCA_OP_SEND,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge,
			    .av = &av,
			    .dest_qpn = MCAST_QPN,
			    .qkey = RIG_QKEY};

	rig_post_send(sender, &wr);
}

/* Take the completions of all members.  Returns how many there are. */
static unsigned int take(void)
{
	unsigned int i, num = 0;
	struct ohca_cqe cqe;

	for (i = 0; i <= MEMBERS; i++) {
		while (member[i] && drv_cq_poll(member[i]->rcq, &cqe)) {
			drv_cq_ack(member[i]->rcq);
			assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
			assert_int_equal(le32toh(cqe.byte_len), OHCA_GRH_LEN + LEN);
			assert_int_equal(le64toh(cqe.wr_id), ++got[i]);
			num++;
		}
	}
	return num;
}

static bool is_sent(uint64_t wr_id)
{
	struct ohca_cqe cqe;

	if (!drv_cq_poll(sender->scq, &cqe))
		return false;
	assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
	assert_int_equal(le64toh(cqe.wr_id), wr_id);
	return true;
}

/* A round in which few members get it.  Returns their number. */
static unsigned int part(void)
{
	return slice_part(take, IN_A_STEP);
}

/* Rounds until the datagram was sent.  Returns how many members have got it in them. */
static unsigned int rounds_until_sent(uint64_t wr_id)
{
	unsigned int num = 0, rounds = 0;

	do {
		num += part();
		assert_true(++rounds < MEMBERS);
	} while (!is_sent(wr_id));
	return num;
}

/* All get both, in this order; what was sent counts once. */
static void test_two_datagrams(void **state)
{
	unsigned int i;
	uint32_t psn;

	(void)state;
	open_group();
	psn = le32toh(rig_query(sender).sq_psn);
	post(1);
	post(2);
	assert_int_equal(rounds_until_sent(1), MEMBERS);
	for (i = 0; i < MEMBERS; i++)
		assert_int_equal(got[i], 1);
	assert_int_equal(rounds_until_sent(2), MEMBERS);
	for (i = 0; i < MEMBERS; i++)
		assert_int_equal(got[i], 2);
	assert_int_equal(inproc_qp(sender)->counters->value[OHCA_CNT_TX_MCAST], 2);
	assert_int_equal(le32toh(rig_query(sender).sq_psn), psn + 2);
}

/* Members leave in the middle, the next ones too; one that joins does not get what was sent before. */
static void test_changes_of_the_group(void **state)
{
	unsigned int first, num, i;

	(void)state;
	open_group();
	post(1);
	first = part() + part();
	assert_in_range(first, 1, 2 * IN_A_STEP);
	for (i = 0; i < first + 2; i++)
		assert_int_equal(mcast(OHCA_CMD_DETACH_MCAST, member[i]), 0);
	member[MEMBERS] = new_member(OTHER);
	num = take() + rounds_until_sent(1);
	for (i = 0; i < MEMBERS; i++)
		assert_true(got[i] == 1 || (i >= first && i < first + 2));
	assert_in_range(first + num, MEMBERS - 2, MEMBERS);
	assert_int_equal(got[MEMBERS], 0);
}

/* All members leave: nothing is left to be done. */
static void test_end_of_the_group(void **state)
{
	unsigned int i;

	(void)state;
	open_group();
	post(1);
	part();
	for (i = MEMBERS; i--;)
		assert_int_equal(mcast(OHCA_CMD_DETACH_MCAST, member[i]), 0);
	take();
	for (i = 0; !is_sent(1); i++)
		assert_true(i < 8);
	assert_int_equal(slice_quota(QUOTA_MEMBERS)->used, 0);
	assert_int_equal(slice_quota(QUOTA_GROUPS)->used, 0);
}

/* The sender is reset in the middle, and its next datagram comes to all. */
static void test_reset_of_the_sender(void **state)
{
	uint64_t used;
	unsigned int i, num;

	(void)state;
	open_group();
	used = slice_quota(QUOTA_MEMORY)->used;
	post(1);
	num = part() + part();
	assert_in_range(num, 1, 2 * IN_A_STEP);
	rig_to_reset(sender);
	take();
	assert_int_equal(slice_quota(QUOTA_MEMORY)->used, used);
	inproc_settle();
	assert_int_equal(take(), 0);
	assert_int_equal(rig_to_init(sender) || rig_to_rtr(sender) || rig_to_rts(sender), 0);
	post(2);
	assert_int_equal(rounds_until_sent(2), MEMBERS);
	for (i = 0; i < MEMBERS; i++)
		assert_in_range(got[i], 1, 2);
}

/* In SQD the datagram that has begun comes to all; then the queue is drained. */
static void test_drained(void **state)
{
	struct rig_hca *hca = &slice_rig->hca[BUSY];
	struct ohca_eqe eqe;
	unsigned int num;

	(void)state;
	open_group();
	while (drv_eq_poll(hca->async, &eqe))
		drv_eq_ack(hca->async);
	post(1);
	post(2);
	num = part();
	sender->attr.en_sqd_async_notify = 1;
	assert_int_equal(
		rig_modify(sender, OHCA_QPS_SQD, OHCA_QP_STATE | OHCA_QP_EN_SQD_ASYNC_NOTIFY), 0);
	assert_false(drv_eq_poll(hca->async, &eqe) && !is_sent(1));
	num += take() + rounds_until_sent(1);
	assert_int_equal(num, MEMBERS);
	inproc_assert_event(hca, OHCA_EVENT_SQ_DRAINED, sender->qpn);
	assert_int_equal(take(), 0);
	assert_int_equal(rig_modify(sender, OHCA_QPS_RTS, OHCA_QP_STATE), 0);
	num = take();
	assert_int_equal(num + rounds_until_sent(2), MEMBERS);
}

/* An HCA with half of the members is reset in the middle; or that of the sender is. */
static void test_reset_of_an_hca(void **state)
{
	unsigned int i;

	(void)state;
	open_group();
	post(1);
	part();
	rig_renew_hca(slice_rig, BUSY);
	assert_int_equal(slice_quota(QUOTA_MEMBERS)->used, 0);
	inproc_settle();
	memset(member, 0, MEMBERS / 2 * sizeof(*member));
	take();
	for (i = MEMBERS / 2; i < MEMBERS; i++)
		assert_int_equal(got[i], 0);
}

#define SLICE_TEST(fn) cmocka_unit_test_setup_teardown(fn, slice_open, slice_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SLICE_TEST(test_two_datagrams),	   SLICE_TEST(test_changes_of_the_group),
		SLICE_TEST(test_end_of_the_group), SLICE_TEST(test_reset_of_the_sender),
		SLICE_TEST(test_drained),	   SLICE_TEST(test_reset_of_an_hca),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
