// SPDX-License-Identifier: GPL-2.0
/*
 * Test of the kernel's verbs: functions of ib_core that are built on them.
 */

#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/rw.h>

#include "kv.h"

#define KV_RW_CTXS 8
#define KV_RW_LEN (16 * PAGE_SIZE)

/* A CQ of the pool, which several consumers share */
static bool kv_test_pool(struct kv_rig *rig)
{
	struct ib_sge sge = kv_sge(rig, 0, 0, 4000);
	struct kv_wr send, recv;
	struct ib_cq *other;
	bool ok = true;
	int i;

	other = ib_cq_pool_get(rig->dev, 16, -1, rig->poll);
	if (!KV_EXPECT(!IS_ERR(other)))
		return false;
	for (i = 0; ok && i < 200; i++) {
		kv_fill(rig->end[0].buf, 4000, i);
		ok = KV_EXPECT(!kv_recv(rig, &recv, 0, KV_BUF)) &&
		     KV_EXPECT(!kv_send(rig, &send, IB_WR_SEND, 0, &sge, 1, 0)) &&
		     kv_wait(rig, &send, IB_WC_SUCCESS) && kv_wait(rig, &recv, IB_WC_SUCCESS) &&
		     KV_EXPECT(kv_same(rig->end[1].buf, 4000, i));
	}
	ib_cq_pool_put(other, 16);
	return ok;
}

/* Scattered pages against side 1's buffer, in one direction */
static bool kv_rw(struct kv_rig *rig, struct scatterlist *sg, unsigned int num,
		  enum dma_data_direction dir)
{
	struct ib_qp *qp = rig->end[0].qp;
	struct rdma_rw_ctx ctx;
	struct kv_wr wr;
	bool ok;
	int ret;

	kv_wr_init(&wr);
	ret = rdma_rw_ctx_init(&ctx, qp, KV_PORT, sg, num, 0, rig->end[1].dma + 8,
			       rig->pd->unsafe_global_rkey, dir);
	if (!KV_EXPECT(ret > 0))
		return false;
	ok = KV_EXPECT(!rdma_rw_ctx_post(&ctx, qp, KV_PORT, &wr.cqe, NULL)) &&
	     kv_wait(rig, &wr, IB_WC_SUCCESS);
	rdma_rw_ctx_destroy(&ctx, qp, KV_PORT, sg, num, dir);
	return ok;
}

static bool kv_test_rw(struct kv_rig *rig)
{
	struct scatterlist sg[KV_RW_LEN / PAGE_SIZE];
	u8 *copy = kzalloc(KV_RW_LEN, GFP_KERNEL);
	u8 *page[ARRAY_SIZE(sg)] = {};
	bool ok = KV_EXPECT(copy);
	int i, round;

	sg_init_table(sg, ARRAY_SIZE(sg));
	for (i = ARRAY_SIZE(sg); i--;) {
		page[i] = (u8 *)get_zeroed_page(GFP_KERNEL);
		ok = ok && KV_EXPECT(page[i]);
		if (page[i])
			sg_set_buf(&sg[i], page[i], PAGE_SIZE);
	}
	for (round = 0; ok && round < 20; round++) {
		/* from the other side */
		kv_fill(rig->end[1].buf + 8, KV_RW_LEN, round);
		ok = kv_rw(rig, sg, ARRAY_SIZE(sg), DMA_FROM_DEVICE) &&
		     KV_EXPECT(sg_copy_to_buffer(sg, ARRAY_SIZE(sg), copy, KV_RW_LEN) ==
			       KV_RW_LEN) &&
		     KV_EXPECT(kv_same(copy, KV_RW_LEN, round));
		/* and back */
		memset(rig->end[1].buf, 0, KV_RW_LEN + 16);
		ok = ok && kv_rw(rig, sg, ARRAY_SIZE(sg), DMA_TO_DEVICE) &&
		     KV_EXPECT(kv_same(rig->end[1].buf + 8, KV_RW_LEN, round)) &&
		     KV_EXPECT(!rig->end[1].buf[7] && !rig->end[1].buf[KV_RW_LEN + 8]);
	}
	for (i = 0; i < ARRAY_SIZE(sg); i++)
		free_page((unsigned long)page[i]);
	kfree(copy);
	return ok;
}

const struct kv_test kv_core_tests[] = {
	{.name = "CQ of the pool", .fn = kv_test_pool, .pooled = true},
	{.name = "RDMA read/write API", .fn = kv_test_rw, .rw_ctxs = KV_RW_CTXS},
};

const unsigned int kv_num_core_tests = ARRAY_SIZE(kv_core_tests);
