// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: user access regions.
 */

#include <linux/dma-mapping.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/mm.h>

#include "ohca.h"

static int ohca_shadow_alloc(struct ohca_dev *dev, struct ohca_uar *uar)
{
	struct device *dmadev = ohca_dmadev(dev);

	if (!(dev->feats & OHCA_FEAT_SHADOW_DB))
		return 0;

	uar->shadow_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!uar->shadow_page)
		return -ENOMEM;
	uar->shadow = page_address(uar->shadow_page);
	uar->shadow_dma = dma_map_page(dmadev, uar->shadow_page, 0, PAGE_SIZE, DMA_BIDIRECTIONAL);
	if (dma_mapping_error(dmadev, uar->shadow_dma)) {
		put_page(uar->shadow_page);
		return -ENOMEM;
	}
	return 0;
}

static void ohca_shadow_free(struct ohca_dev *dev, struct ohca_uar *uar)
{
	if (!uar->shadow_page)
		return;
	dma_unmap_page(ohca_dmadev(dev), uar->shadow_dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
	put_page(uar->shadow_page);
}

int ohca_uar_alloc(struct ohca_dev *dev, struct ohca_uar *uar)
{
	int err;

	memset(uar, 0, sizeof(*uar));
	err = ohca_shadow_alloc(dev, uar);
	if (err)
		return err;
	err = ohca_cmd_alloc_uar(dev, uar->shadow_dma, &uar->index);
	if (err)
		goto err_shadow;
	if (uar->index >= dev->attr.max_uar) {
		err = -EIO;
		goto err_uar;
	}

	if (!uar->index) {
		uar->db = ioremap(dev->uar_phys, OHCA_UAR_SIZE);
		if (!uar->db) {
			err = -ENOMEM;
			goto err_uar;
		}
	}
	return 0;

err_uar:
	ohca_cmd_free_uar(dev, uar->index);
err_shadow:
	ohca_shadow_free(dev, uar);
	return err;
}

void ohca_uar_free(struct ohca_dev *dev, struct ohca_uar *uar)
{
	if (uar->db)
		iounmap(uar->db);
	ohca_cmd_free_uar(dev, uar->index);
	ohca_shadow_free(dev, uar);
}

static void ohca_shadow_set(__le64 *word, u32 bit)
{
	atomic64_or((__force s64)cpu_to_le64(BIT_ULL(bit)), (atomic64_t *)word);
}

bool ohca_uar_ring_shadow(struct ohca_uar *uar, u32 slot)
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

	/*
	 * Dirty bit, then asleep; the device: asleep, then dirty bits.  smp_mb() would not do: it
	 * is a locked instruction, which need not be a barrier towards an emulated device in a
	 * machine of one CPU.
	 */
	mb();
	if (!READ_ONCE(shadow->asleep))
		return false;
	writel(1, uar->db + OHCA_UAR_WAKE);
	return true;
}

void ohca_uar_ring_sq(struct ohca_uar *uar, u32 slot, u32 qpn, u32 pi)
{
	if (uar->shadow)
		ohca_uar_ring_shadow(uar, slot);
	else
		writeq(((u64)qpn << OHCA_SQ_DB_QPN_SHIFT) | pi, uar->db + OHCA_UAR_SQ_DB);
}
