// SPDX-License-Identifier: GPL-2.0
/*
 * The state machine of RC queue pairs: every transition of the InfiniBand specification (10.3.1),
 * every invalid one, each attribute missing or out of range, and the results of a query.
 */

#include <stdio.h>
#include <string.h>

#include "verbs_util.h"

#define INIT_MASK (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define RTR_MASK                                                                        \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_MASK                                                                               \
	(IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | \
	 IBV_QP_MAX_QP_RD_ATOMIC)

#define ALL_ATTRS (2 * IBV_QP_DEST_QPN - 1)

static struct vu_dev dev;

/* The attributes of a transition to @state, all different from zero. */
static struct ibv_qp_attr good(enum ibv_qp_state state, struct vu_qp *q)
{
	return (struct ibv_qp_attr){
		.qp_state = state,
		.port_num = VU_PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
		.path_mtu = IBV_MTU_512,
		.dest_qp_num = q->qp->qp_num,
		.rq_psn = 0x123456,
		.sq_psn = 0x654321,
		.max_dest_rd_atomic = 3,
		.max_rd_atomic = 2,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 5,
		.rnr_retry = 6,
		.ah_attr =
			{
				.is_global = 1,
				.grh =
					{
						.dgid = dev.gid,
						.sgid_index = dev.gid_index,
						.hop_limit = 63,
						.traffic_class = 8,
						.flow_label = 0x12345,
					},
				.sl = 3,
				.port_num = VU_PORT,
			},
	};
}

static int mask_to(enum ibv_qp_state state)
{
	return state == IBV_QPS_INIT  ? INIT_MASK
	       : state == IBV_QPS_RTR ? RTR_MASK
	       : state == IBV_QPS_RTS ? RTS_MASK
				      : IBV_QP_STATE;
}

static bool go(struct vu_qp *q, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = good(state, q);

	return EXPECT_EQ(ibv_modify_qp(q->qp, &attr, mask_to(state)), 0);
}

/* A new QP in @state. */
static bool make(struct vu_qp *q, enum ibv_qp_state state)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	enum ibv_qp_state step;

	opts.send_wr = opts.recv_wr = 4;
	if (!vu_qp_create(&dev, q, &opts))
		return false;
	if (state == IBV_QPS_ERR)
		return go(q, IBV_QPS_INIT) && go(q, IBV_QPS_ERR);
	for (step = IBV_QPS_INIT; step <= state && step <= IBV_QPS_RTS; step++)
		if (!go(q, step))
			return false;
	return state != IBV_QPS_SQD || go(q, IBV_QPS_SQD);
}

static const enum ibv_qp_state states[] = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
					   IBV_QPS_RTS,	  IBV_QPS_SQD,	IBV_QPS_ERR};
static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

/* Whether there is a transition, with the attributes of mask_to(). */
static bool legal(enum ibv_qp_state from, enum ibv_qp_state to)
{
	switch (to) {
	case IBV_QPS_RESET:
		return true;
	case IBV_QPS_ERR:
		return from != IBV_QPS_RESET;
	case IBV_QPS_INIT:
		return from == IBV_QPS_RESET || from == IBV_QPS_INIT;
	case IBV_QPS_RTR:
		return from == IBV_QPS_INIT;
	case IBV_QPS_RTS:
		return from == IBV_QPS_RTR;
	case IBV_QPS_SQD:
		return from == IBV_QPS_RTS || from == IBV_QPS_SQD;
	default:
		return false;
	}
}

static void test_matrix(const void *arg)
{
	unsigned int i, j;
	struct vu_qp q;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		for (j = 0; j < ARRAY_SIZE(states); j++) {
			struct ibv_qp_attr attr;
			int ret, want;

			if (!make(&q, states[i]))
				return;
			attr = good(states[j], &q);
			want = legal(states[i], states[j]) ? 0 : EINVAL;
			ret = ibv_modify_qp(q.qp, &attr, mask_to(states[j]));
			if (ret != want)
				tap_fail(__FILE__, __LINE__, "%s to %s: %d, expected %d",
					 names[states[i]], names[states[j]], ret, want);
			EXPECT_EQ(vu_state(&q), want ? states[i] : states[j]);
			vu_qp_destroy(&q);
		}
	}
	/* to invalid states, and to states that software can't request */
	if (!make(&q, IBV_QPS_RTS))
		return;
	for (i = IBV_QPS_SQE; i < 12; i++) {
		struct ibv_qp_attr attr = good(i, &q);

		if (i != IBV_QPS_ERR)
			EXPECT_EQ(ibv_modify_qp(q.qp, &attr, IBV_QP_STATE), EINVAL);
	}
	EXPECT_EQ(vu_state(&q), IBV_QPS_RTS);
	vu_qp_destroy(&q);
}

/* Without a state in the mask, and from a state to itself: attributes that may change in it. */
static void test_stay(const void *arg)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct vu_qp q;

	(void)arg;
	if (!make(&q, IBV_QPS_INIT))
		return;
	attr = good(IBV_QPS_INIT, &q);
	/* Flags of a region: some of them have no meaning here */
	attr.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB |
			       IBV_ACCESS_RELAXED_ORDERING;
	EXPECT_EQ(ibv_modify_qp(q.qp, &attr, IBV_QP_ACCESS_FLAGS), 0);
	EXPECT_EQ(ibv_query_qp(q.qp, &attr, IBV_QP_ACCESS_FLAGS, &init), 0);
	EXPECT_EQ(attr.qp_access_flags, IBV_ACCESS_REMOTE_READ);
	vu_qp_destroy(&q);

	if (!make(&q, IBV_QPS_RTS))
		return;
	attr = good(IBV_QPS_RTS, &q);
	attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	attr.min_rnr_timer = 7;
	EXPECT_EQ(ibv_modify_qp(q.qp, &attr,
				IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER),
		  0);
	EXPECT_EQ(ibv_query_qp(q.qp, &attr, IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER, &init), 0);
	EXPECT_EQ(attr.qp_access_flags, IBV_ACCESS_REMOTE_WRITE);
	EXPECT_EQ(attr.min_rnr_timer, 7);
	/* the path is fixed in RTS, free in SQD */
	attr = good(IBV_QPS_RTS, &q);
	EXPECT_EQ(ibv_modify_qp(q.qp, &attr, IBV_QP_AV), EINVAL);
	EXPECT_EQ(ibv_modify_qp(q.qp, &attr, IBV_QP_TIMEOUT), EINVAL);
	go(&q, IBV_QPS_SQD);
	attr.timeout = 9;
	attr.retry_cnt = 1;
	attr.max_rd_atomic = 1;
	EXPECT_EQ(ibv_modify_qp(q.qp, &attr,
				IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					IBV_QP_MAX_QP_RD_ATOMIC),
		  0);
	EXPECT_EQ(ibv_query_qp(q.qp, &attr, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_STATE,
			       &init),
		  0);
	EXPECT_EQ(attr.timeout, 9);
	EXPECT_EQ(attr.retry_cnt, 1);
	EXPECT_EQ(attr.qp_state, IBV_QPS_SQD);
	attr.qp_state = IBV_QPS_RTS;
	EXPECT_EQ(ibv_modify_qp(q.qp, &attr, IBV_QP_STATE), 0);
	EXPECT_EQ(vu_state(&q), IBV_QPS_RTS);
	vu_qp_destroy(&q);
}

/* The query returns the attributes that were set. */
static void test_query(const void *arg)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr, want;
	struct vu_qp q;

	(void)arg;
	if (!make(&q, IBV_QPS_RTS))
		return;
	want = good(IBV_QPS_RTS, &q);
	memset(&attr, 0xff, sizeof(attr));
	if (!EXPECT_EQ(ibv_query_qp(q.qp, &attr, ALL_ATTRS, &init), 0))
		goto out;
	EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
	EXPECT_EQ(attr.cur_qp_state, IBV_QPS_RTS);
	EXPECT_EQ(attr.path_mtu, want.path_mtu);
	EXPECT_EQ(attr.rq_psn, want.rq_psn);
	EXPECT_EQ(attr.sq_psn, want.sq_psn);
	EXPECT_EQ(attr.dest_qp_num, want.dest_qp_num);
	EXPECT_EQ(attr.qp_access_flags, want.qp_access_flags);
	EXPECT_EQ(attr.pkey_index, 0);
	EXPECT_EQ(attr.max_rd_atomic, want.max_rd_atomic);
	EXPECT_EQ(attr.max_dest_rd_atomic, want.max_dest_rd_atomic);
	EXPECT_EQ(attr.min_rnr_timer, want.min_rnr_timer);
	EXPECT_EQ(attr.port_num, VU_PORT);
	EXPECT_EQ(attr.timeout, want.timeout);
	EXPECT_EQ(attr.retry_cnt, want.retry_cnt);
	EXPECT_EQ(attr.rnr_retry, want.rnr_retry);
	EXPECT_EQ(attr.sq_draining, 0);
	EXPECT_EQ(attr.ah_attr.is_global, 1);
	EXPECT(!memcmp(&attr.ah_attr.grh.dgid, &want.ah_attr.grh.dgid, 16));
	EXPECT_EQ(attr.ah_attr.grh.sgid_index, want.ah_attr.grh.sgid_index);
	EXPECT(attr.ah_attr.grh.hop_limit); /* the kernel chooses by the route */
	EXPECT_EQ(attr.ah_attr.grh.traffic_class, want.ah_attr.grh.traffic_class);
	EXPECT_EQ(attr.ah_attr.grh.flow_label, want.ah_attr.grh.flow_label);
	EXPECT_EQ(attr.ah_attr.sl, want.ah_attr.sl);
	EXPECT_EQ(attr.ah_attr.port_num, VU_PORT);
	EXPECT(!memcmp(&attr.cap, &q.cap, sizeof(q.cap)));
	EXPECT(init.send_cq == q.scq && init.recv_cq == q.rcq && init.qp_type == IBV_QPT_RC);
	EXPECT_EQ(init.sq_sig_all, 0);
out:
	vu_qp_destroy(&q);
}

/* Each required attribute is left out in turn. */
static void test_missing(const void *arg)
{
	static const enum ibv_qp_state steps[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS};
	unsigned int i, bit;
	struct vu_qp q;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		struct ibv_qp_attr attr;

		if (!make(&q, steps[i] - 1))
			return;
		attr = good(steps[i], &q);
		for (bit = 1; bit < 1 << 21; bit <<= 1) {
			int mask = mask_to(steps[i]) & ~bit;

			if (mask == mask_to(steps[i]) || bit == IBV_QP_STATE)
				continue;
			if (ibv_modify_qp(q.qp, &attr, mask) != EINVAL)
				tap_fail(__FILE__, __LINE__, "to %s without attribute %#x",
					 names[steps[i]], bit);
		}
		EXPECT_EQ(vu_state(&q), steps[i] - 1);
		EXPECT(go(&q, steps[i]));
		vu_qp_destroy(&q);
	}
}

/* Attributes that are not allowed in a transition. */
static void test_unexpected(const void *arg)
{
	static const struct {
		enum ibv_qp_state from, to;
		int extra;
	} cases[] = {
		{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PATH_MTU},
		{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_QKEY},
		{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_SQ_PSN},
		{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_TIMEOUT},
		{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_RQ_PSN},
		{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_AV},
		{IBV_QPS_RTS, IBV_QPS_SQD, IBV_QP_ACCESS_FLAGS},
		{IBV_QPS_RTS, IBV_QPS_ERR, IBV_QP_ACCESS_FLAGS},
		{IBV_QPS_RTS, IBV_QPS_RESET, IBV_QP_SQ_PSN},
	};
	struct ibv_qp_attr attr;
	struct vu_qp q;
	unsigned int i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (!make(&q, cases[i].from))
			return;
		attr = good(cases[i].to, &q);
		if (ibv_modify_qp(q.qp, &attr, mask_to(cases[i].to) | cases[i].extra) != EINVAL)
			tap_fail(__FILE__, __LINE__, "%s to %s with attribute %#x",
				 names[cases[i].from], names[cases[i].to], cases[i].extra);
		EXPECT_EQ(vu_state(&q), cases[i].from);
		vu_qp_destroy(&q);
	}
}

/* Modify with one invalid value: EINVAL, and the QP is unchanged. */
#define BAD_VALUE(q, state, extra, field, value)                                         \
	do {                                                                             \
		struct ibv_qp_attr _attr = good(state, q);                               \
		int _ret;                                                                \
		_attr.field = (value);                                                   \
		_ret = ibv_modify_qp((q)->qp, &_attr, mask_to(state) | (extra));         \
		if (_ret != EINVAL)                                                      \
			tap_fail(__FILE__, __LINE__, "%s %s: %d", #field, #value, _ret); \
	} while (0)

static void test_bad_values(const void *arg)
{
	struct ibv_qp_attr attr;
	struct vu_qp q;

	(void)arg;
	if (!make(&q, IBV_QPS_RESET))
		return;
	BAD_VALUE(&q, IBV_QPS_INIT, 0, port_num, 0);
	BAD_VALUE(&q, IBV_QPS_INIT, 0, port_num, dev.attr.phys_port_cnt + 1);
	BAD_VALUE(&q, IBV_QPS_INIT, 0, pkey_index, 1);
	BAD_VALUE(&q, IBV_QPS_INIT, 0, pkey_index, 0xffff);
	EXPECT(go(&q, IBV_QPS_INIT));
	BAD_VALUE(&q, IBV_QPS_RTR, 0, path_mtu, 0);
	BAD_VALUE(&q, IBV_QPS_RTR, 0, path_mtu, 6);
	/* the interface has no room for such packets */
	if (dev.is_ohca && dev.port.active_mtu < IBV_MTU_4096)
		BAD_VALUE(&q, IBV_QPS_RTR, 0, path_mtu, dev.port.active_mtu + 1);
	BAD_VALUE(&q, IBV_QPS_RTR, 0, dest_qp_num, 1 << 24);
	BAD_VALUE(&q, IBV_QPS_RTR, 0, max_dest_rd_atomic, dev.attr.max_qp_rd_atom + 1);
	BAD_VALUE(&q, IBV_QPS_RTR, 0, ah_attr.port_num, dev.attr.phys_port_cnt + 1);
	BAD_VALUE(&q, IBV_QPS_RTR, 0, ah_attr.grh.sgid_index, dev.port.gid_tbl_len);
	BAD_VALUE(&q, IBV_QPS_RTR, 0, ah_attr.is_global, 0); /* Ethernet needs a GID */
	if (dev.is_ohca)
		BAD_VALUE(&q, IBV_QPS_RTR, 0, min_rnr_timer, 32);
	attr = good(IBV_QPS_RTR, &q);
	attr.ah_attr.grh.sgid_index = dev.port.gid_tbl_len - 1; /* empty */
	EXPECT_EQ(ibv_modify_qp(q.qp, &attr, RTR_MASK), ENODATA);
	EXPECT_EQ(vu_state(&q), IBV_QPS_INIT);
	EXPECT(go(&q, IBV_QPS_RTR));
	BAD_VALUE(&q, IBV_QPS_RTS, 0, max_rd_atomic, dev.attr.max_qp_init_rd_atom + 1);
	BAD_VALUE(&q, IBV_QPS_RTS, IBV_QP_CUR_STATE, cur_qp_state, IBV_QPS_RTS);
	if (dev.is_ohca) {
		BAD_VALUE(&q, IBV_QPS_RTS, 0, timeout, 32);
		BAD_VALUE(&q, IBV_QPS_RTS, 0, retry_cnt, 8);
		BAD_VALUE(&q, IBV_QPS_RTS, 0, rnr_retry, 8);
	}
	EXPECT_EQ(vu_state(&q), IBV_QPS_RTR);
	EXPECT(go(&q, IBV_QPS_RTS));
	/* Ethernet has no alternate paths. */
	attr = good(IBV_QPS_RTS, &q);
	attr.alt_ah_attr = attr.ah_attr;
	attr.alt_port_num = VU_PORT;
	EXPECT_EQ(ibv_modify_qp(q.qp, &attr, IBV_QP_ALT_PATH), EINVAL);
	vu_qp_destroy(&q);
}

/* Through all states and back to RESET, many times: nothing of an earlier round is left. */
static void test_rounds(const void *arg)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct vu_qp q;
	int i;

	(void)arg;
	if (!make(&q, IBV_QPS_RESET))
		return;
	for (i = 0; i < 50; i++) {
		EXPECT(go(&q, IBV_QPS_INIT) && go(&q, IBV_QPS_RTR) && go(&q, IBV_QPS_RTS));
		if (i % 3)
			EXPECT(go(&q, i % 3 == 1 ? IBV_QPS_SQD : IBV_QPS_ERR));
		EXPECT(go(&q, IBV_QPS_RESET));
		EXPECT_EQ(ibv_query_qp(q.qp, &attr, ALL_ATTRS, &init), 0);
		if (!EXPECT_EQ(attr.qp_state, IBV_QPS_RESET))
			break;
	}
	vu_qp_destroy(&q);
}

static const struct tap_test tests[] = {
	{"every transition, and every one that is none", test_matrix, NULL},
	{"attributes that change within a state", test_stay, NULL},
	{"the query returns what was set", test_query, NULL},
	{"missing attributes", test_missing, NULL},
	{"attributes out of place", test_unexpected, NULL},
	{"values out of range", test_bad_values, NULL},
	{"round and round", test_rounds, NULL},
};

int main(void)
{
	vu_open(&dev);
	return vu_main(&dev, NULL, tests, ARRAY_SIZE(tests), NULL);
}
