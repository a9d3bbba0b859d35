/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accesses that wait for a page of a region of type OHCA_MKEY_ODP.  OHCA_EVENT_PAGE_FAULT asks
 * software for the page, once.  When software has answered, the access is tried again.
 */

#ifndef OHCAD_PAGE_FAULT_H
#define OHCAD_PAGE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "device/eq.h"

struct hca;
struct mkey_missing;
struct odp;

enum page_fault_state {
	PAGE_FAULT_NONE, /* no access waits */
	PAGE_FAULT_WAITING,
	PAGE_FAULT_REFUSED, /* software answered with OHCA_PAGES_FAIL */
};

/**
 * struct page_fault - a place where accesses wait, one at a time
 * @state: enum page_fault_state
 * @write: the access is a write
 * @first: the missing page
 * @num: pages that software is asked for
 * @odp: the region's pages; while @state is not PAGE_FAULT_NONE
 * @waiting: link in odp->waiting; while @state is not PAGE_FAULT_NONE
 * @event: OHCA_EVENT_PAGE_FAULT, while it waits for room in the EQ
 * @resume: tries the access again; called when the page was mapped or refused
 */
struct page_fault {
	uint8_t state;
	bool write;
	uint64_t first;
	uint64_t num;
	struct odp *odp;
	struct list waiting;
	struct eq_event event;
	void (*resume)(struct page_fault *fault);
};

void page_fault_init(struct page_fault *fault, void (*resume)(struct page_fault *fault));

/* Results of page_fault_wait() */
enum page_fault_result {
	PAGE_FAULT_ASKED, /* software was asked for the page by this call */
	PAGE_FAULT_PENDING, /* software was asked before and has not answered */
	PAGE_FAULT_DENIED, /* software has refused the page: OHCA_VENDOR_ERR_DMA */
};

/* Let an access wait for the page of @missing. */
enum page_fault_result page_fault_wait(struct hca *hca, struct page_fault *fault,
				       const struct mkey_missing *missing);
/* Stop waiting. */
void page_fault_cancel(struct page_fault *fault);

/**
 * struct page_answer - software has answered for pages of a region
 * @first, @num: the pages
 * @fail: an access whose page is missing fails
 * @drop: do not try the accesses again: nothing waits for the region any more
 */
struct page_answer {
	uint64_t first, num;
	bool fail;
	bool drop;
};

/*
 * Try the accesses again that wait for one of the pages: page_fault_ask() takes all of the region, and page_fault_answer()
 * looks at them until @end (loop_clock()), at some in any case.  Returns whether it has looked at all.
 */
void page_fault_ask(struct odp *odp);
bool page_fault_answer(struct odp *odp, const struct page_answer *answer, uint64_t end);

#endif
