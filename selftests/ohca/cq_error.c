// SPDX-License-Identifier: GPL-2.0
/*
 * cq_error COMPLETIONS: writes until the completion queue is in error, which ohcad has to cause
 * after so many completions, not before.  The program gets the event of that queue; the queue pair
 * that completes there fails, and nothing else does.
 *
 * Exit status: 0, or 1 if anything was wrong.
 */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "verbs_util.h"

#define LEN 256

/**
 * struct link - two connected QPs
 * @cq: of both
 */
struct link {
	struct vu_qp a, b;
	struct ibv_cq *cq;
};

static struct vu_dev dev;
static struct ibv_mr *mr; /* a source and a target */

static bool link_up(struct link *link)
{
	struct vu_qp_opts opts = VU_QP_OPTS;

	link->cq = ibv_create_cq(dev.ctx, 256, NULL, NULL, 0);
	if (!EXPECT(link->cq))
		return false;
	opts.send_cq = link->cq;
	opts.recv_cq = link->cq;
	return vu_qp_create(&dev, &link->a, &opts) && vu_qp_create(&dev, &link->b, &opts) &&
	       vu_connect_pair(&dev, &link->a, &link->b, &opts);
}

static void link_down(struct link *link)
{
	vu_qp_destroy(&link->a);
	vu_qp_destroy(&link->b);
	if (link->cq)
		EXPECT_EQ(ibv_destroy_cq(link->cq), 0);
}

static bool post(struct link *link)
{
	return EXPECT_EQ(vu_post_send(&link->a, IBV_WR_RDMA_WRITE, 1, IBV_SEND_SIGNALED, mr,
				      mr->addr, LEN, (uintptr_t)mr->addr + LEN, mr->rkey),
			 0);
}

/* A write succeeds. */
static bool works(struct link *link, uint64_t seed)
{
	struct ibv_wc wc;

	vu_fill(mr->addr, LEN, seed);
	return post(link) && vu_wait_wc(link->cq, &wc, 1, IBV_WC_SUCCESS) &&
	       EXPECT_EQ(vu_check((char *)mr->addr + LEN, LEN, seed), -1);
}

static bool notified(void)
{
	struct pollfd pfd = {.fd = dev.ctx->async_fd, .events = POLLIN};

	return poll(&pfd, 1, 0) == 1;
}

/* Write until there is an event.  Returns how many writes completed. */
static unsigned int write_on(struct link *link)
{
	uint64_t deadline = vu_now() + vu_timeout_ms();
	unsigned int num = 0;
	struct ibv_wc wc;

	while (!notified() && post(link)) {
		int got = 0;

		while (!got && !notified() && vu_now() < deadline)
			got = ibv_poll_cq(link->cq, 1, &wc);
		if (!got)
			break;
		if (!EXPECT_EQ(got, 1) || !EXPECT_EQ(wc.status, IBV_WC_SUCCESS))
			break;
		num++;
	}
	return num;
}

static void fails(struct link *link, unsigned int expected)
{
	uint64_t deadline = vu_now() + vu_timeout_ms();
	unsigned int num = write_on(link);
	struct ibv_async_event event;

	if (!vu_wait_async(dev.ctx, IBV_EVENT_CQ_ERR, link->cq))
		return;
	if (num < expected)
		tap_fail(__FILE__, __LINE__, "after %u completions, expected %u", num, expected);
	/* The last request may have completed before. */
	post(link);
	while (vu_state(&link->a) != IBV_QPS_ERR && vu_now() < deadline)
		;
	EXPECT_EQ(vu_state(&link->a), IBV_QPS_ERR);
	if (vu_async_pending(dev.ctx, &event))
		tap_fail(__FILE__, __LINE__, "event %s", ibv_event_type_str(event.event_type));
}

int main(int argc, char **argv)
{
	struct link link = {}, other = {};

	if (argc != 2)
		return 2;
	tap_mute();
	tap_begin();
	vu_open(&dev);
	mr = vu_alloc_mr(&dev, 2 * LEN);
	if (link_up(&link) && link_up(&other)) {
		fails(&link, atoi(argv[1]));
		works(&other, 1);
		link_down(&link);
		if (link_up(&link))
			works(&link, 2);
	}
	link_down(&link);
	link_down(&other);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
	vu_close(&dev);
	return tap_failed();
}
