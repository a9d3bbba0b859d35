/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: user access regions.
 */

#ifndef _OHCA_UAR_H
#define _OHCA_UAR_H

#include <linux/types.h>

#include <ohca/ohca_regs.h>

struct ohca_dev;

/**
 * struct ohca_uar - a user access region
 * @index: number; UAR n is the page at dev->uar_phys + (n << dev->uar_shift)
 * @db: doorbell page; mapped for UAR 0 only, else NULL
 * @shadow: shadow page, DMA-coherent memory; NULL without OHCA_FEAT_SHADOW_DB
 * @shadow_dma: DMA address of @shadow
 */
struct ohca_uar {
	u32 index;
	void __iomem *db;
	struct ohca_shadow *shadow;
	dma_addr_t shadow_dma;
};

/**
 * ohca_uar_alloc() - allocate a UAR and its shadow page
 * @dev: device
 * @uar: result; that of the kernel, which is the first one and has number 0, if it is in @dev: its
 *	doorbell page is mapped
 *
 * Return: 0 or a negative errno; -EIO if the device gives an impossible number, and it is fenced
 */
int ohca_uar_alloc(struct ohca_dev *dev, struct ohca_uar *uar);

/**
 * ohca_uar_shadow_pfn() - find the shadow page, to map it
 * @dev: device
 * @uar: UAR with a shadow page
 * @pfn: result
 *
 * Return: 0 or a negative errno
 */
int ohca_uar_shadow_pfn(struct ohca_dev *dev, const struct ohca_uar *uar, unsigned long *pfn);

/**
 * ohca_uar_free() - free a UAR; no queue uses it, and no process maps it
 * @dev: device
 * @uar: UAR
 */
void ohca_uar_free(struct ohca_dev *dev, struct ohca_uar *uar);

#endif /* _OHCA_UAR_H */
