// SPDX-License-Identifier: GPL-2.0
/* The places where accesses of a QP wait for a page. */

#include <stdlib.h>

#include "mem/page_fault.h"
#include "qp/qp.h"
#include "qp/qp_fault.h"

/**
 * struct qp_fault - a place of a QP
 */
struct qp_fault {
	struct page_fault fault;
	struct qp *qp;
	enum fault_place place;
};

static void resume(struct page_fault *fault)
{
	struct qp_fault *qf = list_entry(fault, struct qp_fault, fault);
	struct qp *qp = qf->qp;

	if (qf->place != FAULT_REQUESTER) {
		qp->ops->resume(qp, qf->place);
		return;
	}
	qp->sq.paused &= ~SQ_WAIT_PAGE;
	qp_schedule(qp);
}

/*
 * Most QPs never wait, so the places are allocated at the first need.  Returns false if there is no
 * memory.
 */
static bool have_places(struct qp *qp)
{
	unsigned int i;

	if (qp->faults)
		return true;
	if (qp_charge(qp, FAULT_PLACES * sizeof(*qp->faults)))
		qp->faults = calloc(FAULT_PLACES, sizeof(*qp->faults));
	for (i = 0; qp->faults && i < FAULT_PLACES; i++) {
		qp->faults[i].qp = qp;
		qp->faults[i].place = i;
		page_fault_init(&qp->faults[i].fault, resume);
	}
	return qp->faults;
}

void qp_fault_cancel(struct qp *qp, enum fault_place place)
{
	if (qp->faults)
		page_fault_cancel(&qp->faults[place].fault);
}

void qp_fault_cancel_all(struct qp *qp)
{
	unsigned int i;

	for (i = 0; i < FAULT_PLACES; i++)
		qp_fault_cancel(qp, i);
}

bool qp_fault_is_waiting(const struct qp *qp, enum fault_place place)
{
	return qp->faults && qp->faults[place].fault.state == PAGE_FAULT_WAITING;
}

int qp_fault_wait(struct qp *qp, enum fault_place place, const struct mkey_missing *missing)
{
	if (!have_places(qp))
		return OHCA_VENDOR_ERR_DMA;
	switch (page_fault_wait(qp->hca, &qp->faults[place].fault, missing)) {
	case PAGE_FAULT_ASKED:
		qp_count(qp, OHCA_CNT_PAGE_FAULTS, 1);
		return 0;
	case PAGE_FAULT_PENDING:
		return 0;
	default:
		return OHCA_VENDOR_ERR_DMA;
	}
}

int sq_wait_page(struct qp *qp, struct mkey_missing *missing)
{
	int err;

	missing->len = missing->rest;
	err = qp_fault_wait(qp, FAULT_REQUESTER, missing);
	if (!err)
		qp->sq.paused |= SQ_WAIT_PAGE;
	return err;
}
