// SPDX-License-Identifier: GPL-2.0
/* Guest memory: regions sorted by address, mapped from the descriptors that came with them. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "base/list.h"
#include "base/loop.h"
#include "base/minmax.h"
#include "vfio/dma.h"
#include "vfio/mem_file.h"
#include "vfio/sigbus.h"

#define MAX_REGIONS 4096

/*
 * Bytes unmapped at a time, whole pages: at first, and at least; twice as much when that took less
 * than STEP_SHORT, ns, half after STEP_LONG.  Memory that is used may follow much that is not, so there is
 * a limit: STEP_MAX takes some tens of microseconds.
 */
#define STEP 0x10000ULL
#define STEP_MAX 0x200000ULL
#define STEP_SHORT 1000
#define STEP_LONG 4000

/**
 * struct old_map - a mapping that is to be unmapped, from its beginning
 * @step: bytes to unmap next
 * @step_min: at least: STEP, or a page if that is larger
 */
struct old_map {
	struct list link;
	uint8_t *va;
	uint64_t size;
	uint64_t step, step_min;
};

static struct list old_maps = {&old_maps, &old_maps};

void dma_map_init(struct dma_map *map)
{
	memset(map, 0, sizeof(*map));
	list_init(&map->sync.link);
}

/* The bytes from @pos on, from the beginning of a page to the end of one */
static uint64_t whole_pages(uint64_t pos, uint64_t size, size_t page_size)
{
	uint64_t mask = page_size - 1;

	return ((pos & mask) + size + mask) & ~mask;
}

static void region_unmap(const struct dma_region *region)
{
	struct old_map *old;
	uint64_t size;
	uint8_t *va;

	if (!region->va)
		return;
	va = region->va - ((uintptr_t)region->va & (region->page_size - 1));
	size = whole_pages((uintptr_t)region->va, region->size, region->page_size);
	sigbus_del(va);
	old = size > STEP || dma_sync_works() ? malloc(sizeof(*old)) : NULL;
	if (!old) {
		munmap(va, size);
		return;
	}
	*old = (struct old_map){
		.va = va,
		.size = size,
		.step_min = max_of(STEP, region->page_size),
	};
	old->step = old->step_min;
	list_add_tail(&old_maps, &old->link);
}

static void unmap_step(struct old_map *old, uint64_t *now)
{
	uint64_t size = min_of(old->step, old->size), start = *now;

	munmap(old->va, size);
	*now = loop_clock();
	if (size == old->size) {
		list_del(&old->link);
		free(old);
		return;
	}
	old->va += size;
	old->size -= size;
	if (*now - start < STEP_SHORT && old->step < STEP_MAX)
		old->step *= 2;
	else if (*now - start > STEP_LONG && old->step > old->step_min)
		old->step /= 2;
}

bool dma_unmap_some(uint64_t ns)
{
	uint64_t start, now;

	if (list_empty(&old_maps))
		return false;
	if (dma_sync_works())
		return true;
	start = now = loop_clock();
	do
		unmap_step(list_entry(old_maps.next, struct old_map, link), &now);
	while (!list_empty(&old_maps) && now - start < ns);
	return true;
}

void dma_map_clear(struct dma_map *map)
{
	unsigned int i;

	for (i = 0; i < map->num; i++)
		region_unmap(&map->regions[i]);
	map->num = 0;
	map->last = 0;
	map->gen++;
}

void dma_map_fini(struct dma_map *map)
{
	dma_map_clear(map);
	dma_sync_forget(map);
	free(map->regions);
	map->regions = NULL;
}

/* Index of the first region that ends after @addr. */
static unsigned int find(const struct dma_map *map, uint64_t addr)
{
	unsigned int low = 0, high = map->num, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (map->regions[mid].addr + (map->regions[mid].size - 1) < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * Map the bytes [offset, offset + region->size) of the file.  A descriptor that is not a regular
 * file (a device's BAR, for example) is not mapped.  That is not an error: RDMA does not access
 * such addresses.
 */
static int region_map(struct dma_region *region, int fd, uint64_t offset)
{
	int prot = PROT_READ | (region->writable ? PROT_WRITE : 0);
	struct mem_file file;
	uint64_t in_page, size;
	uint8_t *va;
	int err;

	err = mem_file_check(fd, &file);
	if (err || !file.regular)
		return err;
	if (offset > file.size || region->size > file.size - offset)
		return -EINVAL;
	in_page = offset & (file.page_size - 1);
	size = whole_pages(offset, region->size, file.page_size);
	va = mmap(NULL, size, prot, MAP_SHARED | MAP_NORESERVE, fd, offset - in_page);
	if (va == MAP_FAILED)
		return -errno;
	err = sigbus_add(va, size, file.page_size);
	if (err) {
		munmap(va, size);
		return err;
	}
	/* Leave guest memory out of core dumps: it is large, and its content is the guest's. */
	madvise(va, size, MADV_DONTDUMP);
	region->va = va + in_page;
	region->page_size = file.page_size;
	region->on_disk = !file.in_memory;
	return 0;
}

static int make_room(struct dma_map *map, unsigned int at)
{
	struct dma_region *regions;

	if (map->num == MAX_REGIONS)
		return -ENOSPC;
	/* The array's size is a power of two, so it is full if map->num is one. */
	if (!(map->num & (map->num - 1))) {
		regions = realloc(map->regions, (map->num ? 2 * map->num : 1) * sizeof(*regions));
		if (!regions)
			return -ENOMEM;
		map->regions = regions;
	}
	memmove(&map->regions[at + 1], &map->regions[at], (map->num - at) * sizeof(*map->regions));
	map->num++;
	return 0;
}

int dma_map_add(struct dma_map *map, uint64_t addr, uint64_t size, int fd, uint64_t offset,
		bool readable, bool writable)
{
	struct dma_region region = {
		.addr = addr,
		.size = size,
		.readable = readable,
		.writable = writable,
	};
	unsigned int at;
	int err;

	if (!size || addr + (size - 1) < addr)
		return -EINVAL;
	at = find(map, addr);
	if (at < map->num && map->regions[at].addr <= addr + (size - 1))
		return -EEXIST;
	if (fd >= 0 && (readable || writable)) {
		err = region_map(&region, fd, offset);
		if (err)
			return err;
	}
	err = make_room(map, at);
	if (err) {
		region_unmap(&region);
		return err;
	}
	map->regions[at] = region;
	map->last = at;
	map->gen++;
	return 0;
}

int dma_map_del(struct dma_map *map, uint64_t addr, uint64_t size)
{
	const struct dma_region *region;
	unsigned int first, end, i;

	if (!size || addr + (size - 1) < addr)
		return -ENOENT;
	first = find(map, addr);
	if (first < map->num && map->regions[first].addr < addr)
		first++;
	for (end = first; end < map->num; end++) {
		region = &map->regions[end];
		if (region->addr + (region->size - 1) > addr + (size - 1))
			break;
	}
	if (first == end)
		return -ENOENT;
	for (i = first; i < end; i++)
		region_unmap(&map->regions[i]);
	memmove(&map->regions[first], &map->regions[end], (map->num - end) * sizeof(*map->regions));
	map->num -= end - first;
	map->last = 0;
	map->gen++;
	return 0;
}

void *dma_ptr_slow(struct dma_map *map, uint64_t addr, uint64_t len, bool write)
{
	const struct dma_region *region;
	unsigned int at = find(map, addr);
	uint64_t off;

	if (at == map->num)
		return NULL;
	region = &map->regions[at];
	off = addr - region->addr;
	if (off >= region->size || len > region->size - off || !region->va ||
	    !(write ? region->writable : region->readable))
		return NULL;
	map->last = at;
	return region->va + off;
}
