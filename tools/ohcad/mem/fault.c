// SPDX-License-Identifier: GPL-2.0
/* Accesses that wait for a page. */

#include <stdlib.h>

#include "device/eq.h"
#include "mem/fault.h"
#include "mem/mkey.h"
#include "qp/qp.h"

/* Most pages that software is asked for at once. */
#define MAX_PAGES ((OHCA_FAULT_NUM_MASK >> OHCA_FAULT_NUM_SHIFT) + 1)

/* Most QPs never wait: their places come with the first need.  False: there is no memory. */
static bool have_places(struct qp *qp)
{
	unsigned int i;

	if (qp->faults)
		return true;
	qp->faults = calloc(FAULT_PLACES, sizeof(*qp->faults));
	for (i = 0; qp->faults && i < FAULT_PLACES; i++) {
		qp->faults[i].qp = qp;
		qp->faults[i].place = i;
		list_init(&qp->faults[i].waiting);
		list_init(&qp->faults[i].event);
	}
	return qp->faults;
}

static void cancel(struct fault *fault)
{
	fault->state = FAULT_NONE;
	list_del(&fault->waiting);
	list_del(&fault->event);
}

void fault_cancel(struct qp *qp, enum fault_place place)
{
	if (qp->faults)
		cancel(&qp->faults[place]);
}

void fault_cancel_all(struct qp *qp)
{
	unsigned int i;

	for (i = 0; i < FAULT_PLACES; i++)
		fault_cancel(qp, i);
}

bool fault_is_waiting(const struct qp *qp, enum fault_place place)
{
	return qp->faults && qp->faults[place].state == FAULT_WAITING;
}

int fault_wait(struct qp *qp, enum fault_place place)
{
	const struct mkey_missing *missing = &qp->hca->missing;
	struct odp *odp = missing->mkey->odp;
	uint64_t first = missing->pos >> ODP_PAGE_SHIFT, end, num;
	struct fault *fault;

	if (!have_places(qp))
		return OHCA_VENDOR_ERR_DMA;
	fault = &qp->faults[place];
	if (fault->state && fault->odp == odp && fault->first == first &&
	    fault->write == missing->write) {
		if (fault->state == FAULT_WAITING)
			return 0;
		cancel(fault);
		return OHCA_VENDOR_ERR_DMA;
	}
	cancel(fault);
	end = (missing->pos + missing->len + ODP_PAGE_SIZE - 1) >> ODP_PAGE_SHIFT;
	if (end > odp->num_pages)
		end = odp->num_pages;
	num = end - first;
	fault->num = num < MAX_PAGES ? num : MAX_PAGES;
	fault->first = first;
	fault->write = missing->write;
	fault->key = missing->mkey->key;
	fault->odp = odp;
	fault->state = FAULT_WAITING;
	list_add_tail(&odp->waiting, &fault->waiting);
	qp_count(qp, OHCA_CNT_PAGE_FAULTS, 1);
	eq_fault(qp->hca, fault);
	return 0;
}

void fault_answer(struct odp *odp, uint64_t first, uint64_t num, bool fail)
{
	struct list answered, *node, *next;

	list_init(&answered);
	for (node = odp->waiting.next; node != &odp->waiting; node = next) {
		const struct fault *fault = list_entry(node, struct fault, waiting);

		next = node->next;
		if (fault->first - first >= num)
			continue;
		list_del(node);
		list_add_tail(&answered, node);
	}
	/* To resume one may be the end of another. */
	while (!list_empty(&answered)) {
		struct fault *fault = list_entry(answered.next, struct fault, waiting);

		cancel(fault);
		if (fail) {
			fault->state = FAULT_REFUSED;
			list_add_tail(&odp->waiting, &fault->waiting);
		}
		qp_resume(fault->qp, fault->place);
	}
}
