// SPDX-License-Identifier: GPL-2.0
/* Completion queues: resize, moderation, time stamps, ignored overrun. */

#include <poll.h>
#include <pthread.h>

#include "cq_rig.h"

#define LEN 4096

static struct vu_dev dev;
static struct ibv_device_attr_ex attr_ex;
static struct ibv_mr *mr;

/* The next completions have these numbers. */
static bool rig_take(struct rig *rig, uint64_t first, uint64_t num)
{
	struct ibv_wc wc;
	uint64_t i;

	for (i = first; i < first + num; i++)
		if (!vu_wait_wc(rig->cq, &wc, i, IBV_WC_SUCCESS))
			return false;
	return true;
}

static bool can_resize(void)
{
	struct ibv_cq *cq = ibv_create_cq(dev.ctx, 4, NULL, NULL, 0);
	int ret = EXPECT(cq) ? ibv_resize_cq(cq, 8) : -1;

	if (ret == EOPNOTSUPP || ret == ENOSYS)
		tap_skip("the device can't");
	else
		EXPECT_EQ(ret, 0);
	if (cq)
		EXPECT_EQ(ibv_destroy_cq(cq), 0);
	return !ret;
}

/* Completions that were not taken are copied, whatever the index is. */
static void test_resize(const void *arg)
{
	static const int sizes[] = {64, 1000, 16, 5, 17, 4096, 8};
	uint64_t next = 0, num;
	struct rig rig;
	unsigned int i;

	(void)arg;
	if (!can_resize() || !rig_up(&rig, &dev, mr, ibv_create_cq(dev.ctx, 32, NULL, NULL, 0), 64))
		return;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (num = 0; num < 3 + i % 3; num++)
			if (!rig_send(&rig, next + num, 0))
				goto out;
		if (!EXPECT_EQ(ibv_resize_cq(rig.cq, sizes[i]), 0))
			goto out;
		EXPECT(rig.cq->cqe >= sizes[i]);
		if (!rig_take(&rig, next, num))
			goto out;
		next += num;
		/* and it continues, for several rounds */
		for (num = 0; num < 40; num++, next++)
			if (!rig_send(&rig, next, 0) || !rig_take(&rig, next, 1))
				goto out;
	}
out:
	rig_down(&rig);
}

static void test_resize_refused(const void *arg)
{
	struct rig rig;
	uint64_t i;

	(void)arg;
	if (!can_resize() || !rig_up(&rig, &dev, mr, ibv_create_cq(dev.ctx, 64, NULL, NULL, 0), 64))
		return;
	EXPECT_EQ(ibv_resize_cq(rig.cq, 0), EINVAL);
	EXPECT_EQ(ibv_resize_cq(rig.cq, -1), EINVAL);
	EXPECT_EQ(ibv_resize_cq(rig.cq, dev.attr.max_cqe + 1), EINVAL);
	for (i = 0; i < 20; i++)
		if (!rig_send(&rig, i, 0))
			break;
	/* less than what is in it */
	EXPECT_EQ(ibv_resize_cq(rig.cq, 8), EINVAL);
	EXPECT(rig.cq->cqe >= 64);
	if (rig_take(&rig, 0, i))
		EXPECT_EQ(ibv_resize_cq(rig.cq, 8), 0);
	rig_down(&rig);
}

#define MESSAGES 3000

static void *sender(void *arg)
{
	struct rig *rig = arg;
	uint64_t i;

	for (i = 0; i < MESSAGES; i++)
		if (!rig_send(rig, i, 0))
			break;
	return NULL;
}

/* No completion is lost while it changes under traffic. */
static void test_resize_traffic(const void *arg)
{
	struct rig rig;
	pthread_t thread;
	uint64_t i;

	(void)arg;
	if (!can_resize() ||
	    !rig_up(&rig, &dev, mr, ibv_create_cq(dev.ctx, MESSAGES, NULL, NULL, 0), MESSAGES))
		return;
	EXPECT_EQ(pthread_create(&thread, NULL, sender, &rig), 0);
	for (i = 0; i < MESSAGES; i++) {
		if (i % 20 == 0)
			EXPECT_EQ(ibv_resize_cq(rig.cq, i % 40 ? MESSAGES : 4 * MESSAGES), 0);
		if (!rig_take(&rig, i, 1))
			break;
	}
	pthread_join(thread, NULL);
	rig_down(&rig);
}

static bool moderate(struct ibv_cq *cq, uint16_t count, uint16_t period)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = {.cq_count = count, .cq_period = period},
	};

	return EXPECT_EQ(ibv_modify_cq(cq, &attr), 0);
}

static bool event_pending(struct ibv_comp_channel *channel)
{
	struct pollfd pfd = {.fd = channel->fd, .events = POLLIN};

	return poll(&pfd, 1, 0) == 1;
}

/*
 * One event for several completions.  Events of CQs with the same vector come in order, so another
 * CQ's event shows that this one has raised none.
 */
static void test_moderation(const void *arg)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(dev.ctx);
	struct rig rig = {}, other = {};
	struct ibv_cq *cq;
	uint64_t i;

	(void)arg;
	if (!attr_ex.cq_mod_caps.max_cq_count) {
		tap_skip("the device can't");
		goto out_channel;
	}
	if (!EXPECT(channel) ||
	    !rig_up(&rig, &dev, mr, ibv_create_cq(dev.ctx, 64, NULL, channel, 0), 64) ||
	    !rig_up(&other, &dev, mr, ibv_create_cq(dev.ctx, 64, NULL, channel, 0), 64) ||
	    !moderate(rig.cq, 8, 0))
		goto out;
	EXPECT_EQ(ibv_req_notify_cq(rig.cq, 0), 0);
	EXPECT_EQ(ibv_req_notify_cq(other.cq, 0), 0);
	for (i = 0; i < 7; i++)
		rig_send(&rig, i, 0);
	rig_send(&other, 0, 0);
	if (vu_wait_event(channel, &cq))
		EXPECT(cq == other.cq);
	EXPECT(!event_pending(channel));
	rig_send(&rig, i, 0);
	if (vu_wait_event(channel, &cq))
		EXPECT(cq == rig.cq);
	rig_take(&rig, 0, 8);

	/* a period, then each completion by itself again */
	moderate(rig.cq, 1000, 2000);
	EXPECT_EQ(ibv_req_notify_cq(rig.cq, 0), 0);
	rig_send(&rig, 8, 0);
	if (vu_wait_event(channel, &cq))
		EXPECT(cq == rig.cq);
	moderate(rig.cq, 0, 0);
	EXPECT_EQ(ibv_req_notify_cq(rig.cq, 0), 0);
	rig_send(&rig, 9, 0);
	if (vu_wait_event(channel, &cq))
		EXPECT(cq == rig.cq);
	rig_take(&rig, 8, 2);
out:
	rig_down(&rig);
	rig_down(&other);
out_channel:
	if (channel)
		EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

static uint64_t clock_now(void)
{
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};

	EXPECT_EQ(ibv_query_rt_values_ex(dev.ctx, &values), 0);
	return values.raw_clock.tv_sec * 1000000000ULL + values.raw_clock.tv_nsec;
}

/* The clock at each completion is between its values before and after it. */
static void test_timestamps(const void *arg)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = 64,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_poll_cq_attr poll_attr = {};
	struct ibv_cq_ex *cq;
	uint64_t last, stamp, i;
	struct rig rig;

	(void)arg;
	if (!attr_ex.completion_timestamp_mask) {
		tap_skip("the device has no clock");
		return;
	}
	EXPECT(attr_ex.hca_core_clock);
	cq = ibv_create_cq_ex(dev.ctx, &init);
	if (!EXPECT(cq) || !rig_up(&rig, &dev, mr, ibv_cq_ex_to_cq(cq), 64))
		return;
	last = clock_now();
	for (i = 0; i < 20; i++) {
		if (!rig_send(&rig, i, 0))
			break;
		while (ibv_start_poll(cq, &poll_attr) == ENOENT)
			;
		EXPECT_EQ(cq->wr_id, i);
		stamp = ibv_wc_read_completion_ts(cq);
		ibv_end_poll(cq);
		EXPECT(stamp > last);
		last = clock_now();
		EXPECT(stamp <= last);
	}
	rig_down(&rig);
}

/* More completions than entries: without effect. */
static void test_overrun(const void *arg)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = 4,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN,
	};
	struct ibv_async_event event;
	struct ibv_cq_ex *cq;
	struct rig rig;
	uint64_t i;

	(void)arg;
	cq = ibv_create_cq_ex(dev.ctx, &init);
	if (!cq && errno == EOPNOTSUPP) {
		tap_skip("the device can't");
		return;
	}
	if (!EXPECT(cq) || !rig_up(&rig, &dev, mr, ibv_cq_ex_to_cq(cq), 64))
		return;
	for (i = 0; i < 40; i++)
		if (!rig_send(&rig, i, 0))
			break;
	EXPECT(!vu_async_pending(dev.ctx, &event));
	EXPECT_EQ(vu_state(&rig.b), IBV_QPS_RTS);
	rig_down(&rig);
}

static const struct tap_test tests[] = {
	{"resize", test_resize, NULL},
	{"sizes refused", test_resize_refused, NULL},
	{"resize under traffic", test_resize_traffic, NULL},
	{"moderation", test_moderation, NULL},
	{"time stamps", test_timestamps, NULL},
	{"overrun that is ignored", test_overrun, NULL},
};

int main(void)
{
	vu_open(&dev);
	if (ibv_query_device_ex(dev.ctx, NULL, &attr_ex))
		tap_bail("ibv_query_device_ex: %d", errno);
	mr = vu_alloc_mr(&dev, LEN);
	return vu_main(&dev, mr, tests, ARRAY_SIZE(tests), NULL);
}
