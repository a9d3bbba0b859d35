// SPDX-License-Identifier: GPL-2.0
/*
 * Test of the kernel's verbs: a memory region in pages that are larger than its offset in the first
 * one can say.  It is of a dma-buf whose memory is at addresses that no machine has: two pages of
 * 4 KiB, one at either side of 1 TiB.  The device only looks at the description.
 */

#include <linux/dma-buf.h>
#include <linux/fcntl.h>
#include <linux/fdtable.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "kv.h"

#if KERNEL_VERSION(6, 13, 0) <= LINUX_VERSION_CODE
MODULE_IMPORT_NS("DMA_BUF");
#else
MODULE_IMPORT_NS(DMA_BUF);
#endif

#define KV_LARGE_ADDR (BIT_ULL(40) - PAGE_SIZE)
#define KV_LARGE_LEN (2 * PAGE_SIZE)

struct ib_dmah;

typedef struct ib_mr *(*kv_reg_fn)(struct ib_pd *pd, u64 offset, u64 length, u64 iova, int fd,
				   int access, struct uverbs_attr_bundle *attrs);
typedef struct ib_mr *(*kv_reg_dmah_fn)(struct ib_pd *pd, u64 offset, u64 length, u64 iova, int fd,
					int access, struct ib_dmah *dmah,
					struct uverbs_attr_bundle *attrs);

static struct sg_table *kv_large_map(struct dma_buf_attachment *attach, enum dma_data_direction dir)
{
	struct sg_table *table = kzalloc(sizeof(*table), GFP_KERNEL);

	if (!table || sg_alloc_table(table, 1, GFP_KERNEL)) {
		kfree(table);
		return ERR_PTR(-ENOMEM);
	}
	sg_set_page(table->sgl, ZERO_PAGE(0), KV_LARGE_LEN, 0);
	sg_dma_address(table->sgl) = KV_LARGE_ADDR;
	sg_dma_len(table->sgl) = KV_LARGE_LEN;
	return table;
}

static void kv_large_unmap(struct dma_buf_attachment *attach, struct sg_table *table,
			   enum dma_data_direction dir)
{
	sg_free_table(table);
	kfree(table);
}

static void kv_large_release(struct dma_buf *dmabuf)
{
}

static const struct dma_buf_ops kv_large_ops = {
	.map_dma_buf = kv_large_map,
	.unmap_dma_buf = kv_large_unmap,
	.release = kv_large_release,
};

static int kv_large_fd(void)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dmabuf;
	int fd;

	info.ops = &kv_large_ops;
	info.size = KV_LARGE_LEN;
	info.flags = O_RDWR;
	info.priv = &info;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	fd = dma_buf_fd(dmabuf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(dmabuf);
	return fd;
}

/* As ib_core does for a program; older kernels have no argument for TPH. */
static struct ib_mr *kv_large_reg(struct ib_pd *pd, int fd)
{
	void *fn = pd->device->ops.reg_user_mr_dmabuf;
	int access = IB_ACCESS_LOCAL_WRITE;

	if (__builtin_types_compatible_p(typeof(pd->device->ops.reg_user_mr_dmabuf),
					 kv_reg_dmah_fn))
		return ((kv_reg_dmah_fn)fn)(pd, 0, KV_LARGE_LEN, KV_LARGE_ADDR, fd, access, NULL,
					    NULL);
	return ((kv_reg_fn)fn)(pd, 0, KV_LARGE_LEN, KV_LARGE_ADDR, fd, access, NULL);
}

static bool kv_test_large(struct kv_rig *rig)
{
	int fd = kv_large_fd();
	struct ib_mr *mr;

	if (!KV_EXPECT(fd >= 0))
		return false;
	mr = kv_large_reg(rig->pd, fd);
	close_fd(fd);
	if (!KV_EXPECT(!IS_ERR(mr)))
		return false;
	mr->device = rig->dev;
	mr->pd = rig->pd;
	return KV_EXPECT(!rig->dev->ops.dereg_mr(mr, NULL));
}

static bool kv_can_large(struct ib_device *dev)
{
	return dev->ops.reg_user_mr_dmabuf;
}

const struct kv_test kv_large_tests[] = {
	{.name = "pages of more than 4 GiB", .fn = kv_test_large, .can = kv_can_large},
};

const unsigned int kv_num_large_tests = ARRAY_SIZE(kv_large_tests);
