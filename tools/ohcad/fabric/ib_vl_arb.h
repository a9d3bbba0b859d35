/* SPDX-License-Identifier: GPL-2.0 */
/*
 * VL arbitration: which of the virtual lanes that have something to send is the next one (InfiniBand specification volume 1,
 * 7.6.9), by the tables of the port that the subnet manager has set.
 */

#ifndef OHCAD_IB_VL_ARB_H
#define OHCAD_IB_VL_ARB_H

#include "fabric/ib_port.h"

/* Which lanes come first */
enum vl_rank {
	VL_RANK_HIGH, /* those of the high priority table */
	VL_RANK_LOW, /* those of the low priority table */
	VL_RANK_NONE, /* those that neither table gives a weight: they have equal ones */
	VL_NUM_RANKS
};

/**
 * struct vl_turn - a lane may send
 * @rank: enum vl_rank of the table that it may do so by
 */
struct vl_turn {
	uint8_t vl;
	uint8_t rank;
};

/**
 * struct vl_arb - what the lanes of a port have sent
 * @ib: the port
 * @sent: bytes by weight: the lane that has the least of a rank is the next one.  A lane that had nothing to send has no
 *	claim to what it did not use, and begins at @now
 * @now: where the lane began that was the last one
 * @high: bytes of high priority since those of low priority had their last turn, or had nothing to send
 */
struct vl_arb {
	const struct ib_port *ib;
	uint64_t sent[VL_NUM_RANKS][IB_PORT_VLS];
	uint64_t now[VL_NUM_RANKS];
	uint32_t high;
};

/* Has a table a weight for any lane? */
bool ib_vl_arb_used(const struct ib_port *ib);
/* The next one of the lanes @ready, bits, of which there is at least one */
struct vl_turn ib_vl_arb_next(struct vl_arb *arb, uint8_t ready);
/* In that turn it has sent so much. */
void ib_vl_arb_sent(struct vl_arb *arb, struct vl_turn turn, uint32_t bytes);

#endif
