/* SPDX-License-Identifier: GPL-2.0 */
/* Completion queues: cq.c writes completions and raises events, cq_cmd.c has the commands. */

#ifndef OHCAD_CQ_H
#define OHCAD_CQ_H

#include "device/eq.h"
#include "device/ring.h"

/**
 * struct cq - a completion queue
 * @pi: CQEs written
 * @ci: consumer index at the last look at the record
 * @fired_next, @fired_solicited: record's counters at the last event
 * @notified: CQEs that need no event any more: it was raised, or they were written while the CQ was
 *	not armed
 * @check: in hca->cq_check while arm counters are to be looked at
 * @solicited: since then, a CQE was a solicited or a failed one
 * @timestamp: CQEs carry time stamps
 * @ignore_overrun: CQEs overwrite those that were not taken
 * @moder_count: an event for so many CQEs, 0 and 1: each
 * @moder_ns: but so long after the first of them at the latest, 0: for ever
 * @moder: runs while CQEs wait for others
 * @due: @moder_ns is over
 * @event: OHCA_EVENT_COMP, while it waits for room in the EQ
 * @error: overrun or inaccessible: no CQE is written any more
 * @refs: work queues that complete here
 * @memory: charged to QUOTA_MEMORY
 */
struct cq {
	struct hca *hca;
	uint32_t id;
	struct eq *eq;
	struct xlt xlt;
	struct ring ring;
	struct ring rec;
	uint32_t pi, ci;
	uint32_t fired_next, fired_solicited;
	uint32_t notified;
	struct list check;
	bool solicited;
	bool timestamp, ignore_overrun;
	bool due;
	uint16_t moder_count;
	uint64_t moder_ns;
	struct timer moder;
	struct eq_event event;
	bool error;
	uint32_t refs;
	size_t memory;
};

/*
 * Write a CQE (owner bit and byte order of all other fields: the caller gives a complete
 * little-endian CQE, cq_push() sets the owner bit and writes it last); the event, if one was
 * asked for, follows at the end of the polling round.  A solicited or failed CQE is recognized by
 * OHCA_CQE_F_SOLICITED and status.  Returns false if the CQ is in error or overran; then
 * OHCA_EVENT_CQ_ERR was raised once and the caller moves its QP to the error state.
 */
bool cq_push(struct cq *cq, const struct ohca_cqe *cqe);

/*
 * The CQ is in error from now on, as after an overrun: OHCA_EVENT_CQ_ERR.  @why is for the log.
 */
void cq_error(struct cq *cq, const char *why);

struct cq *cq_get(struct hca *hca, uint32_t cqn); /* NULL if there is none */

/* Look at the arm counters of the CQs in hca->cq_check, after a full fence; raise the events. */
void cq_flush(struct hca *hca);

/* The timer of a CQ whose events are moderated. */
void cq_moder_timer(struct timer *timer);

/* Look at the CQ's arm counters at the end of the polling round. */
static inline void cq_schedule_check(struct cq *cq)
{
	if (list_empty(&cq->check))
		list_add_tail(&cq->hca->cq_check, &cq->check);
}

/* Take a CQ out of everything that refers to it and free it. */
void cq_free(struct cq *cq);

extern const struct object_class cq_class;

#endif
