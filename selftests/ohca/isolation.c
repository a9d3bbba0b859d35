// SPDX-License-Identifier: GPL-2.0
/*
 * Isolation: accesses that the owner of memory (side 1) has not granted, or has revoked, are
 * refused to the other side (side 0) with the right completion status, and with an asynchronous
 * event and a flushed queue at the owner; the memory is unchanged.  Granted accesses are tested
 * before that.  Two sides: of one machine, or with -2 of two machines.
 */

#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "verbs_util.h"

#define PAGE 4096
#define LEN (4 * PAGE)
#define WR_FLUSHED 99

static struct vu_dev dev;
static struct sess sess;
static bool is_ohca; /* soft-RoCE raises fewer events */
static uint8_t *buf; /* the owner's memory, or what the other side sends and receives */
static struct ibv_mr *local; /* of the other side */
static struct ibv_mr *mr; /* of the running test */
static struct ibv_pd *other_pd;
static struct ibv_mw *mw;
static struct vu_qp qp;
static struct vu_addr theirs;

static void cleanup(void)
{
	struct ibv_async_event event;

	vu_qp_destroy(&qp);
	if (mw)
		EXPECT_EQ(ibv_dealloc_mw(mw), 0);
	mw = NULL;
	if (mr)
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	mr = NULL;
	if (other_pd)
		EXPECT_EQ(ibv_dealloc_pd(other_pd), 0);
	other_pd = NULL;
	while (vu_async_pending(dev.ctx, &event))
		;
}

/**
 * enum grant - how the owner limits the other side
 * @GRANT_OTHER_PD: the key's protection domain is not the queue pair's
 * @GRANT_DEAD: the region is deregistered
 * @GRANT_REREG: the region's permission is changed
 * @GRANT_QP: the queue pair's permission is changed
 * @GRANT_WINDOW1, @GRANT_WINDOW2: a window on the second page, of type 1 and 2
 * @GRANT_UNBOUND1, @GRANT_UNBOUND2: the window is unbound
 */
enum grant {
	GRANT_OTHER_PD,
	GRANT_DEAD,
	GRANT_REREG,
	GRANT_QP,
	GRANT_WINDOW1,
	GRANT_WINDOW2,
	GRANT_UNBOUND1,
	GRANT_UNBOUND2,
};

/**
 * struct attempt - an access that is refused
 * @op: IBV_WR_RDMA_*
 * @off: of the first byte, from the memory's begin
 * @len: bytes
 */
struct attempt {
	const char *name;
	enum grant grant;
	enum ibv_wr_opcode op;
	uint32_t off, len;
};

static bool is_window(const struct attempt *a)
{
	return a->grant >= GRANT_WINDOW1;
}

/* In the end, only one right is granted, and the attempt needs another one. */
static int other_access(const struct attempt *a)
{
	return a->op == IBV_WR_RDMA_READ ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ;
}

static bool bind_type2(uint64_t addr, uint64_t len, int access)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {.mw = mw,
			    .rkey = ibv_inc_rkey(mw->rkey),
			    .bind_info = {.mr = mr,
					  .addr = addr,
					  .length = len,
					  .mw_access_flags = access}},
	};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	return EXPECT_EQ(ibv_post_send(qp.qp, &wr, &bad), 0) &&
	       vu_wait_wc(qp.scq, &wc, 0, IBV_WC_SUCCESS) && EXPECT_EQ(mw->rkey, wr.bind_mw.rkey);
}

static bool bind_type1(uint64_t addr, uint64_t len, int access)
{
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {.mr = mr, .addr = addr, .length = len, .mw_access_flags = access},
	};
	struct ibv_wc wc;

	return EXPECT_EQ(ibv_bind_mw(qp.qp, mw, &bind), 0) &&
	       vu_wait_wc(qp.scq, &wc, 0, IBV_WC_SUCCESS);
}

static bool bind(uint64_t len, int access)
{
	uint64_t addr = (uintptr_t)buf + PAGE;

	return mw->type == IBV_MW_TYPE_1 ? bind_type1(addr, len, access)
					 : bind_type2(addr, len, access);
}

/* Register the owner's region, and grant access; @key is the other side's key. */
static bool owner_grant(const struct attempt *a, uint32_t *key)
{
	bool type1 = a->grant == GRANT_WINDOW1 || a->grant == GRANT_UNBOUND1;
	int access = VU_RW | (is_window(a) ? IBV_ACCESS_MW_BIND : 0);

	if (a->grant == GRANT_OTHER_PD) {
		other_pd = ibv_alloc_pd(dev.ctx);
		if (!EXPECT(other_pd))
			return false;
	}
	mr = ibv_reg_mr(other_pd ? other_pd : dev.pd, buf, LEN, access);
	if (!EXPECT(mr))
		return false;
	*key = mr->rkey;
	if (!is_window(a))
		return true;
	mw = ibv_alloc_mw(dev.pd, type1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
	if (!EXPECT(mw) ||
	    !bind(PAGE, a->len == PAGE ? other_access(a)
				       : IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE))
		return false;
	*key = mw->rkey;
	return true;
}

static bool invalidate(void)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = mw->rkey,
	};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	return EXPECT_EQ(ibv_post_send(qp.qp, &wr, &bad), 0) &&
	       vu_wait_wc(qp.scq, &wc, 0, IBV_WC_SUCCESS);
}

/* Revoke the owner's grant for the attempt. */
static bool owner_revoke(const struct attempt *a, uint32_t *key)
{
	struct ibv_qp_attr attr = {.qp_access_flags = other_access(a)};

	switch (a->grant) {
	case GRANT_DEAD:
		if (!EXPECT_EQ(ibv_dereg_mr(mr), 0))
			return false;
		mr = NULL;
		return true;
	case GRANT_REREG:
		if (!EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
					    IBV_ACCESS_LOCAL_WRITE | other_access(a)),
			       0))
			return false;
		*key = mr->rkey;
		return true;
	case GRANT_QP:
		return EXPECT_EQ(ibv_modify_qp(qp.qp, &attr, IBV_QP_ACCESS_FLAGS), 0);
	case GRANT_UNBOUND1:
		return bind(0, 0);
	case GRANT_UNBOUND2:
		return invalidate();
	default:
		return true;
	}
}

static bool post(enum ibv_wr_opcode op, uint64_t wr_id, uint32_t off, uint32_t len, uint32_t key)
{
	return EXPECT_EQ(vu_post_send(&qp, op, wr_id, IBV_SEND_SIGNALED, local, buf, len,
				      theirs.va + off, key),
			 0);
}

/*
 * What is granted: everything, except by a key of another PD, and what is outside of a narrow
 * window.
 */
static bool granted(const struct attempt *a)
{
	return a->grant != GRANT_OTHER_PD && !(is_window(a) && a->len == PAGE);
}

static void other_side(const struct attempt *a)
{
	bool read = a->op == IBV_WR_RDMA_READ;
	uint32_t key = theirs.rkey, none = 0;
	struct ibv_wc wc;
	size_t i;

	memset(buf, 0xee, LEN);
	if (granted(a)) {
		if (!read)
			vu_fill(buf, 100, sess.test + 1);
		if (!post(a->op, 1, PAGE, 100, key) || !vu_wait_wc(qp.scq, &wc, 1, IBV_WC_SUCCESS))
			return;
		if (read)
			EXPECT_EQ(vu_check(buf, 100, sess.test), -1);
	}
	if (!sess_sync(&sess) || !sess_xchg(&sess, &none, &key, sizeof(key)))
		return;
	memset(buf, 0xee, LEN);
	if (!post(a->op, 2, a->off, a->len, key) || !post(IBV_WR_SEND, WR_FLUSHED, 0, 8, 0))
		return;
	vu_wait_wc(qp.scq, &wc, 2,
		   a->grant == GRANT_QP ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_ACCESS_ERR);
	vu_wait_wc(qp.scq, &wc, WR_FLUSHED, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(vu_state(&qp), IBV_QPS_ERR);
	for (i = 0; i < LEN && buf[i] == 0xee; i++)
		;
	EXPECT_EQ(i, LEN);
	sess_sync(&sess);
}

/* The memory is @seed's, except for the data of the granted write. */
static void owner_memory(const struct attempt *a, uint64_t seed)
{
	uint8_t *want = malloc(LEN);

	vu_fill(want, PAGE, seed + 7);
	vu_fill(want + PAGE, LEN - PAGE, seed);
	if (granted(a) && a->op != IBV_WR_RDMA_READ)
		vu_fill(want + PAGE, 100, seed + 1);
	EXPECT(!memcmp(buf, want, LEN));
	free(want);
}

static void owner(const struct attempt *a, uint32_t key)
{
	uint32_t none;
	struct ibv_wc wc;

	if (!EXPECT_EQ(vu_post_recv(&qp, 5, NULL, NULL, 0), 0) || !sess_sync(&sess) ||
	    !owner_revoke(a, &key) || !sess_xchg(&sess, &key, &none, sizeof(key)))
		return;
	if (is_ohca)
		vu_wait_async(dev.ctx,
			      a->grant == GRANT_QP ? IBV_EVENT_QP_REQ_ERR : IBV_EVENT_QP_ACCESS_ERR,
			      qp.qp);
	if (is_ohca || a->grant != GRANT_QP) {
		vu_wait_wc(qp.rcq, &wc, 5, IBV_WC_WR_FLUSH_ERR);
		EXPECT_EQ(vu_state(&qp), IBV_QPS_ERR);
	}
	owner_memory(a, sess.test);
	sess_sync(&sess);
}

static void test_attempt(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	const struct attempt *a = arg;
	struct vu_addr mine = {};
	uint32_t key = 0;

	if (!vu_connect_sess(&dev, &sess, &qp, &opts, &mine, &theirs))
		return;
	mine.va = (uintptr_t)buf;
	if (sess.side) {
		vu_fill(buf, PAGE, sess.test + 7);
		vu_fill(buf + PAGE, LEN - PAGE, sess.test);
		if (!owner_grant(a, &key))
			return;
		mine.rkey = key;
	}
	if (!sess_xchg(&sess, &mine, &theirs, sizeof(mine)))
		return;
	if (sess.side)
		owner(a, key);
	else
		other_side(a);
}

#define WRITE IBV_WR_RDMA_WRITE
#define READ IBV_WR_RDMA_READ

static const struct attempt attempts[] = {
	{"another PD's key: write", GRANT_OTHER_PD, WRITE, PAGE, 100},
	{"another PD's key: read", GRANT_OTHER_PD, READ, PAGE, 100},
	{"a dead key: write", GRANT_DEAD, WRITE, PAGE, 100},
	{"a dead key: read", GRANT_DEAD, READ, PAGE, 100},
	{"a region that is read-only now: write", GRANT_REREG, WRITE, PAGE, 100},
	{"a region that is write-only now: read", GRANT_REREG, READ, PAGE, 100},
	{"a queue pair that is read-only now: write", GRANT_QP, WRITE, PAGE, 100},
	{"a queue pair that is write-only now: read", GRANT_QP, READ, PAGE, 100},
	{"window of type 1: write before it", GRANT_WINDOW1, WRITE, PAGE - 1, 100},
	{"window of type 1: read beyond it", GRANT_WINDOW1, READ, 2 * PAGE - 99, 100},
	{"window of type 1: write elsewhere", GRANT_WINDOW1, WRITE, 0, 100},
	{"window of type 1 to be read: write", GRANT_WINDOW1, WRITE, PAGE, PAGE},
	{"window of type 1 to be written: read", GRANT_WINDOW1, READ, PAGE, PAGE},
	{"window of type 1, unbound: write", GRANT_UNBOUND1, WRITE, PAGE, 100},
	{"window of type 1, unbound: read", GRANT_UNBOUND1, READ, PAGE, 100},
	{"window of type 2: write before it", GRANT_WINDOW2, WRITE, PAGE - 1, 100},
	{"window of type 2: read beyond it", GRANT_WINDOW2, READ, 2 * PAGE - 99, 100},
	{"window of type 2: read elsewhere", GRANT_WINDOW2, READ, 3 * PAGE, 100},
	{"window of type 2 to be read: write", GRANT_WINDOW2, WRITE, PAGE, PAGE},
	{"window of type 2 to be written: read", GRANT_WINDOW2, READ, PAGE, PAGE},
	{"window of type 2, invalidated: write", GRANT_UNBOUND2, WRITE, PAGE, 100},
	{"window of type 2, invalidated: read", GRANT_UNBOUND2, READ, PAGE, 100},
};

int main(int argc, char **argv)
{
	struct tap_test tests[ARRAY_SIZE(attempts)];
	unsigned int i;
	int status;

	sess_start(&sess, argc > 1 && !strcmp(argv[1], "-2"));
	vu_open(&dev);
	is_ohca = !strncmp(ibv_get_device_name(dev.ctx->device), "ohca", 4);
	buf = vu_alloc(LEN);
	local = ibv_reg_mr(dev.pd, buf, LEN, IBV_ACCESS_LOCAL_WRITE);
	if (!local)
		tap_bail("ibv_reg_mr: %d", errno);
	for (i = 0; i < ARRAY_SIZE(attempts); i++)
		tests[i] = (struct tap_test){attempts[i].name, test_attempt, &attempts[i]};
	status = sess_run(&sess, tests, ARRAY_SIZE(tests), cleanup);
	ibv_dereg_mr(local);
	vu_free(buf, LEN);
	vu_close(&dev);
	return status;
}
