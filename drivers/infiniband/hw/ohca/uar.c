// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: user access regions.
 */

#include <linux/dma-mapping.h>
#include <linux/idr.h>
#include <linux/io.h>
#include <linux/scatterlist.h>

#include "ohca.h"

static int ohca_shadow_alloc(struct ohca_dev *dev, struct ohca_uar *uar)
{
	if (!(dev->feats & OHCA_FEAT_SHADOW_DB))
		return 0;

	uar->shadow = dma_alloc_coherent(ohca_dmadev(dev), PAGE_SIZE, &uar->shadow_dma, GFP_KERNEL);
	return uar->shadow ? 0 : -ENOMEM;
}

static void ohca_shadow_free(struct ohca_dev *dev, struct ohca_uar *uar)
{
	if (uar->shadow)
		dma_free_coherent(ohca_dmadev(dev), PAGE_SIZE, uar->shadow, uar->shadow_dma);
}

int ohca_uar_shadow_pfn(struct ohca_dev *dev, const struct ohca_uar *uar, unsigned long *pfn)
{
	struct sg_table sgt;
	int err;

	err = dma_get_sgtable(ohca_dmadev(dev), &sgt, uar->shadow, uar->shadow_dma, PAGE_SIZE);
	if (err)
		return err;
	*pfn = page_to_pfn(sg_page(sgt.sgl));
	sg_free_table(&sgt);
	return 0;
}

/* After this, the device does not look at the shadow page. */
static void ohca_uar_hw_free(struct ohca_dev *dev, struct ohca_uar *uar)
{
	if (ohca_cmd_free_uar(dev, uar->index))
		ohca_fence(dev, "UAR not freed");
}

/* A number outside of the BAR, or of another UAR, would make a process ring for others. */
static int ohca_uar_check(struct ohca_dev *dev, struct ohca_uar *uar)
{
	bool kernel = uar == &dev->uar;
	int err = -EIO;

	if (uar->index < dev->attr.max_uar && kernel == !uar->index)
		err = ida_alloc_range(&dev->uars, uar->index, uar->index, GFP_KERNEL);
	if (err >= 0)
		return 0;
	if (err == -ENOMEM) {
		ohca_uar_hw_free(dev, uar);
		return err;
	}
	dev_err(ohca_dmadev(dev), "UAR %u can't be\n", uar->index);
	ohca_fence(dev, "bad number of a UAR");
	return -EIO;
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
	err = ohca_uar_check(dev, uar);
	if (err)
		goto err_shadow;

	if (!uar->index) {
		uar->db = ioremap(dev->uar_phys, OHCA_UAR_SIZE);
		if (!uar->db) {
			err = -ENOMEM;
			goto err_uar;
		}
	}
	return 0;

err_uar:
	ohca_uar_hw_free(dev, uar);
	ida_free(&dev->uars, uar->index);
err_shadow:
	ohca_shadow_free(dev, uar);
	return err;
}

void ohca_uar_free(struct ohca_dev *dev, struct ohca_uar *uar)
{
	if (uar->db)
		iounmap(uar->db);
	ohca_uar_hw_free(dev, uar);
	ida_free(&dev->uars, uar->index);
	ohca_shadow_free(dev, uar);
}
