/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: user access regions, the doorbells of send queues.
 */

#ifndef _OHCA_UAR_H
#define _OHCA_UAR_H

#include <linux/types.h>

#include <ohca/ohca_regs.h>

struct ohca_dev;
struct page;

/* Slots of UAR 0, the kernel's */
#define OHCA_SLOT_CMDQ 0 /* command queue */
#define OHCA_SLOT_ETH 1 /* the netdev's first queue pair; the others follow */
#define OHCA_SLOT_QP 9 /* first one of the kernel's other queue pairs; any number may share one */

/**
 * struct ohca_uar - a user access region
 * @index: number; UAR n is the page at dev->uar_phys + n * OHCA_UAR_SIZE
 * @db: doorbell page; mapped for UAR 0 only, else NULL
 * @shadow_page: shadow page; NULL without OHCA_FEAT_SHADOW_DB.  An ordinary reference counted
 *	page: one that was given to a process (vm_insert_page()) lives as long as the mapping
 * @shadow: kernel address of @shadow_page
 * @shadow_dma: DMA address of @shadow_page
 */
struct ohca_uar {
	u32 index;
	void __iomem *db;
	struct page *shadow_page;
	struct ohca_shadow *shadow;
	dma_addr_t shadow_dma;
};

/**
 * ohca_uar_alloc() - allocate a UAR and its shadow page
 * @dev: device
 * @uar: result; with @uar->index 0 (the first one allocated) the doorbell page is mapped
 *
 * Return: 0 or a negative errno
 */
int ohca_uar_alloc(struct ohca_dev *dev, struct ohca_uar *uar);

/**
 * ohca_uar_free() - free a UAR; no queue uses it any more
 * @dev: device
 * @uar: UAR
 */
void ohca_uar_free(struct ohca_dev *dev, struct ohca_uar *uar);

/**
 * ohca_uar_ring_shadow() - tell the device through the shadow page that a queue has work
 * @uar: UAR 0, with a shadow page
 * @slot: the queue's slot
 *
 * The queue's record was written before.  Callable in any context.
 *
 * Return: whether the device sleeps; it is told to wake up
 */
bool ohca_uar_ring_shadow(struct ohca_uar *uar, u32 slot);

/**
 * ohca_uar_ring_sq() - tell the device that a send queue of the kernel has work
 * @uar: UAR 0
 * @slot: the queue's slot
 * @qpn: its queue pair
 * @pi: its producer index, as in the record, which was written before
 *
 * Takes the shadow page if there is one, else the doorbell register.  Callable in any context.
 */
void ohca_uar_ring_sq(struct ohca_uar *uar, u32 slot, u32 qpn, u32 pi);

#endif /* _OHCA_UAR_H */
