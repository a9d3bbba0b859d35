/* SPDX-License-Identifier: GPL-2.0 */
/*
 * VL arbitration (InfiniBand specification volume 1, 7.6.9): the choice of the next virtual lane to send, by the tables that
 * the subnet manager has set.
 */

#ifndef OHCAD_IB_VL_ARB_H
#define OHCAD_IB_VL_ARB_H

#include "fabric/ib_port.h"

/* Priority of virtual lanes, highest first */
enum vl_rank {
	VL_RANK_HIGH, /* in the high priority table */
	VL_RANK_LOW, /* in the low priority table */
	VL_RANK_NONE, /* without a weight in either table: all have the same weight */
	VL_NUM_RANKS
};

/**
 * struct vl_grant - the permission for a virtual lane to send
 * @rank: enum vl_rank of the table that it is granted by
 */
struct vl_grant {
	uint8_t vl;
	uint8_t rank;
};

/**
 * struct vl_arb - state of the VL arbitration of a port
 * @ib: the port
 * @sent: bytes divided by weight (virtual time): the lane of a rank with the lowest value is the next one.  A lane that was
 *	idle starts at @now, and cannot catch up
 * @now: @sent of the last chosen lane before it was chosen
 * @high: bytes of high priority since low priority last sent, or had nothing to send
 */
struct vl_arb {
	const struct ib_port *ib;
	uint64_t sent[VL_NUM_RANKS][IB_PORT_VLS];
	uint64_t now[VL_NUM_RANKS];
	uint32_t high;
};

/* Has a table a weight for any lane? */
bool ib_vl_arb_used(const struct ib_port *ib);
/* Choose the next lane.  @ready: bit mask of lanes with packets to send, not 0 */
struct vl_grant ib_vl_arb_next(struct vl_arb *arb, uint8_t ready);
/* Account for what the lane has sent by that grant, in bytes. */
void ib_vl_arb_sent(struct vl_arb *arb, struct vl_grant grant, uint32_t bytes);

#endif
