/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: user access regions.
 */

#ifndef _OHCA_UAR_H
#define _OHCA_UAR_H

#include <linux/types.h>

#include <ohca/ohca_regs.h>

struct ohca_dev;
struct page;

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

#endif /* _OHCA_UAR_H */
