// SPDX-License-Identifier: GPL-2.0
/* Completion queues: sizes, arming, events, overrun. */

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>

#include "cq_rig.h"

#define LEN 4096

static struct vu_dev dev;
static uint8_t *buf;
static struct ibv_mr *mr;

/* Create a rig whose CQ has so many entries, and a receive queue that can fill it. */
static bool open_rig(struct rig *rig, struct ibv_comp_channel *channel, int cqe)
{
	/* receive requests are free again when their completions were taken */
	uint32_t recv_wr = cqe > 64 ? cqe : 64;

	return rig_up(rig, &dev, mr, ibv_create_cq(dev.ctx, cqe, rig, channel, 0), recv_wr);
}

static bool event_pending(struct ibv_comp_channel *channel)
{
	struct pollfd pfd = {.fd = channel->fd, .events = POLLIN};

	return poll(&pfd, 1, 0) == 1;
}

static void test_sizes(const void *arg)
{
	static const int sizes[] = {1, 2, 3, 16, 17, 1000, 4096, 65536};
	unsigned int i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct ibv_cq *cq = ibv_create_cq(dev.ctx, sizes[i], NULL, NULL, 0);

		if (!EXPECT(cq))
			continue;
		EXPECT(cq->cqe >= sizes[i]);
		EXPECT_EQ(ibv_destroy_cq(cq), 0);
	}
	EXPECT_NULL(ibv_create_cq(dev.ctx, 0, NULL, NULL, 0), EINVAL);
	EXPECT_NULL(ibv_create_cq(dev.ctx, -1, NULL, NULL, 0), EINVAL);
	EXPECT_NULL(ibv_create_cq(dev.ctx, dev.attr.max_cqe + 1, NULL, NULL, 0), EINVAL);
}

static void test_comp_vectors(const void *arg)
{
	int i, num = dev.ctx->num_comp_vectors;

	(void)arg;
	EXPECT(num >= 1);
	for (i = 0; i < num; i++) {
		struct ibv_cq *cq = ibv_create_cq(dev.ctx, 16, NULL, NULL, i);

		if (EXPECT(cq))
			EXPECT_EQ(ibv_destroy_cq(cq), 0);
	}
	EXPECT_NULL(ibv_create_cq(dev.ctx, 16, NULL, NULL, num), EINVAL);
	EXPECT_NULL(ibv_create_cq(dev.ctx, 16, NULL, NULL, -1), EINVAL);
}

/* A small ring goes round many times; completions come in order. */
static void test_wrap(const void *arg)
{
	struct ibv_wc wc;
	struct rig rig;
	uint64_t i;

	(void)arg;
	if (!open_rig(&rig, NULL, 4))
		return;
	for (i = 0; i < 500; i++)
		if (!rig_send(&rig, i, 0) || !vu_wait_wc(rig.cq, &wc, i, IBV_WC_SUCCESS))
			break;
	EXPECT_EQ(ibv_poll_cq(rig.cq, 1, &wc), 0);
	rig_down(&rig);
}

/* All completions of a full ring are taken in one call, and in calls of any size. */
static void test_poll_many(const void *arg)
{
	struct ibv_wc wc[64];
	struct rig rig;
	int i, n, round;
	uint64_t next = 0;

	(void)arg;
	if (!open_rig(&rig, NULL, 32))
		return;
	for (round = 1; round < 32; round += 5) {
		for (i = 0; i < 32; i++)
			if (!rig_send(&rig, next + i, 0))
				goto out;
		for (i = 0; i < 32; i += n) {
			n = ibv_poll_cq(rig.cq, round, wc);
			if (!EXPECT(n > 0 && n <= round))
				goto out;
			EXPECT_EQ(wc[0].wr_id, next + i);
			EXPECT_EQ(wc[n - 1].wr_id, next + i + n - 1);
		}
		next += 32;
	}
	EXPECT_EQ(ibv_poll_cq(rig.cq, 0, wc), 0);
out:
	rig_down(&rig);
}

/*
 * Events of CQs with the same vector come in order.  So if another, armed CQ raises its event
 * first, this CQ has raised none.
 */
static void test_next_arm(const void *arg)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(dev.ctx);
	struct rig rig, other;
	struct ibv_wc wc;
	struct ibv_cq *cq;
	int i;

	(void)arg;
	if (!EXPECT(channel) || !open_rig(&rig, channel, 64) || !open_rig(&other, channel, 64))
		return;
	/* not armed: no event */
	rig_send(&rig, 1, IBV_SEND_SOLICITED);
	EXPECT_EQ(ibv_req_notify_cq(other.cq, 0), 0);
	rig_send(&other, 1, 0);
	if (vu_wait_event(channel, &cq))
		EXPECT(cq == other.cq);
	vu_wait_wc(rig.cq, &wc, 1, IBV_WC_SUCCESS);

	/* armed: one event for any number of completions */
	EXPECT_EQ(ibv_req_notify_cq(rig.cq, 0), 0);
	for (i = 0; i < 5; i++)
		rig_send(&rig, 2 + i, 0);
	if (vu_wait_event(channel, &cq))
		EXPECT(cq == rig.cq && cq->cq_context == &rig);
	EXPECT_EQ(ibv_req_notify_cq(other.cq, 0), 0);
	rig_send(&other, 2, 0);
	if (vu_wait_event(channel, &cq))
		EXPECT(cq == other.cq);
	EXPECT(!event_pending(channel));
	for (i = 0; i < 5; i++)
		vu_wait_wc(rig.cq, &wc, 2 + i, IBV_WC_SUCCESS);

	/* armed again and again: still one */
	for (i = 0; i < 4; i++)
		EXPECT_EQ(ibv_req_notify_cq(rig.cq, i % 2), 0);
	rig_send(&rig, 7, IBV_SEND_SOLICITED);
	if (vu_wait_event(channel, &cq))
		EXPECT(cq == rig.cq);
	EXPECT_EQ(ibv_req_notify_cq(other.cq, 0), 0);
	rig_send(&other, 3, 0);
	if (vu_wait_event(channel, &cq))
		EXPECT(cq == other.cq);
	rig_down(&rig);
	rig_down(&other);
	EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

static void test_solicited_arm(const void *arg)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(dev.ctx);
	struct rig rig, other;
	struct ibv_wc wc;
	struct ibv_cq *cq;

	(void)arg;
	if (!EXPECT(channel) || !open_rig(&rig, channel, 64) || !open_rig(&other, channel, 64))
		return;
	/* an ordinary completion raises no event for a solicited request, a solicited one does */
	EXPECT_EQ(ibv_req_notify_cq(rig.cq, 1), 0);
	rig_send(&rig, 1, 0);
	EXPECT_EQ(ibv_req_notify_cq(other.cq, 0), 0);
	rig_send(&other, 1, 0);
	if (vu_wait_event(channel, &cq))
		EXPECT(cq == other.cq);
	rig_send(&rig, 2, IBV_SEND_SOLICITED);
	if (vu_wait_event(channel, &cq))
		EXPECT(cq == rig.cq);
	vu_wait_wc(rig.cq, &wc, 1, IBV_WC_SUCCESS);
	vu_wait_wc(rig.cq, &wc, 2, IBV_WC_SUCCESS);
	/* so does one that failed */
	EXPECT_EQ(ibv_req_notify_cq(rig.cq, 1), 0);
	EXPECT_EQ(vu_post_recv(&rig.b, 3, mr, buf, LEN), 0);
	vu_to_err(&rig.b);
	if (vu_wait_event(channel, &cq))
		EXPECT(cq == rig.cq);
	vu_wait_wc(rig.cq, &wc, 3, IBV_WC_WR_FLUSH_ERR);
	rig_down(&rig);
	rig_down(&other);
	EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

/* Arm, poll once more, sleep: no wake-up is lost, for any interleaving of the two sides. */
static void *sender(void *arg)
{
	struct rig *rig = arg;
	uint64_t i;

	for (i = 0; i < 2000; i++)
		if (!rig_send(rig, i, 0))
			break;
	return NULL;
}

static void test_no_lost_wakeup(const void *arg)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(dev.ctx);
	struct ibv_wc wc;
	struct ibv_cq *cq;
	pthread_t thread;
	struct rig rig;
	uint64_t i = 0;
	int n;

	(void)arg;
	if (!EXPECT(channel) || !open_rig(&rig, channel, 2048))
		return;
	EXPECT_EQ(pthread_create(&thread, NULL, sender, &rig), 0);
	while (i < 2000) {
		EXPECT_EQ(ibv_req_notify_cq(rig.cq, 0), 0);
		n = ibv_poll_cq(rig.cq, 1, &wc);
		if (n < 0)
			break;
		if (!n && !vu_wait_event(channel, &cq))
			break;
		if (n && !(EXPECT_EQ(wc.status, IBV_WC_SUCCESS) && EXPECT_EQ(wc.wr_id, i++)))
			break;
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(i, 2000);
	rig_down(&rig);
	EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

static void test_channel(const void *arg)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(dev.ctx);
	struct ibv_cq *cq;
	struct rig rig;
	void *context;

	(void)arg;
	if (!EXPECT(channel) || !open_rig(&rig, channel, 64))
		return;
	EXPECT_EQ(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
	errno = 0;
	EXPECT_EQ(ibv_get_cq_event(channel, &cq, &context), -1);
	EXPECT_EQ(errno, EAGAIN);
	EXPECT_EQ(ibv_destroy_comp_channel(channel), EBUSY);
	/* an event that was never read does not prevent destroying the CQ */
	EXPECT_EQ(ibv_req_notify_cq(rig.cq, 0), 0);
	rig_send(&rig, 1, 0);
	rig_down(&rig);
	EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

/* Several events are acknowledged at once. */
static void test_acks(const void *arg)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(dev.ctx);
	struct pollfd pfd = {.events = POLLIN};
	struct ibv_cq *cq;
	struct rig rig;
	void *context;
	int i;

	(void)arg;
	if (!EXPECT(channel) || !open_rig(&rig, channel, 64))
		return;
	pfd.fd = channel->fd;
	for (i = 0; i < 10; i++) {
		EXPECT_EQ(ibv_req_notify_cq(rig.cq, 0), 0);
		rig_send(&rig, i, 0);
		if (!EXPECT_EQ(poll(&pfd, 1, vu_timeout_ms()), 1))
			break;
		EXPECT_EQ(ibv_get_cq_event(channel, &cq, &context), 0);
		EXPECT(cq == rig.cq && context == &rig);
	}
	ibv_ack_cq_events(rig.cq, i);
	rig_down(&rig);
	EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

/* Many CQs on one channel: each one's event comes once. */
static void test_many(const void *arg)
{
	enum {
		RIGS = 48,
		CQS = 1000
	};
	static struct ibv_cq *cqs[CQS];
	static struct rig rigs[RIGS];
	struct ibv_comp_channel *channel = ibv_create_comp_channel(dev.ctx);
	bool seen[RIGS] = {};
	struct ibv_cq *cq;
	int i;

	(void)arg;
	if (!EXPECT(channel))
		return;
	memset(rigs, 0, sizeof(rigs));
	for (i = 0; i < CQS; i++) {
		cqs[i] = ibv_create_cq(dev.ctx, 16, NULL, channel, i % dev.ctx->num_comp_vectors);
		if (!EXPECT(cqs[i]))
			goto out;
	}
	for (i = 0; i < RIGS; i++) {
		if (!open_rig(&rigs[i], channel, 8))
			goto out;
		EXPECT_EQ(ibv_req_notify_cq(rigs[i].cq, 0), 0);
	}
	for (i = 0; i < RIGS; i++)
		rig_send(&rigs[i], 1, 0);
	for (i = 0; i < RIGS; i++) {
		struct rig *rig;

		if (!vu_wait_event(channel, &cq))
			break;
		rig = cq->cq_context;
		if (EXPECT(rig >= rigs && rig < rigs + RIGS)) {
			EXPECT(!seen[rig - rigs]);
			seen[rig - rigs] = true;
		}
	}
	EXPECT(!event_pending(channel));
out:
	for (i = 0; i < RIGS; i++)
		rig_down(&rigs[i]);
	for (i = 0; i < CQS; i++) {
		if (cqs[i])
			EXPECT_EQ(ibv_destroy_cq(cqs[i]), 0);
		cqs[i] = NULL;
	}
	EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

/* More completions than entries: an event, and the QP that could not complete is in error. */
static void test_overrun(const void *arg)
{
	struct ibv_async_event event;
	struct ibv_wc wc;
	struct rig rig;
	int i, room;

	(void)arg;
	if (!dev.is_ohca) {
		tap_skip("the device does not detect it");
		return;
	}
	if (!open_rig(&rig, NULL, 4))
		return;
	room = rig.cq->cqe;
	for (i = 0; i <= room; i++)
		EXPECT_EQ(vu_post_recv(&rig.b, i, mr, buf, LEN), 0);
	for (i = 0; i < room; i++) {
		EXPECT_EQ(vu_post_send(&rig.a, IBV_WR_SEND, i, IBV_SEND_SIGNALED, mr, buf, 8, 0, 0),
			  0);
		vu_wait_wc(rig.a.scq, &wc, i, IBV_WC_SUCCESS);
	}
	EXPECT(!vu_async_pending(dev.ctx, &event));
	EXPECT_EQ(vu_post_send(&rig.a, IBV_WR_SEND, i, IBV_SEND_SIGNALED, mr, buf, 8, 0, 0), 0);
	vu_wait_async(dev.ctx, IBV_EVENT_CQ_ERR, rig.cq);
	EXPECT_EQ(vu_state(&rig.b), IBV_QPS_ERR);
	rig_down(&rig);
	/* others are not affected */
	if (open_rig(&rig, NULL, 4)) {
		rig_send(&rig, 1, 0);
		vu_wait_wc(rig.cq, &wc, 1, IBV_WC_SUCCESS);
		rig_down(&rig);
	}
}

static void test_busy(const void *arg)
{
	struct rig rig;

	(void)arg;
	if (!open_rig(&rig, NULL, 16))
		return;
	EXPECT_EQ(ibv_destroy_cq(rig.cq), EBUSY);
	EXPECT_EQ(ibv_destroy_cq(rig.a.scq), EBUSY);
	/* and it still works */
	rig_send(&rig, 1, 0);
	rig_down(&rig);
}

/*
 * A QP is destroyed with completions in the CQ that were not taken: the CQ works as before for
 * others.
 */
static void test_qp_gone(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct vu_qp a, b;
	struct ibv_wc wc;
	struct rig rig;
	int i, n;

	(void)arg;
	if (!open_rig(&rig, NULL, 64))
		return;
	opts.recv_cq = rig.cq;
	if (!vu_qp_create(&dev, &a, &opts) || !vu_qp_create(&dev, &b, &opts) ||
	    !vu_connect_pair(&dev, &a, &b, &opts))
		return;
	for (i = 0; i < 10; i++) {
		EXPECT_EQ(vu_post_recv(&b, 1000 + i, mr, buf, LEN), 0);
		EXPECT_EQ(vu_post_send(&a, IBV_WR_SEND, i, IBV_SEND_SIGNALED, mr, buf, 8, 0, 0), 0);
		vu_wait_wc(a.scq, &wc, i, IBV_WC_SUCCESS);
		rig_send(&rig, i, 0);
	}
	vu_qp_destroy(&a);
	vu_qp_destroy(&b);
	for (i = 0; i < 10; i++) {
		do {
			n = ibv_poll_cq(rig.cq, 1, &wc);
		} while (n == 1 && wc.wr_id >= 1000); /* perhaps a CQE of the destroyed QP */
		EXPECT_EQ(n, 1);
		EXPECT_EQ(wc.wr_id, i);
		EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	}
	rig_down(&rig);
}

static const struct tap_test tests[] = {
	{"sizes, and sizes refused", test_sizes, NULL},
	{"completion vectors, and vectors refused", test_comp_vectors, NULL},
	{"the ring goes round", test_wrap, NULL},
	{"polls of any size", test_poll_many, NULL},
	{"arm for the next completion", test_next_arm, NULL},
	{"arm for solicited completions", test_solicited_arm, NULL},
	{"no wake-up is lost", test_no_lost_wakeup, NULL},
	{"completion channel", test_channel, NULL},
	{"acknowledgment of events", test_acks, NULL},
	{"many CQs on a channel", test_many, NULL},
	{"overrun", test_overrun, NULL},
	{"CQ in use is busy", test_busy, NULL},
	{"CQ outlives its QPs", test_qp_gone, NULL},
};

int main(void)
{
	vu_open(&dev);
	mr = vu_alloc_mr(&dev, LEN);
	buf = mr->addr;
	return vu_main(&dev, mr, tests, ARRAY_SIZE(tests), NULL);
}
