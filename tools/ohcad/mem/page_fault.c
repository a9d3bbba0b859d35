// SPDX-License-Identifier: GPL-2.0
/* Accesses that wait for a page. */

#include "device/eq.h"
#include "mem/mkey.h"
#include "mem/page_fault.h"

/* The largest number of pages in one request to software */
#define MAX_PAGES ((OHCA_FAULT_NUM_MASK >> OHCA_FAULT_NUM_SHIFT) + 1)

void page_fault_init(struct page_fault *fault, void (*resume)(struct page_fault *fault))
{
	fault->state = PAGE_FAULT_NONE;
	fault->resume = resume;
	list_init(&fault->waiting);
	eq_event_init(&fault->event, OHCA_EVENT_PAGE_FAULT, 0);
}

void page_fault_cancel(struct page_fault *fault)
{
	fault->state = PAGE_FAULT_NONE;
	list_del(&fault->waiting);
	eq_forget(&fault->event);
}

enum page_fault_result page_fault_wait(struct hca *hca, struct page_fault *fault,
				       const struct mkey_missing *missing)
{
	struct odp *odp = missing->mkey->odp;
	uint64_t first = missing->pos >> ODP_PAGE_SHIFT, end, num;

	if (fault->state && fault->odp == odp && fault->first == first &&
	    fault->write == missing->write) {
		if (fault->state == PAGE_FAULT_WAITING)
			return PAGE_FAULT_PENDING;
		page_fault_cancel(fault);
		return PAGE_FAULT_DENIED;
	}
	page_fault_cancel(fault);
	end = (missing->pos + missing->len + ODP_PAGE_SIZE - 1) >> ODP_PAGE_SHIFT;
	if (end > odp->num_pages)
		end = odp->num_pages;
	num = end - first;
	fault->num = num < MAX_PAGES ? num : MAX_PAGES;
	fault->first = first;
	fault->write = missing->write;
	fault->odp = odp;
	fault->state = PAGE_FAULT_WAITING;
	list_add_tail(&odp->waiting, &fault->waiting);
	fault->event.id = missing->mkey->key;
	fault->event.pages = first << OHCA_FAULT_FIRST_SHIFT |
			     (fault->num - 1) << OHCA_FAULT_NUM_SHIFT |
			     (fault->write ? OHCA_FAULT_WRITE : 0);
	eq_async_event(hca, &fault->event);
	return PAGE_FAULT_ASKED;
}

void page_fault_answer(struct odp *odp, uint64_t first, uint64_t num, bool fail)
{
	struct list answered, *node, *next;

	list_init(&answered);
	for (node = odp->waiting.next; node != &odp->waiting; node = next) {
		const struct page_fault *fault = list_entry(node, struct page_fault, waiting);

		next = node->next;
		if (fault->first - first >= num)
			continue;
		list_del(node);
		list_add_tail(&answered, node);
	}
	/* Resuming one access may cancel another one. */
	while (!list_empty(&answered)) {
		struct page_fault *fault = list_entry(answered.next, struct page_fault, waiting);

		page_fault_cancel(fault);
		if (fail) {
			fault->state = PAGE_FAULT_REFUSED;
			list_add_tail(&odp->waiting, &fault->waiting);
		}
		fault->resume(fault);
	}
}
