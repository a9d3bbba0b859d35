/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: buffers of the kernel's own queues, and functions for all rings.
 */

#ifndef _OHCA_BUF_H
#define _OHCA_BUF_H

#include <linux/types.h>

struct ohca_dev;

#define OHCA_REC_ALIGN 64 /* alignment of the queues' records */

/**
 * struct ohca_buf - DMA-coherent memory of a queue: its rings and records
 * @va: kernel address, zeroed by ohca_buf_alloc()
 * @dma: DMA address, contiguous
 * @size: bytes, a multiple of the page size
 */
struct ohca_buf {
	void *va;
	dma_addr_t dma;
	size_t size;
};

/**
 * ohca_buf_alloc() - allocate a buffer
 * @dev: device
 * @size: bytes needed
 * @buf: result
 *
 * Return: 0 or -ENOMEM
 */
int ohca_buf_alloc(struct ohca_dev *dev, size_t size, struct ohca_buf *buf);

/**
 * ohca_buf_free() - free a buffer
 * @dev: device, which does not use the buffer any more
 * @buf: buffer; nothing is done if it was not allocated (@buf->va is NULL)
 */
void ohca_buf_free(struct ohca_dev *dev, struct ohca_buf *buf);

/**
 * ohca_ring_off() - offset of an entry in its ring
 * @idx: free-running index
 * @log_size: log2 of the number of entries
 * @log_stride: log2 of the bytes of an entry
 *
 * Return: bytes from the start of the ring
 */
static inline size_t ohca_ring_off(u32 idx, u8 log_size, u8 log_stride)
{
	return (size_t)(idx & ((1U << log_size) - 1)) << log_stride;
}

/**
 * ohca_ring_valid() - whether the device has written an entry of a ring in this pass
 * @owner: the entry's owner field, read with READ_ONCE(); dma_rmb() follows before the rest is read
 * @idx: free-running index of the entry
 * @log_size: log2 of the number of entries
 *
 * Return: true if so
 */
static inline bool ohca_ring_valid(u8 owner, u32 idx, u8 log_size)
{
	return (owner & 1) != ((idx >> log_size) & 1);
}

/**
 * ohca_user_range() - whether a range is inside of a user's buffer, and aligned
 * @offset: bytes from the start of the buffer
 * @size: bytes
 * @align: alignment of @offset, a power of two
 * @buf_size: bytes of the buffer
 *
 * Return: true if so
 */
static inline bool ohca_user_range(u32 offset, u64 size, u32 align, u64 buf_size)
{
	return !(offset & (align - 1)) && offset <= buf_size && size <= buf_size - offset;
}

#endif /* _OHCA_BUF_H */
