// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: doorbells, shadow pages.
 */

#include <linux/atomic.h>
#include <linux/io.h>

#include "doorbell.h"
#include "uar.h"

static void ohca_shadow_set(__le64 *word, u32 bit)
{
	atomic64_or((__force s64)cpu_to_le64(BIT_ULL(bit)), (atomic64_t *)word);
}

void ohca_db_mark_shadow(struct ohca_uar *uar, u32 slot)
{
	struct ohca_shadow *shadow = uar->shadow;

	dma_wmb(); /* the queue's record before the dirty bit */
	if (slot < OHCA_SHADOW_DIRECT_SLOTS) {
		ohca_shadow_set(&shadow->direct[slot / 64], slot % 64);
	} else {
		slot -= OHCA_SHADOW_DIRECT_SLOTS;
		ohca_shadow_set(&shadow->indirect[slot / 64], slot % 64);
		dma_wmb(); /* the dirty bit before its summary bit */
		ohca_shadow_set(&shadow->summary, slot / 64);
	}
}

bool ohca_db_ring_shadow(struct ohca_uar *uar, u32 slot)
{
	struct ohca_shadow *shadow = uar->shadow;

	ohca_db_mark_shadow(uar, slot);

	/*
	 * Store the dirty bit, then load asleep; the device stores asleep, then loads dirty bits.
	 * smp_mb() would not suffice: it is a locked instruction, which need not be a barrier
	 * towards an emulated device in a machine of one CPU.
	 */
	mb();
	if (!READ_ONCE(shadow->asleep))
		return false;
	writel(1, uar->db + OHCA_UAR_WAKE);
	return true;
}

void ohca_db_ring_sq(struct ohca_uar *uar, u32 slot, u32 qpn, u32 pi)
{
	if (uar->shadow)
		ohca_db_ring_shadow(uar, slot);
	else
		writeq(((u64)qpn << OHCA_SQ_DB_QPN_SHIFT) | pi, uar->db + OHCA_UAR_SQ_DB);
}
