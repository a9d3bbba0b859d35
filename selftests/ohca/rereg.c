// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions that are changed in place: translation, protection domain, access rights, and all
 * of them at once.  The key stays; the region is as the last successful change says.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs_util.h"

#define PAGE 4096UL
#define LEN (20 * PAGE)
#define ALL (IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS)

static struct vu_dev dev;
static uint8_t *sink;
static struct ibv_mr *sink_mr;

/**
 * struct rig - a region, and a pair of QPs whose target side is in the region's PD
 */
struct rig {
	struct vu_qp from, to;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint8_t *mem, *other;
};

static bool reconnect(struct rig *rig, struct ibv_pd *pd)
{
	struct vu_qp_opts opts = VU_QP_OPTS, opts_to = VU_QP_OPTS;

	vu_qp_destroy(&rig->from);
	vu_qp_destroy(&rig->to);
	opts_to.pd = pd;
	return vu_qp_create(&dev, &rig->from, &opts) && vu_qp_create(&dev, &rig->to, &opts_to) &&
	       vu_connect_pair(&dev, &rig->from, &rig->to, &opts);
}

static bool rig_up(struct rig *rig, int access)
{
	memset(rig, 0, sizeof(*rig));
	rig->mem = vu_alloc(LEN);
	rig->other = vu_alloc(LEN);
	vu_fill(rig->mem, LEN, 1);
	vu_fill(rig->other, LEN, 2);
	rig->pd = ibv_alloc_pd(dev.ctx);
	rig->mr = ibv_reg_mr(dev.pd, rig->mem, LEN, access);
	return EXPECT(rig->pd) && EXPECT(rig->mr) && reconnect(rig, NULL);
}

static void rig_down(struct rig *rig)
{
	vu_qp_destroy(&rig->from);
	vu_qp_destroy(&rig->to);
	if (rig->mr)
		EXPECT_EQ(ibv_dereg_mr(rig->mr), 0);
	if (rig->pd)
		EXPECT_EQ(ibv_dealloc_pd(rig->pd), 0);
	vu_free(rig->mem, LEN);
	vu_free(rig->other, LEN);
}

static bool op(struct rig *rig, enum ibv_wr_opcode opcode, const void *addr, size_t len,
	       enum ibv_wc_status status)
{
	struct ibv_wc wc;

	return EXPECT_EQ(vu_post_send(&rig->from, opcode, 1, IBV_SEND_SIGNALED, sink_mr, sink, len,
				      (uintptr_t)addr, rig->mr->rkey),
			 0) &&
	       vu_wait_wc(rig->from.scq, &wc, 1, status);
}

static bool reads(struct rig *rig, const void *addr, size_t len, uint64_t seed)
{
	memset(sink, 0, len);
	return op(rig, IBV_WR_RDMA_READ, addr, len, IBV_WC_SUCCESS) &&
	       EXPECT_EQ(vu_check(sink, len, seed), -1);
}

/* The QPs are in error after this. */
static bool refused(struct rig *rig, enum ibv_wr_opcode opcode, const void *addr)
{
	return op(rig, opcode, addr, 8, IBV_WC_REM_ACCESS_ERR);
}

static bool can_rereg(struct rig *rig)
{
	int ret = ibv_rereg_mr(rig->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, VU_RW);

	if (ret && (errno == EOPNOTSUPP || errno == ENOSYS)) {
		tap_skip("the device can't");
		return false;
	}
	return EXPECT_EQ(ret, 0);
}

static void test_translation(const void *arg)
{
	struct rig rig;
	uint32_t lkey, rkey;

	(void)arg;
	if (!rig_up(&rig, VU_RW) || !can_rereg(&rig))
		goto out;
	lkey = rig.mr->lkey;
	rkey = rig.mr->rkey;
	reads(&rig, rig.mem, LEN, 1);
	EXPECT_EQ(ibv_rereg_mr(rig.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, rig.other, LEN, 0),
		  0);
	EXPECT(rig.mr->lkey == lkey && rig.mr->rkey == rkey);
	EXPECT(rig.mr->addr == rig.other && rig.mr->length == LEN);
	reads(&rig, rig.other, LEN, 2);
	/* the old memory can't be reached any more, and is free */
	refused(&rig, IBV_WR_RDMA_READ, rig.mem);
	memset(rig.mem, 0, LEN);
	/* a part of it, then all of it again */
	if (!reconnect(&rig, NULL))
		goto out;
	vu_fill(rig.mem + 100, 3 * PAGE, 3);
	EXPECT_EQ(ibv_rereg_mr(rig.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, rig.mem + 100,
			       3 * PAGE, 0),
		  0);
	reads(&rig, rig.mem + 100, 3 * PAGE, 3);
	refused(&rig, IBV_WR_RDMA_READ, rig.mem + 100 + 3 * PAGE - 7);
	if (!reconnect(&rig, NULL))
		goto out;
	vu_fill(rig.mem, LEN, 4);
	EXPECT_EQ(ibv_rereg_mr(rig.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, rig.mem, LEN, 0), 0);
	reads(&rig, rig.mem, LEN, 4);
out:
	rig_down(&rig);
}

static void test_access(const void *arg)
{
	struct rig rig;

	(void)arg;
	if (!rig_up(&rig, VU_RW) || !can_rereg(&rig))
		goto out;
	op(&rig, IBV_WR_RDMA_WRITE, rig.mem, 8, IBV_WC_SUCCESS);
	EXPECT_EQ(ibv_rereg_mr(rig.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			       IBV_ACCESS_REMOTE_READ),
		  0);
	op(&rig, IBV_WR_RDMA_READ, rig.mem, 8, IBV_WC_SUCCESS);
	refused(&rig, IBV_WR_RDMA_WRITE, rig.mem);
	EXPECT_EQ(ibv_rereg_mr(rig.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, VU_RW), 0);
	if (reconnect(&rig, NULL))
		op(&rig, IBV_WR_RDMA_WRITE, rig.mem, 8, IBV_WC_SUCCESS);
	/* remote write needs local write */
	EXPECT(ibv_rereg_mr(rig.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_REMOTE_WRITE));
	op(&rig, IBV_WR_RDMA_WRITE, rig.mem, 8, IBV_WC_SUCCESS);
out:
	rig_down(&rig);
}

static void test_pd(const void *arg)
{
	struct rig rig;

	(void)arg;
	if (!rig_up(&rig, VU_RW) || !can_rereg(&rig))
		goto out;
	op(&rig, IBV_WR_RDMA_READ, rig.mem, 8, IBV_WC_SUCCESS);
	EXPECT_EQ(ibv_rereg_mr(rig.mr, IBV_REREG_MR_CHANGE_PD, rig.pd, NULL, 0, 0), 0);
	EXPECT(rig.mr->pd == rig.pd);
	refused(&rig, IBV_WR_RDMA_READ, rig.mem);
	if (reconnect(&rig, rig.pd))
		reads(&rig, rig.mem, LEN, 1);
	EXPECT_EQ(ibv_dealloc_pd(rig.pd), EBUSY);
	/* the PD that it has already */
	EXPECT_EQ(ibv_rereg_mr(rig.mr, IBV_REREG_MR_CHANGE_PD, rig.pd, NULL, 0, 0), 0);
	EXPECT_EQ(ibv_rereg_mr(rig.mr, IBV_REREG_MR_CHANGE_PD, dev.pd, NULL, 0, 0), 0);
	if (reconnect(&rig, NULL))
		reads(&rig, rig.mem, LEN, 1);
out:
	rig_down(&rig);
}

static void test_all(const void *arg)
{
	struct rig rig;

	(void)arg;
	if (!rig_up(&rig, VU_RW) || !can_rereg(&rig))
		goto out;
	EXPECT_EQ(ibv_rereg_mr(rig.mr, ALL, rig.pd, rig.other, LEN, IBV_ACCESS_REMOTE_READ), 0);
	if (reconnect(&rig, rig.pd)) {
		reads(&rig, rig.other, LEN, 2);
		refused(&rig, IBV_WR_RDMA_WRITE, rig.other);
	}
	EXPECT_EQ(ibv_rereg_mr(rig.mr, ALL, dev.pd, rig.mem, LEN, VU_RW), 0);
	if (reconnect(&rig, NULL)) {
		reads(&rig, rig.mem, LEN, 1);
		op(&rig, IBV_WR_RDMA_WRITE, rig.mem, 8, IBV_WC_SUCCESS);
	}
out:
	rig_down(&rig);
}

/* A failed change leaves the region unchanged. */
static void test_failed(const void *arg)
{
	struct rig rig;
	uint8_t *hole;

	(void)arg;
	hole = mmap(NULL, LEN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!EXPECT(hole != MAP_FAILED))
		return;
	if (!rig_up(&rig, VU_RW) || !can_rereg(&rig))
		goto out;
	EXPECT(ibv_rereg_mr(rig.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, hole, LEN, 0));
	EXPECT(ibv_rereg_mr(rig.mr, ALL, rig.pd, hole, LEN, VU_RW | IBV_ACCESS_REMOTE_ATOMIC));
	EXPECT(ibv_rereg_mr(rig.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, rig.mem, 0, 0));
	EXPECT(ibv_rereg_mr(rig.mr, 0, NULL, NULL, 0, 0));
	EXPECT(ibv_rereg_mr(rig.mr, 1 << 10, NULL, NULL, 0, 0));
	reads(&rig, rig.mem, LEN, 1);
	op(&rig, IBV_WR_RDMA_WRITE, rig.mem, 8, IBV_WC_SUCCESS);
out:
	rig_down(&rig);
	munmap(hole, LEN);
}

/* Memory that was registered for reading only can't become writable. */
static void test_read_only(const void *arg)
{
	struct rig rig;

	(void)arg;
	if (!rig_up(&rig, VU_RW) || !can_rereg(&rig))
		goto out;
	EXPECT_EQ(ibv_dereg_mr(rig.mr), 0);
	EXPECT_EQ(mprotect(rig.mem, LEN, PROT_READ), 0);
	rig.mr = ibv_reg_mr(dev.pd, rig.mem, LEN, IBV_ACCESS_REMOTE_READ);
	if (EXPECT(rig.mr)) {
		EXPECT(ibv_rereg_mr(rig.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, VU_RW));
		reads(&rig, rig.mem, LEN, 1);
		refused(&rig, IBV_WR_RDMA_WRITE, rig.mem);
	}
out:
	rig_down(&rig);
}

/* Repeated changes while it is read: each read has the data of one or the other buffer. */
static void test_traffic(const void *arg)
{
	struct ibv_wc wc;
	struct rig rig;
	int i;

	(void)arg;
	if (!rig_up(&rig, VU_RW) || !can_rereg(&rig))
		goto out;
	for (i = 0; i < 200; i++) {
		uint8_t *next = i % 2 ? rig.mem : rig.other;

		EXPECT_EQ(ibv_rereg_mr(rig.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, next, LEN, 0),
			  0);
		EXPECT_EQ(vu_post_send(&rig.from, IBV_WR_RDMA_READ, i, IBV_SEND_SIGNALED, sink_mr,
				       sink, LEN, (uintptr_t)next, rig.mr->rkey),
			  0);
		if (!vu_wait_wc(rig.from.scq, &wc, i, IBV_WC_SUCCESS) ||
		    !EXPECT_EQ(vu_check(sink, LEN, i % 2 ? 1 : 2), -1))
			break;
	}
out:
	rig_down(&rig);
}

static const struct tap_test tests[] = {
	{"translation", test_translation, NULL},  {"access rights", test_access, NULL},
	{"protection domain", test_pd, NULL},	  {"all at once", test_all, NULL},
	{"changes that fail", test_failed, NULL}, {"read-only memory", test_read_only, NULL},
	{"many times", test_traffic, NULL},
};

int main(void)
{
	int status;

	vu_open(&dev);
	sink = vu_alloc(LEN);
	sink_mr = ibv_reg_mr(dev.pd, sink, LEN, VU_RW);
	if (!sink_mr)
		tap_bail("ibv_reg_mr: %d", errno);
	status = tap_run(tests, ARRAY_SIZE(tests));
	tap_begin();
	EXPECT_EQ(ibv_dereg_mr(sink_mr), 0);
	vu_close(&dev);
	return tap_failed() ? TAP_FAIL : status;
}
