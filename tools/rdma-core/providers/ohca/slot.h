/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Slots of the shadow page: the dirty bit of each send queue.
 *
 * This file does not use libibverbs, so that the unit tests run the same code.
 */

#ifndef OHCA_SLOT_H
#define OHCA_SLOT_H

#include <stdint.h>

#include "ohca_regs.h"

/**
 * struct ohca_slots - use of the direct slots of a shadow page; the owner serializes access
 * @users: number of send queues with each slot
 * @next: where the next search begins
 */
struct ohca_slots {
	uint32_t users[OHCA_SHADOW_DIRECT_SLOTS];
	unsigned int next;
};

/**
 * ohca_slot_get - allocate a slot: a free one if there is one, else one with the fewest queues
 */
static inline unsigned int ohca_slot_get(struct ohca_slots *slots)
{
	unsigned int i, n, best = slots->next;

	for (i = 0; i < OHCA_SHADOW_DIRECT_SLOTS && slots->users[best]; i++) {
		n = (slots->next + i) % OHCA_SHADOW_DIRECT_SLOTS;
		if (slots->users[n] < slots->users[best])
			best = n;
	}
	slots->users[best]++;
	slots->next = (best + 1) % OHCA_SHADOW_DIRECT_SLOTS;
	return best;
}

/**
 * ohca_slot_put - free a slot
 */
static inline void ohca_slot_put(struct ohca_slots *slots, unsigned int slot)
{
	slots->users[slot]--;
}

#endif /* OHCA_SLOT_H */
