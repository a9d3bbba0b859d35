// SPDX-License-Identifier: GPL-2.0
/* Shares of HCAs: storms of small messages beside long messages, and beside one small message at a time. */

#include <endian.h>

#include "fabric/port.h"
#include "harness.h"
#include "hcas.h"
#include "inproc.h"
#include "pair.h"
#include "qp/qp.h"
#include "qp/sched.h"
#include "rig_assert.h"

#define NUM_HCAS 8
#define NUM_QPS 8
#define LOG_SIZE 10
#define LEN 32768
#define ROUNDS 24
#define ARRAY_LEN (1U << LOG_SIZE)

static struct rig *rig;

/**
 * struct tenant - QPs of an HCA, each connected with another one of it
 */
struct tenant {
	struct rig_hca *hca;
	struct rig_mr *mr;
	struct rig_qp *qps[NUM_QPS];
};

static struct tenant tenants[NUM_HCAS];

static int start_many_hcas(void **state)
{
	(void)state;
	server = server_start(NUM_HCAS);
	return server ? 0 : -1;
}

static int open_rig(void **state)
{
	const struct rig_qp_opts opts = {.log_size = LOG_SIZE, .max_sge = 1},
				 small = {.max_sge = 1};
	unsigned int i, k;

	(void)state;
	rig = rig_open(server);
	for (i = 0; i < NUM_HCAS; i++) {
		struct tenant *t = &tenants[i];

		t->hca = &rig->hca[i];
		t->mr = rig_mr_new(t->hca, PAIR_IOVA, 2 * LEN, RIG_ALL_ACCESS, 0);
		for (k = 0; k < NUM_QPS; k++) {
			t->qps[k] = rig_qp_new(t->hca, &opts);
			rig_connect(t->qps[k], rig_qp_new(t->hca, &small));
		}
	}
	return 0;
}

static int close_rig(void **state)
{
	(void)state;
	rig_close(rig);
	return 0;
}

/* As many messages of a tenant as fit into its queues */
static void fill(struct tenant *t, uint32_t len)
{
	struct ohca_sge sge = rig_sge(t->mr, PAIR_IOVA, len);
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = PAIR_IOVA + LEN,
			    .rkey = t->mr->key};
	unsigned int i, k;

	for (k = 0; k < NUM_QPS; k++) {
		for (i = 0; i < ARRAY_LEN; i++)
			rig_put_send(t->qps[k], &wr);
		rig_ring(t->qps[k]);
	}
}

static const uint64_t *sent_by(unsigned int i)
{
	return &inproc_hca(i)->port_counters[0].value[OHCA_CNT_TX_PKTS];
}

/* What it has sent, as the scheduler counts it */
static uint64_t cost_of(unsigned int i, bool storm)
{
	return storm ? sent_by(i)[0] * SCHED_MESSAGE : sent_by(i)[1];
}

/* Half of @num HCAs send small messages, half of them long ones: all have the same share at any time. */
static void check_shares(unsigned int num)
{
	uint64_t start[NUM_HCAS], least, most;
	unsigned int i, rounds;

	for (i = 0; i < num; i++)
		fill(&tenants[i], i % 2 ? LEN : 8);
	/* The first one does not know of the others yet. */
	for (rounds = 0; rounds < 2; rounds++)
		inproc_poll();
	for (i = 0; i < num; i++)
		start[i] = cost_of(i, i % 2 == 0);
	for (rounds = 0; rounds < ROUNDS; rounds++) {
		inproc_poll();
		least = UINT64_MAX;
		most = 0;
		for (i = 0; i < num; i++) {
			uint64_t cost = cost_of(i, i % 2 == 0) - start[i];

			least = cost < least ? cost : least;
			most = cost > most ? cost : most;
		}
		assert_in_range(most - least, 0, 2 * SCHED_LONG);
	}
	print_message("# %u HCAs: cost from %llu to %llu KiB\n", num,
		      (unsigned long long)least >> 10, (unsigned long long)most >> 10);
	assert_in_range(least, (ROUNDS / 2) * SCHED_LONG, ROUNDS * SCHED_LONG + SCHED_ROUND);
}

static void test_two(void **state)
{
	(void)state;
	check_shares(2);
}

static void test_eight(void **state)
{
	(void)state;
	check_shares(NUM_HCAS);
}

/*
 * One HCA sends a small message at a time, and each is received in the round in which it is posted.  In a round, each of
 * the others, which have storms of small messages or long ones, sends about as much as a short quantum.
 */
static void check_one_small(unsigned int num, uint32_t len)
{
	struct tenant *t = &tenants[num - 1];
	struct ohca_sge sge = rig_sge(t->mr, PAIR_IOVA, 8);
	struct rig_wr wr = rig_write(&sge, PAIR_IOVA + LEN, t->mr->key);
	uint64_t before[NUM_HCAS], cost, all;
	unsigned int i, rounds;
	struct ohca_cqe cqe;

	for (i = 0; i + 1 < num; i++)
		fill(&tenants[i], len);
	for (rounds = 0; rounds < 4 * ROUNDS; rounds++) {
		rig_post_send(t->qps[0], &wr);
		for (i = 0; i + 1 < num; i++)
			before[i] = cost_of(i, len == 8);
		inproc_poll();
		assert_true(drv_cq_poll(t->qps[0]->scq, &cqe));
		assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
		drv_cq_ack(t->qps[0]->scq);
		for (i = 0, all = 0; rounds && i + 1 < num; i++) {
			cost = cost_of(i, len == 8) - before[i];
			/* Two QPs may have a turn, and each message is acknowledged. */
			assert_in_range(cost, 0, 4 * SCHED_BATCH_SHORT * SCHED_MESSAGE);
			all += cost;
		}
		/* The more of them there are, the less each of them sends. */
		if (rounds > 1)
			assert_in_range(all, 0, 2 * SCHED_SHORT_TURNS * SCHED_SHORT);
	}
}

static void test_small_beside_storm(void **state)
{
	(void)state;
	check_one_small(2, 8);
}

static void test_small_beside_storms(void **state)
{
	(void)state;
	check_one_small(NUM_HCAS, 8);
}

static void test_small_beside_long(void **state)
{
	(void)state;
	check_one_small(NUM_HCAS, LEN);
}

/* HCA 1 has sent a small message now, and has little to send. */
static void be_small(void)
{
	struct sched *sched = inproc_hca(0)->sched;

	sched->light[0].hca = inproc_hca(1);
	sched->small = qp_get(inproc_hca(1), tenants[1].qps[0]->qpn);
	sched->small_peer = sched->small->peer;
	sched->light[0].at = sched->small_at = loop_clock();
}

/* The HCA that has sent to many members of a multicast group pays for their copies, in several turns. */
static void test_cost_of_copies(void **state)
{
	const struct rig_qp_opts opts = {.type = OHCA_QPT_UD, .ext = true};
	struct rig_hca *hca = &rig->hca[0];
	struct rig_qp *from = rig_qp_new(hca, &opts);
	struct rig_mr *mr = rig_mr_new(hca, PAIR_IOVA, 4096, RIG_ALL_ACCESS, 0);
	struct ohca_sge sge = rig_sge(mr, PAIR_IOVA, 1024);
	struct ohca_av av = rig_av(hca);
	struct ohca_mcast_in in = {.gid = {[10] = 0xff, 0xff, 224, 1, 1, 1}};
	const struct hca *sender = inproc_hca(0);
	uint64_t paid = 0, had;
	struct ohca_cqe cqe = {.status = 0xff};
	struct rig_wr wr;
	unsigned int i;

	(void)state;
	assert_to_rts(from);
	for (i = 0; i < 40; i++) {
		struct rig_qp *to = rig_qp_new(hca, &opts);
		struct ohca_sge room = rig_sge(mr, PAIR_IOVA + 2048, 1064);

		assert_to_rts(to);
		in.qpn = htole32(to->qpn);
		assert_int_equal(drv_cmd(hca->drv, OHCA_CMD_ATTACH_MCAST, &in, sizeof(in), NULL, 0),
				 0);
		rig_post_recv(to, 0, &room, 1);
	}
	memcpy(av.dgid, in.gid, 16);
	memcpy(av.dmac, "\x01\x00\x5e\x01\x01\x01", 6);
	wr = rig_datagram(from, &av, &sge);
	wr.dest_qpn = 0xffffff;
	/* Another HCA has little to send, so the share is a short one. */
	check_one_small(2, 8);
	inproc_settle();
	rig_post_send(from, &wr);
	for (i = 0; i < 200 && !drv_cq_poll(from->scq, &cqe); i++) {
		had = sender->spent;
		be_small();
		inproc_step();
		/* The last turn is not counted, as it leaves nothing to do. */
		paid += sender->spent > had ? sender->spent - had : 0;
	}
	assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
	assert_in_range(paid, 36 * 1024, 40 * 4096);
}

/*
 * While others have little to send, and small messages, a QP has few bursts of 4 KiB in a turn.  The response of a READ is
 * answered at once, and what is left of it then when it is the QP's turn again, without a request of the peer.
 */
static void test_read_beside_small(void **state)
{
	struct rig_qp *qp = tenants[0].qps[0];
	struct ohca_sge sge = rig_sge(tenants[0].mr, PAIR_IOVA, LEN);
	struct rig_wr wr = rig_write(&sge, PAIR_IOVA + LEN, tenants[0].mr->key);

	(void)state;
	wr.opcode = OHCA_OP_RDMA_READ;
	inproc_settle();
	be_small();
	rig_post_send(qp, &wr);
	inproc_step();
	assert_cqe(rig_wait_send(qp), OHCA_WC_SUCCESS, 0, wr.wr_id);
	assert_int_equal(inproc_hca(0)->port_counters[0].value[OHCA_CNT_TIMEOUTS], 0);
}

#define SHARE_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHARE_TEST(test_two),
		SHARE_TEST(test_eight),
		SHARE_TEST(test_small_beside_storm),
		SHARE_TEST(test_small_beside_storms),
		SHARE_TEST(test_small_beside_long),
		SHARE_TEST(test_cost_of_copies),
		SHARE_TEST(test_read_beside_small),
	};

	return RUN_TESTS(tests, start_many_hcas, stop_hcas);
}
