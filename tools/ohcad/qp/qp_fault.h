/* SPDX-License-Identifier: GPL-2.0 */
/* The places where accesses of a QP wait for a page. */

#ifndef OHCAD_QP_FAULT_H
#define OHCAD_QP_FAULT_H

#include <stdbool.h>

struct mkey_missing;
struct qp;

/**
 * enum fault_place - places where accesses of a QP wait, one in each
 * @FAULT_REQUESTER: to local memory
 * @FAULT_REQUEST: a request that was dropped
 * @FAULT_RESPONSE: the oldest request that is to be answered
 */
enum fault_place {
	FAULT_REQUESTER,
	FAULT_REQUEST,
	FAULT_RESPONSE,
	FAULT_PLACES
};

/*
 * Let @qp wait for the page of @missing.  Returns 0, or OHCA_VENDOR_ERR_DMA if software has refused
 * the page, or there is no memory.
 */
int qp_fault_wait(struct qp *qp, enum fault_place place, const struct mkey_missing *missing);
/* Whether it waits there */
bool qp_fault_is_waiting(const struct qp *qp, enum fault_place place);
/* Stop waiting. */
void qp_fault_cancel(struct qp *qp, enum fault_place place);
void qp_fault_cancel_all(struct qp *qp);

/*
 * Wait for the page of @missing, for an element of the list of the current work request, and send
 * nothing before it is present.  Returns 0, or OHCA_VENDOR_ERR_DMA.
 */
int sq_wait_page(struct qp *qp, struct mkey_missing *missing);

#endif
