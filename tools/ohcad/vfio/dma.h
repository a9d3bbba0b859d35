/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Guest memory as the device sees it: regions announced by VFIO_USER_DMA_MAP, mapped into this
 * process.
 */

#ifndef OHCAD_DMA_H
#define OHCAD_DMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dma_region {
	uint64_t addr; /* first DMA address */
	uint64_t size;
	uint8_t *va; /* NULL: announced without a file descriptor, not accessible */
	bool readable, writable;
};

/**
 * struct dma_map - the regions of one HCA
 * @gen: changes whenever a region goes away or comes: pointers from dma_ptr() are good as long as
 *	it stays the same
 * @last: region of the last hit
 */
struct dma_map {
	struct dma_region *regions;
	unsigned int num;
	unsigned int last;
	uint64_t gen;
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

/* All that was written to guest memory is in the files behind it; false if one can't take it. */
bool dma_sync(struct dma_map *map);

void *dma_ptr_slow(struct dma_map *map, uint64_t addr, uint64_t len, bool write);

/*
 * The bytes [addr, addr + len) in this process, or NULL if they are not all in one accessible
 * region that can be read (written, with @write).  A few ns when it is the region of the last hit.
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
