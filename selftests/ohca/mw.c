// SPDX-License-Identifier: GPL-2.0
/*
 * mw [leave]: memory windows of types 1 and 2B: what they grant, and when they end.  With "leave",
 * bind a window and exit at once: the kernel cleans up.
 */

#include <stdlib.h>
#include <string.h>

#include "verbs_util.h"

#define PAGE 4096UL
#define LEN (16 * PAGE)
#define REGION (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND)
#define WINDOW (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

static struct vu_dev dev;
static uint8_t *sink;
static struct ibv_mr *sink_mr;

/**
 * struct rig - a region that windows can be bound to
 * @from: the requester
 * @to: has the windows
 * @mem: the region
 */
struct rig {
	struct vu_qp from, to;
	uint8_t *mem;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
};

static bool reconnect(struct rig *rig)
{
	struct vu_qp_opts opts = VU_QP_OPTS;

	vu_qp_destroy(&rig->from);
	vu_qp_destroy(&rig->to);
	return vu_qp_create(&dev, &rig->from, &opts) && vu_qp_create(&dev, &rig->to, &opts) &&
	       vu_connect_pair(&dev, &rig->from, &rig->to, &opts);
}

/* The window is created before the region. */
static bool rig_up(struct rig *rig, enum ibv_mw_type type)
{
	memset(rig, 0, sizeof(*rig));
	rig->mem = vu_alloc(LEN);
	vu_fill(rig->mem, LEN, 1);
	rig->mw = ibv_alloc_mw(dev.pd, type);
	rig->mr = ibv_reg_mr(dev.pd, rig->mem, LEN, REGION);
	return EXPECT(rig->mw) && EXPECT_EQ(rig->mw->type, type) && EXPECT(rig->mr) &&
	       reconnect(rig);
}

static void rig_down(struct rig *rig)
{
	vu_qp_destroy(&rig->from);
	vu_qp_destroy(&rig->to);
	if (rig->mw)
		EXPECT_EQ(ibv_dealloc_mw(rig->mw), 0);
	if (rig->mr)
		EXPECT_EQ(ibv_dereg_mr(rig->mr), 0);
	vu_free(rig->mem, LEN);
}

static struct ibv_mw_bind_info range(struct rig *rig, size_t off, size_t len, int access)
{
	return (struct ibv_mw_bind_info){
		.mr = rig->mr,
		.addr = (uintptr_t)rig->mem + off,
		.length = len,
		.mw_access_flags = access,
	};
}

/* Bind a window of type 1. */
static bool bind1(struct rig *rig, size_t off, size_t len, int access, enum ibv_wc_status status)
{
	struct ibv_mw_bind bind = {
		.wr_id = 7,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = range(rig, off, len, access),
	};
	struct ibv_wc wc;

	return EXPECT_EQ(ibv_bind_mw(rig->to.qp, rig->mw, &bind), 0) &&
	       vu_wait_wc(rig->to.scq, &wc, 7, status) &&
	       (status || EXPECT_EQ(wc.opcode, IBV_WC_BIND_MW));
}

/* Bind a window of type 2, with the low bits of the next key.  The others of what is asked for have no meaning. */
static bool bind2(struct rig *rig, size_t off, size_t len, int access, enum ibv_wc_status status)
{
	struct ibv_send_wr *bad,
		wr = {
			.wr_id = 8,
			.opcode = IBV_WR_BIND_MW,
			.send_flags = IBV_SEND_SIGNALED,
			.bind_mw =
				{
					.mw = rig->mw,
					.rkey = ibv_inc_rkey(rig->mw->rkey) ^ 0x5a5a00,
					.bind_info = range(rig, off, len, access),
				},
		};
	struct ibv_wc wc;

	if (!EXPECT_EQ(ibv_post_send(rig->to.qp, &wr, &bad), 0) ||
	    !vu_wait_wc(rig->to.scq, &wc, 8, status))
		return false;
	EXPECT_EQ(rig->mw->rkey & 0xff, wr.bind_mw.rkey & 0xff);
	return status || EXPECT_EQ(wc.opcode, IBV_WC_BIND_MW);
}

static bool invalidate(struct rig *rig, uint32_t key, enum ibv_wc_status status)
{
	struct ibv_send_wr *bad, wr = {
					 .wr_id = 9,
					 .opcode = IBV_WR_LOCAL_INV,
					 .send_flags = IBV_SEND_SIGNALED,
					 .invalidate_rkey = key,
				 };
	struct ibv_wc wc;

	return EXPECT_EQ(ibv_post_send(rig->to.qp, &wr, &bad), 0) &&
	       vu_wait_wc(rig->to.scq, &wc, 9, status);
}

static bool op(struct vu_qp *from, enum ibv_wr_opcode opcode, uint64_t addr, size_t len,
	       uint32_t rkey, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	return EXPECT_EQ(vu_post_send(from, opcode, 1, IBV_SEND_SIGNALED, sink_mr, sink, len, addr,
				      rkey),
			 0) &&
	       vu_wait_wc(from->scq, &wc, 1, status);
}

static bool reads(struct rig *rig, uint64_t addr, const uint8_t *mem, size_t len)
{
	memset(sink, 0, len);
	return op(&rig->from, IBV_WR_RDMA_READ, addr, len, rig->mw->rkey, IBV_WC_SUCCESS) &&
	       EXPECT(!memcmp(sink, mem, len));
}

/* It can't be read by this key; the QPs are connected again. */
static bool refused(struct rig *rig, enum ibv_wr_opcode opcode, uint64_t addr, size_t len,
		    uint32_t rkey)
{
	return op(&rig->from, opcode, addr, len, rkey, IBV_WC_REM_ACCESS_ERR) && reconnect(rig);
}

static void test_type1(const void *arg)
{
	struct rig rig;
	uint64_t addr;
	uint32_t old;

	(void)arg;
	if (!rig_up(&rig, IBV_MW_TYPE_1))
		goto out;
	addr = (uintptr_t)rig.mem;
	/* not bound yet */
	refused(&rig, IBV_WR_RDMA_READ, addr, 8, rig.mw->rkey);
	if (!bind1(&rig, PAGE + 100, 3 * PAGE, WINDOW, IBV_WC_SUCCESS))
		goto out;
	reads(&rig, addr + PAGE + 100, rig.mem + PAGE + 100, 3 * PAGE);
	reads(&rig, addr + 2 * PAGE, rig.mem + 2 * PAGE, 10);
	op(&rig.from, IBV_WR_RDMA_WRITE, addr + 2 * PAGE, 8, rig.mw->rkey, IBV_WC_SUCCESS);
	refused(&rig, IBV_WR_RDMA_READ, addr + PAGE + 99, 8, rig.mw->rkey);
	refused(&rig, IBV_WR_RDMA_READ, addr + 4 * PAGE + 93, 8, rig.mw->rkey);
	/* the region's own key grants nothing */
	refused(&rig, IBV_WR_RDMA_READ, addr + 2 * PAGE, 8, rig.mr->rkey);

	/* bound to another part: a new key, the old one is invalid */
	old = rig.mw->rkey;
	if (!bind1(&rig, 8 * PAGE, PAGE, WINDOW, IBV_WC_SUCCESS))
		goto out;
	EXPECT(rig.mw->rkey != old);
	reads(&rig, addr + 8 * PAGE, rig.mem + 8 * PAGE, PAGE);
	refused(&rig, IBV_WR_RDMA_READ, addr + 8 * PAGE, 8, old);
	refused(&rig, IBV_WR_RDMA_READ, addr + 2 * PAGE, 8, rig.mw->rkey);

	/* unbound again */
	if (bind1(&rig, 0, 0, 0, IBV_WC_SUCCESS))
		refused(&rig, IBV_WR_RDMA_READ, addr + 8 * PAGE, 8, rig.mw->rkey);
out:
	rig_down(&rig);
}

static void test_access(const void *arg)
{
	struct rig rig;
	uint64_t addr;

	(void)arg;
	if (!rig_up(&rig, IBV_MW_TYPE_1))
		goto out;
	addr = (uintptr_t)rig.mem;
	if (!bind1(&rig, 0, LEN, IBV_ACCESS_REMOTE_READ, IBV_WC_SUCCESS))
		goto out;
	reads(&rig, addr, rig.mem, LEN);
	refused(&rig, IBV_WR_RDMA_WRITE, addr, 8, rig.mw->rkey);
	if (!bind1(&rig, 0, LEN, IBV_ACCESS_REMOTE_WRITE, IBV_WC_SUCCESS))
		goto out;
	op(&rig.from, IBV_WR_RDMA_WRITE, addr, 8, rig.mw->rkey, IBV_WC_SUCCESS);
	refused(&rig, IBV_WR_RDMA_READ, addr, 8, rig.mw->rkey);
out:
	rig_down(&rig);
}

static void test_type2(const void *arg)
{
	struct rig rig;
	uint64_t addr;
	uint32_t old;

	(void)arg;
	if (!rig_up(&rig, IBV_MW_TYPE_2))
		goto out;
	addr = (uintptr_t)rig.mem;
	refused(&rig, IBV_WR_RDMA_READ, addr, 8, rig.mw->rkey);
	if (!bind2(&rig, PAGE, PAGE, WINDOW, IBV_WC_SUCCESS))
		goto out;
	reads(&rig, addr + PAGE, rig.mem + PAGE, PAGE);
	old = rig.mw->rkey;
	if (!invalidate(&rig, old, IBV_WC_SUCCESS))
		goto out;
	refused(&rig, IBV_WR_RDMA_READ, addr + PAGE, 8, old);
	if (!bind2(&rig, 2 * PAGE, PAGE, WINDOW, IBV_WC_SUCCESS))
		goto out;
	EXPECT(rig.mw->rkey != old);
	reads(&rig, addr + 2 * PAGE, rig.mem + 2 * PAGE, PAGE);
	/* only through the QP that bound it */
	if (reconnect(&rig))
		refused(&rig, IBV_WR_RDMA_READ, addr + 2 * PAGE, 8, rig.mw->rkey);
out:
	rig_down(&rig);
}

/* A send with invalidate by the peer ends a window of type 2. */
static void test_send_inv(const void *arg)
{
	struct ibv_send_wr *bad, wr = {
					 .wr_id = 3,
					 .opcode = IBV_WR_SEND_WITH_INV,
					 .send_flags = IBV_SEND_SIGNALED,
				 };
	struct ibv_wc wc;
	struct rig rig;

	(void)arg;
	if (!rig_up(&rig, IBV_MW_TYPE_2) || !bind2(&rig, 0, LEN, WINDOW, IBV_WC_SUCCESS))
		goto out;
	reads(&rig, (uintptr_t)rig.mem, rig.mem, LEN);
	wr.invalidate_rkey = rig.mw->rkey;
	EXPECT_EQ(vu_post_recv(&rig.to, 4, rig.mr, rig.mem, LEN), 0);
	if (!EXPECT_EQ(ibv_post_send(rig.from.qp, &wr, &bad), 0) ||
	    !vu_wait_wc(rig.from.scq, &wc, 3, IBV_WC_SUCCESS) ||
	    !vu_wait_wc(rig.to.rcq, &wc, 4, IBV_WC_SUCCESS))
		goto out;
	EXPECT(wc.wc_flags & IBV_WC_WITH_INV);
	EXPECT_EQ(wc.invalidated_rkey, rig.mw->rkey);
	refused(&rig, IBV_WR_RDMA_READ, (uintptr_t)rig.mem, 8, rig.mw->rkey);
out:
	rig_down(&rig);
}

static void test_zero_based(const void *arg)
{
	struct rig rig;

	(void)arg;
	if (!rig_up(&rig, IBV_MW_TYPE_2) ||
	    !bind2(&rig, PAGE + 50, PAGE, WINDOW | IBV_ACCESS_ZERO_BASED, IBV_WC_SUCCESS))
		goto out;
	reads(&rig, 0, rig.mem + PAGE + 50, PAGE);
	reads(&rig, 100, rig.mem + PAGE + 150, 8);
	refused(&rig, IBV_WR_RDMA_READ, PAGE - 7, 8, rig.mw->rkey);
out:
	rig_down(&rig);
}

/* A region can't be deregistered while windows are bound to it. */
static void test_busy(const void *arg)
{
	struct rig rig;

	(void)arg;
	if (!rig_up(&rig, IBV_MW_TYPE_1) || !bind1(&rig, 0, LEN, WINDOW, IBV_WC_SUCCESS))
		goto out;
	EXPECT_EQ(ibv_dereg_mr(rig.mr), EBUSY);
	EXPECT(ibv_rereg_mr(rig.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, REGION));
	reads(&rig, (uintptr_t)rig.mem, rig.mem, LEN);
out:
	rig_down(&rig);
}

/* Invalid binds: the QP is in error then. */
static void test_refused(const void *arg)
{
	struct rig rig;

	(void)arg;
	if (!rig_up(&rig, IBV_MW_TYPE_2))
		goto out;
	bind2(&rig, LEN - PAGE, PAGE + 1, WINDOW, IBV_WC_MW_BIND_ERR);
	if (!reconnect(&rig))
		goto out;
	/* a region that does not allow it */
	EXPECT_EQ(ibv_dereg_mr(rig.mr), 0);
	rig.mr = ibv_reg_mr(dev.pd, rig.mem, LEN, IBV_ACCESS_LOCAL_WRITE);
	if (!EXPECT(rig.mr))
		goto out;
	bind2(&rig, 0, LEN, IBV_ACCESS_REMOTE_READ, IBV_WC_MW_BIND_ERR);
	if (!reconnect(&rig))
		goto out;
	/* remote write needs local write */
	EXPECT_EQ(ibv_dereg_mr(rig.mr), 0);
	rig.mr = ibv_reg_mr(dev.pd, rig.mem, LEN, IBV_ACCESS_MW_BIND);
	if (!EXPECT(rig.mr))
		goto out;
	bind2(&rig, 0, LEN, IBV_ACCESS_REMOTE_WRITE, IBV_WC_MW_BIND_ERR);
	/* the key of a region is not a window's */
	if (reconnect(&rig))
		invalidate(&rig, rig.mr->rkey, IBV_WC_MW_BIND_ERR);
out:
	rig_down(&rig);
}

static void test_many(const void *arg)
{
	enum {
		NUM = 500
	};
	struct ibv_mw *mws[NUM] = {};
	struct ibv_pd *pd = ibv_alloc_pd(dev.ctx);
	unsigned int i;

	(void)arg;
	if (!EXPECT(pd))
		return;
	for (i = 0; i < NUM; i++) {
		mws[i] = ibv_alloc_mw(pd, i % 2 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
		if (!EXPECT(mws[i]))
			break;
	}
	EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);
	for (i = 0; i < NUM && mws[i]; i++)
		EXPECT_EQ(ibv_dealloc_mw(mws[i]), 0);
	EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

static const struct tap_test tests[] = {
	{"type 1", test_type1, NULL},
	{"access rights", test_access, NULL},
	{"type 2", test_type2, NULL},
	{"send with invalidate", test_send_inv, NULL},
	{"zero based", test_zero_based, NULL},
	{"region with windows is busy", test_busy, NULL},
	{"refused bindings", test_refused, NULL},
	{"many windows", test_many, NULL},
};

static int leave(void)
{
	struct rig rig;

	tap_mute();
	tap_begin();
	return rig_up(&rig, IBV_MW_TYPE_1) && bind1(&rig, 0, LEN, WINDOW, IBV_WC_SUCCESS)
		       ? TAP_PASS
		       : TAP_FAIL;
}

int main(int argc, char **argv)
{
	int status;

	vu_open(&dev);
	if (!dev.attr.max_mw)
		tap_skip_all("the device has no memory windows");
	sink = vu_alloc(LEN);
	sink_mr = ibv_reg_mr(dev.pd, sink, LEN, VU_RW);
	if (!sink_mr)
		tap_bail("ibv_reg_mr: %d", errno);
	if (argc > 1 && !strcmp(argv[1], "leave"))
		return leave();
	status = tap_run(tests, ARRAY_SIZE(tests));
	tap_begin();
	EXPECT_EQ(ibv_dereg_mr(sink_mr), 0);
	vu_close(&dev);
	return tap_failed() ? TAP_FAIL : status;
}
