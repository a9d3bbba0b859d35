// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: buffers of the kernel's own queues.
 */

#include <linux/dma-mapping.h>

#include "buf.h"
#include "ohca.h"

int ohca_buf_alloc(struct ohca_dev *dev, size_t size, struct ohca_buf *buf)
{
	buf->size = PAGE_ALIGN(size);
	buf->va = dma_alloc_coherent(ohca_dmadev(dev), buf->size, &buf->dma,
				     GFP_KERNEL | __GFP_NOWARN);
	return buf->va ? 0 : -ENOMEM;
}

void ohca_buf_free(struct ohca_dev *dev, struct ohca_buf *buf)
{
	if (!buf->va)
		return;
	dma_free_coherent(ohca_dmadev(dev), buf->size, buf->va, buf->dma);
	buf->va = NULL;
}
