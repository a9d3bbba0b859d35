// SPDX-License-Identifier: GPL-2.0
/*
 * Two connections of different service levels share a paced InfiniBand link, whose virtual lanes
 * have the weights below: VL n is that of SL n.  Side 0 posts the same writes on both, at once.
 * Their completions are in one CQ, so its order shows what each had got when the first one was
 * done.
 */

#include <string.h>

#include "verbs_util.h"

#define LEN 1048576
#define WRITES 64

/* Weights of VLs 1 to 3 are 192, 64 and 192. */
#define SL_HEAVY 1
#define SL_LIGHT 2
#define SL_EQUAL 3

/**
 * struct qos_case - two loads
 * @sl: their service levels
 * @min, @max: of 64 MiB of the second one, how many have arrived when all of the first one have
 */
struct qos_case {
	uint8_t sl[2];
	unsigned int min, max;
};

static struct vu_dev dev;
static struct sess sess;
static struct ibv_mr *mr;
static struct ibv_cq *cq;
static struct vu_qp qps[2];
static struct vu_addr mine, theirs[2];

static void cleanup(void)
{
	vu_qp_destroy(&qps[0]);
	vu_qp_destroy(&qps[1]);
	if (cq)
		EXPECT_EQ(ibv_destroy_cq(cq), 0);
	cq = NULL;
}

static bool connect_qps(const struct qos_case *c)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	unsigned int i;

	cq = ibv_create_cq(dev.ctx, 2 * WRITES, NULL, NULL, 0);
	if (!EXPECT(cq))
		return false;
	opts.send_cq = cq;
	opts.send_wr = WRITES;
	opts.timeout = 20;
	mine.va = (uintptr_t)mr->addr;
	mine.rkey = mr->rkey;
	for (i = 0; i < 2; i++) {
		opts.sl = c->sl[i];
		if (!vu_connect_sess(&dev, &sess, &qps[i], &opts, &mine, &theirs[i]))
			return false;
	}
	return true;
}

/* In turns: neither begins much earlier. */
static bool post_all(void)
{
	unsigned int i;

	for (i = 0; i < 2 * WRITES; i++) {
		if (!EXPECT_EQ(vu_post_send(&qps[i % 2], IBV_WR_RDMA_WRITE, i % 2,
					    IBV_SEND_SIGNALED, mr, mr->addr, LEN, theirs[i % 2].va,
					    theirs[i % 2].rkey),
			       0))
			return false;
	}
	return true;
}

static void test_share(const void *arg)
{
	const struct qos_case *c = arg;
	unsigned int done[2] = {0}, second;
	struct ibv_wc wc;

	if (!connect_qps(c))
		return;
	if (!sess.side && post_all()) {
		while (done[0] < WRITES) {
			if (!vu_wait(cq, &wc, 1) || !EXPECT_EQ(wc.status, IBV_WC_SUCCESS))
				return;
			done[wc.wr_id]++;
		}
		second = done[1];
		tap_diag("SL %u and SL %u: %u and %u MiB", c->sl[0], c->sl[1], WRITES * (LEN >> 20),
			 second * (LEN >> 20));
		EXPECT(second >= c->min && second <= c->max);
		while (done[1]++ < WRITES) {
			if (!vu_wait(cq, &wc, 1))
				return;
		}
	}
	sess_sync(&sess);
}

/* A third is 21. */
static const struct qos_case lesser = {{SL_HEAVY, SL_LIGHT}, 18, 25};
static const struct qos_case equal = {{SL_HEAVY, SL_EQUAL}, 48, 64};

static const struct tap_test tests[] = {
	{"a third of the weight, a third of the bytes", test_share, &lesser},
	{"equal weights", test_share, &equal},
};

int main(int argc, char **argv)
{
	sess_start(&sess, argc > 1 && !strcmp(argv[1], "-2"));
	vu_open(&dev);
	mr = vu_alloc_mr(&dev, LEN);
	return sess_run(&sess, tests, ARRAY_SIZE(tests), cleanup);
}
