// SPDX-License-Identifier: GPL-2.0
/* Accesses that wait for a page. */

#include "device/eq.h"
#include "mem/mkey.h"
#include "mem/page_fault.h"

/* Accesses between two looks at the clock */
#define ANSWERS_AT_ONCE 8

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
	uint64_t first = missing->pos >> odp->page_shift, end, num;

	if (fault->state && fault->odp == odp && fault->first == first &&
	    fault->write == missing->write) {
		if (fault->state == PAGE_FAULT_WAITING)
			return PAGE_FAULT_PENDING;
		page_fault_cancel(fault);
		return PAGE_FAULT_DENIED;
	}
	page_fault_cancel(fault);
	end = (missing->pos + missing->len + odp_page_size(odp) - 1) >> odp->page_shift;
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

void page_fault_ask(struct odp *odp)
{
	list_move_all(&odp->asking, &odp->waiting);
}

/* The first one that is left: put it back if the answer is not for its page. */
static void answer_next(struct odp *odp, const struct page_answer *answer)
{
	struct page_fault *fault = list_entry(odp->asking.next, struct page_fault, waiting);

	if (answer->drop) {
		page_fault_cancel(fault);
		return;
	}
	if (fault->first - answer->first >= answer->num) {
		list_del(&fault->waiting);
		list_add_tail(&odp->waiting, &fault->waiting);
		return;
	}
	page_fault_cancel(fault);
	if (answer->fail) {
		fault->state = PAGE_FAULT_REFUSED;
		list_add_tail(&odp->waiting, &fault->waiting);
	}
	fault->resume(fault); /* That may cancel others. */
}

bool page_fault_answer(struct odp *odp, const struct page_answer *answer, uint64_t end)
{
	unsigned int n = 0;

	while (!list_empty(&odp->asking)) {
		answer_next(odp, answer);
		if (!(++n % ANSWERS_AT_ONCE) && loop_clock() >= end)
			return list_empty(&odp->asking);
	}
	return true;
}
