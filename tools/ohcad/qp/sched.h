/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scheduler: which QP does a bounded amount of its work, and when.
 *
 * A QP that has more to do when its turn is over waits behind those that have asked since.  While
 * others have little to send, which waits for whoever's turn it is, turns are short, and there is
 * one of them between two looks at the doorbells; a QP that is alone, or among its like, has long
 * ones, which cost less.
 */

#ifndef OHCAD_SCHED_H
#define OHCAD_SCHED_H

#include <stdbool.h>
#include <stdint.h>

struct hca;
struct qp;
struct timer;

/* Bytes that a QP sends in its turn, about; in a burst to uplinks, at most; and all in a round, about */
#define SCHED_LONG (256U << 10)
#define SCHED_SHORT 4096
#define SCHED_EGRESS (64U << 10)
#define SCHED_ROUND (1U << 20)

/* Before the first QP. */
void sched_init(struct hca *hca);

/* The timer of a send queue. */
void sched_timer(struct timer *timer);

/* A turn for those who want one now, not for who comes meanwhile: was there any? */
bool sched_round(struct hca *hca);

/* sched_part() of more than SCHED_SHORT */
uint32_t sched_long_part(const struct qp *qp, uint32_t len);

/* How much of @len bytes a burst of the QP, whose turn it is, may have */
static inline uint32_t sched_part(const struct qp *qp, uint32_t len)
{
	return len > SCHED_SHORT ? sched_long_part(qp, len) : len;
}

#endif
