// SPDX-License-Identifier: GPL-2.0
/*
 * RC: every wrong request ends with the right completion status on both sides, and transfers
 * nothing.  Two sides: of one machine, or with -2 of two machines.  Side 0 is the requester.
 *
 * One side may be soft-RoCE.  Of its completions, only that of a request that the other side
 * refuses is checked: it does not always flush later requests, completes receive requests that fail
 * with another status, flushes a request whose own memory is wrong, and may send later ones.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_util.h"

#define LEN 4096
#define BUF (16 * LEN)
#define REGION (4 * LEN) /* in buf: begin of the region of make_flaw(), LEN bytes long */
#define GUARD_BYTE 0x5a

static struct vu_dev dev;
static struct sess sess;
static uint8_t *buf;
static struct ibv_mr *mr; /* all of buf */
static struct ibv_mr *bad_mr; /* of the running test */
static struct ibv_pd *other_pd;
static struct vu_qp qp;
static struct vu_addr mine, theirs;
static bool peer_is_ohca;

static void cleanup(void)
{
	struct ibv_async_event event;

	vu_qp_destroy(&qp);
	if (bad_mr)
		EXPECT_EQ(ibv_dereg_mr(bad_mr), 0);
	bad_mr = NULL;
	if (other_pd)
		EXPECT_EQ(ibv_dealloc_pd(other_pd), 0);
	other_pd = NULL;
	while (vu_async_pending(dev.ctx, &event))
		;
}

/* Flaws of a key and an address */
enum flaw {
	FLAW_NONE,
	FLAW_PD, /* key of another protection domain */
	FLAW_DEAD, /* key of a region that is gone */
	FLAW_ACCESS, /* the region does not grant the access */
	FLAW_ZERO, /* key 0 */
	FLAW_GARBAGE, /* key that never existed */
	FLAW_BEFORE, /* begins one byte before the region */
	FLAW_BEYOND, /* ends one byte after the region */
	FLAW_FAR, /* begins after the region */
	FLAW_WRAP, /* address + length is beyond 2^64 */
	FLAW_ACROSS, /* begins in the region, ends a few packets after it */
};

/* Names of flaws for which each kind of request has a test */
static const char *const flaw_names[] = {
	[FLAW_NONE] = "no flaw",
	[FLAW_PD] = "key of another PD",
	[FLAW_DEAD] = "dead key",
	[FLAW_ACCESS] = "access not granted",
	[FLAW_ZERO] = "key 0",
	[FLAW_GARBAGE] = "key that never was",
	[FLAW_BEFORE] = "begins before the region",
	[FLAW_BEYOND] = "ends after the region",
	[FLAW_FAR] = "begins after the region",
	[FLAW_WRAP] = "address wraps",
};

/*
 * A key and an address with a flaw, for @len bytes; @access is what a region with FLAW_ACCESS
 * grants.
 */
static bool make_flaw(enum flaw flaw, int access, uint32_t len, uint64_t *addr, uint32_t *key)
{
	struct ibv_pd *pd = dev.pd;

	if (flaw == FLAW_PD)
		pd = other_pd = ibv_alloc_pd(dev.ctx);
	if (flaw != FLAW_ACCESS)
		access = VU_RW;
	/* a region in the middle of the buffer, so that there is memory around it too */
	bad_mr = ibv_reg_mr(pd, buf + REGION, LEN, access);
	if (!EXPECT(bad_mr))
		return false;
	*key = bad_mr->lkey;
	*addr = (uintptr_t)buf + REGION;
	switch (flaw) {
	case FLAW_DEAD:
		EXPECT_EQ(ibv_dereg_mr(bad_mr), 0);
		bad_mr = NULL;
		break;
	case FLAW_ZERO:
		*key = 0;
		break;
	case FLAW_GARBAGE:
		*key ^= 0x5a5a5a00;
		break;
	case FLAW_BEFORE:
		*addr -= 1;
		break;
	case FLAW_BEYOND:
		*addr += LEN - len + 1;
		break;
	case FLAW_FAR:
		*addr += 2 * LEN;
		break;
	case FLAW_WRAP:
		*addr = -(uint64_t)len / 2;
		break;
	default:
		break;
	}
	return true;
}

static bool side_is_ohca(int side)
{
	return sess.side == side ? dev.is_ohca : peer_is_ohca;
}

static bool connect_sides(const struct vu_qp_opts *opts)
{
	return vu_connect_sess(&dev, &sess, &qp, opts, &mine, &theirs);
}

static void expect_no_event(void)
{
	struct ibv_async_event event;

	while (vu_async_pending(dev.ctx, &event))
		if (event.event_type != IBV_EVENT_COMM_EST)
			tap_fail(__FILE__, __LINE__, "event %s",
				 ibv_event_type_str(event.event_type));
}

/* The QP is in the error state and flushes all requests. */
static void expect_error_state(void)
{
	struct ibv_wc wc;

	EXPECT_EQ(vu_state(&qp), IBV_QPS_ERR);
	EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 1001, IBV_SEND_SIGNALED, mr, buf, 8, 0, 0), 0);
	vu_wait_wc(qp.scq, &wc, 1001, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(vu_post_recv(&qp, 1002, mr, buf, 8), 0);
	vu_wait_wc(qp.rcq, &wc, 1002, IBV_WC_WR_FLUSH_ERR);
}

/* The buffer is unchanged, except possibly for @len bytes at offset @start. */
static bool untouched_but(size_t start, size_t len)
{
	size_t i;

	for (i = 0; i < BUF; i++)
		if (buf[i] != GUARD_BYTE && (i < start || i >= start + len))
			return false;
	return true;
}

/* State of side 1's QP when the request arrives */
enum peer {
	PEER_READY,
	PEER_RESET,
	PEER_INIT,
	PEER_ERR,
	PEER_NONE, /* the request goes to a QP number that does not exist */
};

/**
 * struct trial - a request of side 0 that fails, and its results
 * @op, @len: the request
 * @remote: flaw of the remote memory, at side 1
 * @local: flaw of its own buffer
 * @peer: side 1's QP
 * @access: access that side 1's QP allows; 0: all
 * @rnr_retry: for trials of just that
 * @recv_len: length of side 1's receive request; 0: there is none
 * @recv: flaw of that request's buffer
 * @status: status of the request
 * @recv_status: status of the receive request; 0: it does not complete
 * @event: event of side 1; 0: none
 * @spoilt, @spoilt_len: bytes of side 1's buffer that may have been written
 *
 * Side 0's QP is in the error state after all of them; side 1's is if its receive request failed or
 * there was an event, else it is not affected.
 */
struct trial {
	const char *name;
	enum ibv_wr_opcode op;
	uint32_t len;
	enum flaw remote, local, recv;
	enum peer peer;
	int access;
	uint8_t rnr_retry;
	uint32_t recv_len;
	enum ibv_wc_status status, recv_status;
	enum ibv_event_type event;
	size_t spoilt, spoilt_len;
};

/* Only side 0 is connected. */
static bool connect_one(enum peer peer, struct vu_qp_opts *opts)
{
	opts->timeout = 10;
	opts->retry_cnt = 2;
	if (!vu_qp_create(&dev, &qp, opts))
		return false;
	vu_qp_addr(&dev, &qp, &mine);
	if (sess.side && peer == PEER_NONE)
		mine.qpn = 0xfffffe;
	if (!sess_xchg(&sess, &mine, &theirs, sizeof(mine)))
		return false;
	if (!sess.side)
		return vu_connect(&dev, &qp, &theirs, opts);
	return (peer != PEER_INIT && peer != PEER_ERR) ||
	       (vu_to_init(&qp, opts) && (peer == PEER_INIT || vu_to_err(&qp)));
}

static bool trial_connect(const struct trial *t)
{
	/* the accesses that a one-sided request does not need, for FLAW_ACCESS */
	int access = IBV_ACCESS_LOCAL_WRITE |
		     (t->op == IBV_WR_RDMA_READ ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ);
	struct vu_qp_opts opts = VU_QP_OPTS;

	memset(buf, GUARD_BYTE, BUF);
	mine.va = (uintptr_t)buf;
	mine.rkey = mr->rkey;
	if (sess.side && t->remote && !make_flaw(t->remote, access, t->len, &mine.va, &mine.rkey))
		return false;
	if (t->access)
		opts.access = t->access;
	if (t->status == IBV_WC_RNR_RETRY_EXC_ERR)
		opts.rnr_retry = t->rnr_retry;
	return t->peer == PEER_READY ? connect_sides(&opts) : connect_one(t->peer, &opts);
}

/* Side 1: post the receive request, and one after it, which is flushed if the first one fails. */
static bool trial_recv(const struct trial *t)
{
	uint64_t addr = (uintptr_t)buf;
	struct ibv_mr key = {.lkey = mr->lkey};

	if (!t->recv_len)
		return true;
	if (t->recv && !make_flaw(t->recv, IBV_ACCESS_REMOTE_READ, t->recv_len, &addr, &key.lkey))
		return false;
	return EXPECT_EQ(vu_post_recv(&qp, 5, &key, (void *)(uintptr_t)addr, t->recv_len), 0) &&
	       EXPECT_EQ(vu_post_recv(&qp, 6, mr, buf, LEN), 0);
}

/* Side 0: post the request, and one after it, which is flushed. */
static void trial_request(const struct trial *t)
{
	bool source = t->op != IBV_WR_RDMA_READ && !t->local;
	uint64_t addr = (uintptr_t)buf;
	struct ibv_mr key = {.lkey = mr->lkey};
	struct ibv_wc wc;

	if (t->local && !make_flaw(t->local, IBV_ACCESS_REMOTE_READ, t->len, &addr, &key.lkey))
		return;
	if (source)
		vu_fill(buf, t->len, 1);
	EXPECT_EQ(vu_post_send(&qp, t->op, 1, IBV_SEND_SIGNALED, &key, (void *)(uintptr_t)addr,
			       t->len, theirs.va, theirs.rkey),
		  0);
	EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 2, IBV_SEND_SIGNALED, mr, buf, 8, 0, 0), 0);
	vu_wait_wc(qp.scq, &wc, 1, t->status);
	if (!dev.is_ohca)
		return;
	vu_wait_wc(qp.scq, &wc, 2, IBV_WC_WR_FLUSH_ERR);
	expect_error_state();
	if (!source)
		EXPECT(untouched_but(0, 0));
}

/* Side 1: check the receive requests. */
static void trial_received(const struct trial *t)
{
	struct ibv_wc wc;

	if (!t->recv_status) {
		EXPECT_EQ(ibv_poll_cq(qp.rcq, 1, &wc), 0);
		return;
	}
	if (vu_wait(qp.rcq, &wc, 1) && EXPECT_EQ(wc.wr_id, 5) &&
	    /* immediate data may have taken it before the key was checked */
	    !(t->op == IBV_WR_RDMA_WRITE_WITH_IMM && wc.status == IBV_WC_LOC_ACCESS_ERR))
		EXPECT_EQ(wc.status, t->recv_status);
	vu_wait_wc(qp.rcq, &wc, 6, IBV_WC_WR_FLUSH_ERR);
}

static void test_trial(const void *arg)
{
	const struct trial *t = arg;
	enum ibv_qp_state before;

	if (t->local && !side_is_ohca(0)) {
		tap_skip("soft-RoCE says that the request was flushed");
		return;
	}
	if (t->recv_status == IBV_WC_LOC_LEN_ERR && !side_is_ohca(1)) {
		tap_skip("soft-RoCE answers that the operation failed");
		return;
	}
	if (!trial_connect(t) || (sess.side && !trial_recv(t)))
		return;
	before = vu_state(&qp);
	if (!sess_sync(&sess))
		return;
	if (!sess.side)
		trial_request(t);
	if (!sess_sync(&sess) || !sess.side || !dev.is_ohca)
		return;
	trial_received(t);
	if (t->event)
		vu_wait_async(dev.ctx, t->event, qp.qp);
	else
		expect_no_event();
	if (t->recv_status || t->event)
		expect_error_state();
	else
		EXPECT_EQ(vu_state(&qp), before);
	/* packets are written as they arrive, up to the end of the region */
	if (t->recv && !peer_is_ohca)
		EXPECT(untouched_but(REGION, LEN));
	else
		EXPECT(untouched_but(t->spoilt, t->spoilt_len));
}

#define NOT_ENABLED(what, opcode, enabled)        \
	{                                         \
		.name = what,                     \
		.op = opcode,                     \
		.len = LEN,                       \
		.access = enabled,                \
		.status = IBV_WC_REM_INV_REQ_ERR, \
		.event = IBV_EVENT_QP_REQ_ERR,    \
	}
#define TOO_SHORT(what, bytes)                     \
	{                                          \
		.name = what,                      \
		.op = IBV_WR_SEND,                 \
		.len = (bytes) + 1,                \
		.recv_len = bytes,                 \
		.spoilt_len = bytes,               \
		.status = IBV_WC_REM_INV_REQ_ERR,  \
		.recv_status = IBV_WC_LOC_LEN_ERR, \
	}
#define NO_RECEIVE(what, retries)                   \
	{                                           \
		.name = what,                       \
		.op = IBV_WR_SEND,                  \
		.len = 100,                         \
		.rnr_retry = retries,               \
		.status = IBV_WC_RNR_RETRY_EXC_ERR, \
	}
#define NO_ANSWER(what, who)                    \
	{                                       \
		.name = what,                   \
		.op = IBV_WR_SEND,              \
		.len = 100,                     \
		.peer = who,                    \
		.status = IBV_WC_RETRY_EXC_ERR, \
	}

static const struct trial trials[] = {
	/* the packets before the end of the region may have been written */
	{.name = "RDMA write that leaves its region",
	 .op = IBV_WR_RDMA_WRITE,
	 .len = 2 * LEN,
	 .remote = FLAW_ACROSS,
	 .recv_len = LEN,
	 .status = IBV_WC_REM_ACCESS_ERR,
	 .recv_status = IBV_WC_WR_FLUSH_ERR,
	 .event = IBV_EVENT_QP_ACCESS_ERR,
	 .spoilt = REGION,
	 .spoilt_len = LEN},
	NOT_ENABLED("RDMA write, not enabled at the QP", IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_READ),
	NOT_ENABLED("RDMA read, not enabled at the QP", IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_WRITE),
	TOO_SHORT("receive buffer too short, one packet", 99),
	TOO_SHORT("receive buffer too short, several packets", 5 * 1024),
	NO_RECEIVE("no receive request, no retry", 0),
	NO_RECEIVE("no receive request, some retries", 3),
	NO_ANSWER("no such QP", PEER_NONE),
	NO_ANSWER("QP in RESET", PEER_RESET),
	NO_ANSWER("QP in INIT", PEER_INIT),
	NO_ANSWER("QP in ERR", PEER_ERR),
};

/* The length of a remote operation is 0: key and address are not checked. */
static void test_remote_zero(const void *arg)
{
	static const enum ibv_wr_opcode ops[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ};
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_wc wc;
	unsigned int i;

	(void)arg;
	if (!connect_sides(&opts))
		return;
	for (i = 0; !sess.side && i < ARRAY_SIZE(ops); i++) {
		EXPECT_EQ(vu_post_send(&qp, ops[i], i, IBV_SEND_SIGNALED, mr, buf, 0, 12345,
				       0x5a5a5a5a),
			  0);
		vu_wait_wc(qp.scq, &wc, i, IBV_WC_SUCCESS);
	}
	if (sess_sync(&sess))
		EXPECT_EQ(vu_state(&qp), IBV_QPS_RTS);
}

/*
 * Two valid writes, an invalid one and a valid one: the valid ones before it are executed, the one
 * after it is not.
 */
static void test_order(const void *arg)
{
	static const enum ibv_wc_status want[] = {IBV_WC_SUCCESS, IBV_WC_SUCCESS,
						  IBV_WC_REM_ACCESS_ERR, IBV_WC_WR_FLUSH_ERR};
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_wc wc;
	unsigned int i;

	(void)arg;
	memset(buf, GUARD_BYTE, BUF);
	mine.va = (uintptr_t)buf;
	mine.rkey = mr->rkey;
	if (!connect_sides(&opts))
		return;
	if (!sess.side) {
		vu_fill(buf, LEN, 9);
		for (i = 0; i < 4; i++)
			EXPECT_EQ(vu_post_send(&qp, IBV_WR_RDMA_WRITE, i, IBV_SEND_SIGNALED, mr,
					       buf, LEN, theirs.va + i * LEN,
					       i == 2 ? theirs.rkey ^ 0x100000 : theirs.rkey),
				  0);
		for (i = 0; i < 4; i++)
			vu_wait_wc(qp.scq, &wc, i, want[i]);
	}
	if (!sess_sync(&sess) || !sess.side)
		return;
	EXPECT_EQ(vu_check(buf, LEN, 9), -1);
	EXPECT_EQ(vu_check(buf + LEN, LEN, 9), -1);
	for (i = 2 * LEN; i < 4 * LEN; i++)
		if (!EXPECT_EQ(buf[i], GUARD_BYTE))
			break;
}

/*
 * Software moves the QP to the error state: posted requests are flushed in order, sends and
 * receives.
 */
static void test_flush(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_wc wc;
	unsigned int i;

	(void)arg;
	if (!connect_sides(&opts))
		return;
	if (sess.side && dev.is_ohca) {
		for (i = 0; i < 40; i++)
			EXPECT_EQ(vu_post_recv(&qp, i, mr, buf, 100), 0);
		vu_to_err(&qp);
		for (i = 0; i < 40; i++)
			vu_wait_wc(qp.rcq, &wc, i, IBV_WC_WR_FLUSH_ERR);
		expect_error_state();
	}
	sess_sync(&sess);
}

static void test_flush_sends(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_wc wc;
	unsigned int i;

	(void)arg;
	if (!connect_sides(&opts))
		return;
	/*
	 * They wait for receives that are never posted.  Soft-RoCE asks for the later ones as if
	 * they had been lost, so the retries may be exceeded before all are posted.
	 */
	if (!sess.side && dev.is_ohca && peer_is_ohca) {
		for (i = 0; i < 40; i++) {
			EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, i, i % 3 ? IBV_SEND_SIGNALED : 0,
					       mr, buf, 100, 0, 0),
				  0);
			EXPECT_EQ(vu_post_recv(&qp, i, mr, buf, 100), 0);
		}
		vu_to_err(&qp);
		/* unsignalled ones too */
		for (i = 0; i < 40; i++) {
			vu_wait_wc(qp.scq, &wc, i, IBV_WC_WR_FLUSH_ERR);
			vu_wait_wc(qp.rcq, &wc, i, IBV_WC_WR_FLUSH_ERR);
		}
		expect_error_state();
	}
	sess_sync(&sess);
}

/* From the error state through RESET, the QP works again. */
static void test_recover(const void *arg)
{
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_wc wc;
	int i;

	(void)arg;
	if (!connect_sides(&opts))
		return;
	for (i = 0; i < 5; i++) {
		vu_to_err(&qp);
		if (!sess_sync(&sess))
			return;
		EXPECT_EQ(ibv_modify_qp(qp.qp, &reset, IBV_QP_STATE), 0);
		if (!sess_sync(&sess) || !vu_connect(&dev, &qp, &theirs, &opts))
			return;
		if (sess.side) {
			memset(buf, 0, LEN);
			EXPECT_EQ(vu_post_recv(&qp, 3, mr, buf, LEN), 0);
		}
		if (!sess_sync(&sess))
			return;
		if (!sess.side) {
			vu_fill(buf, LEN, i);
			EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 2, IBV_SEND_SIGNALED, mr, buf, LEN,
					       0, 0),
				  0);
			vu_wait_wc(qp.scq, &wc, 2, IBV_WC_SUCCESS);
		} else {
			vu_wait_wc(qp.rcq, &wc, 3, IBV_WC_SUCCESS);
			EXPECT_EQ(vu_check(buf, LEN, i), -1);
		}
	}
	sess_sync(&sess);
}

/* A message longer than the port's limit, made of the same buffer many times. */
static void test_too_long(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	const size_t len = 64UL << 20;
	struct ibv_sge sge[32];
	struct ibv_send_wr wr = {.wr_id = 1,
				 .sg_list = sge,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	struct ibv_wc wc;
	unsigned int num = dev.port.max_msg_sz / len + 1, i;
	void *big;

	(void)arg;
	if (dev.is_ohca != peer_is_ohca || num > ARRAY_SIZE(sge) || (int)num > dev.attr.max_sge) {
		tap_skip("no such long message can be made");
		return;
	}
	opts.send_sge = num;
	if (!connect_sides(&opts))
		return;
	if (!sess.side) {
		big = vu_alloc(len);
		bad_mr = ibv_reg_mr(dev.pd, big, len, VU_RW);
		for (i = 0; EXPECT(bad_mr) && i < num; i++)
			sge[i] = (struct ibv_sge){
				.addr = (uintptr_t)big, .length = len, .lkey = bad_mr->lkey};
		wr.num_sge = num;
		EXPECT_EQ(ibv_post_send(qp.qp, &wr, &bad), 0);
		vu_wait_wc(qp.scq, &wc, 1, IBV_WC_LOC_LEN_ERR);
		expect_error_state();
		EXPECT_EQ(ibv_dereg_mr(bad_mr), 0);
		bad_mr = NULL;
		vu_free(big, len);
	}
	sess_sync(&sess);
}

/* After all that, a fresh pair of QPs works. */
static void test_after(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_wc wc;

	(void)arg;
	memset(buf, 0, BUF);
	if (!connect_sides(&opts))
		return;
	if (sess.side)
		EXPECT_EQ(vu_post_recv(&qp, 3, mr, buf, BUF), 0);
	if (!sess_sync(&sess))
		return;
	if (!sess.side) {
		vu_fill(buf, BUF, 77);
		EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 2, IBV_SEND_SIGNALED, mr, buf, BUF, 0, 0),
			  0);
		vu_wait_wc(qp.scq, &wc, 2, IBV_WC_SUCCESS);
	} else if (vu_wait_wc(qp.rcq, &wc, 3, IBV_WC_SUCCESS)) {
		EXPECT_EQ(vu_check(buf, BUF, 77), -1);
	}
	sess_sync(&sess);
}

#define MAX_TESTS 96
static struct tap_test tests[MAX_TESTS];
static unsigned int num_tests;

static void add(const char *name, void (*fn)(const void *arg), const void *arg)
{
	if (num_tests == MAX_TESTS)
		tap_bail("too many tests");
	tests[num_tests++] = (struct tap_test){name, fn, arg};
}

/* Its name: the operation, and the end with @flaw. */
static void add_trial(struct trial *t, const char *what, const char *where, enum flaw flaw)
{
	char *name;

	if (asprintf(&name, "%s, %s %s", what, where, flaw_names[flaw]) < 0)
		tap_bail("out of memory");
	t->name = name;
	add(t->name, test_trial, t);
}

#define MAX_OPS 3

/* Add a trial for each flaw that has a name, in the memory at one end of each kind of request. */
static void add_flawed(bool remote)
{
	static const struct {
		const char *name;
		enum ibv_wr_opcode op;
	} ops[2][MAX_OPS] = {
		{{"send", IBV_WR_SEND},
		 {"RDMA write", IBV_WR_RDMA_WRITE},
		 {"RDMA read", IBV_WR_RDMA_READ}},
		{{"RDMA write", IBV_WR_RDMA_WRITE},
		 {"RDMA write with immediate", IBV_WR_RDMA_WRITE_WITH_IMM},
		 {"RDMA read", IBV_WR_RDMA_READ}},
	};
	static struct trial flawed[2][MAX_OPS * ARRAY_SIZE(flaw_names)];
	struct trial *t = flawed[remote];
	enum flaw flaw;
	unsigned int i;

	for (flaw = FLAW_NONE + 1; flaw < ARRAY_SIZE(flaw_names); flaw++) {
		for (i = 0; i < MAX_OPS; i++, t++) {
			t->op = ops[remote][i].op;
			/* a local region without any flag can be read */
			if (flaw == FLAW_ACCESS && !remote && t->op != IBV_WR_RDMA_READ)
				continue;
			t->len = 3001;
			t->recv_len = LEN;
			if (remote) {
				t->remote = flaw;
				t->status = IBV_WC_REM_ACCESS_ERR;
				t->recv_status = IBV_WC_WR_FLUSH_ERR;
				t->event = IBV_EVENT_QP_ACCESS_ERR;
			} else {
				t->local = flaw;
				t->status = IBV_WC_LOC_PROT_ERR;
			}
			add_trial(t, ops[remote][i].name, remote ? "remote" : "local", flaw);
		}
	}
}

/* The same for the buffer of the receive request. */
static void add_flawed_recvs(void)
{
	static struct trial flawed[ARRAY_SIZE(flaw_names)];
	enum flaw flaw;

	for (flaw = FLAW_NONE + 1; flaw < ARRAY_SIZE(flaw_names); flaw++) {
		flawed[flaw] = (struct trial){
			.op = IBV_WR_SEND,
			.len = 3001,
			.recv = flaw,
			.recv_len = 3001,
			.status = IBV_WC_REM_OP_ERR,
			.recv_status = IBV_WC_LOC_PROT_ERR,
		};
		add_trial(&flawed[flaw], "send", "receiver's", flaw);
	}
}

int main(int argc, char **argv)
{
	unsigned int i;

	sess_start(&sess, argc > 1 && !strcmp(argv[1], "-2"));
	vu_open(&dev);
	if (!sess_xchg(&sess, &dev.is_ohca, &peer_is_ohca, sizeof(peer_is_ohca)))
		tap_bail("the other side does not begin");
	mr = vu_alloc_mr(&dev, BUF);
	buf = mr->addr;
	add_flawed(true);
	add_flawed(false);
	add_flawed_recvs();
	for (i = 0; i < ARRAY_SIZE(trials); i++)
		add(trials[i].name, test_trial, &trials[i]);
	add("remote key of an empty operation does not matter", test_remote_zero, NULL);
	add("completions around an error are in order", test_order, NULL);
	add("receives are flushed in order", test_flush, NULL);
	add("sends are flushed in order, unsignalled ones too", test_flush_sends, NULL);
	add("a QP works again after RESET", test_recover, NULL);
	add("message longer than the port's limit", test_too_long, NULL);
	add("traffic works after all errors", test_after, NULL);
	return sess_run(&sess, tests, num_tests, cleanup);
}
