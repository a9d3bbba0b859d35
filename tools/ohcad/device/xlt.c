// SPDX-License-Identifier: GPL-2.0
/* Translation of an object's bytes to guest memory. */

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "device/xlt.h"

#define PAGE_SHIFT_MIN 12
#define PAGE_SHIFT_MAX 40
#define MAX_SIZE (1ULL << 62) /* bytes of an object: sums of them can't wrap */
#define TABLE_SHIFT 9 /* log2 of OHCA_XLT_FANOUT */

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

/* Read the part of the table at @addr that leads to pages [first, first + num). */
static enum ohca_cmd_status load_table(struct xlt *xlt, struct dma_map *map, uint64_t addr,
				       unsigned int level, uint32_t first, uint32_t num)
{
	uint32_t span = 1U << ((level - 1) * TABLE_SHIFT); /* pages below one entry */
	uint32_t entries = (num + span - 1) / span;
	const uint64_t *table;
	uint32_t i;

	if (addr & ((1ULL << OHCA_XLT_PAGE_SHIFT) - 1))
		return OHCA_CMD_BAD_PARAM;
	table = dma_ptr(map, addr, entries * sizeof(*table), false);
	if (!table)
		return OHCA_CMD_BAD_ADDR;

	for (i = 0; i < entries; i++) {
		uint64_t entry = le64toh(__atomic_load_n(&table[i], __ATOMIC_RELAXED));
		uint32_t below = num - i * span < span ? num - i * span : span;
		enum ohca_cmd_status status;

		if (level > 1) {
			status = load_table(xlt, map, entry, level - 1, first + i * span, below);
			if (status)
				return status;
			continue;
		}
		if (entry & ((1ULL << xlt->page_shift) - 1))
			return OHCA_CMD_BAD_PARAM;
		xlt->pages[first + i] = entry;
	}
	return OHCA_CMD_OK;
}

enum ohca_cmd_status xlt_reserve(struct xlt *xlt, struct quota *quota, uint32_t npages)
{
	memset(xlt, 0, sizeof(*xlt));
	if (!quota_charge(quota, npages))
		return OHCA_CMD_NO_RESOURCE;
	xlt->pages = malloc(npages * sizeof(*xlt->pages));
	if (!xlt->pages) {
		quota_release(quota, npages);
		return OHCA_CMD_NO_RESOURCE;
	}
	xlt->room = npages;
	return OHCA_CMD_OK;
}

/* Read the pages of a description that was checked, into the allocated entries. */
static enum ohca_cmd_status load_pages(struct xlt *xlt, struct dma_map *map,
				       const struct ohca_xlt *desc)
{
	enum ohca_cmd_status status = OHCA_CMD_OK;

	xlt->npages = le32toh(desc->npages);
	xlt->offset = le32toh(desc->offset);
	xlt->page_shift = desc->page_shift;
	if (desc->levels)
		status = load_table(xlt, map, le64toh(desc->addr), desc->levels, 0, xlt->npages);
	else
		xlt->pages[0] = le64toh(desc->addr);
	if (status)
		xlt->npages = 0;
	return status;
}

enum ohca_cmd_status xlt_load(struct xlt *xlt, struct quota *quota, struct dma_map *map,
			      const struct ohca_xlt *desc, uint64_t size)
{
	enum ohca_cmd_status status = check_desc(desc, size);

	memset(xlt, 0, sizeof(*xlt));
	if (!status)
		status = xlt_reserve(xlt, quota, le32toh(desc->npages));
	if (!status)
		status = load_pages(xlt, map, desc);
	if (status)
		xlt_free(xlt, quota);
	return status;
}

enum ohca_cmd_status xlt_reload(struct xlt *xlt, struct dma_map *map, const struct ohca_xlt *desc,
				uint64_t size)
{
	enum ohca_cmd_status status = check_desc(desc, size);

	xlt->npages = 0;
	if (!status && le32toh(desc->npages) > xlt->room)
		status = OHCA_CMD_BAD_PARAM;
	return status ? status : load_pages(xlt, map, desc);
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
	if (xlt->room)
		free(xlt->pages);
	memset(xlt, 0, sizeof(*xlt));
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
