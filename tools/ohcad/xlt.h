/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Translation of an object's bytes to guest memory: the device's copy of a struct ohca_xlt.
 */

#ifndef OHCAD_XLT_H
#define OHCAD_XLT_H

#include <stdint.h>

#include "dma.h"
#include "ohca/ohca_cmd.h"

/**
 * struct xlt - pages of an object
 * @pages: DMA addresses
 * @npages: number of them
 * @page_shift: log2 of the page size
 * @offset: of byte 0 in the first page
 */
struct xlt {
	uint64_t *pages;
	uint32_t npages;
	uint32_t offset;
	uint8_t page_shift;
};

/*
 * Read the tables.  @size: bytes that the object needs; the page count must be just what they
 * take.  Returns OHCA_CMD_OK, or BAD_PARAM, BAD_ADDR (a table, not a page, is unreadable),
 * NO_RESOURCE.
 */
enum ohca_cmd_status xlt_load(struct xlt *xlt, struct dma_map *map, const struct ohca_xlt *desc,
			      uint64_t size);
void xlt_free(struct xlt *xlt);

/*
 * The bytes from @off on, @len or fewer: returns the pointer and stores in *@run how many are
 * contiguous in this process (neighbouring pages are joined up to @len); NULL if there is no
 * memory.  @off is inside of the object.
 */
void *xlt_ptr(const struct xlt *xlt, struct dma_map *map, uint64_t off, uint64_t len, uint64_t *run,
	      bool write);

#endif
