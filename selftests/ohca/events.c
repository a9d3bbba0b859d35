// SPDX-License-Identifier: GPL-2.0
/*
 * Asynchronous events in a program.  Of shared receive queues: fewer entries than the limit, the last
 * entry of a QP in error, and an SRQ that can't be used any more.  Of many QPs: the first message comes
 * before they are ready to send.
 */

#include <endian.h>

#include "raw.h"
#include "verbs_util.h"

#define LEN 4096
#define MSG 64
#define PAIRS 200

static struct vu_dev dev;
static struct ibv_mr *mr;

/**
 * struct rig - two connected QPs; @b takes its receive requests from @srq
 */
struct rig {
	struct ibv_srq *srq;
	struct vu_qp a, b;
};

static bool post(struct rig *rig, int num)
{
	struct ibv_sge sge = {(uintptr_t)mr->addr, MSG, mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	while (num--)
		if (!EXPECT_EQ(ibv_post_srq_recv(rig->srq, &wr, &bad), 0))
			return false;
	return true;
}

/* Create the rig with @num receive requests. */
static bool rig_up(struct rig *rig, int num)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 16, .max_sge = 1}};
	struct vu_qp_opts opts = VU_QP_OPTS;

	*rig = (struct rig){.srq = ibv_create_srq(dev.pd, &attr)};
	if (!EXPECT(rig->srq) || !vu_qp_create(&dev, &rig->a, &opts))
		return false;
	opts.srq = rig->srq;
	return vu_qp_create(&dev, &rig->b, &opts) &&
	       vu_connect_pair(&dev, &rig->a, &rig->b, &opts) && post(rig, num);
}

static void rig_down(struct rig *rig)
{
	vu_qp_destroy(&rig->a);
	vu_qp_destroy(&rig->b);
	if (rig->srq)
		EXPECT_EQ(ibv_destroy_srq(rig->srq), 0);
}

/* Use @num receive requests. */
static bool take(struct rig *rig, int num)
{
	struct ibv_wc wc;

	while (num--)
		if (!EXPECT_EQ(vu_post_send(&rig->a, IBV_WR_SEND, 1, IBV_SEND_SIGNALED, mr,
					    mr->addr, MSG, 0, 0),
			       0) ||
		    !vu_wait_wc(rig->a.scq, &wc, 1, IBV_WC_SUCCESS) || !vu_wait(rig->b.rcq, &wc, 1))
			return false;
	return true;
}

static void arm(struct rig *rig, uint32_t limit)
{
	struct ibv_srq_attr attr = {.srq_limit = limit};

	EXPECT_EQ(ibv_modify_srq(rig->srq, &attr, IBV_SRQ_LIMIT), 0);
}

static uint32_t armed(struct rig *rig)
{
	struct ibv_srq_attr attr;

	EXPECT_EQ(ibv_query_srq(rig->srq, &attr), 0);
	return attr.srq_limit;
}

static void expect_quiet(void)
{
	struct ibv_async_event event;

	if (vu_async_pending(dev.ctx, &event))
		tap_fail(__FILE__, __LINE__, "event %s", ibv_event_type_str(event.event_type));
}

/* Once, when fewer entries than the limit are left; the limit then is 0. */
static void test_limit(const void *arg)
{
	struct rig rig;

	(void)arg;
	if (rig_up(&rig, 8)) {
		arm(&rig, 5);
		expect_quiet();
		take(&rig, 3);
		EXPECT_EQ(armed(&rig), 5);
		expect_quiet();
		take(&rig, 1);
		vu_wait_async(dev.ctx, IBV_EVENT_SRQ_LIMIT_REACHED, rig.srq);
		EXPECT_EQ(armed(&rig), 0);
		take(&rig, 2);
		expect_quiet();
		/* again, with more entries */
		post(&rig, 4);
		arm(&rig, 3);
		take(&rig, 3);
		expect_quiet();
		take(&rig, 1);
		vu_wait_async(dev.ctx, IBV_EVENT_SRQ_LIMIT_REACHED, rig.srq);
		/* there are fewer already */
		arm(&rig, 10);
		vu_wait_async(dev.ctx, IBV_EVENT_SRQ_LIMIT_REACHED, rig.srq);
		/* disarmed */
		arm(&rig, 2);
		arm(&rig, 0);
		take(&rig, 2);
		expect_quiet();
	}
	rig_down(&rig);
}

/* Once for each QP that enters the error state, with and without messages before. */
static void test_last_wqe(const void *arg)
{
	struct ibv_wc wc;
	struct rig rig;

	(void)arg;
	if (rig_up(&rig, 4)) {
		take(&rig, 1);
		expect_quiet();
		vu_to_err(&rig.b);
		vu_wait_async(dev.ctx, IBV_EVENT_QP_LAST_WQE_REACHED, rig.b.qp);
		vu_to_err(&rig.b);
		expect_quiet();
		/* the others are not flushed: they belong to the SRQ */
		EXPECT_EQ(ibv_poll_cq(rig.b.rcq, 1, &wc), 0);
		/* without an SRQ there is no such event */
		vu_to_err(&rig.a);
		expect_quiet();
	}
	rig_down(&rig);
	if (rig_up(&rig, 0)) {
		vu_to_err(&rig.b);
		vu_wait_async(dev.ctx, IBV_EVENT_QP_LAST_WQE_REACHED, rig.b.qp);
	}
	rig_down(&rig);
}

/* The producer index jumped: one event; other queues are not affected. */
static void test_srq_error(const void *arg)
{
	uint8_t *buf = vu_alloc(LEN);
	struct ohca_wq_rec *rec = (struct ohca_wq_rec *)(buf + RAW_SIZE * RAW_RQ_STRIDE);
	struct ohca_create_srq_req req = {
		.buf_addr = (uintptr_t)buf,
		.buf_size = LEN,
		.rec_offset = RAW_SIZE * RAW_RQ_STRIDE,
		.log_size = RAW_LOG_SIZE,
		.log_stride = 6,
	};
	uint32_t pd, handle;
	struct raw_ctx ctx;
	struct rig rig;

	(void)arg;
	raw_open(&ctx);
	if (EXPECT_EQ(raw_alloc_pd(&ctx, &pd), 0) &&
	    EXPECT_EQ(raw_create_srq(&ctx, pd, &req, sizeof(req), &handle), 0)) {
		EXPECT_EQ(raw_arm_srq(&ctx, handle, 1), 0);
		EXPECT_EQ(raw_async(&ctx), IBV_EVENT_SRQ_LIMIT_REACHED);
		__atomic_store_n(&rec->pi, htole32(RAW_SIZE + 1), __ATOMIC_RELEASE);
		raw_arm_srq(&ctx, handle, 1);
		EXPECT_EQ(raw_async(&ctx), IBV_EVENT_SRQ_ERR);
		/* it can't be used any more */
		__atomic_store_n(&rec->pi, 0, __ATOMIC_RELEASE);
		EXPECT_EQ(raw_arm_srq(&ctx, handle, 1), EINVAL);
		EXPECT_EQ(raw_destroy_srq(&ctx, handle), 0);
	}
	raw_close(&ctx);
	vu_free(buf, LEN);
	expect_quiet();
	if (rig_up(&rig, 2))
		take(&rig, 2);
	rig_down(&rig);
}

/* The first QP of the pair is ready to send, and the second one only to receive. */
static bool pair_up(struct vu_qp *pair)
{
	struct vu_qp_opts opts = VU_QP_OPTS;

	return vu_qp_create(&dev, &pair[0], &opts) && vu_qp_create(&dev, &pair[1], &opts) &&
	       vu_connect_half(&dev, &pair[0], &pair[1], &opts) &&
	       EXPECT_EQ(vu_post_recv(&pair[1], 0, mr, mr->addr, MSG), 0);
}

/*
 * Events come while the driver handles others, and meanwhile there is no command, whose interrupt would
 * let it look for events.
 */
static void test_comm_est(const void *arg)
{
	static struct vu_qp pairs[PAIRS][2];
	int i;

	(void)arg;
	for (i = 0; i < PAIRS; i++)
		if (!pair_up(pairs[i]))
			return;
	for (i = 0; i < PAIRS; i++)
		EXPECT_EQ(vu_post_send(&pairs[i][0], IBV_WR_SEND, i, IBV_SEND_SIGNALED, mr,
				       mr->addr, MSG, 0, 0),
			  0);
	for (i = 0; i < PAIRS; i++)
		if (!vu_wait_async(dev.ctx, IBV_EVENT_COMM_EST, NULL))
			break;
	EXPECT_EQ(i, PAIRS);
	for (i = 0; i < PAIRS; i++) {
		vu_qp_destroy(&pairs[i][0]);
		vu_qp_destroy(&pairs[i][1]);
	}
}

static const struct tap_test tests[] = {
	{"SRQ_LIMIT: less entries than the limit", test_limit, NULL},
	{"LAST_WQE: a QP with an SRQ is in error", test_last_wqe, NULL},
	{"SRQ_ERR: the producer index jumped", test_srq_error, NULL},
	{"COMM_EST: many QPs at a time", test_comm_est, NULL},
};

int main(void)
{
	vu_open(&dev);
	if (!dev.is_ohca)
		tap_skip_all("another device raises them at other times");
	if (!dev.attr.max_srq)
		tap_skip_all("the device has no SRQs");
	mr = vu_alloc_mr(&dev, LEN);
	return vu_main(&dev, mr, tests, ARRAY_SIZE(tests), NULL);
}
