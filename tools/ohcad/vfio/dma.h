/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Guest memory as the device sees it: regions that VFIO_USER_DMA_MAP announces, mapped into this
 * process.
 */

#ifndef OHCAD_DMA_H
#define OHCAD_DMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vfio/dma_sync.h"

struct dma_region {
	uint64_t addr; /* first DMA address */
	uint64_t size;
	uint8_t *va; /* NULL: not accessible, because it was announced without a file */
	size_t page_size; /* of the file, which is mapped in whole pages */
	bool readable, writable;
	bool on_disk; /* writes do not persist before they are written back */
};

/**
 * struct dma_map - the regions of one HCA
 * @gen: changes whenever a region is added or removed.  A pointer from dma_ptr() is valid while it
 *	stays the same.
 * @last: region of the last hit
 * @sync: requests to write back the memory
 */
struct dma_map {
	struct dma_region *regions;
	unsigned int num;
	unsigned int last;
	uint64_t gen;
	struct dma_sync sync;
};

void dma_map_init(struct dma_map *map);
void dma_map_fini(struct dma_map *map);

/*
 * Add a region.  @fd (not kept; -1: none) is mapped at @offset.  Returns 0 or -errno: EINVAL for
 * wrap-around or zero size, EEXIST for an overlap, ENOSPC for too many.
 */
int dma_map_add(struct dma_map *map, uint64_t addr, uint64_t size, int fd, uint64_t offset,
		bool readable, bool writable);
/* Remove the region(s) inside [addr, addr + size).  Returns 0, or -ENOENT. */
int dma_map_del(struct dma_map *map, uint64_t addr, uint64_t size);
void dma_map_clear(struct dma_map *map);

/*
 * The device does not access a region any more once it is removed, but to unmap a large one takes this process a long
 * time: for each page of 4 KiB that was used.  So that is done here, for @ns, some in any case, but not while memory is
 * being written back.  Returns whether there was anything to do.
 */
bool dma_unmap_some(uint64_t ns);

void *dma_ptr_slow(struct dma_map *map, uint64_t addr, uint64_t len, bool write);

/*
 * The bytes [addr, addr + len) in this process, or NULL if they are not all in one region that may
 * be read (with @write: written).  This takes a few ns if the region is the same as in the last
 * call.
 */
static inline void *dma_ptr(struct dma_map *map, uint64_t addr, uint64_t len, bool write)
{
	if (map->last < map->num) {
		const struct dma_region *r = &map->regions[map->last];
		uint64_t off = addr - r->addr;

		if (off < r->size && len <= r->size - off && r->va &&
		    (write ? r->writable : r->readable))
			return r->va + off;
	}
	return dma_ptr_slow(map, addr, len, write);
}

#endif
