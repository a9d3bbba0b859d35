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

/**
 * struct sched - what the schedulers of all HCAs of a fabric have in common
 * @users: HCAs
 * @small: the last QP that sent less than a short turn's bytes and had no more to do
 * @small_peer: its peer, which may be at work for it, or NULL; both are only compared with others
 * @small_at: when that was; 0: never
 * @max: bytes of a burst in the present turn, at most
 */
struct sched {
	unsigned int users;
	const struct qp *small, *small_peer;
	uint64_t small_at;
	uint32_t max;
};

/* The HCA gets hca->sched, that of the others of its fabric: before the first QP.  0 or -ENOMEM. */
int sched_init(struct hca *hca);
void sched_fini(struct hca *hca);

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
