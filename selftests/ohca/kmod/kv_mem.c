// SPDX-License-Identifier: GPL-2.0
/*
 * Test of the kernel's verbs: fast registration, invalidation, atomics.
 */

#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "kv.h"

#define KV_REMOTE                                                                 \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE | \
	 IB_ACCESS_REMOTE_ATOMIC)

/**
 * struct kv_mr - a region for fast registration, and scattered pages for it
 * @mr: region
 * @sg: the pages, mapped
 * @num: how many they are
 */
struct kv_mr {
	struct ib_mr *mr;
	struct scatterlist *sg;
	unsigned int num;
};

static void kv_pages_free(struct kv_mr *m)
{
	unsigned int i;

	for (i = 0; m->sg && i < m->num; i++)
		if (sg_page(&m->sg[i]))
			__free_page(sg_page(&m->sg[i]));
	kvfree(m->sg);
}

/* Page by page, the last one first, so that no two are consecutive. */
static int kv_pages_alloc(struct kv_mr *m, unsigned int num)
{
	unsigned int i;
	struct page *page;

	m->num = num;
	m->sg = kvcalloc(num, sizeof(*m->sg), GFP_KERNEL);
	if (!m->sg)
		return -ENOMEM;
	sg_init_table(m->sg, num);
	for (i = num; i--;) {
		page = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!page)
			return -ENOMEM;
		sg_set_page(&m->sg[i], page, PAGE_SIZE, 0);
	}
	return 0;
}

static void kv_mr_free(struct kv_rig *rig, struct kv_mr *m)
{
	if (!IS_ERR_OR_NULL(m->mr))
		KV_EXPECT(!ib_dereg_mr(m->mr));
	if (m->sg && sg_dma_len(m->sg))
		ib_dma_unmap_sg(rig->dev, m->sg, m->num, DMA_BIDIRECTIONAL);
	kv_pages_free(m);
}

static bool kv_mr_alloc(struct kv_rig *rig, struct kv_mr *m, unsigned int num)
{
	memset(m, 0, sizeof(*m));
	return KV_EXPECT(!kv_pages_alloc(m, num)) &&
	       KV_EXPECT(ib_dma_map_sg(rig->dev, m->sg, num, DMA_BIDIRECTIONAL) == num) &&
	       KV_EXPECT(!IS_ERR(m->mr = ib_alloc_mr(rig->pd, IB_MR_TYPE_MEM_REG, num)));
}

/* Take @num pages from @first on, the first @offset bytes left out. */
static bool kv_mr_map(struct kv_mr *m, unsigned int first, unsigned int num, unsigned int offset)
{
	return KV_EXPECT(ib_map_mr_sg(m->mr, m->sg + first, num, &offset, PAGE_SIZE) == num);
}

static bool kv_pages_same(struct kv_mr *m, size_t off, size_t len, u8 seed)
{
	size_t i;
	u8 *page;

	for (i = 0; i < len; i++) {
		page = sg_virt(&m->sg[(off + i) / PAGE_SIZE]);
		if (page[(off + i) % PAGE_SIZE] != (u8)(i * 7 + (i >> 8) + seed)) {
			kv_say("# byte %zu of %zu\n", i, len);
			return false;
		}
	}
	return true;
}

static int kv_post_reg(struct kv_rig *rig, int side, struct kv_wr *wr, struct kv_mr *m)
{
	struct ib_reg_wr reg = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = m->mr,
		.key = m->mr->rkey,
		.access = KV_REMOTE,
	};

	return kv_post(rig, side, wr, &reg.wr);
}

static int kv_post_inv(struct kv_rig *rig, int side, struct kv_wr *wr, u32 key)
{
	struct ib_send_wr inv = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = key,
	};

	return kv_post(rig, side, wr, &inv);
}

static bool kv_reg(struct kv_rig *rig, int side, struct kv_mr *m)
{
	struct kv_wr wr;

	return KV_EXPECT(!kv_post_reg(rig, side, &wr, m)) && kv_wait(rig, &wr, IB_WC_SUCCESS) &&
	       KV_EXPECT(wr.wc.opcode == IB_WC_REG_MR);
}

static bool kv_inv(struct kv_rig *rig, int side, u32 key)
{
	struct kv_wr wr;

	return KV_EXPECT(!kv_post_inv(rig, side, &wr, key)) && kv_wait(rig, &wr, IB_WC_SUCCESS) &&
	       KV_EXPECT(wr.wc.opcode == IB_WC_LOCAL_INV);
}

/* Side 0 writes to the memory of a key. */
static bool kv_write(struct kv_rig *rig, u64 raddr, u32 rkey, size_t len, u8 seed,
		     enum ib_wc_status status)
{
	struct ib_sge sge = kv_sge(rig, 0, 0, len);
	struct kv_wr wr;

	kv_fill(rig->end[0].buf, len, seed);
	return KV_EXPECT(!kv_rdma(rig, &wr, IB_WR_RDMA_WRITE, &sge, 1, raddr, rkey)) &&
	       kv_wait(rig, &wr, status);
}

static bool kv_read(struct kv_rig *rig, u64 raddr, u32 rkey, size_t len, u8 seed)
{
	struct ib_sge sge = kv_sge(rig, 0, 0, len);
	struct kv_wr wr;

	memset(rig->end[0].buf, 0, len);
	return KV_EXPECT(!kv_rdma(rig, &wr, IB_WR_RDMA_READ, &sge, 1, raddr, rkey)) &&
	       kv_wait(rig, &wr, IB_WC_SUCCESS) && KV_EXPECT(kv_same(rig->end[0].buf, len, seed));
}

static bool kv_can_reg(struct ib_device *dev)
{
	return dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS;
}

/* A registered region can be accessed; an invalidated one can't. */
static bool kv_test_reg(struct kv_rig *rig)
{
	const size_t len = 16 * PAGE_SIZE - 100;
	struct kv_mr m;
	bool ok;

	ok = kv_mr_alloc(rig, &m, 16) && kv_mr_map(&m, 0, 16, 100) &&
	     KV_EXPECT(m.mr->length == len) && kv_reg(rig, 1, &m) &&
	     kv_write(rig, m.mr->iova, m.mr->rkey, len, 1, IB_WC_SUCCESS) &&
	     KV_EXPECT(kv_pages_same(&m, 100, len, 1)) &&
	     kv_read(rig, m.mr->iova, m.mr->rkey, len, 1) && kv_inv(rig, 1, m.mr->rkey) &&
	     kv_write(rig, m.mr->iova, m.mr->rkey, 8, 2, IB_WC_REM_ACCESS_ERR) &&
	     KV_EXPECT(kv_pages_same(&m, 100, len, 1));
	kv_mr_free(rig, &m);
	return ok;
}

/* Registered again with other pages and another key; the old key is invalid. */
static bool kv_test_rereg(struct kv_rig *rig)
{
	struct kv_mr m;
	bool ok = kv_mr_alloc(rig, &m, 6);
	u32 old = 0;
	int i;

	for (i = 0; ok && i < 3; i++) {
		old = m.mr->rkey;
		ok = kv_mr_map(&m, 2 * i, 2, 0) && kv_reg(rig, 1, &m) &&
		     kv_write(rig, m.mr->iova, old, 2 * PAGE_SIZE, i, IB_WC_SUCCESS) &&
		     KV_EXPECT(kv_pages_same(&m, 2 * i * PAGE_SIZE, 2 * PAGE_SIZE, i)) &&
		     kv_inv(rig, 1, old);
		if (ok)
			ib_update_fast_reg_key(m.mr, ib_inc_rkey(old));
		ok = ok && KV_EXPECT(m.mr->rkey != old && m.mr->lkey == m.mr->rkey);
	}
	ok = ok && kv_reg(rig, 1, &m) && kv_write(rig, m.mr->iova, old, 8, 9, IB_WC_REM_ACCESS_ERR);
	kv_mr_free(rig, &m);
	return ok;
}

/* More pages than a page of the table has room for */
static bool kv_test_big(struct kv_rig *rig)
{
	static const unsigned int places[] = {0, 1, 255, 510, 511, 512, 600};
	unsigned int i, num = 602;
	struct kv_mr m;
	size_t off;
	bool ok;

	if (rig->dev->attrs.max_fast_reg_page_list_len < num)
		return true;

	ok = kv_mr_alloc(rig, &m, num) && kv_mr_map(&m, 0, num, 0) && kv_reg(rig, 1, &m);
	for (i = 0; ok && i < ARRAY_SIZE(places); i++) {
		off = places[i] * PAGE_SIZE + 100;
		ok = kv_write(rig, m.mr->iova + off, m.mr->rkey, PAGE_SIZE, i, IB_WC_SUCCESS) &&
		     KV_EXPECT(kv_pages_same(&m, off, PAGE_SIZE, i)) &&
		     kv_read(rig, m.mr->iova + off, m.mr->rkey, PAGE_SIZE, i);
	}
	/* the same region with few pages again */
	ok = ok && kv_inv(rig, 1, m.mr->rkey) && kv_mr_map(&m, 600, 1, 0) && kv_reg(rig, 1, &m) &&
	     kv_write(rig, m.mr->iova, m.mr->rkey, PAGE_SIZE, 77, IB_WC_SUCCESS) &&
	     KV_EXPECT(kv_pages_same(&m, 600 * PAGE_SIZE, PAGE_SIZE, 77)) &&
	     kv_write(rig, m.mr->iova + 8, m.mr->rkey, PAGE_SIZE, 78, IB_WC_REM_ACCESS_ERR);
	kv_mr_free(rig, &m);
	return ok;
}

/* Register, read into the region, invalidate: posted as one list. */
static bool kv_test_chain(struct kv_rig *rig)
{
	struct ib_reg_wr reg = {.wr.opcode = IB_WR_REG_MR, .access = IB_ACCESS_LOCAL_WRITE};
	struct ib_rdma_wr read = {
		.wr.opcode = IB_WR_RDMA_READ,
		.wr.num_sge = 1,
		.remote_addr = rig->end[1].dma,
		.rkey = rig->pd->unsafe_global_rkey,
	};
	struct ib_send_wr inv = {.opcode = IB_WR_LOCAL_INV};
	struct ib_sge sge;
	struct kv_mr m;
	struct kv_wr wr;
	bool ok;
	int i;

	ok = kv_mr_alloc(rig, &m, 8) && kv_mr_map(&m, 0, 8, 0);
	for (i = 0; ok && i < 50; i++) {
		kv_fill(rig->end[1].buf, 8 * PAGE_SIZE, i);
		reg.mr = m.mr;
		reg.key = m.mr->lkey;
		reg.wr.next = &read.wr;
		sge = (struct ib_sge){.addr = m.mr->iova, .length = m.mr->length, .lkey = reg.key};
		read.wr.sg_list = &sge;
		read.wr.next = &inv;
		inv.ex.invalidate_rkey = reg.key;
		inv.wr_cqe = &wr.cqe;
		inv.send_flags = IB_SEND_SIGNALED;
		kv_wr_init(&wr);
		ok = KV_EXPECT(!ib_post_send(rig->end[0].qp, &reg.wr, NULL)) &&
		     kv_wait(rig, &wr, IB_WC_SUCCESS) &&
		     KV_EXPECT(wr.wc.opcode == IB_WC_LOCAL_INV) &&
		     KV_EXPECT(kv_pages_same(&m, 0, 8 * PAGE_SIZE, i));
		if (ok)
			ib_update_fast_reg_key(m.mr, ib_inc_rkey(m.mr->lkey));
	}
	kv_mr_free(rig, &m);
	return ok;
}

static bool kv_test_send_inv(struct kv_rig *rig)
{
	struct ib_sge sge = kv_sge(rig, 0, 0, 1000);
	struct ib_send_wr send = {
		.opcode = IB_WR_SEND_WITH_INV,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct kv_wr wr, recv;
	struct kv_mr m;
	bool ok;

	kv_fill(rig->end[0].buf, 1000, 1);
	ok = kv_mr_alloc(rig, &m, 2) && kv_mr_map(&m, 0, 2, 0) && kv_reg(rig, 1, &m) &&
	     KV_EXPECT(!kv_recv(rig, &recv, 0, KV_BUF));
	if (ok)
		send.ex.invalidate_rkey = m.mr->rkey;
	ok = ok && KV_EXPECT(!kv_post(rig, 0, &wr, &send)) && kv_wait(rig, &wr, IB_WC_SUCCESS) &&
	     kv_wait(rig, &recv, IB_WC_SUCCESS) && KV_EXPECT(wr.wc.opcode == IB_WC_SEND) &&
	     KV_EXPECT(recv.wc.opcode == IB_WC_RECV) && KV_EXPECT(recv.wc.byte_len == 1000) &&
	     KV_EXPECT(recv.wc.wc_flags & IB_WC_WITH_INVALIDATE) &&
	     KV_EXPECT(!(recv.wc.wc_flags & IB_WC_WITH_IMM)) &&
	     KV_EXPECT(recv.wc.ex.invalidate_rkey == m.mr->rkey) &&
	     KV_EXPECT(kv_same(rig->end[1].buf, 1000, 1)) &&
	     /* it can be registered again at once */
	     kv_reg(rig, 1, &m) && kv_write(rig, m.mr->iova, m.mr->rkey, 100, 2, IB_WC_SUCCESS) &&
	     kv_inv(rig, 1, m.mr->rkey) &&
	     kv_write(rig, m.mr->iova, m.mr->rkey, 8, 2, IB_WC_REM_ACCESS_ERR);
	kv_mr_free(rig, &m);
	return ok;
}

/* A region that is registered can't be registered again before it is invalidated. */
static bool kv_test_reg_twice(struct kv_rig *rig)
{
	struct kv_mr m;
	struct kv_wr wr;
	bool ok;

	ok = kv_mr_alloc(rig, &m, 2) && kv_mr_map(&m, 0, 2, 0) && kv_reg(rig, 1, &m) &&
	     KV_EXPECT(!kv_post_reg(rig, 1, &wr, &m)) && kv_wait(rig, &wr, IB_WC_MW_BIND_ERR);
	kv_mr_free(rig, &m);
	return ok;
}

static bool kv_test_reg_refused(struct kv_rig *rig)
{
	u32 max = rig->dev->attrs.max_fast_reg_page_list_len;
	struct kv_mr m;
	struct kv_wr wr;
	bool ok;

	ok = kv_mr_alloc(rig, &m, 2) &&
	     /* nothing is mapped yet */
	     KV_EXPECT(kv_post_reg(rig, 1, &wr, &m) == -EINVAL) &&
	     KV_EXPECT(ib_map_mr_sg(m.mr, m.sg, 2, NULL, 1000) == -EINVAL) &&
	     KV_EXPECT(ib_map_mr_sg(m.mr, m.sg, 2, NULL, 512) == -EINVAL) &&
	     KV_EXPECT(IS_ERR(ib_alloc_mr(rig->pd, IB_MR_TYPE_MEM_REG, 0))) &&
	     KV_EXPECT(IS_ERR(ib_alloc_mr(rig->pd, IB_MR_TYPE_MEM_REG, max + 1))) &&
	     KV_EXPECT(PTR_ERR(ib_alloc_mr(rig->pd, IB_MR_TYPE_SG_GAPS, 4)) == -EOPNOTSUPP) &&
	     KV_EXPECT(PTR_ERR(ib_alloc_mr_integrity(rig->pd, 4, 4)) == -EOPNOTSUPP);
	kv_mr_free(rig, &m);
	return ok;
}

/* In error, local operations are flushed and not executed. */
static bool kv_test_flush(struct kv_rig *rig)
{
	struct kv_mr m, n;
	struct kv_wr reg, inv;
	bool ok;

	memset(&n, 0, sizeof(n));
	ok = kv_mr_alloc(rig, &m, 2) && kv_mr_alloc(rig, &n, 2) && kv_mr_map(&m, 0, 2, 0) &&
	     kv_mr_map(&n, 0, 2, 0) && kv_reg(rig, 1, &m);
	if (ok) {
		ib_drain_qp(rig->end[0].qp);
		ok = KV_EXPECT(!kv_post_inv(rig, 0, &inv, m.mr->rkey)) &&
		     KV_EXPECT(!kv_post_reg(rig, 0, &reg, &n)) &&
		     kv_wait(rig, &inv, IB_WC_WR_FLUSH_ERR) &&
		     kv_wait(rig, &reg, IB_WC_WR_FLUSH_ERR) &&
		     /* both are unchanged */
		     kv_reg(rig, 1, &n) && kv_inv(rig, 1, n.mr->rkey) && kv_inv(rig, 1, m.mr->rkey);
	}
	kv_mr_free(rig, &n);
	kv_mr_free(rig, &m);
	return ok;
}

/* Atomics: the PD's key for all memory does not grant them, so they go to a registered page. */

static bool kv_can_atomic(struct ib_device *dev)
{
	return kv_can_reg(dev) && dev->attrs.atomic_cap != IB_ATOMIC_NONE;
}

static bool kv_can_masked_atomic(struct ib_device *dev)
{
	return kv_can_reg(dev) && dev->attrs.masked_atomic_cap != IB_ATOMIC_NONE;
}

/* An atomic on a word of side 1, of which the old and the new value are checked */
static bool kv_atomic(struct kv_rig *rig, struct kv_mr *m, struct ib_atomic_wr *atomic,
		      enum ib_wc_opcode opcode, u64 before, u64 after)
{
	struct ib_sge sge = kv_sge(rig, 0, 64, 8);
	u64 *result = (u64 *)(rig->end[0].buf + 64);
	u64 *word = sg_virt(m->sg);
	struct kv_wr wr;

	*result = 0;
	*word = before;
	atomic->wr.sg_list = &sge;
	atomic->wr.num_sge = 1;
	atomic->remote_addr = m->mr->iova;
	atomic->rkey = m->mr->rkey;
	return KV_EXPECT(!kv_post(rig, 0, &wr, &atomic->wr)) && kv_wait(rig, &wr, IB_WC_SUCCESS) &&
	       KV_EXPECT(wr.wc.opcode == opcode) && KV_EXPECT(READ_ONCE(*result) == before) &&
	       KV_EXPECT(READ_ONCE(*word) == after);
}

static bool kv_test_atomic(struct kv_rig *rig)
{
	struct ib_atomic_wr cas = {
		.wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP,
		.compare_add = 0x1122334455667788,
		.swap = 0xaabbccddeeff0011,
	};
	struct ib_atomic_wr add = {
		.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD,
		.compare_add = 0x100000001,
	};
	struct kv_mr m;
	bool ok;

	ok = kv_mr_alloc(rig, &m, 1) && kv_mr_map(&m, 0, 1, 0) && kv_reg(rig, 1, &m) &&
	     kv_atomic(rig, &m, &cas, IB_WC_COMP_SWAP, 0x1122334455667788, 0xaabbccddeeff0011) &&
	     kv_atomic(rig, &m, &cas, IB_WC_COMP_SWAP, 0x1122334455667789, 0x1122334455667789) &&
	     kv_atomic(rig, &m, &add, IB_WC_FETCH_ADD, 0x00000000ffffffff, 0x0000000200000000) &&
	     kv_atomic(rig, &m, &add, IB_WC_FETCH_ADD, U64_MAX, 0x100000000);
	kv_mr_free(rig, &m);
	return ok;
}

static bool kv_test_masked_atomic(struct kv_rig *rig)
{
	struct ib_atomic_wr cas = {
		.wr.opcode = IB_WR_MASKED_ATOMIC_CMP_AND_SWP,
		.compare_add = 0x88,
		.compare_add_mask = 0xff,
		.swap = 0xab00000000000000,
		.swap_mask = 0xff00000000000000,
	};
	struct ib_atomic_wr add = {
		.wr.opcode = IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,
		.compare_add = 0x0000000100000001,
		.compare_add_mask = 0x8000000080000000,
	};
	struct kv_mr m;
	bool ok;

	ok = kv_mr_alloc(rig, &m, 1) && kv_mr_map(&m, 0, 1, 0) && kv_reg(rig, 1, &m) &&
	     kv_atomic(rig, &m, &cas, IB_WC_MASKED_COMP_SWAP, 0x1122334455667788,
		       0xab22334455667788) &&
	     kv_atomic(rig, &m, &cas, IB_WC_MASKED_COMP_SWAP, 0x1122334455667789,
		       0x1122334455667789) &&
	     kv_atomic(rig, &m, &add, IB_WC_MASKED_FETCH_ADD, 0x00000001ffffffff,
		       0x0000000200000000);
	kv_mr_free(rig, &m);
	return ok;
}

static bool kv_can_atomic_write(struct ib_device *dev)
{
	return dev->attrs.device_cap_flags & IB_DEVICE_ATOMIC_WRITE;
}

static bool kv_test_atomic_write(struct kv_rig *rig)
{
	struct ib_sge sge = kv_sge(rig, 0, 0, 8);
	u64 *word = (u64 *)rig->end[1].buf;
	struct kv_wr wr;

	*(u64 *)rig->end[0].buf = 0x1122334455667788;
	word[0] = 1;
	word[1] = 2;
	return KV_EXPECT(!kv_send(rig, &wr, IB_WR_ATOMIC_WRITE, 0, &sge, 1, 0)) &&
	       kv_wait(rig, &wr, IB_WC_SUCCESS) && KV_EXPECT(wr.wc.opcode == IB_WC_ATOMIC_WRITE) &&
	       KV_EXPECT(READ_ONCE(word[0]) == 0x1122334455667788) && KV_EXPECT(word[1] == 2);
}

const struct kv_test kv_mem_tests[] = {
	{.name = "fast registration", .fn = kv_test_reg, .can = kv_can_reg},
	{.name = "registered again and again", .fn = kv_test_rereg, .can = kv_can_reg},
	{.name = "many pages", .fn = kv_test_big, .can = kv_can_reg},
	{.name = "register, use, invalidate in one go", .fn = kv_test_chain, .can = kv_can_reg},
	{.name = "send with invalidate", .fn = kv_test_send_inv, .can = kv_can_reg},
	{.name = "registered twice", .fn = kv_test_reg_twice, .can = kv_can_reg},
	{.name = "refused registrations", .fn = kv_test_reg_refused, .can = kv_can_reg},
	{.name = "local operations flushed", .fn = kv_test_flush, .can = kv_can_reg},
	{.name = "atomics", .fn = kv_test_atomic, .can = kv_can_atomic},
	{.name = "masked atomics", .fn = kv_test_masked_atomic, .can = kv_can_masked_atomic},
	{.name = "atomic write", .fn = kv_test_atomic_write, .can = kv_can_atomic_write},
};

const unsigned int kv_num_mem_tests = ARRAY_SIZE(kv_mem_tests);
