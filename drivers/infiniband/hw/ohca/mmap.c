// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the pages that a process maps: doorbells and shadow page of its UAR, device memory.
 *
 * When the device is removed, ib_core replaces these mappings by an unused page.  It does that for
 * mappings by rdma_user_mmap_io(), but not by dma_mmap_coherent(): the process would keep a shadow
 * page that is freed and has another owner.
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include "ohca.h"
#include "ohca_compat.h"
#include "ucontext.h"

static struct rdma_user_mmap_entry *ohca_mmap_insert(struct ohca_ucontext *uc,
						     enum ohca_mmap_type type)
{
	struct ohca_mmap_entry *entry;
	int err;

	entry = kzalloc_obj(*entry);
	if (!entry)
		return NULL;

	entry->type = type;
	err = rdma_user_mmap_entry_insert(&uc->ibuc, &entry->rdma, PAGE_SIZE);
	if (err) {
		kfree(entry);
		return NULL;
	}
	return &entry->rdma;
}

/* Whether device memory is behind the UARs and in the BAR.  A process maps whole pages. */
static bool ohca_mmap_dm_valid(const struct ohca_dev *dev, u64 offset, u64 length)
{
	u64 end = dev->uar_len;

	return IS_ALIGNED(offset, PAGE_SIZE) &&
	       offset >= (u64)dev->attr.max_uar << dev->uar_shift && offset < end &&
	       PAGE_ALIGN(length) <= end - offset;
}

/**
 * ohca_mmap_alloc_dm() - allocate device memory, and the mmap entry that owns it
 * @uc: context
 * @length: bytes
 * @log_align: log2 of the alignment of its offset in the BAR
 *
 * No other device memory is in its pages, which a process maps as a whole.
 *
 * Return: the entry, which is freed with its last reference, or an ERR_PTR()
 */
struct ohca_mmap_entry *ohca_mmap_alloc_dm(struct ohca_ucontext *uc, u64 length, u8 log_align)
{
	struct ohca_dev *dev = to_odev(uc->ibuc.device);
	struct ohca_mmap_entry *entry;
	u64 offset;
	int err;

	if (length > (u64)dev->attr.dm_pages << OHCA_DM_PAGE_SHIFT)
		return ERR_PTR(-ENOMEM);

	entry = kzalloc_obj(*entry);
	if (!entry)
		return ERR_PTR(-ENOMEM);

	err = ohca_cmd_alloc_dm(dev, PAGE_ALIGN(length), max_t(u8, log_align, PAGE_SHIFT),
				&entry->dm, &offset);
	if (err)
		goto err_free;

	if (!ohca_mmap_dm_valid(dev, offset, length)) {
		dev_err(ohca_dmadev(dev), "device memory of %llu bytes can't be at 0x%llx\n",
			length, offset);
		ohca_fence(dev, "bad offset of device memory");
		err = -EIO;
		goto err_free;
	}

	entry->type = OHCA_MMAP_DM;
	entry->phys = dev->uar_phys + offset;
	err = rdma_user_mmap_entry_insert(&uc->ibuc, &entry->rdma, PAGE_ALIGN(length));
	if (err)
		goto err_dm;

	return entry;

err_dm:
	ohca_cmd_free_dm(dev, entry->dm);
err_free:
	kfree(entry);
	return ERR_PTR(err);
}

/**
 * ohca_mmap_init() - create the mmap entries of a context
 * @uc: context with a UAR
 *
 * Return: 0 or -ENOMEM
 */
int ohca_mmap_init(struct ohca_ucontext *uc)
{
	uc->db = ohca_mmap_insert(uc, OHCA_MMAP_DB);
	if (!uc->db)
		return -ENOMEM;

	if (uc->uar.shadow) {
		uc->shadow = ohca_mmap_insert(uc, OHCA_MMAP_SHADOW);
		if (!uc->shadow)
			goto err_db;
	}
	return 0;

err_db:
	rdma_user_mmap_entry_remove(uc->db);
	return -ENOMEM;
}

/**
 * ohca_mmap_fini() - remove the mmap entries of a context; existing mappings stay
 * @uc: context
 */
void ohca_mmap_fini(struct ohca_ucontext *uc)
{
	rdma_user_mmap_entry_remove(uc->shadow);
	rdma_user_mmap_entry_remove(uc->db);
}

int ohca_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma)
{
	struct ohca_dev *dev = to_odev(ibuc->device);
	struct ohca_ucontext *uc = to_ouctx(ibuc);
	struct rdma_user_mmap_entry *entry;
	unsigned long pfn;
	phys_addr_t db;
	int err;

	entry = rdma_user_mmap_entry_get(ibuc, vma);
	if (!entry) {
		ibdev_dbg(dev->ibdev, "mmap of unknown page offset %#lx\n", vma->vm_pgoff);
		return -EINVAL;
	}

	switch (to_ommap(entry)->type) {
	case OHCA_MMAP_DB:
		db = dev->uar_phys + ((phys_addr_t)uc->uar.index << dev->uar_shift);
		err = rdma_user_mmap_io(ibuc, vma, PHYS_PFN(db), PAGE_SIZE,
					pgprot_noncached(vma->vm_page_prot), entry);
		break;
	case OHCA_MMAP_SHADOW:
		err = ohca_uar_shadow_pfn(dev, &uc->uar, &pfn);
		if (!err)
			err = rdma_user_mmap_io(ibuc, vma, pfn, PAGE_SIZE, vma->vm_page_prot,
						entry);
		break;
	case OHCA_MMAP_DM:
		err = rdma_user_mmap_io(ibuc, vma, PHYS_PFN(to_ommap(entry)->phys),
					entry->npages * PAGE_SIZE,
					pgprot_writecombine(vma->vm_page_prot), entry);
		break;
	default:
		err = -EINVAL;
	}

	rdma_user_mmap_entry_put(entry);
	return err;
}

void ohca_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct ohca_dev *dev = to_odev(entry->ucontext->device);

	if (to_ommap(entry)->type == OHCA_MMAP_DM) {
		/*
		 * Posted writes of processes arrive before this read returns, and so before the
		 * memory is freed.
		 */
		readl(dev->regs + OHCA_REG_STATUS);
		if (ohca_cmd_free_dm(dev, to_ommap(entry)->dm))
			ohca_fence(dev, "device memory not freed");
	}
	kfree(to_ommap(entry));
}
