// SPDX-License-Identifier: GPL-2.0
/*
 * RC: every wrong request ends with the right completion status on both sides, and moves nothing.
 * Two sides: of one machine, or with -2 of two machines.  Side 0 is the requester.
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
#define GUARD_BYTE 0x5a

static struct vu_dev dev;
static struct sess sess;
static bool is_ohca; /* soft-RoCE as a stand-in raises fewer events */
static uint8_t *buf;
static struct ibv_mr *mr; /* all of buf */
static struct ibv_mr *bad_mr; /* of the running test */
static struct ibv_pd *other_pd;
static struct vu_qp qp;
static struct vu_addr mine, theirs;

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

/* What is wrong with a key and an address. */
enum flaw {
	FLAW_NONE,
	FLAW_PD, /* key of another protection domain */
	FLAW_DEAD, /* key of a region that is gone */
	FLAW_ACCESS, /* the region does not grant the access */
	FLAW_ZERO, /* key 0 */
	FLAW_GARBAGE, /* key that never was */
	FLAW_BEFORE, /* begins one byte before the region */
	FLAW_BEYOND, /* ends one byte after the region */
	FLAW_FAR, /* begins after the region */
	FLAW_WRAP, /* address + length is beyond 2^64 */
};

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
	/* a region in the middle of the buffer, so that what lies around it is memory too */
	bad_mr = ibv_reg_mr(pd, buf + 4 * LEN, LEN, access);
	if (!EXPECT(bad_mr))
		return false;
	*key = bad_mr->lkey;
	*addr = (uintptr_t)buf + 4 * LEN;
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

static bool connect_sides(const struct vu_qp_opts *opts)
{
	return vu_connect_sess(&dev, &sess, &qp, opts, &mine, &theirs);
}

static void expect_event(enum ibv_event_type type)
{
	if (is_ohca)
		vu_wait_async(dev.ctx, type, qp.qp);
}

static void expect_no_event(void)
{
	struct ibv_async_event event;

	while (vu_async_pending(dev.ctx, &event))
		if (event.event_type != IBV_EVENT_COMM_EST)
			tap_fail(__FILE__, __LINE__, "event %s",
				 ibv_event_type_str(event.event_type));
}

/* The QP is in the error state and flushes whatever is posted. */
static void expect_error_state(void)
{
	struct ibv_wc wc;

	EXPECT_EQ(vu_state(&qp), IBV_QPS_ERR);
	EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 1001, IBV_SEND_SIGNALED, mr, buf, 8, 0, 0), 0);
	vu_wait_wc(qp.scq, &wc, 1001, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(vu_post_recv(&qp, 1002, mr, buf, 8), 0);
	vu_wait_wc(qp.rcq, &wc, 1002, IBV_WC_WR_FLUSH_ERR);
}

static bool buf_untouched(void)
{
	size_t i;

	for (i = 0; i < BUF; i++)
		if (buf[i] != GUARD_BYTE)
			return false;
	return true;
}

struct remote_case {
	enum ibv_wr_opcode op;
	enum flaw flaw;
};

/* A one-sided operation with a flaw in the remote key or address. */
static void test_remote(const void *arg)
{
	static const enum ibv_wc_status status = IBV_WC_REM_ACCESS_ERR;
	const struct remote_case *c = arg;
	bool read = c->op == IBV_WR_RDMA_READ;
	struct vu_qp_opts opts = VU_QP_OPTS;
	const uint32_t len = 3001;
	struct ibv_wc wc;

	memset(buf, GUARD_BYTE, BUF);
	if (sess.side && !make_flaw(c->flaw,
				    IBV_ACCESS_LOCAL_WRITE | (read ? IBV_ACCESS_REMOTE_WRITE
								   : IBV_ACCESS_REMOTE_READ),
				    len, &mine.va, &mine.rkey))
		return;
	if (!connect_sides(&opts))
		return;
	if (sess.side)
		EXPECT_EQ(vu_post_recv(&qp, 5, mr, buf, LEN), 0);
	if (!sess_sync(&sess))
		return;
	if (!sess.side) {
		vu_fill(buf, read ? 0 : len, 1);
		EXPECT_EQ(vu_post_send(&qp, c->op, 1, IBV_SEND_SIGNALED, mr, buf, len, theirs.va,
				       theirs.rkey),
			  0);
		EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 2, IBV_SEND_SIGNALED, mr, buf, 8, 0, 0),
			  0);
		vu_wait_wc(qp.scq, &wc, 1, status);
		vu_wait_wc(qp.scq, &wc, 2, IBV_WC_WR_FLUSH_ERR);
		expect_error_state();
		if (read)
			EXPECT(buf_untouched());
	} else {
		/*
		 * the immediate data may have taken the receive before the key was found to be
		 * bad
		 */
		if (EXPECT(vu_wait(qp.rcq, &wc, 1)) && EXPECT_EQ(wc.wr_id, 5) &&
		    !(c->op == IBV_WR_RDMA_WRITE_WITH_IMM && wc.status == IBV_WC_LOC_ACCESS_ERR))
			EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
		expect_event(IBV_EVENT_QP_ACCESS_ERR);
		expect_error_state();
		EXPECT(buf_untouched());
	}
	sess_sync(&sess);
}

/*
 * The last packets of a write leave the region: the ones before may have been written, the bytes
 * outside are not.
 */
static void test_write_across_end(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	const uint32_t len = 2 * LEN;
	struct ibv_wc wc;
	size_t i, outside = 0;

	(void)arg;
	memset(buf, GUARD_BYTE, BUF);
	if (sess.side && !make_flaw(FLAW_NONE, 0, LEN, &mine.va, &mine.rkey))
		return;
	if (!connect_sides(&opts))
		return;
	if (!sess.side) {
		memset(buf, 0, len);
		EXPECT_EQ(vu_post_send(&qp, IBV_WR_RDMA_WRITE, 1, IBV_SEND_SIGNALED, mr, buf, len,
				       theirs.va, theirs.rkey),
			  0);
		vu_wait_wc(qp.scq, &wc, 1, IBV_WC_REM_ACCESS_ERR);
	}
	if (!sess_sync(&sess))
		return;
	for (i = 0; sess.side && i < BUF; i++)
		if (buf[i] != GUARD_BYTE && (i < 4 * LEN || i >= 5 * LEN))
			outside++;
	EXPECT_EQ(outside, 0);
}

/* The length of a remote operation is 0: neither key nor address matter. */
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

/* The region allows it, but the responder's QP does not. */
static void test_qp_access(const void *arg)
{
	const enum ibv_wr_opcode *op = arg;
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_wc wc;

	memset(buf, GUARD_BYTE, BUF);
	opts.access = *op == IBV_WR_RDMA_READ ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ;
	mine.va = (uintptr_t)buf;
	mine.rkey = mr->rkey;
	if (!connect_sides(&opts))
		return;
	if (!sess.side) {
		memset(buf, 0, LEN);
		EXPECT_EQ(vu_post_send(&qp, *op, 1, IBV_SEND_SIGNALED, mr, buf, LEN, theirs.va,
				       theirs.rkey),
			  0);
		vu_wait_wc(qp.scq, &wc, 1, IBV_WC_REM_INV_REQ_ERR);
		expect_error_state();
	} else {
		expect_event(IBV_EVENT_QP_REQ_ERR);
		if (is_ohca)
			expect_error_state();
		EXPECT(buf_untouched());
	}
	sess_sync(&sess);
}

struct local_case {
	enum ibv_wr_opcode op;
	enum flaw flaw;
};

/* A flaw in the requester's own buffer: nothing leaves, the other side notices nothing. */
static void test_local(const void *arg)
{
	const struct local_case *c = arg;
	struct vu_qp_opts opts = VU_QP_OPTS;
	const uint32_t len = 3001;
	struct ibv_wc wc;
	struct ibv_mr fake;
	uint64_t addr;

	memset(buf, GUARD_BYTE, BUF);
	mine.va = (uintptr_t)buf;
	mine.rkey = mr->rkey;
	if (!connect_sides(&opts))
		return;
	if (sess.side)
		EXPECT_EQ(vu_post_recv(&qp, 5, mr, buf, LEN), 0);
	if (!sess_sync(&sess))
		return;
	if (!sess.side) {
		if (!make_flaw(c->flaw, IBV_ACCESS_REMOTE_READ, len, &addr, &fake.lkey))
			return;
		EXPECT_EQ(vu_post_send(&qp, c->op, 1, IBV_SEND_SIGNALED, &fake,
				       (void *)(uintptr_t)addr, len, theirs.va, theirs.rkey),
			  0);
		vu_wait_wc(qp.scq, &wc, 1, IBV_WC_LOC_PROT_ERR);
		expect_error_state();
	}
	if (!sess_sync(&sess))
		return;
	if (sess.side) {
		EXPECT_EQ(ibv_poll_cq(qp.rcq, 1, &wc), 0);
		EXPECT_EQ(vu_state(&qp), IBV_QPS_RTS);
		expect_no_event();
	}
	EXPECT(buf_untouched());
}

/* A flaw in the receiver's buffer: an error on both sides. */
static void test_recv_buffer(const void *arg)
{
	const enum flaw *flaw = arg;
	struct vu_qp_opts opts = VU_QP_OPTS;
	const uint32_t len = 3001;
	struct ibv_mr fake;
	uint64_t addr;
	struct ibv_wc wc;

	memset(buf, GUARD_BYTE, BUF);
	if (!connect_sides(&opts))
		return;
	if (sess.side && make_flaw(*flaw, IBV_ACCESS_REMOTE_READ, len, &addr, &fake.lkey)) {
		EXPECT_EQ(vu_post_recv(&qp, 5, &fake, (void *)(uintptr_t)addr, len), 0);
		EXPECT_EQ(vu_post_recv(&qp, 6, mr, buf, LEN), 0);
	}
	if (!sess_sync(&sess))
		return;
	if (!sess.side) {
		EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 1, IBV_SEND_SIGNALED, mr, buf, len, 0, 0),
			  0);
		vu_wait_wc(qp.scq, &wc, 1, IBV_WC_REM_OP_ERR);
	} else {
		vu_wait_wc(qp.rcq, &wc, 5, IBV_WC_LOC_PROT_ERR);
		vu_wait_wc(qp.rcq, &wc, 6, IBV_WC_WR_FLUSH_ERR);
		EXPECT(buf_untouched());
	}
	expect_error_state();
	sess_sync(&sess);
}

/* The receive buffer is one byte too short. */
static void test_recv_short(const void *arg)
{
	const uint32_t *len = arg;
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_wc wc;
	size_t i, beyond = 0;

	memset(buf, GUARD_BYTE, BUF);
	if (!connect_sides(&opts))
		return;
	if (sess.side)
		EXPECT_EQ(vu_post_recv(&qp, 5, mr, buf, *len - 1), 0);
	if (!sess_sync(&sess))
		return;
	if (!sess.side) {
		memset(buf, 0, *len);
		EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 1, IBV_SEND_SIGNALED, mr, buf, *len, 0, 0),
			  0);
		vu_wait_wc(qp.scq, &wc, 1, IBV_WC_REM_INV_REQ_ERR);
	} else {
		vu_wait_wc(qp.rcq, &wc, 5, IBV_WC_LOC_LEN_ERR);
		for (i = *len - 1; i < BUF; i++)
			beyond += buf[i] != GUARD_BYTE;
		EXPECT_EQ(beyond, 0);
	}
	expect_error_state();
	sess_sync(&sess);
}

/* The receiver stays without a receive request. */
static void test_rnr(const void *arg)
{
	const uint8_t *retries = arg;
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_wc wc;

	opts.rnr_retry = *retries;
	if (!connect_sides(&opts))
		return;
	if (!sess.side) {
		EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 1, IBV_SEND_SIGNALED, mr, buf, 100, 0, 0),
			  0);
		EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 2, IBV_SEND_SIGNALED, mr, buf, 100, 0, 0),
			  0);
		vu_wait_wc(qp.scq, &wc, 1, IBV_WC_RNR_RETRY_EXC_ERR);
		vu_wait_wc(qp.scq, &wc, 2, IBV_WC_WR_FLUSH_ERR);
		expect_error_state();
	}
	if (sess_sync(&sess) && sess.side) {
		EXPECT_EQ(vu_state(&qp), IBV_QPS_RTS);
		expect_no_event();
	}
}

/* There is nobody who answers: the other QP is in the state @arg (or is not at all). */
static void test_silence(const void *arg)
{
	const enum ibv_qp_state *state = arg;
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_wc wc;

	opts.timeout = 10;
	opts.retry_cnt = 2;
	if (!vu_qp_create(&dev, &qp, &opts))
		return;
	vu_qp_addr(&dev, &qp, &mine);
	if (sess.side && *state == IBV_QPS_UNKNOWN)
		mine.qpn = 0xfffffe;
	if (!sess_xchg(&sess, &mine, &theirs, sizeof(mine)))
		return;
	if (!sess.side && !vu_connect(&dev, &qp, &theirs, &opts))
		return;
	if (sess.side && (*state == IBV_QPS_INIT || *state == IBV_QPS_ERR))
		vu_to_init(&qp, &opts);
	if (sess.side && *state == IBV_QPS_ERR)
		vu_to_err(&qp);
	if (!sess_sync(&sess))
		return;
	if (!sess.side) {
		EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 1, IBV_SEND_SIGNALED, mr, buf, 100, 0, 0),
			  0);
		EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 2, IBV_SEND_SIGNALED, mr, buf, 100, 0, 0),
			  0);
		vu_wait_wc(qp.scq, &wc, 1, IBV_WC_RETRY_EXC_ERR);
		vu_wait_wc(qp.scq, &wc, 2, IBV_WC_WR_FLUSH_ERR);
		expect_error_state();
	}
	sess_sync(&sess);
}

/*
 * Two good writes, a bad one and a good one: the good ones before happened, the one after did not.
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
 * Software moves the QP to the error state: what is posted is flushed in order, sends and receives.
 */
static void test_flush(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_wc wc;
	unsigned int i;

	(void)arg;
	if (!connect_sides(&opts))
		return;
	if (sess.side) {
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
	if (!sess.side) {
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
	if (num > ARRAY_SIZE(sge) || (int)num > dev.attr.max_sge) {
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

static void add_flaws(void)
{
	static const enum ibv_wr_opcode remote_ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ};
	static const char *const remote_names[] = {"RDMA write", "RDMA write with immediate",
						   "RDMA read"};
	static const enum ibv_wr_opcode local_ops[] = {IBV_WR_SEND, IBV_WR_RDMA_WRITE,
						       IBV_WR_RDMA_READ};
	static const char *const local_names[] = {"send", "RDMA write", "RDMA read"};
	static struct remote_case remotes[3 * ARRAY_SIZE(flaw_names)];
	static struct local_case locals[3 * ARRAY_SIZE(flaw_names)];
	static enum flaw recvs[ARRAY_SIZE(flaw_names)];
	unsigned int op, flaw, n = 0;
	char *name;

	for (flaw = FLAW_NONE + 1; flaw < ARRAY_SIZE(flaw_names); flaw++) {
		for (op = 0; op < 3; op++, n++) {
			remotes[n] = (struct remote_case){remote_ops[op], flaw};
			if (asprintf(&name, "%s, remote %s", remote_names[op], flaw_names[flaw]) >
			    0)
				add(name, test_remote, &remotes[n]);
			locals[n] = (struct local_case){local_ops[op], flaw};
			/* a local region without any flag can be read */
			if (flaw == FLAW_ACCESS && local_ops[op] != IBV_WR_RDMA_READ)
				continue;
			if (asprintf(&name, "%s, local %s", local_names[op], flaw_names[flaw]) > 0)
				add(name, test_local, &locals[n]);
		}
		recvs[flaw] = flaw;
		if (asprintf(&name, "receive buffer: %s", flaw_names[flaw]) > 0)
			add(name, test_recv_buffer, &recvs[flaw]);
	}
}

int main(int argc, char **argv)
{
	static const enum ibv_wr_opcode write = IBV_WR_RDMA_WRITE, read = IBV_WR_RDMA_READ;
	static const enum ibv_qp_state unknown = IBV_QPS_UNKNOWN, reset = IBV_QPS_RESET,
				       init = IBV_QPS_INIT, err = IBV_QPS_ERR;
	static const uint32_t short_len = 100, long_len = 5 * 1024 + 1;
	static const uint8_t no_retry = 0, some_retries = 3;

	sess_start(&sess, argc > 1 && !strcmp(argv[1], "-2"));
	vu_open(&dev);
	is_ohca = !strncmp(vu_device_name(), "ohca", 4);
	buf = vu_alloc(BUF);
	mr = ibv_reg_mr(dev.pd, buf, BUF, VU_RW);
	if (!mr)
		tap_bail("ibv_reg_mr: %d", errno);
	add_flaws();
	add("RDMA write that leaves its region", test_write_across_end, NULL);
	add("remote key of an empty operation does not matter", test_remote_zero, NULL);
	add("RDMA write, not enabled at the QP", test_qp_access, &write);
	add("RDMA read, not enabled at the QP", test_qp_access, &read);
	add("receive buffer too short, one packet", test_recv_short, &short_len);
	add("receive buffer too short, several packets", test_recv_short, &long_len);
	add("no receive request, no retry", test_rnr, &no_retry);
	add("no receive request, some retries", test_rnr, &some_retries);
	add("no such QP", test_silence, &unknown);
	add("QP in RESET", test_silence, &reset);
	add("QP in INIT", test_silence, &init);
	add("QP in ERR", test_silence, &err);
	add("completions around an error are in order", test_order, NULL);
	add("receives are flushed in order", test_flush, NULL);
	add("sends are flushed in order, unsignalled ones too", test_flush_sends, NULL);
	add("a QP works again after RESET", test_recover, NULL);
	add("message longer than the port's limit", test_too_long, NULL);
	add("traffic works after all errors", test_after, NULL);
	return sess_run(&sess, tests, num_tests, cleanup);
}
