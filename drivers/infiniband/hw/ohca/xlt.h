/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: translation tables, which describe host memory to the device.
 */

#ifndef _OHCA_XLT_H
#define _OHCA_XLT_H

#include <linux/types.h>

#include <ohca/ohca_cmd.h>

#include "buf.h"

struct ib_umem;
struct ohca_dev;
struct ohca_umem;

/**
 * struct ohca_xlt_page - a page of a table
 * @va: kernel address
 * @dma: DMA address
 */
struct ohca_xlt_page {
	__le64 *va;
	dma_addr_t dma;
};

/**
 * struct ohca_xlt_desc - translation of a range of bytes, for use in one command
 * @wire: the part of the command
 * @tables: pages of the table, leaves first, the root last; NULL with level 0
 * @ntables: number of those
 * @nmapped: how many of them have a DMA address
 *
 * The device copies the table, so it is released as soon as the command has completed; the memory
 * that it describes stays in use.
 */
struct ohca_xlt_desc {
	struct ohca_xlt wire;
	struct ohca_xlt_page *tables;
	u32 ntables;
	u32 nmapped;
};

/**
 * ohca_xlt_from_umem() - describe user memory
 * @dev: device
 * @umem: pinned and DMA mapped memory
 * @iova: address of its first byte for the device
 * @x: result; released by ohca_xlt_release()
 *
 * Uses the largest pages possible.
 *
 * Return: 0, -EINVAL if no page size fits, -ENOMEM, -E2BIG for more pages than a table can hold
 */
int ohca_xlt_from_umem(struct ohca_dev *dev, struct ib_umem *umem, u64 iova,
		       struct ohca_xlt_desc *x);

/**
 * ohca_xlt_from_buf() - describe a kernel buffer
 * @dev: device
 * @buf: buffer
 * @x: result; released by ohca_xlt_release()
 *
 * Return: 0 or -ENOMEM
 */
int ohca_xlt_from_buf(struct ohca_dev *dev, const struct ohca_buf *buf, struct ohca_xlt_desc *x);

/**
 * ohca_xlt_from_queue() - describe the buffer of a queue
 * @dev: device
 * @umem: user memory, or none
 * @buf: else the kernel's buffer
 * @x: result; released by ohca_xlt_release()
 *
 * Return: as ohca_xlt_from_umem() and ohca_xlt_from_buf()
 */
int ohca_xlt_from_queue(struct ohca_dev *dev, const struct ohca_umem *umem,
			const struct ohca_buf *buf, struct ohca_xlt_desc *x);

/**
 * ohca_xlt_release() - free the table (not the memory that it describes)
 * @dev: device
 * @x: translation
 */
void ohca_xlt_release(struct ohca_dev *dev, struct ohca_xlt_desc *x);

/* Pages in a table of two levels */
#define OHCA_XLT_LIST_MAX (OHCA_XLT_FANOUT * OHCA_XLT_FANOUT)

/**
 * struct ohca_xlt_list - a table that is filled repeatedly, for work requests
 * @buf: the leaves one after the other, then the root if there can be more than one leaf
 * @max: maximum number of pages
 * @npages: number of pages in it
 *
 * The device reads the table when it executes the work request.  The list must not change until the
 * request has completed.
 */
struct ohca_xlt_list {
	struct ohca_buf buf;
	u32 max;
	u32 npages;
};

/**
 * ohca_xlt_list_alloc() - allocate an empty list
 * @dev: device
 * @list: result
 * @max: maximum number of pages, 1 to OHCA_XLT_LIST_MAX
 *
 * Return: 0 or -ENOMEM
 */
int ohca_xlt_list_alloc(struct ohca_dev *dev, struct ohca_xlt_list *list, u32 max);

/**
 * ohca_xlt_list_free() - free a list
 * @dev: device, which does not read it any more
 * @list: list; nothing is done if it was not allocated
 */
void ohca_xlt_list_free(struct ohca_dev *dev, struct ohca_xlt_list *list);

/**
 * ohca_xlt_list_add() - add a page
 * @list: list
 * @addr: DMA address of the page
 *
 * Return: 0, or -ENOMEM if the list is full
 */
int ohca_xlt_list_add(struct ohca_xlt_list *list, u64 addr);

/**
 * ohca_xlt_list_wire() - describe the pages of a list
 * @list: list, not empty
 * @page_shift: log2 of the page size
 * @offset: offset of byte 0 in the first page
 * @wire: result
 */
void ohca_xlt_list_wire(const struct ohca_xlt_list *list, u8 page_shift, u32 offset,
			struct ohca_xlt *wire);

#endif /* _OHCA_XLT_H */
