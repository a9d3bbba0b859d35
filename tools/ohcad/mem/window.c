// SPDX-License-Identifier: GPL-2.0
/*
 * Memory windows (InfiniBand specification, 10.6.7.2).  A bound window has a copy of the part of
 * its region's page table that it covers.  So an access through the window costs the same as one
 * through the region.  A region keeps its pages while windows are bound to it.
 */

#include "mem/window.h"

/* Windows that are unbound between two looks at the clock */
#define WINDOWS_AT_ONCE 8

#define ACCESS_WINDOW (MKEY_ACCESS_REMOTE | OHCA_ACCESS_ZERO_BASED)

void window_unbind(struct mkey *window)
{
	if (!window->region)
		return;
	window->region->windows--;
	window->region = NULL;
	window->valid = false;
	if (window->qp_link) {
		*window->qp_link = window->qp_next;
		if (window->qp_next)
			window->qp_next->qp_link = window->qp_link;
		window->qp_link = NULL;
	}
}

bool window_unbind_all(struct mkey **windows, uint64_t end)
{
	unsigned int n = 0;

	while (*windows) {
		window_unbind(*windows);
		if (!(++n % WINDOWS_AT_ONCE) && loop_clock() >= end)
			return !*windows;
	}
	return true;
}

static void link_to_owner(struct mkey *window, const struct mw_owner *owner)
{
	window->qpn = owner->qpn;
	window->qp_next = *owner->windows;
	window->qp_link = owner->windows;
	if (window->qp_next)
		window->qp_next->qp_link = &window->qp_next;
	*owner->windows = window;
}

/* Check whether this part of the region may become a window.  Returns 0 or OHCA_VENDOR_ERR_*. */
static int check_region(const struct mw_owner *owner, const struct mkey *region,
			const struct window_bind *bind)
{
	uint64_t off;

	if (!region)
		return OHCA_VENDOR_ERR_KEY;
	if (region->pdn != owner->pdn)
		return OHCA_VENDOR_ERR_PD;
	if (!region->valid || (region->type != OHCA_MKEY_MR && region->type != OHCA_MKEY_FAST_REG))
		return OHCA_VENDOR_ERR_KEY_STATE;
	if (bind->access & ~ACCESS_WINDOW || !(region->access & OHCA_ACCESS_MW_BIND) ||
	    (bind->access & (OHCA_ACCESS_REMOTE_WRITE | OHCA_ACCESS_REMOTE_ATOMIC) &&
	     !(region->access & OHCA_ACCESS_LOCAL_WRITE)))
		return OHCA_VENDOR_ERR_ACCESS;
	off = bind->addr - region->iova;
	if (off >= region->length || bind->length > region->length - off)
		return OHCA_VENDOR_ERR_BOUNDS;
	return 0;
}

int window_bind(struct hca *hca, const struct mw_owner *owner, const struct window_bind *bind)
{
	struct mkey *window = mkey_find_name(hca, bind->rkey);
	struct mkey *region = NULL;
	int err;

	/*
	 * An unbound window of type 2B can't be accessed, so only bits 31:8 of its key have to match.
	 */
	if (!window || (bind->rkey ^ bind->new_rkey) & ~MKEY_LOW_MASK ||
	    (window->type != OHCA_MKEY_MW_2 && window->key != bind->rkey))
		return OHCA_VENDOR_ERR_KEY;
	if (window->pdn != owner->pdn)
		return OHCA_VENDOR_ERR_PD;
	if (window->type != OHCA_MKEY_MW_1 && (window->type != OHCA_MKEY_MW_2 || window->valid))
		return OHCA_VENDOR_ERR_KEY_STATE;
	if (bind->length) {
		region = mkey_find(hca, bind->lkey);
		err = check_region(owner, region, bind);
		if (err)
			return err;
	} else if (window->type == OHCA_MKEY_MW_2) {
		return OHCA_VENDOR_ERR_BOUNDS;
	}

	window_unbind(window);
	window->key = bind->new_rkey;
	if (!region)
		return 0;
	window->region = region;
	region->windows++;
	window->valid = true;
	window->iova = bind->access & OHCA_ACCESS_ZERO_BASED ? 0 : bind->addr;
	window->length = bind->length;
	window->access = bind->access & MKEY_ACCESS_REMOTE;
	xlt_slice(&window->xlt, &region->xlt, bind->addr - region->iova);
	if (window->type == OHCA_MKEY_MW_2)
		link_to_owner(window, owner);
	return 0;
}
