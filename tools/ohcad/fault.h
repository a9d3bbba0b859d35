/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accesses that wait for a page of a region of type OHCA_MKEY_ODP.  Software is told by
 * OHCA_EVENT_PAGE_FAULT, once; when it has answered, the access is tried again.
 */

#ifndef OHCAD_FAULT_H
#define OHCAD_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "list.h"

struct hca;
struct odp;

enum fault_state {
	FAULT_NONE, /* nothing is waited for */
	FAULT_WAITING,
	FAULT_REFUSED, /* OHCA_PAGES_FAIL */
};

/**
 * struct fault - a place where one access can wait, embedded in what it serves
 * @resume: try again; @state is not FAULT_WAITING any more
 * @state: enum fault_state
 * @write: for writing
 * @key: the region's
 * @first: page that is missing
 * @num: pages that software is asked for
 * @odp: the region's pages; while @state is not FAULT_NONE
 * @waiting: in odp->waiting; while @state is not FAULT_NONE
 * @event: in eq->faults while the event waits for room
 */
struct fault {
	void (*resume)(struct fault *fault);
	uint8_t state;
	bool write;
	uint32_t key;
	uint64_t first;
	uint64_t num;
	struct odp *odp;
	struct list waiting;
	struct list event;
};

void fault_init(struct fault *fault, void (*resume)(struct fault *fault));

/*
 * Let @qp wait for the page of hca->missing.  Returns 0, or OHCA_VENDOR_ERR_DMA: software has
 * refused it.
 */
int fault_wait(struct fault *fault, struct qp *qp);
/* Wait no more. */
void fault_cancel(struct fault *fault);

/* What waits for one of these pages is tried again; with @fail it fails if the page is missing. */
void fault_answer(struct odp *odp, uint64_t first, uint64_t num, bool fail);

#endif
