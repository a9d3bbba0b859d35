// SPDX-License-Identifier: GPL-2.0
/*
 * Several paths between two machines whose InfiniBand ports have 2^LMC LIDs each: path N is from
 * the LID N of the one to the LID N of the other.
 *
 * usage: paths -2 all
 *        paths -2 fail ALTERNATE0 ALTERNATE1 FAIL MEND
 *
 * all: each path carries datagrams and connections.
 * fail: path 0 fails under traffic, by the shell command FAIL; that between LID ALTERNATE0 of
 * side 0 and LID ALTERNATE1 of side 1 does not.  A connection that can migrate goes on, one with
 * few retries ends, and one with many goes on after MEND, which lets the subnet manager find
 * another way.
 */

#include <stdlib.h>
#include <string.h>

#include "verbs_util.h"

#define GRH 40
#define LEN 512
#define QKEY 0x1234567
#define WRITE_LEN 16384
#define WRITES 64
#define BATCH 16

/* The connections of a path that fails */
enum {
	MIGRATES,
	BRIEF,
	RETRIES,
	NUM_QPS
};

static struct vu_dev dev;
static struct sess sess;
static struct ibv_mr *mr;
static uint8_t *buf;
static struct vu_qp qps[NUM_QPS];
static struct ibv_ah *ah;
static struct vu_addr mine, theirs;
static unsigned int alternate[2]; /* of each side's LIDs */
static const char *fail_command, *mend_command;

static void cleanup(void)
{
	struct ibv_async_event event;
	unsigned int i;

	if (ah)
		EXPECT_EQ(ibv_destroy_ah(ah), 0);
	ah = NULL;
	for (i = 0; i < ARRAY_SIZE(qps); i++)
		vu_qp_destroy(&qps[i]);
	while (vu_async_pending(dev.ctx, &event))
		;
}

static unsigned int num_paths(void)
{
	return 1U << dev.port.lmc;
}

/* Connect a QP by this path; @opts has its retries. */
static bool connect_by(struct vu_qp *qp, struct vu_qp_opts *opts, unsigned int path)
{
	opts->path_bits = path;
	if (!vu_qp_create(&dev, qp, opts))
		return false;
	vu_qp_addr(&dev, qp, &mine);
	mine.va = (uintptr_t)buf;
	mine.rkey = mr->rkey;
	if (!sess_xchg(&sess, &mine, &theirs, sizeof(mine)))
		return false;
	theirs.lid += path;
	return vu_connect(&dev, qp, &theirs, opts) && sess_sync(&sess);
}

/* Each path */

static void test_lmc(const void *arg)
{
	(void)arg;
	EXPECT(dev.port.lmc > 1);
	EXPECT_EQ(dev.port.lid & (num_paths() - 1), 0);
}

static bool ud_send(struct vu_qp *qp, unsigned int from, unsigned int to)
{
	struct ibv_ah_attr attr = {
		.dlid = theirs.lid + to, .src_path_bits = from, .port_num = VU_PORT};
	bool sent;

	ah = ibv_create_ah(dev.pd, &attr);
	if (!EXPECT(ah))
		return false;
	sent = vu_ud_send(qp, ah, theirs.qpn, QKEY, mr, buf, LEN, to);
	EXPECT_EQ(ibv_destroy_ah(ah), 0);
	ah = NULL;
	return sent;
}

/* From each LID to each LID: the completion has both. */
static void test_ud(const void *arg)
{
	struct vu_qp *qp = &qps[0];
	unsigned int from, to;
	struct ibv_wc wc;

	(void)arg;
	if (!vu_ud_create(&dev, qp, 0, QKEY))
		return;
	vu_qp_addr(&dev, qp, &mine);
	if (!sess_xchg(&sess, &mine, &theirs, sizeof(mine)))
		return;
	for (from = 0; from < num_paths(); from++) {
		for (to = 0; to < num_paths(); to++) {
			if (sess.side && !EXPECT_EQ(vu_post_recv(qp, to, mr, buf, GRH + LEN), 0))
				return;
			if (!sess_sync(&sess) || (!sess.side && !ud_send(qp, from, to)))
				return;
			if (!sess.side)
				continue;
			if (!vu_wait_wc(qp->rcq, &wc, to, IBV_WC_SUCCESS))
				return;
			EXPECT_EQ(wc.slid, theirs.lid + from);
			EXPECT_EQ(wc.dlid_path_bits, to);
		}
	}
}

/* Side 0 writes the same number of bytes by each path. */
static void test_rc(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	unsigned int path, i, j;
	struct ibv_wc wc[BATCH];

	(void)arg;
	for (path = 0; path < num_paths(); path++) {
		if (!connect_by(&qps[0], &opts, path))
			return;
		for (i = 0; !sess.side && i < WRITES; i += BATCH) {
			for (j = 0; j < BATCH; j++)
				EXPECT_EQ(vu_post_send(&qps[0], IBV_WR_RDMA_WRITE, j,
						       IBV_SEND_SIGNALED, mr, buf, WRITE_LEN,
						       theirs.va, theirs.rkey),
					  0);
			if (!vu_wait(qps[0].scq, wc, BATCH))
				return;
			for (j = 0; j < BATCH; j++)
				EXPECT_EQ(wc[j].status, IBV_WC_SUCCESS);
		}
		if (!sess_sync(&sess))
			return;
		vu_qp_destroy(&qps[0]);
	}
}

/* A path fails */

static bool post_recv(struct vu_qp *qp, uint64_t wr_id)
{
	return !sess.side || EXPECT_EQ(vu_post_recv(qp, wr_id, mr, buf, LEN), 0);
}

static bool post_send(struct vu_qp *qp, uint64_t wr_id)
{
	return sess.side || EXPECT_EQ(vu_post_send(qp, IBV_WR_SEND, wr_id, IBV_SEND_SIGNALED, mr,
						   buf, LEN, 0, 0),
				      0);
}

/* The message has arrived, and its sender knows. */
static bool completed(struct vu_qp *qp, uint64_t wr_id)
{
	struct ibv_wc wc;

	return vu_wait_wc(sess.side ? qp->rcq : qp->scq, &wc, wr_id, IBV_WC_SUCCESS);
}

static bool message(struct vu_qp *qp, uint64_t wr_id)
{
	return post_recv(qp, wr_id) && sess_sync(&sess) && post_send(qp, wr_id) &&
	       completed(qp, wr_id) && sess_sync(&sess);
}

static bool rearm(void)
{
	struct ibv_qp_attr attr = {
		.path_mig_state = IBV_MIG_REARM,
		.alt_ah_attr = {.dlid = theirs.lid + alternate[!sess.side],
				.src_path_bits = alternate[sess.side],
				.port_num = VU_PORT},
		.alt_port_num = VU_PORT,
		.alt_timeout = 16,
	};

	return EXPECT_EQ(ibv_modify_qp(qps[MIGRATES].qp, &attr,
				       IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE),
			 0) &&
	       sess_sync(&sess) && message(&qps[MIGRATES], 1);
}

static bool connect_all(void)
{
	struct vu_qp_opts opts = VU_QP_OPTS;

	opts.timeout = 14; /* 67 ms */
	opts.retry_cnt = 2;
	if (!connect_by(&qps[MIGRATES], &opts, 0) || !rearm() ||
	    !connect_by(&qps[BRIEF], &opts, 0) || !message(&qps[BRIEF], 1))
		return false;
	/* 4.3 s to 5.4 s, 8 times */
	opts.timeout = 20;
	opts.retry_cnt = 7;
	return connect_by(&qps[RETRIES], &opts, 0) && message(&qps[RETRIES], 1);
}

/* The sides can't talk from FAIL until MEND: IPoIB takes path 0, too. */
static bool send_without_path(void)
{
	struct ibv_wc wc;
	unsigned int i;

	if (!EXPECT_EQ(system(fail_command), 0))
		return false;
	for (i = MIGRATES; i <= RETRIES; i++) {
		if (!post_send(&qps[i], 2))
			return false;
	}
	return completed(&qps[MIGRATES], 2) &&
	       vu_wait_wc(qps[BRIEF].scq, &wc, 2, IBV_WC_RETRY_EXC_ERR) &&
	       EXPECT_EQ(ibv_poll_cq(qps[RETRIES].scq, 1, &wc), 0);
}

static void test_fail(const void *arg)
{
	unsigned int i;
	bool good;

	(void)arg;
	if (!connect_all())
		return;
	for (i = MIGRATES; i <= RETRIES; i++) {
		if (!post_recv(&qps[i], 2))
			return;
	}
	if (!sess_sync(&sess))
		return;
	if (sess.side) {
		good = completed(&qps[MIGRATES], 2);
	} else {
		good = send_without_path();
		EXPECT_EQ(system(mend_command), 0);
	}
	if (!good || !vu_wait_async(dev.ctx, IBV_EVENT_PATH_MIG, qps[MIGRATES].qp) ||
	    !completed(&qps[RETRIES], 2))
		return;
	message(&qps[MIGRATES], 3);
	message(&qps[RETRIES], 3);
}

static const struct tap_test all_tests[] = {
	{"the port has several LIDs", test_lmc, NULL},
	{"datagrams from each LID to each LID", test_ud, NULL},
	{"connections by each path", test_rc, NULL},
};

static const struct tap_test fail_tests[] = {
	{"a path fails: with an alternate path, with few retries and with many", test_fail, NULL},
};

int main(int argc, char **argv)
{
	bool fail = argc == 7 && !strcmp(argv[2], "fail");

	if (argc < 3 || strcmp(argv[1], "-2") || (!fail && (argc != 3 || strcmp(argv[2], "all"))))
		tap_bail("usage: paths -2 all | fail ALTERNATE0 ALTERNATE1 FAIL MEND");
	sess_start(&sess, true);
	vu_open(&dev);
	mr = vu_alloc_mr(&dev, WRITE_LEN);
	buf = mr->addr;
	if (!fail)
		return sess_run(&sess, all_tests, ARRAY_SIZE(all_tests), cleanup);
	alternate[0] = atoi(argv[3]);
	alternate[1] = atoi(argv[4]);
	fail_command = argv[5];
	mend_command = argv[6];
	return sess_run(&sess, fail_tests, ARRAY_SIZE(fail_tests), cleanup);
}
