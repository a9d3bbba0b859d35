// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: user access regions.
 */

#include <linux/dma-mapping.h>
#include <linux/io.h>
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
