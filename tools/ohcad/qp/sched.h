/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scheduler: lets each QP do a bounded amount of its work at a time.
 *
 * The run queue is round robin.  A QP that has more to do when its quantum is used up goes to the
 * end of hca->more, and QPs with new work (hca->run) are served before it.  While other QPs send
 * small messages, a quantum is SCHED_SHORT, and the device polls the doorbells after each quantum,
 * so that small messages do not wait for long ones.  Otherwise a quantum is SCHED_LONG, which is
 * more efficient.
 *
 * Among HCAs it is deficit round robin by cost: while several have work, each has the same share of a round, however many
 * QPs it has and however long their messages are.  The cost is bytes, but SCHED_MESSAGE for each message or packet at
 * least, as a small one takes as long as a copy of so many bytes.  While others have little to send, shares are
 * SCHED_SHORT, so that they do not wait for long.  Then QPs of an HCA have a turn each, of a quantum and of few messages.
 * Jobs of an HCA come after its QPs.
 */

#ifndef OHCAD_SCHED_H
#define OHCAD_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

struct hca;
struct qp;
struct timer;

/*
 * Bytes of a long and of a short quantum, of the longest burst to uplinks, and of all QPs in a
 * round
 */
#define SCHED_LONG (256U << 10)
#define SCHED_SHORT 4096
#define SCHED_EGRESS (64U << 10)
#define SCHED_ROUND (1U << 20)
/* Jobs of an HCA */
#define SCHED_MAX_JOBS 64
/* Cost of all QPs of an HCA in a round while other HCAs send too */
#define SCHED_SHARE SCHED_LONG
/* The least cost of a message, a packet, or another operation */
#define SCHED_MESSAGE 1024
/* Messages in a turn of a QP, and while other HCAs have little to send */
#define SCHED_BATCH_LONG 64
#define SCHED_BATCH_SHORT 4
/* HCAs that may have a short turn of that in a round; with more of them, it is fewer messages */
#define SCHED_SHORT_TURNS 4

_Static_assert(SCHED_BATCH_SHORT *SCHED_MESSAGE == SCHED_SHORT, "a short turn has room for them");

/* See sched_slice() */
#define SCHED_SLICE_SHORT 500
#define SCHED_SLICE_LONG 50000

/**
 * struct sched - common state of the schedulers of all HCAs of a fabric
 * @users: HCAs
 * @last: the last HCA that had more to send than it could, or NULL; only compared
 * @busy: HCAs that had more to send than they could at the end of their last round
 * @small: the last QP that sent less than a short quantum and had no more to do
 * @small_peer: its peer, or NULL; both pointers are only compared
 * @small_at: time of that; 0: never
 * @light: the last two HCAs that had little to send and nothing more, and when; the pointers are only compared
 * @turns: of HCAs that had work
 * @batch: messages in a turn of a QP, at present
 * @extra: cost of the present turn that is no message of the QP; sched_charge()
 * @max: the present quantum, which also limits a burst
 */
struct sched {
	unsigned int users;
	const struct hca *last;
	unsigned int busy;
	const struct qp *small, *small_peer;
	uint64_t small_at;
	struct {
		const struct hca *hca;
		uint64_t at;
	} light[2];
	uint64_t turns;
	unsigned int batch;
	uint64_t extra;
	uint32_t max;
};

/**
 * struct sched_job - work of an HCA that no QP does: what has come to so many of its QPs that it takes several rounds
 * @node: in hca->jobs
 * @run: do a part that costs about @room.  Returns what it has cost; *@done: it is over
 * @free: it is over, or the HCA is reset
 */
struct sched_job {
	struct list node;
	uint64_t (*run)(struct sched_job *job, uint64_t room, bool *done);
	void (*free)(struct sched_job *job);
};

/* Jobs are done one after the other.  Returns false if the HCA has too many. */
bool sched_add_job(struct hca *hca, struct sched_job *job);

/*
 * Set hca->sched, which all HCAs of a fabric share.  Call it before the first QP is created.
 * Returns 0 or -ENOMEM.
 */
int sched_init(struct hca *hca);
void sched_fini(struct hca *hca);

/* The timer of a send queue. */
void sched_timer(struct timer *timer);

/* Run each QP that is queued now once, up to SCHED_ROUND bytes, and then jobs.  Returns whether there was any. */
bool sched_round(struct hca *hca);

/*
 * How long commands and resets of the HCA may go on, ns, before all HCAs have a turn: SCHED_SLICE_SHORT while others have
 * messages to send, which wait meanwhile.
 */
uint64_t sched_slice(const struct hca *hca);

/* The HCA is reset, or fatal: its QPs have nothing to do any more, and it has no jobs. */
void sched_stop(struct hca *hca);

/* The running QP has done something that costs as much as @bytes, besides what it has sent: its HCA pays for it. */
void sched_charge(const struct hca *hca, uint64_t bytes);

/* sched_part() of more than SCHED_SHORT */
uint32_t sched_long_part(const struct qp *qp, uint32_t len);

/* Bytes of @len that a burst of the running QP may have */
static inline uint32_t sched_part(const struct qp *qp, uint32_t len)
{
	return len > SCHED_SHORT ? sched_long_part(qp, len) : len;
}

#endif
