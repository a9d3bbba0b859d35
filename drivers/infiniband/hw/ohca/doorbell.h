/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: doorbells, shadow pages.
 */

#ifndef _OHCA_DOORBELL_H
#define _OHCA_DOORBELL_H

#include <linux/types.h>

struct ohca_uar;

/* Slots of UAR 0, the kernel's */
#define OHCA_SLOT_CMDQ 0 /* command queue */
#define OHCA_SLOT_ETH 1 /* first queue pair of the first port's netdev; the others follow */
/* first one of the kernel's other queue pairs; any number may share one */
#define OHCA_SLOT_QP (OHCA_SLOT_ETH + OHCA_MAX_PORTS * OHCA_EN_MAX_CHANNELS)

/**
 * ohca_db_mark_shadow() - mark in the shadow page that a queue has work, but let the device sleep
 * @uar: UAR 0, with a shadow page
 * @slot: the queue's slot
 *
 * The queue's record was written before.  ohca_db_ring_shadow() follows, some time later.
 */
void ohca_db_mark_shadow(struct ohca_uar *uar, u32 slot);

/**
 * ohca_db_ring_shadow() - mark in the shadow page that a queue has work
 * @uar: UAR 0, with a shadow page
 * @slot: the queue's slot
 *
 * The queue's record was written before.  Callable in any context.
 *
 * Return: whether the device sleeps; this call wakes it
 */
bool ohca_db_ring_shadow(struct ohca_uar *uar, u32 slot);

/**
 * ohca_db_ring_sq() - notify the device that a send queue of the kernel has work
 * @uar: UAR 0
 * @slot: the queue's slot
 * @qpn: its queue pair
 * @pi: its producer index, as in the record, which was written before
 *
 * Uses the shadow page if there is one, else the doorbell register.  Callable in any context.
 */
void ohca_db_ring_sq(struct ohca_uar *uar, u32 slot, u32 qpn, u32 pi);

#endif /* _OHCA_DOORBELL_H */
