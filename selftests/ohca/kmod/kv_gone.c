// SPDX-License-Identifier: GPL-2.0
/*
 * Test of the kernel's verbs: the device is removed while consumers have queue pairs with work
 * requests.  All requests complete, flushed, so that each consumer can tear down as usual.
 */

#include <linux/slab.h>

#include "kv.h"

#define KV_HELD 8

/**
 * struct kv_held - a consumer
 * @name: what is special
 * @rig: its queue pairs
 * @up: they exist
 * @send: requests of side 0 for which side 1 has no receives
 * @recv: receives of side 0 for which there are no messages
 */
struct kv_held {
	const char *name;
	struct kv_rig rig;
	bool up;
	struct kv_wr send[KV_HELD];
	struct kv_wr recv[KV_HELD];
};

static struct kv_held kv_held[] = {
	{.name = "polled directly", .rig = {.type = IB_QPT_RC, .poll = IB_POLL_DIRECT}},
	{.name = "softirq", .rig = {.type = IB_QPT_RC, .poll = IB_POLL_SOFTIRQ}},
	{.name = "workqueue", .rig = {.type = IB_QPT_RC, .poll = IB_POLL_WORKQUEUE}},
	{.name = "pool", .rig = {.type = IB_QPT_RC, .poll = IB_POLL_SOFTIRQ, .pooled = true}},
	{.name = "UD", .rig = {.type = IB_QPT_UD, .poll = IB_POLL_SOFTIRQ}},
	{.name = "SRQ", .rig = {.type = IB_QPT_RC, .poll = IB_POLL_DIRECT, .shared = true}},
};

static int kv_hold_recv(struct kv_held *held, int i)
{
	struct ib_sge sge = kv_sge(&held->rig, 0, 0, 64);
	struct ib_recv_wr recv = {
		.wr_cqe = &held->recv[i].cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	kv_wr_init(&held->recv[i]);
	return ib_post_recv(held->rig.end[0].qp, &recv, NULL);
}

static int kv_hold_send(struct kv_held *held, int i)
{
	struct ib_sge sge = kv_sge(&held->rig, 0, 0, 64);

	return kv_send(&held->rig, &held->send[i], IB_WR_SEND, 0, &sge, 1, 0);
}

/* Datagrams complete without a receiver. */
static bool kv_held_sends(const struct kv_held *held)
{
	return held->rig.type != IB_QPT_UD;
}

static int kv_hold_one(struct kv_held *held, struct ib_device *dev)
{
	int i, err;

	held->rig.dev = dev;
	err = kv_up(&held->rig);
	if (err)
		return err;
	held->up = true;
	for (i = 0; !err && i < KV_HELD; i++) {
		err = kv_hold_recv(held, i);
		if (!err && kv_held_sends(held))
			err = kv_hold_send(held, i);
	}
	return err;
}

int kv_hold(struct ib_device *dev)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(kv_held); i++) {
		err = kv_hold_one(&kv_held[i], dev);
		if (err)
			return err;
	}
	return 0;
}

/* All have completed, flushed. */
static bool kv_held_flushed(struct kv_held *held)
{
	int i;

	for (i = 0; i < KV_HELD; i++) {
		if (!kv_wait(&held->rig, &held->recv[i], IB_WC_WR_FLUSH_ERR) ||
		    !KV_EXPECT(held->recv[i].wc.qp == held->rig.end[0].qp))
			return false;
		if (!kv_held_sends(held))
			continue;
		if (!kv_wait(&held->rig, &held->send[i], IB_WC_WR_FLUSH_ERR) ||
		    !KV_EXPECT(held->send[i].wc.qp == held->rig.end[0].qp))
			return false;
	}
	return true;
}

/* Drain as consumers do; later requests complete, too. */
static bool kv_held_drained(struct kv_held *held)
{
	struct ib_qp_attr attr = {.qp_state = IB_QPS_ERR};
	struct kv_rig *rig = &held->rig;
	struct ib_sge sge = kv_sge(rig, 0, 0, 64);
	struct kv_wr late;

	/* The request of ib_drain_qp() is not a datagram. */
	if (rig->type == IB_QPT_UD)
		return KV_EXPECT(!ib_modify_qp(rig->end[0].qp, &attr, IB_QP_STATE));

	ib_drain_qp(rig->end[0].qp);
	ib_drain_qp(rig->end[1].qp);
	/* ib_core knows of the event before the handler does. */
	return (!rig->shared ||
		KV_EXPECT(wait_for_completion_timeout(&rig->last_wqe, KV_TIMEOUT))) &&
	       KV_EXPECT(!kv_send(rig, &late, IB_WR_SEND, 0, &sge, 1, 0)) &&
	       kv_wait(rig, &late, IB_WC_WR_FLUSH_ERR);
}

/* A consumer that connects again gets ENETDOWN. */
static bool kv_dead_creates(struct kv_rig *rig)
{
	struct ib_qp_init_attr init = {
		.send_cq = rig->end[0].qp->send_cq,
		.recv_cq = rig->end[0].qp->recv_cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IB_QPT_RC,
	};
	void *down = ERR_PTR(-ENETDOWN);

	return KV_EXPECT(ib_alloc_pd(rig->dev, 0) == down) &&
	       KV_EXPECT(ib_alloc_cq(rig->dev, NULL, 16, 0, IB_POLL_DIRECT) == down) &&
	       KV_EXPECT(ib_create_qp(rig->pd, &init) == down);
}

void kv_release(bool dead)
{
	struct kv_held *held;
	bool ok;
	int i;

	kv_say("TAP version 13\n1..%zu\n", ARRAY_SIZE(kv_held));
	for (i = 0; i < ARRAY_SIZE(kv_held); i++) {
		held = &kv_held[i];
		ok = KV_EXPECT(held->up);
		if (held->up) {
			/* A fenced device needs no armed CQ for its completions. */
			if (dead) {
				ok &= kv_held_flushed(held);
				ok &= kv_dead_creates(&held->rig);
			}
			if (dead && held->rig.ah)
				ok &= kv_mad_fails(&held->rig);
			ok &= kv_held_drained(held);
			if (!dead)
				ok &= kv_held_flushed(held);
			kv_down(&held->rig);
			held->up = false;
		}
		kv_say("%s %d gone: %s\n", ok ? "ok" : "not ok", i + 1, held->name);
	}
}
