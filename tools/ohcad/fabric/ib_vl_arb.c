// SPDX-License-Identifier: GPL-2.0
/* VL arbitration. */

#include "fabric/ib_vl_arb.h"

#define VL_MASK 15 /* mask for the first byte of an entry; the second one is the weight */
#define LIMIT_UNIT 4096U /* unit of PortInfo's VLHighLimit, bytes */
#define NO_LIMIT 255
#define SCALE 8 /* scale of bytes by weight, log2 */

/* Index in ib_port.vl_arb by rank */
static const uint8_t *table_of(const struct ib_port *ib, unsigned int rank)
{
	return ib->vl_arb[rank == VL_RANK_HIGH];
}

/* Entries of the same lane add up. */
static unsigned int weight_of(const struct ib_port *ib, unsigned int rank, unsigned int vl)
{
	const uint8_t *table = table_of(ib, rank);
	unsigned int i, sum = 0;

	if (rank == VL_RANK_NONE)
		return !weight_of(ib, VL_RANK_HIGH, vl) && !weight_of(ib, VL_RANK_LOW, vl);
	for (i = 0; i < IB_PORT_VL_ARB; i++)
		sum += (table[2 * i] & VL_MASK) == vl ? table[2 * i + 1] : 0;
	return sum;
}

bool ib_vl_arb_used(const struct ib_port *ib)
{
	unsigned int i;

	for (i = 0; i < IB_PORT_VL_ARB; i++) {
		if (ib->vl_arb[0][2 * i + 1] || ib->vl_arb[1][2 * i + 1])
			return true;
	}
	return false;
}

static uint64_t sent_by(const struct vl_arb *arb, unsigned int rank, unsigned int vl)
{
	uint64_t sent = arb->sent[rank][vl];

	return sent > arb->now[rank] ? sent : arb->now[rank];
}

/* Choose among the lanes @ready of a rank; -1: there is none */
static int next_of(const struct vl_arb *arb, unsigned int rank, uint8_t ready)
{
	unsigned int vl;
	int best = -1;

	for (vl = 0; vl < IB_PORT_VLS; vl++) {
		if (ready >> vl & 1 && weight_of(arb->ib, rank, vl) &&
		    (best < 0 || sent_by(arb, rank, vl) < sent_by(arb, rank, best)))
			best = vl;
	}
	return best;
}

/* Does VLHighLimit allow lanes of high priority to go before lanes of low priority that are ready? */
static bool high_first(const struct vl_arb *arb)
{
	uint8_t limit = arb->ib->vl_high_limit;

	return limit == NO_LIMIT || arb->high <= limit * LIMIT_UNIT;
}

struct vl_grant ib_vl_arb_next(struct vl_arb *arb, uint8_t ready)
{
	int high = next_of(arb, VL_RANK_HIGH, ready), low = next_of(arb, VL_RANK_LOW, ready);

	if (low < 0)
		arb->high = 0;
	if (high >= 0 && (low < 0 || high_first(arb)))
		return (struct vl_grant){high, VL_RANK_HIGH};
	if (low >= 0)
		return (struct vl_grant){low, VL_RANK_LOW};
	return (struct vl_grant){next_of(arb, VL_RANK_NONE, ready), VL_RANK_NONE};
}

void ib_vl_arb_sent(struct vl_arb *arb, struct vl_grant grant, uint32_t bytes)
{
	unsigned int weight = weight_of(arb->ib, grant.rank, grant.vl);

	arb->now[grant.rank] = sent_by(arb, grant.rank, grant.vl);
	/* The tables may have changed since the grant. */
	arb->sent[grant.rank][grant.vl] =
		arb->now[grant.rank] + ((uint64_t)bytes << SCALE) / (weight ?: 1);
	if (grant.rank == VL_RANK_HIGH)
		arb->high = arb->high + bytes < arb->high ? UINT32_MAX : arb->high + bytes;
	else if (grant.rank == VL_RANK_LOW)
		arb->high = 0;
}
