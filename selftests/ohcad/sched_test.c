// SPDX-License-Identifier: GPL-2.0
/* Queue pairs with much to send take turns. */

#include <endian.h>

#include "fabric/fabric.h"
#include "harness.h"
#include "hcas.h"
#include "link_hook.h"
#include "pair.h"
#include "qp/sched.h"

#define NUM 40 /* more than are scheduled in one round */
#define LEN (1U << 20)

static struct rig *rig;
static struct rig_mr *ma, *mb;
static struct rig_qp *qps[NUM], *peers[NUM];
static uint32_t sent[NUM]; /* bytes of each QP in this round */
static uint32_t longest; /* longest burst of this round */
static unsigned int bursts, first; /* bursts of this round, and the QP of the first one */

/* Deliver, and count. */
static void count(struct qp *src, const struct pkt *pkt)
{
	unsigned int i;

	if (pkt->len > longest)
		longest = pkt->len;
	for (i = 0; i < NUM; i++) {
		if (!qps[i] || src != inproc_qp(qps[i]))
			continue;
		sent[i] += pkt->len;
		if (!bursts++)
			first = i;
	}
	__real_link_send(src, pkt);
}

static void open_qps(unsigned int num)
{
	unsigned int i;

	rig = rig_open(server);
	ma = rig_mr_new(&rig->hca[0], PAIR_IOVA, LEN, RIG_ALL_ACCESS, 0);
	mb = rig_mr_new(&rig->hca[1], PAIR_IOVA, LEN, RIG_ALL_ACCESS, 0);
	for (i = 0; i < num; i++) {
		qps[i] = rig_qp_new(&rig->hca[0], NULL);
		peers[i] = rig_qp_new(&rig->hca[1], NULL);
		rig_connect(qps[i], peers[i]);
	}
	link_capture = count;
}

static int close_qps(void **state)
{
	(void)state;
	link_capture = NULL;
	memset(qps, 0, sizeof(qps));
	rig_close(rig);
	return 0;
}

static void post_op(unsigned int i, uint8_t opcode, uint32_t len)
{
	struct ohca_sge sge = rig_sge(ma, PAIR_IOVA, len);
	struct rig_wr wr = {.opcode = opcode,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = PAIR_IOVA,
			    .rkey = mb->key};

	rig_post_send(qps[i], &wr);
}

static void post(unsigned int i, uint32_t len)
{
	post_op(i, OHCA_OP_RDMA_WRITE, len);
}

/*
 * One round of the sender: no QP has more than one turn and the burst begun in it, and all together
 * send not much more than the limit of a round.
 */
static void poll_round(void)
{
	uint64_t all = 0;
	unsigned int i;

	memset(sent, 0, sizeof(sent));
	longest = 0;
	bursts = 0;
	inproc_poll();
	for (i = 0; i < NUM; i++) {
		assert_in_range(sent[i], 0, 2 * SCHED_LONG - 1);
		all += sent[i];
	}
	assert_in_range(all, 0, SCHED_ROUND + 4 * SCHED_LONG);
}

static bool done(unsigned int i)
{
	struct ohca_cqe cqe;

	if (!drv_cq_poll(qps[i]->scq, &cqe))
		return false;
	assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
	return true;
}

/* A queue pair that is alone returns to the loop after each turn. */
static void test_alone(void **state)
{
	unsigned int rounds;

	(void)state;
	open_qps(1);
	post(0, LEN);
	for (rounds = 0; !done(0); rounds++) {
		poll_round();
		assert_true(rounds < 100);
	}
	assert_true(rounds >= LEN / (2 * SCHED_LONG));
}

/* A QP with little to send is served in the round in which it asks. */
static void test_small_one(void **state)
{
	unsigned int i;

	(void)state;
	open_qps(2);
	post(0, LEN);
	for (i = 0; i < 3; i++) {
		poll_round();
		assert_true(sent[0]);
		post(1, 8);
		poll_round();
		assert_true(done(1));
		assert_false(done(0));
	}
	while (!done(0))
		poll_round();
}

/*
 * Small messages among long ones: a QP with new work is served before those that have had a turn.
 * Turns are short then, one for each poll of the doorbells; and no QP is left out.
 */
static void test_small_one_among_many(void **state)
{
	unsigned int i, j, turns[4] = {0};

	(void)state;
	open_qps(4);
	for (i = 1; i < 4; i++)
		post(i, LEN);
	poll_round();
	assert_int_equal(longest, SCHED_LONG);
	for (i = 0; i < 12; i++) {
		post(0, 8);
		poll_round();
		assert_int_equal(first, 0);
		assert_true(done(0));
		if (!i) /* The device did not know of it yet. */
			continue;
		assert_int_equal(bursts, 2);
		assert_int_equal(longest, SCHED_SHORT);
		for (j = 1; j < 4; j++)
			turns[j] += sent[j] > 0;
	}
	for (j = 1; j < 4; j++)
		assert_in_range(turns[j], 3, 4);
}

/* The request of a long read is small; its response still has long bursts. */
static void test_long_read(void **state)
{
	unsigned int rounds;

	(void)state;
	open_qps(1);
	post_op(0, OHCA_OP_RDMA_READ, LEN);
	poll_round();
	for (rounds = 0; !done(0); rounds++) {
		poll_round();
		assert_in_range(rounds, 0, LEN / SCHED_LONG);
		assert_int_equal(longest, SCHED_LONG);
	}
}

/* Turns are long again when no other QP has had small messages for a while. */
static void test_alone_again(void **state)
{
	(void)state;
	open_qps(2);
	post(1, LEN);
	post(0, 8);
	poll_round();
	poll_round();
	assert_int_equal(longest, SCHED_SHORT);
	inproc_hca(0)->sched->small_at -= 1000000000;
	poll_round();
	assert_int_equal(longest, SCHED_LONG);
}

/* With any number of QPs, none is far ahead of the others. */
static void test_all_in_turn(void **state)
{
	unsigned int turns[NUM] = {0}, left = NUM, i, least, most;

	(void)state;
	open_qps(NUM);
	for (i = 0; i < NUM; i++)
		post(i, LEN);
	while (left) {
		poll_round();
		least = ~0U;
		most = 0;
		for (i = 0; i < NUM; i++) {
			turns[i] += sent[i] > 0;
			least = turns[i] < least ? turns[i] : least;
			most = turns[i] > most ? turns[i] : most;
			left -= done(i);
		}
		assert_in_range(most - least, 0, 2);
	}
}

static uint64_t sent_by(unsigned int i)
{
	return inproc_hca(i)->port_counters[0].value[OHCA_CNT_TX_BYTES];
}

static void post_from(struct rig_qp *qp, struct rig_mr *from, struct rig_mr *to, uint32_t len,
		      unsigned int num)
{
	struct ohca_sge sge = rig_sge(from, PAIR_IOVA, len);
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = PAIR_IOVA,
			    .rkey = to->key};

	while (num--)
		rig_post_send(qp, &wr);
}

/*
 * One HCA has one QP with long messages, the other one has many QPs with shorter ones: at any time, both have sent as
 * much, but for a quantum and a burst.
 */
static void test_hcas_have_equal_shares(void **state)
{
	uint64_t start[2], got[2], diff, most = 0;
	unsigned int i, rounds;

	(void)state;
	open_qps(9);
	link_capture = NULL;
	post_from(qps[0], ma, mb, LEN, 24);
	for (i = 1; i < 9; i++)
		post_from(peers[i], mb, ma, 32768, 60);
	for (i = 0; i < 2; i++)
		start[i] = sent_by(i);
	for (rounds = 0; rounds < 40; rounds++) {
		inproc_poll();
		for (i = 0; i < 2; i++)
			got[i] = sent_by(i) - start[i];
		diff = got[0] > got[1] ? got[0] - got[1] : got[1] - got[0];
		most = diff > most ? diff : most;
	}
	print_message("# sent: %llu and %llu KiB, never more than %llu KiB apart\n",
		      (unsigned long long)got[0] >> 10, (unsigned long long)got[1] >> 10,
		      (unsigned long long)most >> 10);
	assert_in_range(got[0], 30 * SCHED_LONG, 15 * LEN);
	assert_in_range(most, 0, 2 * SCHED_LONG);
}

/* Each check for receive requests of a QP in error doubles the time to the next one. */
static uint64_t period_after(struct qp *qp, uint64_t period)
{
	qp->sq.flush_period = period;
	qp_schedule(qp);
	inproc_poll();
	return qp->sq.flush_period;
}

/* The HCA's QPs in error are counted, and with many of them each is checked less often. */
static void test_many_in_error(void **state)
{
	struct hca *hca = inproc_hca(0);
	struct qp *qp;

	(void)state;
	open_qps(2);
	assert_int_equal(hca->in_error, 0);
	assert_int_equal(rig_modify(qps[0], OHCA_QPS_ERR, OHCA_QP_STATE), 0);
	assert_int_equal(rig_modify(qps[1], OHCA_QPS_ERR, OHCA_QP_STATE), 0);
	assert_int_equal(hca->in_error, 2);
	rig_to_reset(qps[1]);
	assert_int_equal(hca->in_error, 1);
	qp = inproc_qp(qps[0]);
	assert_int_equal(period_after(qp, 100000000), 200000000);
	assert_int_equal(period_after(qp, 256000000), 256000000);
	hca->in_error += 100000;
	assert_int_equal(period_after(qp, 256000000), 512000000);
	assert_int_equal(period_after(qp, 6400000000), 6400064000);
	hca->in_error -= 100000;
	assert_int_equal(rig_qp_destroy(qps[0]), 0);
	assert_int_equal(hca->in_error, 0);
}

#define TURN_TEST(fn) cmocka_unit_test_teardown(fn, close_qps)

static struct pci_fn *interrupts[8];
static unsigned int num_interrupts;

static void note_interrupt(struct pci_fn *fn)
{
	assert_in_range(num_interrupts, 0, 7);
	interrupts[num_interrupts++] = fn;
}

/* The receiver of a message is interrupted before the sender, in whatever order they are. */
static void test_receiver_is_told_first(void **state)
{
	struct ohca_cqe cqe;
	unsigned int i;

	(void)state;
	open_qps(1);
	for (i = 0; i < 2; i++) {
		struct rig_qp *from = i ? peers[0] : qps[0], *to = i ? qps[0] : peers[0];
		struct rig_wr wr = {.wr_id = i, .opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED};

		rig_post_recv(to, i, NULL, 0);
		drv_cq_arm(from->scq, false);
		drv_cq_arm(to->rcq, false);
		drv_eq_arm(rig->hca[0].comp);
		drv_eq_arm(rig->hca[1].comp);
		num_interrupts = 0;
		inproc_interrupt = note_interrupt;
		rig_post_send(from, &wr);
		inproc_settle();
		inproc_interrupt = NULL;
		assert_int_equal(num_interrupts, 2);
		assert_ptr_equal(interrupts[0], inproc_hca(!i)->fn);
		assert_ptr_equal(interrupts[1], inproc_hca(i)->fn);
		cqe = drv_cq_wait(from->scq);
		assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
		cqe = drv_cq_wait(to->rcq);
		assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
		drv_eq_wait(rig->hca[0].comp);
		drv_eq_wait(rig->hca[1].comp);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TURN_TEST(test_alone),
		TURN_TEST(test_small_one),
		TURN_TEST(test_small_one_among_many),
		TURN_TEST(test_long_read),
		TURN_TEST(test_alone_again),
		TURN_TEST(test_all_in_turn),
		TURN_TEST(test_hcas_have_equal_shares),
		TURN_TEST(test_many_in_error),
		TURN_TEST(test_receiver_is_told_first),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
