/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns of QPs: who does a bounded amount of its work, and when.
 *
 * A QP that has more to do when its turn is over waits behind those that have asked since.  While
 * others have little to send, which waits for whoever's turn it is, turns are short, and there is
 * one of them between two looks at the doorbells; a QP that is alone, or among its like, has long
 * ones, which cost less.
 */

#ifndef OHCAD_TURN_H
#define OHCAD_TURN_H

#include <stdbool.h>
#include <stdint.h>

struct hca;
struct qp;

/* Bytes that a QP sends in its turn, about; in a train to uplinks, at most; and all in a round, about */
#define TURN_LONG (256U << 10)
#define TURN_SHORT 4096
#define TURN_WIRE (64U << 10)
#define TURN_ROUND (1U << 20)

/**
 * struct turns - what the QPs of all HCAs of a fabric have in common
 * @small: the last QP that sent less than TURN_SHORT bytes and had no more to do
 * @small_peer: its peer, which may be at work for it, or NULL; both are only compared with others
 * @small_at: when that was; 0: never
 * @max: bytes of a train in the present turn, at most
 */
struct turns {
	const struct qp *small, *small_peer;
	uint64_t small_at;
	uint32_t max;
};

/* A turn for those who want one now, not for who comes meanwhile: was there any? */
bool turn_round(struct hca *hca);

/* turn_part() of more than TURN_SHORT */
uint32_t turn_long_part(const struct qp *qp, uint32_t len);

/* How much of @len bytes a train of the QP, whose turn it is, may have */
static inline uint32_t turn_part(const struct qp *qp, uint32_t len)
{
	return len > TURN_SHORT ? turn_long_part(qp, len) : len;
}

#endif
