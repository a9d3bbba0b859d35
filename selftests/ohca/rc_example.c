// SPDX-License-Identifier: GPL-2.0
/*
 * The classic RC example: two sides exchange buffer address, key, QP number, PSN and GID over TCP,
 * move their QPs through INIT, RTR and RTS.  Then a message is sent and received, one is read and
 * one is written, each in the same buffer, and each is compared.  Two sides: of one machine, or
 * with -2 of two machines.
 */

#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "verbs_util.h"

#define MAX_LEN (1UL << 20)

/* Contents of the buffer at each step */
enum step {
	STEP_SEND = 1,
	STEP_READ,
	STEP_WRITE,
};

static struct vu_dev dev;
static struct sess sess;
static uint8_t *buf;
static struct ibv_mr *mr;
static struct vu_qp qp;

static void cleanup(void)
{
	vu_qp_destroy(&qp);
	if (mr)
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	mr = NULL;
	if (dev.ctx)
		vu_close(&dev);
	memset(&dev, 0, sizeof(dev));
}

static uint64_t seed(enum step step)
{
	return sess.test * 16 + step;
}

/* The second side sends its message, the first one has a receive posted. */
static bool step_send(uint32_t len, const struct vu_addr *theirs)
{
	struct ibv_wc wc;

	(void)theirs;
	if (sess.side) {
		vu_fill(buf, len, seed(STEP_SEND));
		return EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, STEP_SEND, IBV_SEND_SIGNALED, mr,
					      buf, len, 0, 0),
				 0) &&
		       vu_wait_wc(qp.scq, &wc, STEP_SEND, IBV_WC_SUCCESS) &&
		       EXPECT_EQ(wc.opcode, IBV_WC_SEND);
	}
	return vu_wait_wc(qp.rcq, &wc, STEP_SEND, IBV_WC_SUCCESS) &&
	       EXPECT_EQ(wc.opcode, IBV_WC_RECV) && EXPECT_EQ(wc.byte_len, len) &&
	       EXPECT_EQ(vu_check(buf, len, seed(STEP_SEND)), -1);
}

/* The second side writes another text into its buffer; the first one reads it. */
static bool step_read(uint32_t len, const struct vu_addr *theirs)
{
	struct ibv_wc wc;

	if (sess.side)
		vu_fill(buf, len, seed(STEP_READ));
	if (!sess_sync(&sess))
		return false;
	if (sess.side)
		return true;
	return EXPECT_EQ(vu_post_send(&qp, IBV_WR_RDMA_READ, STEP_READ, IBV_SEND_SIGNALED, mr, buf,
				      len, theirs->va, theirs->rkey),
			 0) &&
	       vu_wait_wc(qp.scq, &wc, STEP_READ, IBV_WC_SUCCESS) &&
	       EXPECT_EQ(wc.opcode, IBV_WC_RDMA_READ) &&
	       EXPECT_EQ(vu_check(buf, len, seed(STEP_READ)), -1);
}

/*
 * The first side writes its own text; the second one checks it when notified, without a completion.
 */
static bool step_write(uint32_t len, const struct vu_addr *theirs)
{
	struct ibv_wc wc;

	if (!sess.side) {
		vu_fill(buf, len, seed(STEP_WRITE));
		if (!EXPECT_EQ(vu_post_send(&qp, IBV_WR_RDMA_WRITE, STEP_WRITE, IBV_SEND_SIGNALED,
					    mr, buf, len, theirs->va, theirs->rkey),
			       0) ||
		    !vu_wait_wc(qp.scq, &wc, STEP_WRITE, IBV_WC_SUCCESS) ||
		    !EXPECT_EQ(wc.opcode, IBV_WC_RDMA_WRITE))
			return false;
	}
	if (!sess_sync(&sess))
		return false;
	if (!sess.side)
		return true;
	return EXPECT_EQ(ibv_poll_cq(qp.rcq, 1, &wc), 0) &&
	       EXPECT_EQ(vu_check(buf, len, seed(STEP_WRITE)), -1);
}

/* Everything, from opening the device to closing it. */
static void test_example(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct vu_addr mine = {}, theirs;
	const uint32_t *len = arg;

	vu_open(&dev);
	memset(buf, 0, MAX_LEN);
	mr = ibv_reg_mr(dev.pd, buf, *len, VU_RW);
	if (!EXPECT(mr) || !vu_qp_create(&dev, &qp, &opts))
		return;
	vu_qp_addr(&dev, &qp, &mine);
	mine.va = (uintptr_t)buf;
	mine.rkey = mr->rkey;
	if (!sess_xchg(&sess, &mine, &theirs, sizeof(mine)) || !vu_to_init(&qp, &opts))
		return;
	if (!sess.side && !EXPECT_EQ(vu_post_recv(&qp, STEP_SEND, mr, buf, *len), 0))
		return;
	if (!vu_to_rtr(&dev, &qp, &theirs, &opts) || !vu_to_rts(&qp, &opts) || !sess_sync(&sess))
		return;
	if (!step_send(*len, &theirs) || !sess_sync(&sess) || !step_read(*len, &theirs) ||
	    !sess_sync(&sess) || !step_write(*len, &theirs))
		return;
	sess_sync(&sess); /* neither side's QP is destroyed while the other one may need it */
}

static const uint32_t lens[] = {32, 4096, MAX_LEN};

static const struct tap_test tests[] = {
	{"send, read and write of a line of text", test_example, &lens[0]},
	{"send, read and write of a page", test_example, &lens[1]},
	{"send, read and write of a mebibyte", test_example, &lens[2]},
};

int main(int argc, char **argv)
{
	int status;

	sess_start(&sess, argc > 1 && !strcmp(argv[1], "-2"));
	buf = vu_alloc(MAX_LEN);
	status = sess_run(&sess, tests, ARRAY_SIZE(tests), cleanup);
	vu_free(buf, MAX_LEN);
	return status;
}
