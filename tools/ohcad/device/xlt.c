// SPDX-License-Identifier: GPL-2.0
/* Translation of an object's bytes to guest memory. */

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/loop.h"
#include "base/minmax.h"
#include "device/cmd.h"
#include "device/xlt.h"

#define PAGE_SHIFT_MIN 12
#define PAGE_SHIFT_MAX 40
#define MAX_SIZE (1ULL << 62) /* bytes of an object: sums of them can't wrap */
#define TABLE_SHIFT 9 /* log2 of OHCA_XLT_FANOUT */
#define HOST_PAGE ((uintptr_t)4096)

/*
 * Entries that are read between two looks at the clock, in a slice of SHORT_NS at most: they take a quarter of a page of memory,
 * so three of four such parts have no page fault.  In longer slices they are those of a table.
 */
#define SHORT_PART 128U
#define SHORT_NS 1000

/* Pages of memory that are looked for between two looks at the clock */
#define CHECKS_AT_ONCE 64

/* Entries that are freed between two looks at the clock */
#define RELEASE_PAGES (4U << 10)

/* Depth of a table for @npages pages. */
static unsigned int levels_for(uint32_t npages)
{
	unsigned int levels = 0;

	while ((1ULL << (levels * TABLE_SHIFT)) < npages)
		levels++;
	return levels;
}

static enum ohca_cmd_status check_desc(const struct ohca_xlt *desc, uint64_t size)
{
	static const uint8_t zero[sizeof(desc->rsvd)];
	uint64_t page, pages;

	if (desc->page_shift < PAGE_SHIFT_MIN || desc->page_shift > PAGE_SHIFT_MAX ||
	    memcmp(desc->rsvd, zero, sizeof(zero)))
		return OHCA_CMD_BAD_PARAM;

	page = 1ULL << desc->page_shift;
	if (!size || size > MAX_SIZE || le32toh(desc->offset) >= page)
		return OHCA_CMD_BAD_PARAM;

	pages = (le32toh(desc->offset) + size + page - 1) >> desc->page_shift;
	if (le32toh(desc->npages) != pages || pages > OHCA_XLT_MAX_PAGES ||
	    desc->levels != levels_for(pages))
		return OHCA_CMD_BAD_PARAM;
	if (le64toh(desc->addr) & (desc->levels ? (1ULL << OHCA_XLT_PAGE_SHIFT) - 1 : page - 1))
		return OHCA_CMD_BAD_PARAM;
	return OHCA_CMD_OK;
}

/* The table at @addr has an entry for each page, or each table below: where is the one that leads to page @first? */
static enum ohca_cmd_status find_leaf(struct dma_map *map, const struct ohca_xlt *desc,
				      uint32_t first, uint64_t *addr)
{
	unsigned int level;

	*addr = le64toh(desc->addr);
	for (level = desc->levels; level > 1; level--) {
		uint64_t i = first >> ((level - 1) * TABLE_SHIFT) & (OHCA_XLT_FANOUT - 1);
		const uint64_t *entry =
			dma_ptr(map, *addr + i * sizeof(*entry), sizeof(*entry), false);

		if (!entry)
			return OHCA_CMD_BAD_ADDR;
		*addr = le64toh(__atomic_load_n(entry, __ATOMIC_RELAXED));
		if (*addr & ((1ULL << OHCA_XLT_PAGE_SHIFT) - 1))
			return OHCA_CMD_BAD_PARAM;
	}
	return OHCA_CMD_OK;
}

/* Read the last table on the way to the next page: the pages that it has, up to @max of them. */
static enum ohca_cmd_status load_leaf(struct xlt *xlt, struct dma_map *map,
				      const struct ohca_xlt *desc, uint32_t max)
{
	uint32_t first = xlt->npages & (OHCA_XLT_FANOUT - 1), i;
	uint32_t left = min_of(le32toh(desc->npages) - xlt->npages, OHCA_XLT_FANOUT - first);
	uint32_t num = min_of(left, max);
	uint64_t *pages = xlt->pages + xlt->npages, addr;
	enum ohca_cmd_status status;
	const uint64_t *table;

	status = find_leaf(map, desc, xlt->npages, &addr);
	if (status)
		return status;
	table = dma_ptr(map, addr + first * sizeof(*table), num * sizeof(*table), false);
	if (!table)
		return OHCA_CMD_BAD_ADDR;
	for (i = 0; i < num; i++) {
		pages[i] = le64toh(__atomic_load_n(&table[i], __ATOMIC_RELAXED));
		if (pages[i] & ((1ULL << xlt->page_shift) - 1))
			return OHCA_CMD_BAD_PARAM;
	}
	xlt->npages += num;
	return OHCA_CMD_OK;
}

enum ohca_cmd_status xlt_reserve(struct xlt *xlt, struct quota *quota, uint32_t npages)
{
	memset(xlt, 0, sizeof(*xlt));
	if (!quota_charge(quota, npages))
		return OHCA_CMD_NO_RESOURCE;
	xlt->pages = npages > 1 ? malloc(npages * sizeof(*xlt->pages)) : &xlt->one;
	if (!xlt->pages) {
		quota_release(quota, npages);
		return OHCA_CMD_NO_RESOURCE;
	}
	xlt->room = npages;
	return OHCA_CMD_OK;
}

/* Before the pages of a description that was checked are read into the allocated entries */
static void start_loading(struct xlt *xlt, const struct ohca_xlt *desc)
{
	xlt->npages = 0;
	xlt->offset = le32toh(desc->offset);
	xlt->page_shift = desc->page_shift;
}

/* Up to @max pages of the next table, or the only page: CMD_MORE if there are further ones */
static enum ohca_cmd_status load_next(struct xlt *xlt, struct dma_map *map,
				      const struct ohca_xlt *desc, uint32_t max)
{
	enum ohca_cmd_status status;

	if (!desc->levels) {
		xlt->pages[0] = le64toh(desc->addr);
		xlt->npages = 1;
		return OHCA_CMD_OK;
	}
	status = load_leaf(xlt, map, desc, max);
	return !status && xlt->npages < le32toh(desc->npages) ? CMD_MORE : status;
}

enum ohca_cmd_status xlt_load_part(struct xlt *xlt, struct dma_map *map,
				   const struct ohca_xlt *desc, uint64_t end)
{
	uint64_t now = loop_clock();
	uint32_t max = end > now + SHORT_NS ? OHCA_XLT_FANOUT : SHORT_PART;
	enum ohca_cmd_status status;

	do
		status = load_next(xlt, map, desc, max);
	while (status == CMD_MORE && loop_clock() < end);
	return status;
}

enum ohca_cmd_status xlt_check(const struct xlt *xlt, struct dma_map *map, uint64_t off,
			       uint64_t len, uint64_t *done, uint64_t end)
{
	unsigned int num = 0;

	while (*done < len) {
		uint64_t at = off + *done;
		uint64_t part = HOST_PAGE - ((xlt->offset + at) & (HOST_PAGE - 1));

		part = min_of(part, len - *done);
		if (!xlt_ptr_in_page(xlt, map, at, part, true) ||
		    !xlt_ptr_in_page(xlt, map, at, part, false))
			return OHCA_CMD_BAD_ADDR;
		*done += part;
		if (!(++num % CHECKS_AT_ONCE) && loop_clock() >= end)
			return CMD_MORE;
	}
	return OHCA_CMD_OK;
}

enum ohca_cmd_status xlt_begin(struct xlt *xlt, struct quota *quota, const struct ohca_xlt *desc,
			       uint64_t size)
{
	enum ohca_cmd_status status = check_desc(desc, size);

	memset(xlt, 0, sizeof(*xlt));
	if (!status)
		status = xlt_reserve(xlt, quota, le32toh(desc->npages));
	if (!status)
		start_loading(xlt, desc);
	return status;
}

enum ohca_cmd_status xlt_load(struct xlt *xlt, struct quota *quota, struct dma_map *map,
			      const struct ohca_xlt *desc, uint64_t size)
{
	enum ohca_cmd_status status = xlt_begin(xlt, quota, desc, size);

	if (!status)
		status = xlt_load_part(xlt, map, desc, UINT64_MAX);
	if (status)
		xlt_free(xlt, quota);
	return status;
}

/* The pages that are there are the first ones of the description, and not all of them. */
static bool began_with(const struct xlt *xlt, const struct ohca_xlt *desc)
{
	return xlt->npages < le32toh(desc->npages) && xlt->offset == le32toh(desc->offset) &&
	       xlt->page_shift == desc->page_shift;
}

enum ohca_cmd_status xlt_reload(struct xlt *xlt, struct dma_map *map, const struct ohca_xlt *desc,
				uint64_t size, bool first)
{
	enum ohca_cmd_status status = check_desc(desc, size);

	if (!status && (le32toh(desc->npages) > xlt->room || !(first || began_with(xlt, desc))))
		status = OHCA_CMD_BAD_PARAM;
	if (!status) {
		if (first)
			start_loading(xlt, desc);
		status = load_next(xlt, map, desc, OHCA_XLT_FANOUT);
	}
	if (status && status != CMD_MORE)
		xlt->npages = 0;
	return status;
}

/* Give the memory of entries @from to @to back to the host, as far as it is whole pages. */
static void release_entries(const struct xlt *xlt, uint32_t from, uint32_t to)
{
	uintptr_t begin = ((uintptr_t)&xlt->pages[from] + HOST_PAGE - 1) & ~(HOST_PAGE - 1);
	uintptr_t end = (uintptr_t)&xlt->pages[to] & ~(HOST_PAGE - 1);

	if (begin < end)
		madvise((void *)begin, end - begin, MADV_DONTNEED);
}

/* The first entry in the same page of the host's memory as entry @i */
static uint32_t page_start(const struct xlt *xlt, uint32_t i)
{
	uintptr_t first = (uintptr_t)xlt->pages;
	uintptr_t page = (uintptr_t)&xlt->pages[i] & ~(HOST_PAGE - 1);

	return page > first ? (page - first) / sizeof(*xlt->pages) : 0;
}

bool xlt_shrink(struct xlt *xlt, struct quota *quota, uint64_t end)
{
	uint32_t keep;

	while (xlt->room > RELEASE_PAGES) {
		keep = page_start(xlt, (xlt->room - 1) / RELEASE_PAGES * RELEASE_PAGES);
		release_entries(xlt, keep, xlt->room);
		quota_release(quota, xlt->room - keep);
		xlt->room = keep;
		xlt->npages = xlt->npages < keep ? xlt->npages : keep;
		if (loop_clock() >= end)
			return false;
	}
	return true;
}

void xlt_slice(struct xlt *xlt, const struct xlt *from, uint64_t off)
{
	uint64_t pos = from->offset + off;
	uint32_t first = pos >> from->page_shift;

	xlt->pages = from->pages + first;
	xlt->offset = pos & ((1ULL << from->page_shift) - 1);
	xlt->npages = from->npages - first;
	xlt->room = 0;
	xlt->page_shift = from->page_shift;
}

void xlt_free(struct xlt *xlt, struct quota *quota)
{
	quota_release(quota, xlt->room);
	if (xlt->room && xlt->pages != &xlt->one)
		free(xlt->pages);
	memset(xlt, 0, sizeof(*xlt));
}

void xlt_move(struct xlt *to, struct xlt *from)
{
	*to = *from;
	if (from->pages == &from->one)
		to->pages = &to->one;
	memset(from, 0, sizeof(*from));
}

void *xlt_ptr(const struct xlt *xlt, struct dma_map *map, uint64_t off, uint64_t len, uint64_t *run,
	      bool write)
{
	uint64_t pos = xlt->offset + off;
	uint64_t page = 1ULL << xlt->page_shift;
	uint64_t in_page = pos & (page - 1);
	uint32_t i = pos >> xlt->page_shift;
	uint64_t first = page - in_page;
	uint64_t got = first;
	uint64_t addr;
	void *ptr;

	if (i >= xlt->npages)
		return NULL;
	addr = xlt->pages[i];
	while (got < len && i + 1 < xlt->npages && xlt->pages[i + 1] == xlt->pages[i] + page) {
		got += page;
		i++;
	}
	if (got > len)
		got = len;

	ptr = dma_ptr(map, addr + in_page, got, write);
	if (!ptr && got > first) {
		/* Pages that are adjacent in guest memory may be in two regions here. */
		got = first;
		ptr = dma_ptr(map, addr + in_page, got, write);
	}
	*run = got;
	return ptr;
}

int64_t xlt_gather(const struct xlt *xlt, struct dma_map *map, uint64_t off, uint64_t len,
		   bool write, struct iovec *iov, unsigned int *num, unsigned int max)
{
	const uint64_t page = 1ULL << xlt->page_shift;
	const uint64_t *next = xlt->pages + ((xlt->offset + off) >> xlt->page_shift);
	const uint64_t *end = xlt->pages + xlt->npages;
	uint64_t at = (xlt->offset + off) & (page - 1);
	uint64_t room = 0; /* first bytes of a whole page of the region */
	struct dma_region region = {0};
	unsigned int n = *num;
	uint8_t *ptr, *begin = NULL, *behind = NULL; /* of the last piece: its length comes last */
	uint64_t left = len, run, pos;

	while (left) {
		if (next == end)
			return -1;
		run = page - at < left ? page - at : left;
		pos = *next + at - region.addr;
		if (pos >= region.size || run > region.size - pos) {
			/* The next pages are probably in the same region. */
			if (!dma_ptr(map, region.addr + pos, run, write))
				return -1;
			pos += region.addr;
			region = map->regions[map->last];
			pos -= region.addr;
			room = region.size >= page ? region.size - page + 1 : 0;
		}
		/* Then whole pages of the same region: most of a long message */
		do {
			ptr = region.va + pos;
			if (ptr != behind) {
				if (n == max)
					goto full;
				if (begin)
					iov[n - 1].iov_len = behind - begin;
				iov[n++].iov_base = begin = ptr;
			}
			behind = ptr + run;
			left -= run;
			next++;
			run = page;
			if (left < page || next == end)
				break;
			pos = *next - region.addr;
		} while (pos < room);
		at = 0;
	}
full:
	if (begin)
		iov[n - 1].iov_len = behind - begin;
	*num = n;
	return len - left;
}
