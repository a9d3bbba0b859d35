// SPDX-License-Identifier: GPL-2.0
/* A PCI function that was pulled out. */

#include <string.h>

#include "vfio/gone.h"
#include "vfio/vfio_user_state.h"

static void nothing(void *dev)
{
	(void)dev;
}

static uint64_t region_size(void *dev, unsigned int region)
{
	const struct vfio_user_state *state = dev;

	return state->region_size[region];
}

static bool region_mem(void *dev, unsigned int region, struct vfio_user_mem *mem)
{
	(void)dev;
	(void)region;
	(void)mem;
	return false;
}

static int region_read(void *dev, unsigned int region, uint64_t off, void *buf, uint32_t len)
{
	(void)dev;
	(void)region;
	(void)off;
	memset(buf, 0xff, len);
	return 0;
}

static int region_write(void *dev, unsigned int region, uint64_t off, const void *buf, uint32_t len)
{
	(void)dev;
	(void)region;
	(void)off;
	(void)buf;
	(void)len;
	return 0;
}

static unsigned int irq_count(void *dev, unsigned int irq, uint32_t *flags)
{
	const struct vfio_user_state *state = dev;

	*flags = state->irq_flags[irq];
	return state->irq_count[irq];
}

static int set_irqs(void *dev, struct vfio_user_irqs *irqs)
{
	(void)dev;
	(void)irqs;
	return 0;
}

static int dma_map(void *dev, uint64_t addr, uint64_t size, int fd, uint64_t offset, bool readable,
		   bool writable)
{
	(void)dev;
	(void)addr;
	(void)size;
	(void)fd;
	(void)offset;
	(void)readable;
	(void)writable;
	return 0;
}

static int dma_unmap(void *dev, uint64_t addr, uint64_t size)
{
	(void)dev;
	(void)addr;
	(void)size;
	return 0;
}

/* Its clients are those that there were, and each of them misbehaves once at most. */
static bool may_log(void *dev)
{
	(void)dev;
	return true;
}

const struct vfio_user_ops gone_ops = {
	.may_log = may_log,
	.connected = nothing,
	.disconnected = nothing,
	.region_size = region_size,
	.region_mem = region_mem,
	.region_read = region_read,
	.region_write = region_write,
	.irq_count = irq_count,
	.set_irqs = set_irqs,
	.reset = nothing,
	.dma_map = dma_map,
	.dma_unmap = dma_unmap,
	.dma_unmap_all = nothing,
};
