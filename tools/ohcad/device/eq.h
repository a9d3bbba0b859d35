/* SPDX-License-Identifier: GPL-2.0 */
/* Event queues. */

#ifndef OHCAD_EQ_H
#define OHCAD_EQ_H

#include "base/hash_table.h"
#include "base/minmax.h"
#include "device/hca.h"
#include "device/ring.h"

/**
 * struct eq_event - an event, embedded in the object that raises it; it waits here while the EQ is
 * full
 * @list: in eq->waiting; empty while it does not wait
 * @pages: OHCA_FAULT_* of OHCA_EVENT_PAGE_FAULT, else 0
 * @id: the object's number
 * @type: enum ohca_event
 * @pending: it is embedded in a struct eq_pending
 */
struct eq_event {
	struct list list;
	uint64_t pages;
	uint32_t id;
	uint8_t type;
	bool pending;
};

static inline void eq_event_init(struct eq_event *event, enum ohca_event type, uint32_t id)
{
	list_init(&event->list);
	event->pages = 0;
	event->id = id;
	event->type = type;
	event->pending = false;
}

/**
 * struct eq - an event queue
 * @async: receives the asynchronous events, else those of CQs
 * @vector: MSI-X vector
 * @pi: EQEs written
 * @ci: consumer index at the last look at the record
 * @overrun: treat it as full, whatever the indices say: eq_set_overrun()
 * @fired: the record's arm counter at the last interrupt
 * @refs: CQs that report here
 * @check: in hca->eq_check
 * @waiting: events that did not fit, in the order they came
 * @pending: those of them that are struct eq_pending, by type and number
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
	struct hash_table pending;
	struct timer retry;
	uint64_t retry_ns;
};

/* The first time after which a full EQ is looked at again, and the next one if there is still no room */
#define EQ_RETRY_MIN_NS 50000

static inline uint64_t eq_retry_later(uint64_t ns)
{
	return min_of(ns * 2, 5000000);
}

/*
 * An asynchronous event of @id for the host; kept in the device while the EQ is full, dropped if
 * there is no async EQ.
 */
void eq_async(struct hca *hca, enum ohca_event type, uint32_t id);

/*
 * The same event @num times, as far as there is room now; for faults.  Returns how many are left: 0 if
 * there is no async EQ any more.
 */
uint32_t eq_flood(struct hca *hca, uint8_t type, uint32_t id, uint32_t num);

/* The same for an event that the caller embeds and that does not wait yet. */
void eq_async_event(struct hca *hca, struct eq_event *event);

/*
 * An object is destroyed: drop its events of types @first to @last that still wait in the device.
 */
void eq_forget_async(struct hca *hca, enum ohca_event first, enum ohca_event last, uint32_t id);

/* An event for an EQ that is not the async one; it waits while that is full, once. */
void eq_post(struct eq *eq, struct eq_event *event);

/* The owner of the event is destroyed: drop it if it waits. */
static inline void eq_forget(struct eq_event *event)
{
	list_del(&event->list);
}

/*
 * Look at the arm counters of the EQs in hca->eq_check, after a full fence; raise the interrupts.
 */
void eq_flush(struct hca *hca);

/* For fault injection: treat the EQ as full, whatever its indices say, or end that. */
static inline void eq_set_overrun(struct eq *eq, bool overrun)
{
	eq->overrun = overrun;
}

struct eq *eq_get(struct hca *hca, uint32_t eqn); /* NULL if there is none */

extern const struct object_class eq_class;

#endif
