// SPDX-License-Identifier: GPL-2.0
/*
 * holder [-q PAIRS] [-n ROUNDS]: uses the device, with traffic on many queue pairs, for tests that
 * kill it or remove the device.  Prints "ready" when all queue pairs have transferred data.  Every
 * byte is compared.
 *
 * Exit status: 0 after ROUNDS or at SIGTERM; 1 if anything was wrong; 10 if it got the fatal event
 * of the device, and calls after that failed as they should.
 */

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs_util.h"

#define LEN 2048
#define EXIT_GONE 10

/**
 * struct pair - two connected QPs
 * @busy: a write is under way
 */
struct pair {
	struct vu_qp a, b;
	bool busy;
};

static struct vu_dev dev;
static struct ibv_cq *cq;
static struct pair *pairs;
static unsigned int num_pairs = 8;
static uint8_t *buf; /* a source and a target for each pair */
static struct ibv_mr *mr;
static struct ibv_srq *srq; /* not used by any queue pair; NULL if the device has none */
static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

static uint8_t *source(unsigned int i)
{
	return buf + 2UL * i * LEN;
}

static uint8_t *target(unsigned int i)
{
	return source(i) + LEN;
}

static bool set_up(void)
{
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 16, .max_sge = 1}};
	struct vu_qp_opts opts = VU_QP_OPTS;
	unsigned int i;

	vu_open(&dev);
	if (dev.attr.max_srq) {
		srq = ibv_create_srq(dev.pd, &srq_attr);
		if (!EXPECT(srq))
			return false;
	}
	buf = vu_alloc(2UL * num_pairs * LEN);
	mr = ibv_reg_mr(dev.pd, buf, 2UL * num_pairs * LEN, VU_RW);
	cq = ibv_create_cq(dev.ctx, 4 * num_pairs, NULL, NULL, 0);
	pairs = calloc(num_pairs, sizeof(*pairs));
	if (!EXPECT(mr) || !EXPECT(cq) || !EXPECT(pairs))
		return false;
	opts.send_cq = opts.recv_cq = cq;
	opts.send_wr = opts.recv_wr = 2;
	for (i = 0; i < num_pairs; i++)
		if (!vu_qp_create(&dev, &pairs[i].a, &opts) ||
		    !vu_qp_create(&dev, &pairs[i].b, &opts) ||
		    !vu_connect_pair(&dev, &pairs[i].a, &pairs[i].b, &opts))
			return false;
	return true;
}

static bool start_write(unsigned int i, uint64_t round)
{
	vu_fill(source(i), LEN, round + i);
	pairs[i].busy = true;
	return EXPECT_EQ(vu_post_send(&pairs[i].a, IBV_WR_RDMA_WRITE, i, IBV_SEND_SIGNALED, mr,
				      source(i), LEN, (uintptr_t)target(i), mr->rkey),
			 0);
}

/* Whether the device has raised its fatal event */
static bool gone(void)
{
	struct ibv_async_event event;

	while (vu_async_pending(dev.ctx, &event))
		if (event.event_type == IBV_EVENT_DEVICE_FATAL)
			return true;
	return false;
}

enum result {
	GOING_ON,
	GONE,
	WRONG
};

/* A write on every pair; all data are checked. */
static enum result traffic_round(uint64_t round)
{
	uint64_t deadline = vu_now() + vu_timeout_ms();
	unsigned int i, left = num_pairs;
	struct ibv_wc wc;

	for (i = 0; i < num_pairs; i++)
		if (!start_write(i, round))
			return gone() ? GONE : WRONG;
	while (left) {
		int n = ibv_poll_cq(cq, 1, &wc);

		if (n == 1 && wc.status == IBV_WC_SUCCESS) {
			i = wc.wr_id;
			if (!EXPECT_EQ(vu_check(target(i), LEN, round + i), -1))
				return WRONG;
			left--;
			continue;
		}
		if (gone())
			return GONE;
		/* the event may come a moment after the failure */
		if (n && wc.status == IBV_WC_SUCCESS)
			return WRONG;
		if (vu_now() > deadline) {
			tap_fail(__FILE__, __LINE__,
				 "round %llu: %u completions missing, the last status is %s",
				 (unsigned long long)round, left,
				 n == 1 ? ibv_wc_status_str(wc.status) : "none");
			return WRONG;
		}
		sched_yield();
	}
	return gone() ? GONE : GOING_ON;
}

/*
 * Calls that a program can still make: they return an error, or the same result as before, and do
 * not hang.
 */
static void check_gone(void)
{
	struct ibv_device_attr attr;
	struct ibv_wc wc;
	unsigned int i;

	EXPECT_NULL(ibv_reg_mr(dev.pd, buf, LEN, VU_RW), EIO);
	EXPECT_NULL(ibv_create_cq(dev.ctx, 4, NULL, NULL, 0), EIO);
	EXPECT_NULL(ibv_alloc_pd(dev.ctx), EIO);
	EXPECT(ibv_query_device(dev.ctx, &attr) == EIO || ibv_query_device(dev.ctx, &attr) == 0);
	for (i = 0; i < num_pairs; i++) {
		vu_post_send(&pairs[i].a, IBV_WR_SEND, 0, 0, mr, buf, 8, 0, 0);
		vu_post_recv(&pairs[i].a, 0, mr, buf, 8);
	}
	ibv_req_notify_cq(cq, 0);
	while (ibv_poll_cq(cq, 1, &wc) > 0)
		;
	for (i = 0; i < num_pairs; i++) {
		ibv_destroy_qp(pairs[i].a.qp);
		ibv_destroy_qp(pairs[i].b.qp);
	}
	if (srq)
		ibv_destroy_srq(srq);
	ibv_destroy_cq(cq);
	ibv_dereg_mr(mr);
	ibv_dealloc_pd(dev.pd);
	ibv_close_device(dev.ctx);
}

static void tear_down(void)
{
	unsigned int i;

	for (i = 0; i < num_pairs; i++) {
		vu_qp_destroy(&pairs[i].a);
		vu_qp_destroy(&pairs[i].b);
	}
	if (srq)
		EXPECT_EQ(ibv_destroy_srq(srq), 0);
	EXPECT_EQ(ibv_destroy_cq(cq), 0);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
	vu_close(&dev);
}

int main(int argc, char **argv)
{
	uint64_t rounds = ~0ULL, round;
	enum result result;
	int opt;

	while ((opt = getopt(argc, argv, "q:n:")) != -1) {
		if (opt == 'q')
			num_pairs = atoi(optarg);
		else if (opt == 'n')
			rounds = atoi(optarg);
		else
			return 2;
	}
	signal(SIGTERM, on_term);
	tap_mute();
	tap_begin();
	if (!set_up())
		return 1;
	for (round = 0; round < rounds && !stop; round++) {
		result = traffic_round(round);
		if (result == GONE) {
			check_gone();
			return tap_failed() ? 1 : EXIT_GONE;
		}
		if (result == WRONG)
			return 1;
		if (!round) {
			puts("ready");
			fflush(stdout);
		}
	}
	tear_down();
	return tap_failed();
}
