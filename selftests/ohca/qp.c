// SPDX-License-Identifier: GPL-2.0
/* Queue pairs: capacities, posting, queries, busy objects, many of them, events of their state. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_util.h"

#define LEN 4096

static struct vu_dev dev;
static uint8_t *buf;
static struct ibv_mr *mr;

static bool pair_up(struct vu_qp *a, struct vu_qp *b, const struct vu_qp_opts *opts)
{
	memset(b, 0, sizeof(*b));
	if (!vu_qp_create(&dev, a, opts))
		return false;
	if (vu_qp_create(&dev, b, opts) && vu_connect_pair(&dev, a, b, opts))
		return true;
	vu_qp_destroy(a);
	vu_qp_destroy(b);
	return false;
}

static void pair_down(struct vu_qp *a, struct vu_qp *b)
{
	vu_qp_destroy(a);
	vu_qp_destroy(b);
}

/*
 * The requested capacities are granted, returned by the query too, and can be used to the last
 * entry.
 */
static void test_caps(const void *arg)
{
	static const uint32_t wrs[] = {1, 2, 3, 5, 16, 100, 1000};
	static const uint32_t sges[] = {1, 2, 3, 7, 16, 30};
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct vu_qp a, b;
	unsigned int i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(wrs) * ARRAY_SIZE(sges); i++) {
		struct vu_qp_opts opts = VU_QP_OPTS;
		uint32_t n;

		opts.send_wr = wrs[i % ARRAY_SIZE(wrs)];
		opts.recv_wr = wrs[(i + 2) % ARRAY_SIZE(wrs)];
		opts.send_sge = sges[i % ARRAY_SIZE(sges)];
		opts.recv_sge = sges[(i + 1) % ARRAY_SIZE(sges)];
		opts.inline_data = i * 7;
		if (!pair_up(&a, &b, &opts))
			return;
		EXPECT(a.cap.max_send_wr >= opts.send_wr && a.cap.max_recv_wr >= opts.recv_wr);
		EXPECT(a.cap.max_send_sge >= opts.send_sge && a.cap.max_recv_sge >= opts.recv_sge);
		EXPECT(a.cap.max_inline_data >= opts.inline_data);
		EXPECT_EQ(ibv_query_qp(a.qp, &attr, IBV_QP_CAP, &init), 0);
		EXPECT(!memcmp(&attr.cap, &a.cap, sizeof(a.cap)));
		EXPECT(!memcmp(&init.cap, &a.cap, sizeof(a.cap)));
		/* without a receive request at the other side, nothing completes */
		for (n = 0; n < a.cap.max_send_wr; n++)
			if (!EXPECT_EQ(vu_post_send(&a, IBV_WR_SEND, n, 0, mr, buf, 8, 0, 0), 0))
				break;
		EXPECT_EQ(vu_post_send(&a, IBV_WR_SEND, n, 0, mr, buf, 8, 0, 0), ENOMEM);
		for (n = 0; n < a.cap.max_recv_wr; n++)
			if (!EXPECT_EQ(vu_post_recv(&a, n, mr, buf, 8), 0))
				break;
		EXPECT_EQ(vu_post_recv(&a, n, mr, buf, 8), ENOMEM);
		pair_down(&a, &b);
		if (tap_failed())
			return;
	}
}

static void refused(const struct ibv_qp_init_attr *attr, int err, int line)
{
	struct ibv_qp_init_attr copy = *attr;
	struct ibv_qp *qp;

	errno = 0;
	qp = ibv_create_qp(dev.pd, &copy);
	if (qp || errno != err)
		tap_fail(__FILE__, line, "%s, errno %d, expected errno %d",
			 qp ? "created" : "refused", errno, err);
	if (qp)
		ibv_destroy_qp(qp);
}

#define REFUSED(field, value, err)                    \
	do {                                          \
		struct ibv_qp_init_attr _attr = attr; \
		_attr.field = (value);                \
		refused(&_attr, err, __LINE__);       \
	} while (0)

static void test_refused(const void *arg)
{
	struct ibv_cq *cq = ibv_create_cq(dev.ctx, 64, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	(void)arg;
	if (!EXPECT(cq))
		return;
	REFUSED(cap.max_send_wr, dev.attr.max_qp_wr + 1, EINVAL);
	REFUSED(cap.max_recv_wr, dev.attr.max_qp_wr + 1, EINVAL);
	REFUSED(cap.max_send_sge, dev.attr.max_sge + 1, EINVAL);
	REFUSED(cap.max_recv_sge, dev.attr.max_sge + 1, EINVAL);
	REFUSED(cap.max_inline_data, 1 << 16, EINVAL);
	REFUSED(cap.max_send_wr, ~0U, EINVAL);
	REFUSED(cap.max_recv_sge, ~0U, EINVAL);
	if (dev.is_ohca) {
		REFUSED(qp_type, IBV_QPT_DRIVER, EOPNOTSUPP);
		REFUSED(qp_type, 0x77, EOPNOTSUPP);
		REFUSED(qp_type, 0, EOPNOTSUPP);
		REFUSED(send_cq, NULL, EINVAL);
		REFUSED(recv_cq, NULL, EINVAL);
	}
	EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

/* The device's largest lists, queues and inline data can be used. */
static void test_maximum(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct vu_qp q;

	(void)arg;
	opts.send_sge = dev.attr.max_sge;
	opts.recv_sge = dev.attr.max_sge;
	if (vu_qp_create(&dev, &q, &opts))
		vu_qp_destroy(&q);
	opts.send_sge = 1;
	opts.recv_sge = 1;
	opts.send_wr = dev.attr.max_qp_wr;
	opts.recv_wr = dev.attr.max_qp_wr;
	if (vu_qp_create(&dev, &q, &opts)) {
		EXPECT(q.cap.max_send_wr >= opts.send_wr);
		vu_qp_destroy(&q);
	}
	opts.send_wr = 0;
	if (vu_qp_create(&dev, &q, &opts))
		vu_qp_destroy(&q);
}

/*
 * A chain of requests with an invalid one: those before it are posted, it and those after it are
 * not.
 */
static void test_bad_post(const void *arg)
{
	struct ibv_sge sge[40], big = {.addr = (uintptr_t)buf, .length = LEN, .lkey = mr->lkey};
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_send_wr wr[3] = {}, *bad;
	struct ibv_recv_wr rr[3] = {}, *bad_recv;
	struct ibv_wc wc;
	struct vu_qp a, b;
	int i;

	(void)arg;
	opts.send_sge = opts.recv_sge = 2;
	if (!pair_up(&a, &b, &opts))
		return;
	for (i = 0; i < 40; i++)
		sge[i] = (struct ibv_sge){.addr = (uintptr_t)buf, .length = 8, .lkey = mr->lkey};
	for (i = 0; i < 3; i++) {
		wr[i] = (struct ibv_send_wr){.wr_id = i,
					     .next = i < 2 ? &wr[i + 1] : NULL,
					     .sg_list = sge,
					     .num_sge = 1,
					     .opcode = IBV_WR_SEND,
					     .send_flags = IBV_SEND_SIGNALED};
		rr[i] = (struct ibv_recv_wr){.wr_id = i,
					     .next = i < 2 ? &rr[i + 1] : NULL,
					     .sg_list = sge,
					     .num_sge = 1};
	}
	rr[1].num_sge = b.cap.max_recv_sge + 1;
	EXPECT_EQ(ibv_post_recv(b.qp, rr, &bad_recv), EINVAL);
	EXPECT(bad_recv == &rr[1]);
	rr[1].num_sge = 1;
	EXPECT_EQ(ibv_post_recv(b.qp, rr, &bad_recv), 0);

	wr[1].num_sge = a.cap.max_send_sge + 1;
	EXPECT_EQ(ibv_post_send(a.qp, wr, &bad), EINVAL);
	EXPECT(bad == &wr[1]);
	wr[1].num_sge = 1;
	wr[1].opcode = 100;
	EXPECT_EQ(ibv_post_send(a.qp, wr, &bad), EINVAL);
	EXPECT(bad == &wr[1]);
	wr[1].opcode = IBV_WR_SEND;
	wr[1].send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
	wr[1].sg_list = &big; /* more than the QP's inline data */
	EXPECT_EQ(ibv_post_send(a.qp, wr, &bad), EINVAL);
	EXPECT(bad == &wr[1]);
	wr[1].send_flags = IBV_SEND_SIGNALED;
	wr[1].sg_list = sge;
	if (dev.is_ohca) {
		wr[1].send_flags = 1 << 14;
		EXPECT_EQ(ibv_post_send(a.qp, wr, &bad), EINVAL);
		EXPECT(bad == &wr[1]);
		wr[1].send_flags = IBV_SEND_SIGNALED;
	}
	/*
	 * three or four of the first ones were posted, and receives for four: not more, not fewer
	 */
	for (i = 0; i < (dev.is_ohca ? 4 : 3); i++)
		vu_wait_wc(a.scq, &wc, 0, IBV_WC_SUCCESS);
	EXPECT_EQ(ibv_poll_cq(a.scq, 1, &wc), 0);
	EXPECT_EQ(vu_state(&a), IBV_QPS_RTS);
	pair_down(&a, &b);
}

/* Requests can be posted only when the state allows it. */
static void test_post_state(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct vu_addr self;
	struct ibv_wc wc;
	struct vu_qp q;

	(void)arg;
	if (!vu_qp_create(&dev, &q, &opts))
		return;
	vu_qp_addr(&dev, &q, &self);
	EXPECT_EQ(vu_post_recv(&q, 1, mr, buf, 8), EINVAL);
	EXPECT_EQ(vu_post_send(&q, IBV_WR_SEND, 1, 0, mr, buf, 8, 0, 0), EINVAL);
	vu_to_init(&q, &opts);
	EXPECT_EQ(vu_post_send(&q, IBV_WR_SEND, 1, 0, mr, buf, 8, 0, 0), EINVAL);
	EXPECT_EQ(vu_post_recv(&q, 2, mr, buf, 8), 0);
	vu_to_rtr(&dev, &q, &self, &opts);
	EXPECT_EQ(vu_post_send(&q, IBV_WR_SEND, 1, 0, mr, buf, 8, 0, 0), EINVAL);
	EXPECT_EQ(vu_post_recv(&q, 3, mr, buf, 8), 0);
	vu_to_rts(&q, &opts);
	EXPECT_EQ(vu_post_send(&q, IBV_WR_SEND, 4, IBV_SEND_SIGNALED, mr, buf, 8, 0, 0), 0);
	vu_wait_wc(q.scq, &wc, 4, IBV_WC_SUCCESS);
	vu_wait_wc(q.rcq, &wc, 2, IBV_WC_SUCCESS);
	vu_qp_destroy(&q);
}

static void test_busy(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct vu_qp a, b;

	(void)arg;
	if (!pair_up(&a, &b, &opts))
		return;
	EXPECT_EQ(ibv_destroy_cq(a.scq), EBUSY);
	EXPECT_EQ(ibv_destroy_cq(a.rcq), EBUSY);
	EXPECT_EQ(ibv_dealloc_pd(dev.pd), EBUSY);
	pair_down(&a, &b);
}

/* A thousand QPs, each of which carries data. */
static void test_many(const void *arg)
{
	enum {
		NUM = 1000
	};
	struct vu_qp *qps = calloc(NUM, sizeof(*qps));
	struct ibv_cq *cq = ibv_create_cq(dev.ctx, 4 * NUM, NULL, NULL, 0);
	struct vu_qp_opts opts = VU_QP_OPTS;
	uint8_t *data = vu_alloc(NUM * 64);
	struct ibv_mr *data_mr = ibv_reg_mr(dev.pd, data, NUM * 64, VU_RW);
	struct ibv_wc wc;
	unsigned int i;

	(void)arg;
	opts.send_cq = opts.recv_cq = cq;
	opts.send_wr = opts.recv_wr = 2;
	if (!EXPECT(cq) || !EXPECT(data_mr))
		return;
	for (i = 0; i < NUM; i += 2)
		if (!pair_up(&qps[i], &qps[i + 1], &opts))
			goto out;
	for (i = 0; i < NUM; i++)
		EXPECT(qps[i].qp->qp_num > 1 && qps[i].qp->qp_num < 1 << 24);
	for (i = 0; i < NUM; i++)
		EXPECT_EQ(vu_post_recv(&qps[i], NUM + i, data_mr, data + i * 64, 64), 0);
	for (i = 0; i < NUM; i++) {
		vu_fill(buf + i % 64 * 64, 64, i ^ 1);
		EXPECT_EQ(vu_post_send(&qps[i], IBV_WR_SEND, i, IBV_SEND_SIGNALED, mr,
				       buf + i % 64 * 64, 64, 0, 0),
			  0);
		if (i % 64 != 63 && i != NUM - 1)
			continue;
		/* these 64 sends, and as many receives */
		for (unsigned int n = 0; n < 2 * (i % 64 + 1); n++)
			if (!vu_wait(cq, &wc, 1) || !EXPECT_EQ(wc.status, IBV_WC_SUCCESS))
				goto out;
	}
	for (i = 0; i < NUM; i++)
		if (!EXPECT_EQ(vu_check(data + i * 64, 64, i), -1))
			break;
out:
	for (i = 0; i < NUM; i++)
		if (qps[i].qp)
			vu_qp_destroy(&qps[i]);
	EXPECT_EQ(ibv_destroy_cq(cq), 0);
	EXPECT_EQ(ibv_dereg_mr(data_mr), 0);
	vu_free(data, NUM * 64);
	free(qps);
}

/* Created and destroyed repeatedly: numbers stay in range, and nothing is left. */
static void test_churn(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_wc wc;
	struct vu_qp a, b;
	int i;

	(void)arg;
	for (i = 0; i < 200; i++) {
		if (!pair_up(&a, &b, &opts))
			return;
		EXPECT_EQ(vu_post_recv(&b, 1, mr, buf, 64), 0);
		EXPECT_EQ(vu_post_send(&a, IBV_WR_SEND, 2, IBV_SEND_SIGNALED, mr, buf, 64, 0, 0),
			  0);
		if (i % 2)
			vu_wait_wc(a.scq, &wc, 2, IBV_WC_SUCCESS);
		pair_down(&a, &b); /* half of them with the send under way */
		if (tap_failed())
			return;
	}
}

/* The send queue is drained: an event; requests wait, and continue in RTS. */
static void test_drain(const void *arg)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_qp_init_attr init;
	struct ibv_wc wc;
	struct vu_qp a, b;

	(void)arg;
	if (!dev.is_ohca) {
		tap_skip("the device raises no event");
		return;
	}
	if (!pair_up(&a, &b, &opts))
		return;
	EXPECT_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	vu_wait_async(dev.ctx, IBV_EVENT_SQ_DRAINED, a.qp);
	EXPECT_EQ(ibv_query_qp(a.qp, &attr, IBV_QP_STATE, &init), 0);
	EXPECT_EQ(attr.qp_state, IBV_QPS_SQD);
	EXPECT_EQ(attr.sq_draining, 0);
	EXPECT_EQ(vu_post_recv(&b, 1, mr, buf, 64), 0);
	EXPECT_EQ(vu_post_recv(&a, 1, mr, buf, 64), 0);
	EXPECT_EQ(vu_post_send(&a, IBV_WR_SEND, 2, IBV_SEND_SIGNALED, mr, buf, 64, 0, 0), 0);
	/*
	 * messages of the other side are still received: this completion shows that the own request
	 * would have been sent by now
	 */
	EXPECT_EQ(vu_post_send(&b, IBV_WR_SEND, 3, IBV_SEND_SIGNALED, mr, buf, 64, 0, 0), 0);
	vu_wait_wc(b.scq, &wc, 3, IBV_WC_SUCCESS);
	vu_wait_wc(a.rcq, &wc, 1, IBV_WC_SUCCESS);
	EXPECT_EQ(ibv_poll_cq(a.scq, 1, &wc), 0);
	attr.qp_state = IBV_QPS_RTS;
	EXPECT_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
	vu_wait_wc(a.scq, &wc, 2, IBV_WC_SUCCESS);
	vu_wait_wc(b.rcq, &wc, 1, IBV_WC_SUCCESS);
	pair_down(&a, &b);
}

/* A packet arrives while the receiver is only ready to receive. */
static void test_comm_est(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_wc wc;
	struct vu_qp a, b;

	(void)arg;
	if (!dev.is_ohca) {
		tap_skip("the device raises no event");
		return;
	}
	if (!vu_qp_create(&dev, &a, &opts) || !vu_qp_create(&dev, &b, &opts))
		return;
	vu_connect_half(&dev, &a, &b, &opts);
	EXPECT_EQ(vu_post_recv(&b, 1, mr, buf, 64), 0);
	EXPECT_EQ(vu_post_send(&a, IBV_WR_SEND, 2, IBV_SEND_SIGNALED, mr, buf, 64, 0, 0), 0);
	vu_wait_wc(a.scq, &wc, 2, IBV_WC_SUCCESS);
	vu_wait_wc(b.rcq, &wc, 1, IBV_WC_SUCCESS);
	vu_wait_async(dev.ctx, IBV_EVENT_COMM_EST, b.qp);
	EXPECT_EQ(vu_state(&b), IBV_QPS_RTR);
	pair_down(&a, &b);
}

static const struct tap_test tests[] = {
	{"capacities are granted, reported and usable", test_caps, NULL},
	{"capacities and types refused", test_refused, NULL},
	{"the device's limits", test_maximum, NULL},
	{"bad requests are refused", test_bad_post, NULL},
	{"posting follows the state", test_post_state, NULL},
	{"objects in use are busy", test_busy, NULL},
	{"a thousand queue pairs", test_many, NULL},
	{"created and destroyed over and over", test_churn, NULL},
	{"send queue drained", test_drain, NULL},
	{"communication established", test_comm_est, NULL},
};

int main(void)
{
	vu_open(&dev);
	mr = vu_alloc_mr(&dev, LEN);
	buf = mr->addr;
	return vu_main(&dev, mr, tests, ARRAY_SIZE(tests), NULL);
}
