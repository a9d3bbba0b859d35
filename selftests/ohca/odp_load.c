// SPDX-License-Identifier: GPL-2.0
/*
 * On-demand paging under load: many queue pairs at once, pages that are discarded all the time,
 * regions that are deregistered, memory that is swapped.
 *
 * odp_load hold: has page faults until it is killed; prints "ready" when the first ones are over.
 * odp_load swap: the test that needs swap space.
 */

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "odp_util.h"

#define PAIRS 32
#define SHARE (LEN / PAIRS)

/**
 * struct crowd - queue pairs that share a source and a target
 */
struct crowd {
	struct vu_qp from[PAIRS], to[PAIRS];
	struct ibv_cq *cq;
};

static bool crowd_up(struct crowd *crowd)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	unsigned int i;

	memset(crowd, 0, sizeof(*crowd));
	crowd->cq = ibv_create_cq(dev.ctx, 8 * PAIRS, NULL, NULL, 0);
	if (!EXPECT(crowd->cq))
		return false;
	opts.send_cq = opts.recv_cq = crowd->cq;
	opts.send_wr = opts.recv_wr = 4;
	for (i = 0; i < PAIRS; i++)
		if (!vu_qp_create(&dev, &crowd->from[i], &opts) ||
		    !vu_qp_create(&dev, &crowd->to[i], &opts) ||
		    !vu_connect_pair(&dev, &crowd->from[i], &crowd->to[i], &opts))
			return false;
	return true;
}

static void crowd_down(struct crowd *crowd)
{
	unsigned int i;

	for (i = 0; i < PAIRS; i++) {
		vu_qp_destroy(&crowd->from[i]);
		vu_qp_destroy(&crowd->to[i]);
	}
	if (crowd->cq)
		EXPECT_EQ(ibv_destroy_cq(crowd->cq), 0);
}

/* A write on each of them: its part of the source to its part of the target */
static bool crowd_post(struct crowd *crowd, struct ibv_mr *lmr, struct ibv_mr *rmr)
{
	unsigned int i;

	for (i = 0; i < PAIRS; i++)
		if (!EXPECT_EQ(vu_post_send(&crowd->from[i], IBV_WR_RDMA_WRITE, i,
					    IBV_SEND_SIGNALED, lmr, src + i * SHARE, SHARE,
					    (uintptr_t)dst + i * SHARE, rmr->rkey),
			       0))
			return false;
	return true;
}

static bool crowd_wait(struct crowd *crowd, bool must_work)
{
	struct ibv_wc wc[PAIRS];
	unsigned int i;

	if (!vu_wait(crowd->cq, wc, PAIRS))
		return false;
	for (i = 0; i < PAIRS && must_work; i++)
		if (!EXPECT_EQ(wc[i].status, IBV_WC_SUCCESS))
			return false;
	return true;
}

static void test_crowd(const void *arg)
{
	struct crowd crowd;
	unsigned int i;

	(void)arg;
	if (!crowd_up(&crowd))
		goto out;
	for (i = 0; i < 30; i++) {
		vu_fill(src, LEN, i);
		drop(dst, LEN);
		if (!crowd_post(&crowd, src_mr, dst_mr) || !crowd_wait(&crowd, true) ||
		    !EXPECT_EQ(vu_check(dst, LEN, i), -1))
			break;
	}
out:
	crowd_down(&crowd);
}

static volatile bool stop;

static void *drop_thread(void *arg)
{
	unsigned int i;

	(void)arg;
	for (i = 0; !stop; i++) {
		madvise(dst + i % 64 * PAGE, PAGE, MADV_DONTNEED);
		if (i % 8 == 0) {
			mprotect(src, LEN, PROT_READ);
			mprotect(src, LEN, PROT_READ | PROT_WRITE);
		}
		sched_yield();
	}
	return NULL;
}

/* Pages are discarded all the time while many QPs write there: each page has its data or zeroes. */
static void test_churn(const void *arg)
{
	struct crowd crowd;
	pthread_t thread;
	unsigned int i;
	size_t at;

	(void)arg;
	drop(dst, LEN);
	vu_fill(src, LEN, 20);
	stop = false;
	if (!crowd_up(&crowd) || !EXPECT_EQ(pthread_create(&thread, NULL, drop_thread, NULL), 0))
		goto out;
	for (i = 0; i < 50; i++)
		if (!crowd_post(&crowd, src_mr, dst_mr) || !crowd_wait(&crowd, true))
			break;
	stop = true;
	EXPECT_EQ(pthread_join(thread, NULL), 0);
	for (at = 0; at < LEN; at += PAGE)
		if (memcmp(dst + at, src + at, PAGE) && !EXPECT(all_zero(dst + at, PAGE)))
			break;
	EXPECT_EQ(vu_check(src, LEN, 20), -1);
out:
	crowd_down(&crowd);
}

/* A region is deregistered while the device waits for its pages: every request ends. */
static void test_dereg(const void *arg)
{
	struct ibv_mr *lmr, *rmr;
	struct crowd crowd;
	unsigned int i;

	(void)arg;
	for (i = 0; i < 10; i++) {
		drop(src, LEN);
		drop(dst, LEN);
		lmr = ibv_reg_mr(dev.pd, src, LEN, ODP);
		rmr = ibv_reg_mr(dev.pd, dst, LEN, ODP);
		if (!EXPECT(lmr) || !EXPECT(rmr) || !crowd_up(&crowd))
			break;
		crowd_post(&crowd, lmr, rmr);
		EXPECT_EQ(ibv_dereg_mr(i % 2 ? lmr : rmr), 0);
		crowd_wait(&crowd, false);
		EXPECT_EQ(ibv_dereg_mr(i % 2 ? rmr : lmr), 0);
		crowd_down(&crowd);
		if (tap_failed())
			break;
	}
}

static void test_swap(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct vu_qp from = {}, to = {};
	unsigned int i, out = 0;

	(void)arg;
	if (!vu_qp_create(&dev, &from, &opts) || !vu_qp_create(&dev, &to, &opts) ||
	    !vu_connect_pair(&dev, &from, &to, &opts))
		goto down;
	for (i = 0; i < 20; i++) {
		vu_fill(src, LEN, i);
		if (!odp_op(&from, IBV_WR_RDMA_WRITE, src_mr, src, LEN, dst_mr, dst,
			    IBV_WC_SUCCESS))
			goto down;
		EXPECT_EQ(madvise(src, LEN, MADV_PAGEOUT), 0);
		EXPECT_EQ(madvise(dst, LEN, MADV_PAGEOUT), 0);
		out += !!(pagemap(dst + 3 * PAGE) & PAGEMAP_SWAPPED);
		/* from swap, to swap */
		if (!odp_op(&from, IBV_WR_RDMA_WRITE, dst_mr, dst, LEN / 2, src_mr, src + LEN / 2,
			    IBV_WC_SUCCESS) ||
		    !EXPECT_EQ(vu_check(dst, LEN, i), -1) ||
		    !EXPECT_EQ(vu_check(src, LEN / 2, i), -1) ||
		    !EXPECT_EQ(vu_check(src + LEN / 2, LEN / 2, i), -1))
			goto down;
	}
	tap_diag("%u times of 20 there was swapping", out);
	EXPECT(out);
down:
	vu_qp_destroy(&from);
	vu_qp_destroy(&to);
}

static int hold(void)
{
	struct crowd crowd;
	bool first = true;

	tap_mute();
	tap_begin();
	if (!crowd_up(&crowd))
		return 1;
	for (;;) {
		drop(src, LEN);
		drop(dst, LEN);
		if (!crowd_post(&crowd, src_mr, dst_mr) || !crowd_wait(&crowd, true))
			return 1;
		if (first) {
			puts("ready");
			fflush(stdout);
		}
		first = false;
	}
}

static const struct tap_test tests[] = {
	{"many queue pairs at once", test_crowd, NULL},
	{"pages go all the time", test_churn, NULL},
	{"a region goes meanwhile", test_dereg, NULL},
};

static const struct tap_test swap_tests[] = {
	{"memory that is swapped", test_swap, NULL},
};

int main(int argc, char **argv)
{
	odp_open();
	if (argc > 1 && !strcmp(argv[1], "hold"))
		return hold();
	if (argc > 1 && !strcmp(argv[1], "swap"))
		return odp_main(swap_tests, ARRAY_SIZE(swap_tests), NULL);
	return odp_main(tests, ARRAY_SIZE(tests), NULL);
}
