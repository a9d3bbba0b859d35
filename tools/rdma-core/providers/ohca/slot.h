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
 * @total: number of all of them
 * @next: where the next search begins
 */
struct ohca_slots {
	uint32_t users[OHCA_SHADOW_DIRECT_SLOTS];
	uint32_t total;
	unsigned int next;
};

/**
 * ohca_slot_get - allocate a slot: a free one if there is one, else one that does not have more queues
 * than slots have on average, which is likely the next one
 */
static inline unsigned int ohca_slot_get(struct ohca_slots *slots)
{
	uint32_t enough = slots->total / OHCA_SHADOW_DIRECT_SLOTS;
	unsigned int slot = slots->next;

	while (slots->users[slot] > enough)
		slot = (slot + 1) % OHCA_SHADOW_DIRECT_SLOTS;
	slots->users[slot]++;
	slots->total++;
	slots->next = (slot + 1) % OHCA_SHADOW_DIRECT_SLOTS;
	return slot;
}

/**
 * ohca_slot_put - free a slot
 */
static inline void ohca_slot_put(struct ohca_slots *slots, unsigned int slot)
{
	slots->users[slot]--;
	slots->total--;
}

#endif /* OHCA_SLOT_H */
