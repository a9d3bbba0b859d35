// SPDX-License-Identifier: GPL-2.0
/*
 * Test of the kernel's verbs: shared receive queues.  Completions are taken when a test waits for
 * one, not before.
 */

#include <linux/slab.h>

#include "kv.h"

#define KV_LEN 256

static bool kv_can_srq(struct ib_device *dev)
{
	return dev->ops.create_srq;
}

/* Post receives, side by side in the buffer. */
static bool kv_srq_fill(struct kv_rig *rig, struct kv_wr *recv, int num)
{
	int i;

	for (i = 0; i < num; i++)
		if (!KV_EXPECT(!kv_recv(rig, &recv[i], i * KV_LEN, KV_LEN)))
			return false;
	return true;
}

/* Send to those from @first on. */
static bool kv_srq_send(struct kv_rig *rig, struct kv_wr *recv, int first, int num, u8 seed)
{
	struct ib_sge sge = kv_sge(rig, 0, 0, KV_LEN);
	struct kv_wr send;
	int i;

	for (i = first; i < first + num; i++) {
		kv_fill(rig->end[0].buf, KV_LEN, seed + i);
		if (!KV_EXPECT(!kv_send(rig, &send, IB_WR_SEND, 0, &sge, 1, 0)) ||
		    !kv_wait(rig, &send, IB_WC_SUCCESS) || !kv_wait(rig, &recv[i], IB_WC_SUCCESS) ||
		    !KV_EXPECT(recv[i].wc.qp == rig->end[1].qp) ||
		    !KV_EXPECT(kv_same(rig->end[1].buf + i * KV_LEN, KV_LEN, seed + i)))
			return false;
	}
	return true;
}

/* All that it holds, repeatedly; no more than that. */
static bool kv_srq_full(struct kv_rig *rig, struct kv_wr *recv)
{
	struct kv_wr more;
	int round;

	for (round = 0; round < 5; round++)
		if (!kv_srq_fill(rig, recv, KV_DEPTH) ||
		    !KV_EXPECT(kv_recv(rig, &more, 0, KV_LEN) == -ENOMEM) ||
		    !kv_srq_send(rig, recv, 0, KV_DEPTH, round))
			return false;
	return true;
}

static bool kv_srq_limit(struct kv_rig *rig, struct kv_wr *recv)
{
	struct ib_srq_attr attr = {.srq_limit = 4};

	if (!kv_srq_fill(rig, recv, 8) ||
	    !KV_EXPECT(!ib_modify_srq(rig->srq, &attr, IB_SRQ_LIMIT)) ||
	    !KV_EXPECT(!ib_query_srq(rig->srq, &attr)) || !KV_EXPECT(attr.srq_limit == 4) ||
	    !KV_EXPECT(attr.max_wr == KV_DEPTH) || !KV_EXPECT(attr.max_sge == 2))
		return false;
	return kv_srq_send(rig, recv, 0, 4, 1) && KV_EXPECT(!ib_query_srq(rig->srq, &attr)) &&
	       KV_EXPECT(attr.srq_limit == 4) && kv_srq_send(rig, recv, 4, 1, 1) &&
	       KV_EXPECT(wait_for_completion_timeout(&rig->srq_limit, KV_TIMEOUT)) &&
	       KV_EXPECT(!ib_query_srq(rig->srq, &attr)) && KV_EXPECT(!attr.srq_limit);
}

static bool kv_srq_some(struct kv_rig *rig, struct kv_wr *recv)
{
	return kv_srq_fill(rig, recv, KV_DEPTH) && kv_srq_send(rig, recv, 0, 2, 3);
}

/* Entries of requests that never complete are freed. */
static bool kv_srq_reset(struct kv_rig *rig, struct kv_wr *recv)
{
	struct ib_qp_attr attr = {.qp_state = IB_QPS_RESET, .port_num = KV_PORT};
	struct ib_srq_attr limit = {.srq_limit = KV_DEPTH};
	struct ib_sge sge = kv_sge(rig, 0, 0, KV_LEN);
	struct kv_wr send;

	bool ok;

	ok = kv_srq_fill(rig, recv, KV_DEPTH) &&
	     KV_EXPECT(!ib_modify_srq(rig->srq, &limit, IB_SRQ_LIMIT)) &&
	     KV_EXPECT(!kv_send(rig, &send, IB_WR_SEND, 0, &sge, 1, 0)) &&
	     KV_EXPECT(wait_for_completion_timeout(&rig->srq_limit, KV_TIMEOUT)) &&
	     KV_EXPECT(!ib_modify_qp(rig->end[1].qp, &attr, IB_QP_STATE)) &&
	     KV_EXPECT(!kv_recv(rig, &recv[0], 0, KV_LEN));
	ib_drain_qp(rig->end[0].qp); /* the message may have been lost */
	attr.qp_state = IB_QPS_INIT; /* from where there is a transition to ERR */
	return KV_EXPECT(!ib_modify_qp(rig->end[1].qp, &attr,
				       IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
					       IB_QP_ACCESS_FLAGS)) &&
	       ok;
}

static bool kv_srq_bad(struct kv_rig *rig, struct kv_wr *recv)
{
	struct ib_sge sge[3] = {};
	struct ib_recv_wr wr = {.sg_list = sge, .num_sge = 1};
	struct ib_srq_attr attr = {.max_wr = 2 * KV_DEPTH, .srq_limit = KV_DEPTH + 1};
	struct ib_srq_init_attr init = {};

	if (!KV_EXPECT(ib_post_recv(rig->end[1].qp, &wr, NULL) == -EINVAL))
		return false;
	wr.num_sge = 3;
	return KV_EXPECT(ib_post_srq_recv(rig->srq, &wr, NULL) == -EINVAL) &&
	       KV_EXPECT(ib_modify_srq(rig->srq, &attr, IB_SRQ_LIMIT) == -EINVAL) &&
	       KV_EXPECT(ib_modify_srq(rig->srq, &attr, IB_SRQ_MAX_WR) == -EOPNOTSUPP) &&
	       KV_EXPECT(PTR_ERR_OR_ZERO(ib_create_srq(rig->pd, &init)) == -EINVAL);
}

/* Run a test, and drain: the QP raises its last event, and requests in the SRQ stay there. */
static bool kv_srq_run(struct kv_rig *rig, bool (*fn)(struct kv_rig *rig, struct kv_wr *recv),
		       int left)
{
	struct kv_wr *recv = kcalloc(KV_DEPTH, sizeof(*recv), GFP_KERNEL);
	bool ok = KV_EXPECT(recv) && fn(rig, recv);
	int i;

	ib_drain_qp(rig->end[0].qp);
	ib_drain_qp(rig->end[1].qp);
	ok = ok && KV_EXPECT(wait_for_completion_timeout(&rig->last_wqe, KV_TIMEOUT));
	for (i = KV_DEPTH - left; ok && i < KV_DEPTH; i++)
		ok = KV_EXPECT(!completion_done(&recv[i].done));
	kfree(recv);
	return ok;
}

static bool kv_test_srq_full(struct kv_rig *rig)
{
	return kv_srq_run(rig, kv_srq_full, 0);
}

static bool kv_test_srq_limit(struct kv_rig *rig)
{
	return kv_srq_run(rig, kv_srq_limit, 0);
}

static bool kv_test_srq_drain(struct kv_rig *rig)
{
	return kv_srq_run(rig, kv_srq_some, KV_DEPTH - 2);
}

static bool kv_test_srq_reset(struct kv_rig *rig)
{
	return kv_srq_run(rig, kv_srq_reset, 0);
}

static bool kv_test_srq_bad(struct kv_rig *rig)
{
	return kv_srq_run(rig, kv_srq_bad, 0);
}

const struct kv_test kv_srq_tests[] = {
	{"full queue", kv_test_srq_full, .can = kv_can_srq, .shared = true},
	{"limit", kv_test_srq_limit, .can = kv_can_srq, .shared = true},
	{"drain", kv_test_srq_drain, .can = kv_can_srq, .shared = true},
	{"reset of its QP", kv_test_srq_reset, .can = kv_can_srq, .shared = true},
	{"bad requests", kv_test_srq_bad, .can = kv_can_srq, .shared = true},
};

const unsigned int kv_num_srq_tests = ARRAY_SIZE(kv_srq_tests);
