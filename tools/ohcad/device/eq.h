/* SPDX-License-Identifier: GPL-2.0 */
/* Event queues. */

#ifndef OHCAD_EQ_H
#define OHCAD_EQ_H

#include "device/hca.h"
#include "device/ring.h"

struct cq;
struct eq_pending;
struct page_fault;

#define EQ_PENDING_BUCKETS 256

/**
 * struct eq - an event queue
 * @async: receives the asynchronous events, else those of CQs
 * @vector: MSI-X vector
 * @pi: EQEs written
 * @ci: consumer index at the last look at the record
 * @overrun: take it for full, whatever the indices say: hca_fault.h
 * @fired: the record's arm counter at the last interrupt
 * @refs: CQs that report here
 * @check: in hca->eq_check
 * @waiting: CQs (struct cq.waiting) whose event did not fit
 * @pending: asynchronous events (struct eq_pending.order) that did not fit, in the order they came
 * @faults: accesses (struct page_fault.event) whose OHCA_EVENT_PAGE_FAULT did not fit
 * @buckets: @pending by type and number; allocated with the first
 * @retry: runs while something waits
 * @retry_ns: its present period
 */
struct eq {
	struct hca *hca;
	uint32_t id;
	bool async;
	uint16_t vector;
	struct xlt xlt;
	struct ring ring;
	struct ring rec;
	uint32_t pi, ci;
	bool overrun;
	uint32_t fired;
	uint32_t refs;
	struct list check;
	struct list waiting;
	struct list pending;
	struct list faults;
	struct eq_pending **buckets;
	struct timer retry;
	uint64_t retry_ns;
};

/*
 * An asynchronous event of @id for the host; kept in the device while the EQ is full, dropped if
 * there is no async EQ.
 */
void eq_async(struct hca *hca, enum ohca_event type, uint32_t id);

/*
 * OHCA_EVENT_PAGE_FAULT of an access; it waits in @fault->event while the EQ is full, and is
 * dropped if there is no async EQ.
 */
void eq_fault(struct hca *hca, struct page_fault *fault);

/* The object goes: forget its events of types @first to @last that still wait in the device. */
void eq_forget_async(struct hca *hca, enum ohca_event first, enum ohca_event last, uint32_t id);

/*
 * The CQ asks for its OHCA_EVENT_COMP; a CQ whose EQ is full waits in the EQ's list (at most
 * once).
 */
void eq_completion(struct cq *cq);

/* The CQ goes: it waits for no event any more, and @cq->eq loses a reference. */
void eq_forget_cq(struct cq *cq);

/*
 * Look at the arm counters of the EQs in hca->eq_check, after a full fence; raise the interrupts.
 */
void eq_flush(struct hca *hca);

struct eq *eq_get(struct hca *hca, uint32_t eqn); /* NULL if there is none */

extern const struct object_class eq_class;

#endif
