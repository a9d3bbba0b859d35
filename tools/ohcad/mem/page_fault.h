/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accesses that wait for a page of a region of type OHCA_MKEY_ODP.  Software is told by
 * OHCA_EVENT_PAGE_FAULT, once; when it has answered, the access is tried again.
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
	PAGE_FAULT_NONE, /* nothing is waited for */
	PAGE_FAULT_WAITING,
	PAGE_FAULT_REFUSED, /* OHCA_PAGES_FAIL */
};

/**
 * struct page_fault - a place where accesses wait, one at a time
 * @state: enum page_fault_state
 * @write: for writing
 * @first: page that is missing
 * @num: pages that software is asked for
 * @odp: the region's pages; while @state is not PAGE_FAULT_NONE
 * @waiting: in odp->waiting; while @state is not PAGE_FAULT_NONE
 * @event: OHCA_EVENT_PAGE_FAULT, while it waits for room in the EQ
 * @resume: the access is to be tried again: its page is there, or was refused
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

/* What page_fault_wait() has found. */
enum page_fault_result {
	PAGE_FAULT_ASKED, /* software was asked for the page */
	PAGE_FAULT_PENDING, /* it was asked before */
	PAGE_FAULT_DENIED, /* it has refused the page: OHCA_VENDOR_ERR_DMA */
};

/* Wait for the page of @missing. */
enum page_fault_result page_fault_wait(struct hca *hca, struct page_fault *fault,
				       const struct mkey_missing *missing);
/* Wait no more. */
void page_fault_cancel(struct page_fault *fault);

/* What waits for one of these pages is tried again; with @fail it fails if the page is missing. */
void page_fault_answer(struct odp *odp, uint64_t first, uint64_t num, bool fail);

#endif
