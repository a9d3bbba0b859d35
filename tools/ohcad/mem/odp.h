/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages of a region of type OHCA_MKEY_ODP, which software maps and unmaps: a radix tree that has
 * leaves only for mapped pages.  Accesses to missing pages wait in page_fault.c.
 */

#ifndef OHCAD_ODP_H
#define OHCAD_ODP_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/types.h>

#include "base/list.h"
#include "device/quota.h"

struct object_class;

#define ODP_NODE_SHIFT 9
#define ODP_NODE_MASK ((1U << ODP_NODE_SHIFT) - 1)

/**
 * struct odp_node - a node of the tree
 * @used: entries that are not NULL or 0
 * @node: nodes of the next level
 * @page: a leaf: the pages, as entries of struct ohca_modify_pages_in
 */
struct odp_node {
	uint32_t used;
	union {
		struct odp_node *node[1U << ODP_NODE_SHIFT];
		uint64_t page[1U << ODP_NODE_SHIFT];
	};
};

/**
 * struct odp - the pages of a region
 * @quota: QUOTA_PAGES of the HCA
 * @offset: offset of the region's first byte in its first page
 * @page_shift: log2 of the size of a page
 * @num_pages: size of the region in pages
 * @levels: depth of the tree
 * @root: NULL: no page is mapped
 * @leaf: the leaf that was found last, or NULL
 * @leaf_num: its number
 * @waiting: accesses (struct page_fault.waiting) that wait for a page
 * @asking: those of them that page_fault_answer() has not looked at yet
 */
struct odp {
	struct quota *quota;
	uint32_t offset;
	uint8_t page_shift;
	uint8_t levels;
	uint64_t num_pages;
	struct odp_node *root;
	struct odp_node *leaf;
	uint64_t leaf_num;
	struct list waiting;
	struct list asking;
};

/* Create a region without pages; @page_shift and @offset are checked.  Returns NULL if there is no memory. */
struct odp *odp_new(struct quota *quota, uint8_t page_shift, uint32_t offset, uint64_t length);
/* There must be no access that waits. */
void odp_free(struct odp *odp);

/*
 * Map @num pages from @first on as the entries say.  Returns false and changes nothing if there is
 * no memory.
 */
bool odp_map(struct odp *odp, uint64_t first, uint64_t num, const __le64 *page);
/*
 * Unmap @num pages from @first on, until @end (loop_clock()), some in any case.  Returns whether all of them are unmapped.
 * If not, call it again for the same pages.
 */
bool odp_unmap(struct odp *odp, uint64_t first, uint64_t num, uint64_t end);

/* Bytes of a page of the region */
static inline uint64_t odp_page_size(const struct odp *odp)
{
	return 1ULL << odp->page_shift;
}

uint64_t odp_page_slow(struct odp *odp, uint64_t page);

/* The entry of a page of the region; 0: it is missing. */
static inline uint64_t odp_page(struct odp *odp, uint64_t page)
{
	if (odp->leaf && odp->leaf_num == page >> ODP_NODE_SHIFT)
		return odp->leaf->page[page & ODP_NODE_MASK];
	return odp_page_slow(odp, page);
}

extern const struct object_class odp_class;

#endif
