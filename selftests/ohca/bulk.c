// SPDX-License-Identifier: GPL-2.0
/*
 * bulk [-2] [-m MIB] [-t TIMEOUT]: RC: transfers a gigabyte, or so much, and compares all data.  Two
 * sides: of one machine, or with -2 of two machines.  TIMEOUT is the QPs' attribute, by default 14.  Half of it goes from side 0 by writes, one quarter to
 * it by reads, and one quarter from it by sends.  This test is for links that lose packets; other
 * tests are for other faults.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs_util.h"

#define MIB (1UL << 20)
#define CHUNK (32 * MIB)
#define MSG MIB
#define MSGS (CHUNK / MSG)

static struct vu_dev dev;
static struct sess sess;
static uint8_t *buf;
static struct ibv_mr *mr;
static struct vu_qp qp;
static struct vu_addr mine, theirs;
static uint8_t timeout = 14;
static size_t chunk = CHUNK; /* bytes that are filled, transferred and compared at a time */

/**
 * struct bulk - a transfer from one side to the other
 * @op: operation of side 0
 * @chunks: number of chunks
 */
struct bulk {
	enum ibv_wr_opcode op;
	unsigned int chunks;
};

static void cleanup(void)
{
	vu_qp_destroy(&qp);
}

/* All completions of a chunk, in order. */
static bool wait_chunk(struct ibv_cq *cq)
{
	struct ibv_wc wc[MSGS];
	unsigned int msgs = chunk / MSG, i;

	if (!vu_wait(cq, wc, msgs))
		return false;
	for (i = 0; i < msgs; i++) {
		if (!EXPECT_EQ(wc[i].status, IBV_WC_SUCCESS) || !EXPECT_EQ(wc[i].wr_id, i))
			return false;
	}
	return true;
}

static bool post_chunk(const struct bulk *bulk)
{
	unsigned int i;

	for (i = 0; i < chunk / MSG; i++) {
		uint8_t *at = buf + i * MSG;

		if (!sess.side &&
		    !EXPECT_EQ(vu_post_send(&qp, bulk->op, i, IBV_SEND_SIGNALED, mr, at, MSG,
					    theirs.va + i * MSG, theirs.rkey),
			       0))
			return false;
		if (sess.side && bulk->op == IBV_WR_SEND &&
		    !EXPECT_EQ(vu_post_recv(&qp, i, mr, at, MSG), 0))
			return false;
	}
	return true;
}

/* Transfer one chunk.  Returns false if this side has to leave the test. */
static bool move_chunk(const struct bulk *bulk, uint64_t seed)
{
	int source = bulk->op == IBV_WR_RDMA_READ ? 1 : 0;

	if (sess.side == source)
		vu_fill(buf, chunk, seed);
	if (sess.side && !post_chunk(bulk))
		return false;
	if (!sess_sync(&sess))
		return false;
	if (!sess.side && (!post_chunk(bulk) || !wait_chunk(qp.scq)))
		return false;
	if (sess.side && bulk->op == IBV_WR_SEND && !wait_chunk(qp.rcq))
		return false;
	if (!sess_sync(&sess))
		return false;
	return sess.side == source || EXPECT_EQ(vu_check(buf, chunk, seed), -1);
}

static void test_bulk(const void *arg)
{
	const struct bulk *bulk = arg;
	struct vu_qp_opts opts = VU_QP_OPTS;
	unsigned int i;

	opts.mtu = dev.port.active_mtu;
	opts.timeout = timeout;
	mine.va = (uintptr_t)buf;
	mine.rkey = mr->rkey;
	if (!vu_connect_sess(&dev, &sess, &qp, &opts, &mine, &theirs))
		return;
	for (i = 0; i < bulk->chunks; i++) {
		if (!move_chunk(bulk, sess.test * 1000 + i))
			return;
	}
	EXPECT_EQ(vu_state(&qp), IBV_QPS_RTS);
}

int main(int argc, char **argv)
{
	static struct bulk bulks[] = {
		{.op = IBV_WR_RDMA_WRITE}, {.op = IBV_WR_RDMA_READ}, {.op = IBV_WR_SEND}};
	static const char *const how[] = {"RDMA writes", "RDMA reads", "sends"};
	struct tap_test tests[ARRAY_SIZE(bulks)];
	char names[ARRAY_SIZE(bulks)][32];
	unsigned long mibs = 1024, part;
	bool machines = false;
	unsigned int i;
	int opt;

	while ((opt = getopt(argc, argv, "2m:t:")) != -1) {
		if (opt == '2')
			machines = true;
		else if (opt == 'm')
			mibs = strtoul(optarg, NULL, 10);
		else if (opt == 't')
			timeout = atoi(optarg);
		else
			return 2;
	}
	if (mibs < 4 * CHUNK / MIB)
		chunk = mibs / 4 * MIB;
	if (!chunk || mibs % (4 * chunk / MIB)) {
		fprintf(stderr, "bulk: -m takes a multiple of %lu, or of 4 that is less\n",
			4 * CHUNK / MIB);
		return 2;
	}
	for (i = 0; i < ARRAY_SIZE(bulks); i++) {
		part = i ? mibs / 4 : mibs / 2;
		bulks[i].chunks = part * MIB / chunk;
		snprintf(names[i], sizeof(names[i]), "%lu MiB by %s", part, how[i]);
		tests[i] = (struct tap_test){names[i], test_bulk, &bulks[i]};
	}
	sess_start(&sess, machines);
	vu_open(&dev);
	buf = vu_alloc(CHUNK);
	mr = ibv_reg_mr(dev.pd, buf, CHUNK, VU_RW);
	if (!mr)
		tap_bail("ibv_reg_mr: %s", strerror(errno));
	return sess_run(&sess, tests, ARRAY_SIZE(tests), cleanup);
}
