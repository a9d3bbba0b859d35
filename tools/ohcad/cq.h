/* SPDX-License-Identifier: GPL-2.0 */
/* Completion queues. */

#ifndef OHCAD_CQ_H
#define OHCAD_CQ_H

#include "hca.h"
#include "ring.h"

/**
 * struct cq - a completion queue
 * @pi: CQEs written
 * @ci: consumer index at the last look at the record
 * @fired_next, @fired_solicited: record's counters at the last event
 * @check: in hca->cq_check while arm counters are to be looked at
 * @solicited: since then, a CQE was a solicited or a failed one
 * @waiting: in the EQ's list of CQs whose event did not fit
 * @error: overrun or inaccessible: no CQE is written any more
 * @refs: work queues that complete here
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
	struct list check;
	bool solicited;
	struct list waiting;
	bool error;
	uint32_t refs;
};

/*
 * Write a CQE (owner bit and byte order of all other fields: the caller gives a complete
 * little-endian CQE, cq_push() sets the owner bit and writes it last); the event, if one was
 * asked for, follows at the end of the polling round.  A solicited or failed CQE is told by
 * OHCA_CQE_F_SOLICITED and status.  Returns false if the CQ is in error or overran; then
 * OHCA_EVENT_CQ_ERR was raised once and the caller moves its QP to the error state.
 */
bool cq_push(struct cq *cq, const struct ohca_cqe *cqe);

struct cq *cq_get(struct hca *hca, uint32_t cqn); /* NULL if there is none */

/* Look at the arm counters of the CQs in hca->cq_check, after a full fence; raise the events. */
void cq_flush(struct hca *hca);

/* All CQs are in error, silently: the device is fatal. */
void cq_stop_all(struct hca *hca);

/* Free all, without touching guest memory: reset.  QPs must be gone. */
void cq_reset_all(struct hca *hca);

#endif
