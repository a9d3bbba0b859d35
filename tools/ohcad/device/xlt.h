/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Translation of an object's bytes to guest memory: the device's copy of a struct ohca_xlt.
 */

#ifndef OHCAD_XLT_H
#define OHCAD_XLT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "device/quota.h"
#include "vfio/dma.h"
#include "ohca/ohca_cmd.h"

/**
 * struct xlt - pages of an object
 * @pages: DMA addresses
 * @one: the one of @pages if there is room for no more.  So an object is moved by xlt_move() only
 * @offset: of byte 0 in the first page
 * @npages: number of them
 * @page_shift: log2 of the page size
 * @room: entries of @pages; 0: they are another object's
 */
struct xlt {
	uint64_t *pages;
	uint64_t one;
	uint64_t offset;
	uint32_t npages;
	uint32_t page_shift : 7;
	uint32_t room : 25;
};

_Static_assert(OHCA_XLT_MAX_PAGES < 1 << 25, "numbers of pages fit into xlt.room");

/*
 * Read the tables.  @size: bytes that the object needs; the page count must be just what they
 * take, and they are charged to @quota, QUOTA_PAGES of the HCA.  Returns OHCA_CMD_OK, or BAD_PARAM, BAD_ADDR (a table,
 * not a page, is unreadable), NO_RESOURCE.
 */
enum ohca_cmd_status xlt_load(struct xlt *xlt, struct quota *quota, struct dma_map *map,
			      const struct ohca_xlt *desc, uint64_t size);
void xlt_free(struct xlt *xlt, struct quota *quota);
/* Move @from, which is empty then, to @to, which has nothing to free. */
void xlt_move(struct xlt *to, struct xlt *from);

/*
 * The same in parts: xlt_begin() allocates, and xlt_load_part() reads until all is read or @end (loop_clock()) has come.  It
 * returns CMD_MORE then.  If one of them fails, the object is to be freed.
 */
enum ohca_cmd_status xlt_begin(struct xlt *xlt, struct quota *quota, const struct ohca_xlt *desc,
			       uint64_t size);
enum ohca_cmd_status xlt_load_part(struct xlt *xlt, struct dma_map *map,
				   const struct ohca_xlt *desc, uint64_t end);
/*
 * Can the @len bytes from @off on be read and written?  *@done of them were found before; it is 0 at first.  Returns OHCA_CMD_OK
 * or BAD_ADDR; or CMD_MORE when @end has come.
 */
enum ohca_cmd_status xlt_check(const struct xlt *xlt, struct dma_map *map, uint64_t off,
			       uint64_t len, uint64_t *done, uint64_t end);
/* Free most of it, until @end, some in any case.  Returns whether little is left for xlt_free(). */
bool xlt_shrink(struct xlt *xlt, struct quota *quota, uint64_t end);

/* Room for @npages pages, none there yet: OHCA_CMD_OK or NO_RESOURCE. */
enum ohca_cmd_status xlt_reserve(struct xlt *xlt, struct quota *quota, uint32_t npages);
/*
 * As xlt_load(), into the room that there is: BAD_PARAM too if that is too small.  Reads one table of pages, and returns
 * CMD_MORE if it is to be called again; @first: this is the first call.  If it fails, no page is there.
 */
enum ohca_cmd_status xlt_reload(struct xlt *xlt, struct dma_map *map, const struct ohca_xlt *desc,
				uint64_t size, bool first);

/* Make @xlt a view of @from, which keeps its pages, from byte @off on. */
void xlt_slice(struct xlt *xlt, const struct xlt *from, uint64_t off);

/*
 * The bytes from @off on, @len or fewer: returns the pointer and stores in *@run how many are
 * contiguous in this process (neighbouring pages are joined up to @len); NULL if there is no
 * memory.  @off is inside of the object.
 */
void *xlt_ptr(const struct xlt *xlt, struct dma_map *map, uint64_t off, uint64_t len, uint64_t *run,
	      bool write);

/*
 * The @len bytes from @off on, all of them inside of the object, as pieces that are contiguous in
 * this process, appended to @iov from *@num on, up to @max of them.  Returns how many bytes they
 * are, fewer than @len when the pieces ran out; -1: there is no memory.
 */
int64_t xlt_gather(const struct xlt *xlt, struct dma_map *map, uint64_t off, uint64_t len,
		   bool write, struct iovec *iov, unsigned int *num, unsigned int max);

/* The same of what may be a part of one page: NULL if it is not, or there is no memory. */
static inline void *xlt_ptr_in_page(const struct xlt *xlt, struct dma_map *map, uint64_t off,
				    uint64_t len, bool write)
{
	uint64_t page = 1ULL << xlt->page_shift;
	uint64_t pos = xlt->offset + off;
	uint64_t at = pos & (page - 1);
	uint64_t i = pos >> xlt->page_shift;

	if (len > page - at || i >= xlt->npages)
		return NULL;
	return dma_ptr(map, xlt->pages[i] + at, len, write);
}

#endif
