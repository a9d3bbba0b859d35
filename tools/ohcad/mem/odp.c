// SPDX-License-Identifier: GPL-2.0
/* Pages of ODP regions. */

#include <endian.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "mem/odp.h"
#include "ohca/ohca_cmd.h"

/* Leaves that are freed between two looks at the clock: more than the two at the ends, which may stay */
#define LEAVES_AT_ONCE 4

struct odp *odp_new(struct quota *quota, uint8_t page_shift, uint32_t offset, uint64_t length)
{
	struct odp *odp = calloc(1, sizeof(*odp));

	if (!odp)
		return NULL;
	odp->quota = quota;
	odp->offset = offset;
	odp->page_shift = page_shift;
	odp->num_pages = (offset + length + odp_page_size(odp) - 1) >> page_shift;
	odp->levels = 1;
	while (odp->num_pages > 1ULL << (odp->levels * ODP_NODE_SHIFT))
		odp->levels++;
	list_init(&odp->waiting);
	list_init(&odp->asking);
	return odp;
}

/* In the quota, a node counts as a list of 2^ODP_NODE_SHIFT pages. */
static struct odp_node *node_new(struct odp *odp)
{
	return quota_calloc(odp->quota, 1U << ODP_NODE_SHIFT, sizeof(struct odp_node));
}

static void node_free(struct odp *odp, struct odp_node *node)
{
	quota_free(odp->quota, 1U << ODP_NODE_SHIFT, node);
}

/*
 * Find the leaf that has @page.  Returns NULL if there is none, and with @make if there is no
 * memory.
 */
static struct odp_node *find_leaf(struct odp *odp, uint64_t page, bool make)
{
	struct odp_node **at = &odp->root, *above = NULL;
	unsigned int shift = odp->levels * ODP_NODE_SHIFT;

	for (;;) {
		if (!*at) {
			*at = make ? node_new(odp) : NULL;
			if (!*at)
				return NULL;
			if (above)
				above->used++;
		}
		shift -= ODP_NODE_SHIFT;
		if (!shift)
			return *at;
		above = *at;
		at = &above->node[page >> shift & ODP_NODE_MASK];
	}
}

/*
 * Remove empty nodes; without @keep, unmap pages @first to @last before that.  Pages are counted
 * from the first one of @node; @shift is log2 of the number of pages in an entry.  @budget: leaves that may be visited
 * yet; if it becomes 0, the rest is left.  Returns @node, or NULL if it was removed.
 */
static struct odp_node *sweep(struct odp *odp, struct odp_node *node, unsigned int shift,
			      uint64_t first, uint64_t last, bool keep, unsigned int *budget)
{
	uint64_t mask = (1ULL << shift) - 1;
	uint64_t from = first >> shift, to = last >> shift, i;

	*budget -= !shift;
	for (i = from; i <= to; i++) {
		if (!node->page[i])
			continue;
		if (shift) {
			if (!*budget)
				return node;
			node->node[i] = sweep(odp, node->node[i], shift - ODP_NODE_SHIFT,
					      i == from ? first & mask : 0,
					      i == to ? last & mask : mask, keep, budget);
			node->used -= !node->node[i];
		} else if (!keep) {
			node->page[i] = 0;
			node->used--;
		}
	}
	if (node->used)
		return node;
	node_free(odp, node);
	return NULL;
}

/* Returns whether nothing is left to do. */
static bool sweep_all(struct odp *odp, uint64_t first, uint64_t num, bool keep, unsigned int budget)
{
	if (odp->root)
		odp->root = sweep(odp, odp->root, (odp->levels - 1) * ODP_NODE_SHIFT, first,
				  first + num - 1, keep, &budget);
	odp->leaf = NULL;
	return !odp->root || budget;
}

/* Remove the empty nodes of pages of a command: these are few. */
static void remove_empty(struct odp *odp, uint64_t first, uint64_t num)
{
	sweep_all(odp, first, num, true, UINT_MAX);
}

bool odp_map(struct odp *odp, uint64_t first, uint64_t num, const __le64 *page)
{
	struct odp_node *leaf = NULL;
	bool empty = false;
	uint64_t i;

	for (i = first; i < first + num; i = (i | ODP_NODE_MASK) + 1) {
		if (find_leaf(odp, i, true))
			continue;
		remove_empty(odp, first, num);
		return false;
	}
	for (i = first; i < first + num; i++) {
		uint64_t entry = le64toh(page[i - first]), *at;

		if (!leaf || !(i & ODP_NODE_MASK))
			leaf = find_leaf(odp, i, false);
		at = &leaf->page[i & ODP_NODE_MASK];
		leaf->used += !!entry - !!*at;
		*at = entry;
		empty |= !entry;
	}
	if (empty)
		remove_empty(odp, first, num);
	return true;
}

bool odp_unmap(struct odp *odp, uint64_t first, uint64_t num, uint64_t end)
{
	do {
		if (sweep_all(odp, first, num, false, LEAVES_AT_ONCE))
			return true;
	} while (loop_clock() < end);
	return false;
}

uint64_t odp_page_slow(struct odp *odp, uint64_t page)
{
	struct odp_node *leaf = find_leaf(odp, page, false);

	if (!leaf)
		return 0;
	odp->leaf = leaf;
	odp->leaf_num = page >> ODP_NODE_SHIFT;
	return leaf->page[page & ODP_NODE_MASK];
}

void odp_free(struct odp *odp)
{
	if (!odp)
		return;
	odp_unmap(odp, 0, odp->num_pages, UINT64_MAX);
	free(odp);
}
