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
 * Among HCAs it is deficit round robin by bytes: while several have work, each has the same share of a round, however
 * many QPs it has and however long their messages are.
 */

#ifndef OHCAD_SCHED_H
#define OHCAD_SCHED_H

#include <stdbool.h>
#include <stdint.h>

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
/* Bytes of all QPs of an HCA in a round while other HCAs send too */
#define SCHED_SHARE SCHED_LONG

/**
 * struct sched - common state of the schedulers of all HCAs of a fabric
 * @users: HCAs
 * @last: the last HCA that had more to send than it could, or NULL; only compared
 * @small: the last QP that sent less than a short quantum and had no more to do
 * @small_peer: its peer, or NULL; both pointers are only compared
 * @small_at: time of that; 0: never
 * @max: the present quantum, which also limits a burst
 */
struct sched {
	unsigned int users;
	const struct hca *last;
	const struct qp *small, *small_peer;
	uint64_t small_at;
	uint32_t max;
};

/*
 * Set hca->sched, which all HCAs of a fabric share.  Call it before the first QP is created.
 * Returns 0 or -ENOMEM.
 */
int sched_init(struct hca *hca);
void sched_fini(struct hca *hca);

/* The timer of a send queue. */
void sched_timer(struct timer *timer);

/* Run each QP that is queued now once, up to SCHED_ROUND bytes.  Returns whether there was any. */
bool sched_round(struct hca *hca);

/* sched_part() of more than SCHED_SHORT */
uint32_t sched_long_part(const struct qp *qp, uint32_t len);

/* Bytes of @len that a burst of the running QP may have */
static inline uint32_t sched_part(const struct qp *qp, uint32_t len)
{
	return len > SCHED_SHORT ? sched_long_part(qp, len) : len;
}

#endif
