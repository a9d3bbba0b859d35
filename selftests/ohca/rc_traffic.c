// SPDX-License-Identifier: GPL-2.0
/* Random RC traffic between two sides. */

#include <arpa/inet.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "rc_traffic.h"

#define WR_RECV (1ULL << 32) /* in wr_id */

struct op {
	enum ibv_wr_opcode op;
	uint32_t len;
	bool fence;
};

static const enum ibv_wr_opcode opcodes[] = {
	IBV_WR_SEND,	  IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
	IBV_WR_RDMA_READ,
};

/* Operation @i that @side posts in @round. */
static struct op op_of(const struct traffic *tr, int side, unsigned int round, unsigned int i)
{
	uint64_t state = ((uint64_t)round << 32 | i << 1 | side) + 1, r = vu_rand(&state);
	struct op op = {.op = opcodes[r % ARRAY_SIZE(opcodes)], .fence = (r >> 8) % 8 == 0};
	unsigned int kind = (r >> 16) % 4;

	if (tr->opts->only_reads)
		op.op = IBV_WR_RDMA_READ;
	/* often small, sometimes as large as possible */
	op.len = kind == 0   ? vu_rand(&state) % 65
		 : kind == 1 ? tr->opts->slot
			     : vu_rand(&state) % (tr->opts->slot + 1);
	if (op.len > tr->opts->slot)
		op.len = tr->opts->slot;
	return op;
}

static uint64_t seed_of(int side, unsigned int round, unsigned int i)
{
	return (uint64_t)round << 20 | i << 1 | side;
}

static bool takes_recv(const struct op *op)
{
	return op->op != IBV_WR_RDMA_WRITE && op->op != IBV_WR_RDMA_READ;
}

static uint8_t *slot(const struct traffic *tr, unsigned int area, unsigned int i)
{
	return tr->buf + area * TRAFFIC_AREA + (size_t)i * tr->opts->slot;
}

static struct vu_qp *qp_of(const struct traffic *tr, unsigned int i)
{
	return &tr->qps[i % tr->opts->num_qps];
}

static unsigned int posts(const struct traffic *tr, int side)
{
	return tr->opts->one_way && side ? 0 : tr->opts->window;
}

/*
 * Fill the data to send, clear the receive area, post receives; returns the number of receives, or
 * -1.
 */
static int prepare(struct traffic *tr, unsigned int round)
{
	int side = tr->sess->side, recvs = 0;
	unsigned int i;

	memset(slot(tr, 1, 0), 0, (size_t)tr->opts->window * tr->opts->slot);
	memset(slot(tr, 2, 0), 0, (size_t)tr->opts->window * tr->opts->slot);
	for (i = 0; i < tr->opts->window; i++)
		vu_fill(slot(tr, 0, i), tr->opts->slot, seed_of(side, round, i));
	for (i = 0; i < posts(tr, !side); i++) {
		struct op op = op_of(tr, !side, round, i);

		if (!takes_recv(&op))
			continue;
		recvs++;
		if (!EXPECT_EQ(vu_post_recv(qp_of(tr, i), WR_RECV | i, tr->mr, slot(tr, 1, i),
					    tr->opts->slot),
			       0))
			return -1;
	}
	return recvs;
}

static bool post(struct traffic *tr, unsigned int round, unsigned int i)
{
	struct op op = op_of(tr, tr->sess->side, round, i);
	const struct vu_addr *to = &tr->to[i % tr->opts->num_qps];
	bool read = op.op == IBV_WR_RDMA_READ;
	uint64_t raddr = to->va + (read ? 0 : TRAFFIC_AREA) + (uint64_t)i * tr->opts->slot;
	int flags = IBV_SEND_SIGNALED | (op.fence ? IBV_SEND_FENCE : 0);

	return EXPECT_EQ(vu_post_send(qp_of(tr, i), op.op, i, flags, tr->mr,
				      slot(tr, read ? 2 : 0, i), op.len, raddr, to->rkey),
			 0);
}

static bool check_wc(struct traffic *tr, const struct ibv_wc *wc, unsigned int round)
{
	unsigned int i = (uint32_t)wc->wr_id;
	bool recv = wc->wr_id & WR_RECV;
	int side = tr->sess->side;
	uint64_t *done = &tr->done[2 * (i % tr->opts->num_qps) + recv];
	struct op op;

	if (wc->status != IBV_WC_SUCCESS) {
		tap_fail(__FILE__, __LINE__, "round %u, operation %u: %s", round, i,
			 ibv_wc_status_str(wc->status));
		return false;
	}
	op = op_of(tr, recv ? !side : side, round, i);
	if (!EXPECT_EQ(wc->qp_num, qp_of(tr, i)->qp->qp_num) || !EXPECT(i >= *done))
		return false;
	*done = i + 1;
	if (recv || op.op == IBV_WR_RDMA_READ)
		return EXPECT_EQ(wc->byte_len, op.len);
	return true;
}

/* Take @num completions, in order for each queue. */
static bool complete(struct traffic *tr, unsigned int round, int num)
{
	uint64_t deadline = vu_now() + vu_timeout_ms();
	struct ibv_wc wc[16];
	struct ibv_cq *cq;
	int n, i;

	memset(tr->done, 0, 2 * tr->opts->num_qps * sizeof(*tr->done));
	while (num) {
		n = ibv_poll_cq(tr->cq, ARRAY_SIZE(wc), wc);
		if (n < 0 || n > num) {
			tap_fail(__FILE__, __LINE__, "%d completions, %d outstanding", n, num);
			return false;
		}
		for (i = 0; i < n; i++)
			if (!check_wc(tr, &wc[i], round))
				return false;
		num -= n;
		if (n || !num)
			continue;
		if (tr->opts->events) {
			if (!EXPECT_EQ(ibv_req_notify_cq(tr->cq, 0), 0))
				return false;
			n = ibv_poll_cq(tr->cq, 1,
					wc); /* a completion before arming raises no event */
			if (n == 1 && !check_wc(tr, wc, round))
				return false;
			num -= n;
			if (!n && !vu_wait_event(tr->channel, &cq))
				return false;
		} else if (vu_now() > deadline) {
			tap_fail(__FILE__, __LINE__, "round %u: %d completions missing", round,
				 num);
			return false;
		} else {
			sched_yield();
		}
	}
	return true;
}

static bool check_data(struct traffic *tr, unsigned int round)
{
	int side = tr->sess->side;
	unsigned int i;

	for (i = 0; i < posts(tr, !side); i++) {
		struct op op = op_of(tr, !side, round, i);
		uint8_t *p = slot(tr, 1, i);

		if (op.op == IBV_WR_RDMA_READ)
			op.len = 0;
		if (!EXPECT_EQ(vu_check(p, op.len, seed_of(!side, round, i)), -1))
			return false;
		while (op.len < tr->opts->slot)
			if (p[op.len++])
				return EXPECT(!"bytes written after the message");
	}
	for (i = 0; i < posts(tr, side); i++) {
		struct op op = op_of(tr, side, round, i);

		if (op.op == IBV_WR_RDMA_READ &&
		    !EXPECT_EQ(vu_check(slot(tr, 2, i), op.len, seed_of(!side, round, i)), -1))
			return false;
	}
	return true;
}

static bool run_round(struct traffic *tr, unsigned int round)
{
	int recvs = prepare(tr, round);
	unsigned int i;

	if (recvs < 0 || !sess_sync(tr->sess))
		return false;
	for (i = 0; i < posts(tr, tr->sess->side); i++)
		if (!post(tr, round, i))
			return false;
	if (!complete(tr, round, recvs + posts(tr, tr->sess->side)) || !sess_sync(tr->sess))
		return false;
	return check_data(tr, round);
}

static bool start(struct traffic *tr)
{
	unsigned int per_qp = (tr->opts->window + tr->opts->num_qps - 1) / tr->opts->num_qps, i;
	struct vu_qp_opts opts = *tr->qp_opts;
	struct vu_addr mine;

	if (tr->opts->events) {
		tr->channel = ibv_create_comp_channel(tr->dev->ctx);
		if (!EXPECT(tr->channel))
			return false;
	}
	tr->cq = ibv_create_cq(tr->dev->ctx, 2 * tr->opts->window, NULL, tr->channel, 0);
	if (!EXPECT(tr->cq))
		return false;
	opts.send_cq = tr->cq;
	opts.recv_cq = tr->cq;
	opts.send_wr = per_qp;
	opts.recv_wr = per_qp;
	for (i = 0; i < tr->opts->num_qps; i++) {
		mine = (struct vu_addr){.va = (uintptr_t)tr->buf, .rkey = tr->mr->rkey};
		if (!vu_connect_sess(tr->dev, tr->sess, &tr->qps[i], &opts, &mine, &tr->to[i]))
			return false;
	}
	return true;
}

void traffic_run(struct traffic *tr)
{
	unsigned int i;

	if ((unsigned long)tr->opts->window * tr->opts->slot > TRAFFIC_AREA)
		tap_bail("traffic does not fit");
	tr->qps = calloc(tr->opts->num_qps, sizeof(*tr->qps));
	tr->to = calloc(tr->opts->num_qps, sizeof(*tr->to));
	tr->done = calloc(tr->opts->num_qps, 2 * sizeof(*tr->done));
	if (start(tr))
		for (i = 0; i < tr->opts->rounds; i++)
			if (!run_round(tr, i))
				break;
	for (i = 0; i < tr->opts->num_qps; i++)
		vu_qp_destroy(&tr->qps[i]);
	if (tr->cq)
		EXPECT_EQ(ibv_destroy_cq(tr->cq), 0);
	if (tr->channel)
		EXPECT_EQ(ibv_destroy_comp_channel(tr->channel), 0);
	free(tr->qps);
	free(tr->to);
	free(tr->done);
}
