/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accesses that wait for a page of a region of type OHCA_MKEY_ODP.  Software is told by
 * OHCA_EVENT_PAGE_FAULT, once; when it has answered, the access is tried again.
 */

#ifndef OHCAD_FAULT_H
#define OHCAD_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

struct odp;
struct qp;

enum fault_state {
	FAULT_NONE, /* nothing is waited for */
	FAULT_WAITING,
	FAULT_REFUSED, /* OHCA_PAGES_FAIL */
};

/**
 * enum fault_place - where accesses of a QP wait, one in each
 * @FAULT_REQUESTER: to memory of its own
 * @FAULT_REQUEST: a request that was dropped
 * @FAULT_RESPONSE: the oldest request that is to be answered
 */
enum fault_place {
	FAULT_REQUESTER,
	FAULT_REQUEST,
	FAULT_RESPONSE,
	FAULT_PLACES
};

/**
 * struct fault - a place of a QP
 * @state: enum fault_state
 * @write: for writing
 * @key: the region's
 * @place: enum fault_place
 * @qp: whose it is
 * @first: page that is missing
 * @num: pages that software is asked for
 * @odp: the region's pages; while @state is not FAULT_NONE
 * @waiting: in odp->waiting; while @state is not FAULT_NONE
 * @event: in eq->faults while the event waits for room
 */
struct fault {
	uint8_t state;
	bool write;
	uint8_t place;
	uint32_t key;
	struct qp *qp;
	uint64_t first;
	uint64_t num;
	struct odp *odp;
	struct list waiting;
	struct list event;
};

/*
 * Let @qp wait for the page of hca->missing.  Returns 0, or OHCA_VENDOR_ERR_DMA: software has
 * refused it, or there is no memory.
 */
int fault_wait(struct qp *qp, enum fault_place place);
/* Does it? */
bool fault_is_waiting(const struct qp *qp, enum fault_place place);
/* Wait no more. */
void fault_cancel(struct qp *qp, enum fault_place place);
void fault_cancel_all(struct qp *qp);

/* What waits for one of these pages is tried again; with @fail it fails if the page is missing. */
void fault_answer(struct odp *odp, uint64_t first, uint64_t num, bool fail);

#endif
