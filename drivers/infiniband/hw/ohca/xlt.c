// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: translation tables.
 *
 * A table is built from its leaves up.  Its pages are written first and mapped then: the device
 * only reads them.
 */

#include <linux/bits.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>

#include "buf.h"
#include "ohca.h"
#include "umem.h"
#include "xlt.h"

/*
 * Pages of up to 4 GiB: the offset in the first page has 32 bits, and would be cut in a larger one.
 */
#define OHCA_XLT_PAGE_SIZES GENMASK_ULL(32, OHCA_XLT_PAGE_SHIFT)

/* A page of a table, which may be smaller than this kernel's; kmalloc() aligns it to its size. */
#define OHCA_XLT_TABLE_SIZE (OHCA_XLT_FANOUT * sizeof(__le64))

/* Add a zeroed page to the table; the caller fills it, then ohca_xlt_map() it. */
static __le64 *ohca_xlt_grow(struct ohca_xlt_desc *x)
{
	__le64 *va = kzalloc(OHCA_XLT_TABLE_SIZE, GFP_KERNEL);

	if (va)
		x->tables[x->ntables++].va = va;
	return va;
}

static int ohca_xlt_map(struct ohca_dev *dev, struct ohca_xlt_page *table)
{
	table->dma =
		dma_map_single(ohca_dmadev(dev), table->va, OHCA_XLT_TABLE_SIZE, DMA_TO_DEVICE);
	return dma_mapping_error(ohca_dmadev(dev), table->dma) ? -ENOMEM : 0;
}

void ohca_xlt_release(struct ohca_dev *dev, struct ohca_xlt_desc *x)
{
	struct ohca_xlt_page *table;
	u32 i;

	for (i = 0; i < x->ntables; i++) {
		table = &x->tables[i];
		if (i < x->nmapped)
			dma_unmap_single(ohca_dmadev(dev), table->dma, OHCA_XLT_TABLE_SIZE,
					 DMA_TO_DEVICE);
		kfree(table->va);
	}
	kvfree(x->tables);
	x->tables = NULL;
	x->ntables = 0;
	x->nmapped = 0;
}

/*
 * Map the pages of the table from @first on, and put all their addresses in pages above, up to
 * the root.
 */
static int ohca_xlt_build_up(struct ohca_dev *dev, struct ohca_xlt_desc *x)
{
	u32 first = 0, end = x->ntables, i;
	__le64 *va = NULL;

	for (;;) {
		for (i = first; i < end; i++) {
			if (ohca_xlt_map(dev, &x->tables[i]))
				return -ENOMEM;
			x->nmapped++;
		}
		x->wire.levels++;
		if (end - first == 1)
			break;

		for (i = first; i < end; i++) {
			if ((i - first) % OHCA_XLT_FANOUT == 0)
				va = ohca_xlt_grow(x);
			if (!va)
				return -ENOMEM;
			va[(i - first) % OHCA_XLT_FANOUT] = cpu_to_le64(x->tables[i].dma);
		}
		first = end;
		end = x->ntables;
	}
	x->wire.addr = cpu_to_le64(x->tables[first].dma);
	return 0;
}

/* Number of pages of a table, all levels */
static u32 ohca_xlt_ntables(u32 npages)
{
	u32 sum = 0;

	do {
		npages = DIV_ROUND_UP(npages, OHCA_XLT_FANOUT);
		sum += npages;
	} while (npages > 1);
	return sum;
}

/*
 * Begin: fill in the description, and allocate a table if there are several pages.  The leaves are
 * filled next.
 */
static int ohca_xlt_begin(struct ohca_xlt_desc *x, size_t npages, u8 page_shift, u32 offset)
{
	memset(x, 0, sizeof(*x));
	if (npages > OHCA_XLT_MAX_PAGES)
		return -E2BIG;
	if (npages > 1) {
		x->tables = kvcalloc(ohca_xlt_ntables(npages), sizeof(*x->tables), GFP_KERNEL);
		if (!x->tables)
			return -ENOMEM;
	}
	x->wire.npages = cpu_to_le32(npages);
	x->wire.offset = cpu_to_le32(offset);
	x->wire.page_shift = page_shift;
	return 0;
}

/* Add page number @i, in order. */
static int ohca_xlt_add(struct ohca_xlt_desc *x, u32 i, dma_addr_t addr)
{
	if (!x->tables) {
		x->wire.addr = cpu_to_le64(addr);
		return 0;
	}
	if (i % OHCA_XLT_FANOUT == 0) {
		cond_resched();
		if (!ohca_xlt_grow(x))
			return -ENOMEM;
	}
	x->tables[x->ntables - 1].va[i % OHCA_XLT_FANOUT] = cpu_to_le64(addr);
	return 0;
}

/* End, after the last ohca_xlt_add(). */
static int ohca_xlt_end(struct ohca_dev *dev, struct ohca_xlt_desc *x, int err)
{
	if (!err && x->tables)
		err = ohca_xlt_build_up(dev, x);
	if (err)
		ohca_xlt_release(dev, x);
	return err;
}

int ohca_xlt_from_umem(struct ohca_dev *dev, struct ib_umem *umem, u64 iova,
		       struct ohca_xlt_desc *x)
{
	struct ib_block_iter biter;
	unsigned long pgsz;
	u32 i = 0;
	int err;

	pgsz = ib_umem_find_best_pgsz(umem, dev->attr.page_size_cap & OHCA_XLT_PAGE_SIZES, iova);
	if (!pgsz)
		return -EINVAL;

	err = ohca_xlt_begin(x, ib_umem_num_dma_blocks(umem, pgsz), __ffs(pgsz), iova & (pgsz - 1));
	if (err)
		return err;

	rdma_umem_for_each_dma_block(umem, &biter, pgsz) {
		err = ohca_xlt_add(x, i++, rdma_block_iter_dma_address(&biter));
		if (err)
			break;
	}
	return ohca_xlt_end(dev, x, err);
}

int ohca_xlt_from_buf(struct ohca_dev *dev, const struct ohca_buf *buf, struct ohca_xlt_desc *x)
{
	u64 sizes = dev->attr.page_size_cap & OHCA_XLT_PAGE_SIZES;
	u32 i, npages;
	u8 shift;
	int err;

	/* The largest page size that the device has and that the buffer is a multiple of */
	sizes &= GENMASK_ULL(__ffs64(buf->dma | buf->size), 0);
	shift = __fls(sizes);
	npages = buf->size >> shift;

	err = ohca_xlt_begin(x, npages, shift, 0);
	if (err)
		return err;
	for (i = 0; i < npages && !err; i++)
		err = ohca_xlt_add(x, i, buf->dma + ((dma_addr_t)i << shift));
	return ohca_xlt_end(dev, x, err);
}

/* Describe a part of a page. */
static int ohca_xlt_from_page(struct ohca_dev *dev, const struct ohca_umem *umem,
			      struct ohca_xlt_desc *x)
{
	int err;

	err = ohca_xlt_begin(x, 1, PAGE_SHIFT, umem->offset);
	if (!err)
		err = ohca_xlt_add(x, 0, sg_dma_address(umem->ib->sgt_append.sgt.sgl));
	return ohca_xlt_end(dev, x, err);
}

int ohca_xlt_from_queue(struct ohca_dev *dev, const struct ohca_umem *umem,
			const struct ohca_buf *buf, struct ohca_xlt_desc *x)
{
	if (!umem->ib)
		return ohca_xlt_from_buf(dev, buf, x);
	if (umem->page)
		return ohca_xlt_from_page(dev, umem, x);
	return ohca_xlt_from_umem(dev, umem->ib, umem->ib->address, x);
}

/* Lists */

int ohca_xlt_list_alloc(struct ohca_dev *dev, struct ohca_xlt_list *list, u32 max)
{
	u32 i, nleaves = DIV_ROUND_UP(max, OHCA_XLT_FANOUT);
	__le64 *root;
	int err;

	err = ohca_buf_alloc(dev, (nleaves + (nleaves > 1)) * OHCA_XLT_TABLE_SIZE, &list->buf);
	if (err)
		return err;

	list->max = max;
	list->npages = 0;
	root = list->buf.va + nleaves * OHCA_XLT_TABLE_SIZE;
	for (i = 0; nleaves > 1 && i < nleaves; i++)
		root[i] = cpu_to_le64(list->buf.dma + i * OHCA_XLT_TABLE_SIZE);
	return 0;
}

void ohca_xlt_list_free(struct ohca_dev *dev, struct ohca_xlt_list *list)
{
	ohca_buf_free(dev, &list->buf);
}

int ohca_xlt_list_add(struct ohca_xlt_list *list, u64 addr)
{
	__le64 *leaves = list->buf.va;

	if (list->npages >= list->max)
		return -ENOMEM;

	leaves[list->npages++] = cpu_to_le64(addr);
	return 0;
}

void ohca_xlt_list_wire(const struct ohca_xlt_list *list, u8 page_shift, u32 offset,
			struct ohca_xlt *wire)
{
	const __le64 *leaves = list->buf.va;
	u32 nleaves = DIV_ROUND_UP(list->max, OHCA_XLT_FANOUT);

	*wire = (struct ohca_xlt){
		.npages = cpu_to_le32(list->npages),
		.offset = cpu_to_le32(offset),
		.page_shift = page_shift,
	};
	if (list->npages == 1) {
		wire->addr = leaves[0];
	} else if (list->npages <= OHCA_XLT_FANOUT) {
		wire->levels = 1;
		wire->addr = cpu_to_le64(list->buf.dma);
	} else {
		wire->levels = 2;
		wire->addr = cpu_to_le64(list->buf.dma + nleaves * OHCA_XLT_TABLE_SIZE);
	}
}
