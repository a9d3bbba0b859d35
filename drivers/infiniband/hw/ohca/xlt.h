/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: translation tables, host memory as the device is told of it.
 */

#ifndef _OHCA_XLT_H
#define _OHCA_XLT_H

#include <linux/types.h>

#include <ohca/ohca_cmd.h>

struct ib_umem;
struct ohca_buf;
struct ohca_dev;

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
 * @wire: what the command says
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
 * @iova: address of its first byte as the device shall know it; its user address for a queue's
 *	buffer
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
 * ohca_xlt_release() - free the table (not the memory that it describes)
 * @dev: device
 * @x: translation
 */
void ohca_xlt_release(struct ohca_dev *dev, struct ohca_xlt_desc *x);

#endif /* _OHCA_XLT_H */
