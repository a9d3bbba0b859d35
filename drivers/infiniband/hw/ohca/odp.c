// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: memory regions with on-demand paging.
 *
 * Pages of a region are numbered from its first one on.  MMU notifiers watch the memory in chunks,
 * which are created when the device asks for one of their pages; so a region can be as large as the
 * address space.  A chunk without mapped pages is kept for the time being.  It is freed with the
 * region, or when there are many chunks and another one is needed.
 *
 * A page is mapped in the device under the chunk's umem_mutex, which the MMU notifier also takes to
 * unmap pages.  The notifier may run while memory is reclaimed, so nothing is allocated under
 * umem_mutex and cmd_lock.
 */

#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <net/netlink.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_umem_odp.h>
#include <rdma/restrack.h>
#include <rdma/uverbs_ioctl.h>
#include <uapi/rdma/rdma_netlink.h>

#include "mr.h"
#include "odp.h"
#include "ohca.h"
#include "ohca_compat.h"
#include "pd.h"
#include "rsc.h"

#define OHCA_CHUNK_SHIFT 26 /* of the memory in a chunk */
#define OHCA_CHUNKS 64 /* of a region, before unused ones are freed */
#define OHCA_ODP_PAGES 2048 /* mapped at once */

/**
 * enum ohca_odp_mode - how pages are mapped
 * @OHCA_ODP_READ: at least for reading, faulted in if necessary
 * @OHCA_ODP_WRITE: also for writing, faulted in if necessary
 * @OHCA_ODP_PRESENT: only pages that are present
 */
enum ohca_odp_mode {
	OHCA_ODP_READ,
	OHCA_ODP_WRITE,
	OHCA_ODP_PRESENT,
};

/**
 * struct ohca_odp - additional part of a region with on-demand paging
 * @mkey: the part for page faults
 * @dev: device
 * @mr: region
 * @root: parent of the chunks' umems
 * @mm: address space, held
 * @start: page aligned address of page 0
 * @npages: number of pages
 * @iova: address of the region's first byte for the device
 * @offset: of that byte in page 0
 * @length: bytes of the region
 * @stopping: it is being destroyed: no more pages are mapped
 * @lock: protects @chunks and @nchunks
 * @chunks: struct ohca_odp_chunk by address >> OHCA_CHUNK_SHIFT
 * @nchunks: number of those
 * @cmd_lock: protects @cmd; taken under umem_mutex
 * @cmd: a command
 * @faults: pages mapped for page faults
 * @invalidations: pages unmapped
 * @prefetches: pages mapped by requests of the process
 */
struct ohca_odp {
	struct ohca_core_mkey mkey;
	struct ohca_dev *dev;
	struct ohca_mr *mr;
	struct ib_umem_odp *root;
	struct mm_struct *mm;
	u64 start;
	u64 npages;
	u64 iova;
	u64 offset;
	u64 length;
	bool stopping;
	struct mutex lock; /* chunks */
	struct xarray chunks;
	u32 nchunks;
	struct mutex cmd_lock; /* cmd */
	struct ohca_modify_pages_in cmd;
	atomic64_t faults;
	atomic64_t invalidations;
	atomic64_t prefetches;
};

/**
 * struct ohca_odp_chunk - a part of a region's memory, with its MMU notifier
 * @odp: region
 * @umem: the memory
 * @users: number of threads that map pages of it; under the region's lock
 */
struct ohca_odp_chunk {
	struct ohca_odp *odp;
	struct ib_umem_odp *umem;
	u32 users;
};

/* Pages */

static u64 ohca_odp_va(const struct ohca_odp *odp, u64 page)
{
	return odp->start + (page << PAGE_SHIFT);
}

static u64 ohca_odp_page(const struct ohca_odp *odp, u64 va)
{
	return (va - odp->start) >> PAGE_SHIFT;
}

static int ohca_odp_entry(struct ib_umem_odp *umem, size_t i, __le64 *entry)
{
	unsigned long pfn = ohca_compat_odp_pfns(umem)[i];
	dma_addr_t addr;
	u64 val;

	*entry = 0;
	if (!(pfn & HMM_PFN_VALID))
		return 0;

	addr = ohca_compat_odp_dma(umem, i);
	if (addr == DMA_MAPPING_ERROR)
		return -EFAULT;

	val = addr | OHCA_PAGE_PRESENT;
	if (pfn & HMM_PFN_WRITE && umem->umem.writable)
		val |= OHCA_PAGE_WRITE;
	*entry = cpu_to_le64(val);
	return 1;
}

/*
 * Map @num pages in the device, at most as many as fit in a command.  Returns how many are present.
 */
static int ohca_odp_map_pages(struct ohca_odp *odp, struct ib_umem_odp *umem, size_t first, u32 num)
{
	u64 page = ohca_odp_page(odp, ib_umem_start(umem)) + first;
	int ret, present = 0;
	u32 i;

	lockdep_assert_held(&umem->umem_mutex);

	mutex_lock(&odp->cmd_lock);
	for (i = 0; i < num; i++) {
		ret = ohca_odp_entry(umem, first + i, &odp->cmd.page[i]);
		if (ret < 0)
			goto out;
		present += ret;
	}
	ret = 0;
	if (present)
		ret = ohca_cmd_modify_pages(odp->dev, odp->mkey.key, OHCA_PAGES_MAP, page, num,
					    &odp->cmd);
out:
	mutex_unlock(&odp->cmd_lock);
	return ret < 0 ? ret : present;
}

/*
 * Unmap the pages from @start up to @end that are mapped in the device.  The flags of the pages
 * show which ones are.  umem->npages may be wrong: hmm_range_fault() writes the flags while others
 * clear them, and notices that later.
 */
static void ohca_odp_unmap_pages(struct ohca_odp *odp, struct ib_umem_odp *umem, u64 start, u64 end)
{
	size_t i = (start - ib_umem_start(umem)) >> PAGE_SHIFT;
	size_t last = (end - ib_umem_start(umem)) >> PAGE_SHIFT;
	u64 page, num = 0;
	size_t j;
	int err;

	lockdep_assert_held(&umem->umem_mutex);

	while (i < last && !ohca_compat_odp_mapped(umem, i))
		i++;
	while (last > i && !ohca_compat_odp_mapped(umem, last - 1))
		last--;
	if (i == last)
		return;
	for (j = i; j < last; j++)
		num += ohca_compat_odp_mapped(umem, j);
	atomic64_add(num, &odp->invalidations);

	page = ohca_odp_page(odp, ib_umem_start(umem)) + i;
	mutex_lock(&odp->cmd_lock);
	err = ohca_cmd_modify_pages(odp->dev, odp->mkey.key, OHCA_PAGES_UNMAP, page, last - i,
				    &odp->cmd);
	mutex_unlock(&odp->cmd_lock);
	if (err)
		ohca_fence(odp->dev, "pages not unmapped");

	ib_umem_odp_unmap_dma_pages(umem, start, end);
}

static bool ohca_odp_invalidate(struct mmu_interval_notifier *mni,
				const struct mmu_notifier_range *range, unsigned long seq)
{
	struct ib_umem_odp *umem = container_of(mni, struct ib_umem_odp, notifier);
	u64 start = max_t(u64, ib_umem_start(umem), range->start);
	u64 end = min_t(u64, ib_umem_end(umem), range->end);
	struct ohca_odp_chunk *chunk;

	if (!mmu_notifier_range_blockable(range))
		return false;

	mutex_lock(&umem->umem_mutex);
	mmu_interval_set_seq(mni, seq);
	chunk = READ_ONCE(umem->private);
	if (chunk) /* else no page was mapped yet */
		ohca_odp_unmap_pages(chunk->odp, umem, start, end);
	mutex_unlock(&umem->umem_mutex);
	return true;
}

static const struct mmu_interval_notifier_ops ohca_odp_mni_ops = {
	.invalidate = ohca_odp_invalidate,
};

/* Chunks */

static void ohca_odp_chunk_destroy(struct ohca_odp_chunk *chunk)
{
	ib_umem_odp_release(chunk->umem);
	kfree(chunk);
}

static bool ohca_odp_chunk_empty(struct ohca_odp_chunk *chunk)
{
	struct ib_umem_odp *umem = chunk->umem;
	size_t i = 0, num = ib_umem_odp_num_pages(umem);

	mutex_lock(&umem->umem_mutex);
	while (i < num && !ohca_compat_odp_mapped(umem, i))
		i++;
	mutex_unlock(&umem->umem_mutex);
	return i == num;
}

/* Free chunks that are not in use and have no page mapped. */
static void ohca_odp_chunks_shrink(struct ohca_odp *odp)
{
	struct ohca_odp_chunk *chunk;
	unsigned long i;

	lockdep_assert_held(&odp->lock);

	xa_for_each(&odp->chunks, i, chunk) {
		if (chunk->users || !ohca_odp_chunk_empty(chunk))
			continue;
		xa_erase(&odp->chunks, i);
		odp->nchunks--;
		ohca_odp_chunk_destroy(chunk);
	}
}

static struct ohca_odp_chunk *ohca_odp_chunk_create(struct ohca_odp *odp, unsigned long i)
{
	u64 start = max((u64)i << OHCA_CHUNK_SHIFT, odp->start);
	u64 end = min(((u64)i + 1) << OHCA_CHUNK_SHIFT, ohca_odp_va(odp, odp->npages));
	struct ohca_odp_chunk *chunk;
	int err;

	lockdep_assert_held(&odp->lock);

	if (odp->nchunks >= OHCA_CHUNKS)
		ohca_odp_chunks_shrink(odp);

	chunk = kzalloc_obj(*chunk);
	if (!chunk)
		return ERR_PTR(-ENOMEM);
	chunk->odp = odp;
	chunk->umem = ib_umem_odp_alloc_child(odp->root, start, end - start, &ohca_odp_mni_ops);
	if (IS_ERR(chunk->umem)) {
		err = PTR_ERR(chunk->umem);
		goto err_free;
	}
	WRITE_ONCE(chunk->umem->private, chunk);

	err = xa_err(xa_store(&odp->chunks, i, chunk, GFP_KERNEL));
	if (err)
		goto err_umem;
	odp->nchunks++;
	return chunk;

err_umem:
	ib_umem_odp_release(chunk->umem);
err_free:
	kfree(chunk);
	return ERR_PTR(err);
}

/* Get the chunk of an address; ohca_odp_chunk_put() releases it. */
static struct ohca_odp_chunk *ohca_odp_chunk_get(struct ohca_odp *odp, u64 va)
{
	unsigned long i = va >> OHCA_CHUNK_SHIFT;
	struct ohca_odp_chunk *chunk;

	mutex_lock(&odp->lock);
	chunk = xa_load(&odp->chunks, i);
	if (!chunk)
		chunk = ohca_odp_chunk_create(odp, i);
	if (!IS_ERR(chunk))
		chunk->users++;
	mutex_unlock(&odp->lock);
	return chunk;
}

static void ohca_odp_chunk_put(struct ohca_odp_chunk *chunk)
{
	struct ohca_odp *odp = chunk->odp;

	mutex_lock(&odp->lock);
	chunk->users--;
	mutex_unlock(&odp->lock);
}

/* Map @num pages of a chunk, the last ones first.  Returns how many are present. */
static int ohca_odp_chunk_map(struct ohca_odp_chunk *chunk, u64 va, u32 num,
			      enum ohca_odp_mode mode)
{
	struct ib_umem_odp *umem = chunk->umem;
	size_t first = (va - ib_umem_start(umem)) >> PAGE_SHIFT;
	int ret, present = 0;
	u32 n;

	ret = ohca_compat_odp_map_and_lock(umem, va, (u64)num << PAGE_SHIFT, mode == OHCA_ODP_WRITE,
					   mode != OHCA_ODP_PRESENT);
	if (ret < 0)
		return ret;

	do {
		n = min(num, OHCA_MODIFY_PAGES_MAX);
		num -= n;
		ret = ohca_odp_map_pages(chunk->odp, umem, first + num, n);
		present += ret;
	} while (ret >= 0 && num);
	mutex_unlock(&umem->umem_mutex);
	return ret < 0 ? ret : present;
}

/*
 * Map pages of a region, the last ones first: an access that waits for the first one then finds all
 * of them.  Adds the number of mapped pages to @count.
 */
static int ohca_odp_map(struct ohca_odp *odp, u64 first, u64 num, enum ohca_odp_mode mode,
			atomic64_t *count)
{
	struct ohca_odp_chunk *chunk;
	u64 va, start;
	int ret;
	u32 n;

	if (mode == OHCA_ODP_WRITE && !odp->root->umem.writable)
		return -EPERM;

	while (num) {
		if (READ_ONCE(odp->stopping) || fatal_signal_pending(current))
			return -EINTR;

		/* of the chunk that the last page is in */
		va = ohca_odp_va(odp, first + num - 1);
		chunk = ohca_odp_chunk_get(odp, va);
		if (IS_ERR(chunk))
			return PTR_ERR(chunk);
		start = max_t(u64, ohca_odp_va(odp, first), ib_umem_start(chunk->umem));
		n = min_t(u64, (va - start) >> PAGE_SHIFT, OHCA_ODP_PAGES - 1) + 1;
		num -= n;
		ret = ohca_odp_chunk_map(chunk, ohca_odp_va(odp, first + num), n, mode);
		ohca_odp_chunk_put(chunk);
		if (ret < 0)
			return ret;
		atomic64_add(ret, count);
	}
	return 0;
}

/**
 * ohca_odp_fault() - handle a page fault
 * @mkey: region, held
 * @first: the page that is missing
 * @num: number of pages that are needed from there on, as far as the device knows
 * @write: they are written
 *
 * Return: false if the memory is too busy now: try again
 */
bool ohca_odp_fault(struct ohca_core_mkey *mkey, u64 first, u64 num, bool write)
{
	struct ohca_odp *odp = container_of(mkey, struct ohca_odp, mkey);
	enum ohca_odp_mode mode = write ? OHCA_ODP_WRITE : OHCA_ODP_READ;
	int err = -EFAULT;

	if (first < odp->npages) {
		num = min(num, odp->npages - first);
		err = ohca_odp_map(odp, first, num, mode, &odp->faults);
		if (err && num > 1) /* a page that is not needed yet may be invalid */
			err = ohca_odp_map(odp, first, 1, mode, &odp->faults);
	}
	if (!err)
		return true;
	if (err == -EBUSY || err == -EAGAIN)
		return false;

	ibdev_dbg(odp->dev->ibdev, "region 0x%x: no page %llu: %pe\n", mkey->key, first,
		  ERR_PTR(err));
	mutex_lock(&odp->cmd_lock);
	ohca_cmd_modify_pages(odp->dev, mkey->key, OHCA_PAGES_FAIL, first, 1, &odp->cmd);
	mutex_unlock(&odp->cmd_lock);
	return true;
}

/* Regions */

/* Allocate a region for @npages of @mm from @start on; the caller sets the other fields. */
static struct ohca_odp *ohca_odp_alloc(struct ohca_dev *dev, u64 start, u64 npages, int access)
{
	struct ohca_odp *odp;
	int err;

	odp = kzalloc_obj(*odp);
	if (!odp)
		return ERR_PTR(-ENOMEM);

	odp->root = ib_umem_odp_alloc_implicit(dev->ibdev, access & ~IB_ACCESS_HUGETLB);
	if (IS_ERR(odp->root)) {
		err = PTR_ERR(odp->root);
		kfree(odp);
		return ERR_PTR(err);
	}
	mmgrab(current->mm);
	odp->mm = current->mm;
	odp->dev = dev;
	odp->start = start;
	odp->npages = npages;
	mutex_init(&odp->lock);
	mutex_init(&odp->cmd_lock);
	xa_init(&odp->chunks);
	return odp;
}

/**
 * ohca_odp_free() - the last step of destroying a region
 * @odp: its part, which the device does not know any more; the caller frees the umem
 */
void ohca_odp_free(struct ohca_odp *odp)
{
	struct ohca_odp_chunk *chunk;
	unsigned long i;

	xa_for_each(&odp->chunks, i, chunk)
		ohca_odp_chunk_destroy(chunk);
	xa_destroy(&odp->chunks);
	mmdrop(odp->mm);
	kfree(odp);
}

/* Owns @odp, also on failure. */
static struct ib_mr *ohca_odp_create(struct ib_pd *ibpd, struct ohca_odp *odp, u64 iova, u64 length,
				     int access)
{
	struct ohca_xlt_desc xlt = {.wire.page_shift = PAGE_SHIFT};
	struct ib_umem *umem = &odp->root->umem;
	struct ohca_dev *dev = odp->dev;
	struct ohca_mkey_params params = {
		.xlt = &xlt,
		.iova = access & IB_ZERO_BASED ? 0 : iova,
		.length = length,
		.pdn = to_opd(ibpd)->pdn,
		.access = ohca_access(access),
		.type = OHCA_MKEY_ODP,
	};
	struct ohca_mr *mr;
	int err;

	odp->offset = offset_in_page(iova);
	odp->iova = params.iova;
	odp->length = length;
	xlt.wire.offset = cpu_to_le32(odp->offset);

	mr = ohca_mr_create(dev, &params);
	if (IS_ERR(mr)) {
		err = PTR_ERR(mr);
		goto err_odp;
	}
	mr->access = access;
	mr->umem = umem;
	mr->odp = odp;
	odp->mr = mr;
	odp->mkey.key = mr->key;

	err = ohca_core_mkey_publish(dev, &odp->mkey);
	if (err)
		goto err_mr;
	return &mr->ibmr;

err_mr:
	if (ohca_cmd_destroy_mkey(dev, mr->key))
		ohca_fence(dev, "memory region not destroyed");
	kfree(mr);
err_odp:
	ohca_odp_free(odp);
	ib_umem_release(umem);
	return ERR_PTR(err);
}

/**
 * ohca_odp_reg() - register memory of the process, which need not be mapped yet
 * @ibpd: PD
 * @start: address
 * @length: bytes, checked
 * @iova: address for the device, with the same offset in its page
 * @access: enum ib_access_flags, checked
 *
 * Return: the region or an error
 */
struct ib_mr *ohca_odp_reg(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access)
{
	u64 first = ALIGN_DOWN(start, PAGE_SIZE), end;
	struct ohca_odp *odp;

	if (check_add_overflow(start, length, &end) || end > current->mm->task_size)
		return ERR_PTR(-EFAULT);
	if (offset_in_page(start) != offset_in_page(iova))
		return ERR_PTR(-EINVAL);

	odp = ohca_odp_alloc(to_odev(ibpd->device), first, (PAGE_ALIGN(end) - first) >> PAGE_SHIFT,
			     access);
	return IS_ERR(odp) ? ERR_CAST(odp) : ohca_odp_create(ibpd, odp, iova, length, access);
}

/**
 * ohca_odp_reg_all() - register all present and future memory of the process
 * @ibpd: PD
 * @iova: 0
 * @access: enum ib_access_flags, checked
 *
 * Return: the region or an error
 */
struct ib_mr *ohca_odp_reg_all(struct ib_pd *ibpd, u64 iova, int access)
{
	struct ohca_odp *odp;

	if (iova)
		return ERR_PTR(-EINVAL);

	odp = ohca_odp_alloc(to_odev(ibpd->device), 0, current->mm->task_size >> PAGE_SHIFT,
			     access);
	if (IS_ERR(odp))
		return ERR_CAST(odp);
	return ohca_odp_create(ibpd, odp, 0, BIT_ULL(OHCA_ODP_MAX_LOG_SIZE), access);
}

/**
 * ohca_odp_stop() - the first step of destroying a region: unmap all its pages in the device
 * @odp: its part; when this returns, no page faults are handled and its memory is not used any more
 */
void ohca_odp_stop(struct ohca_odp *odp)
{
	struct ohca_odp_chunk *chunk;
	struct ib_umem_odp *umem;
	unsigned long i;

	WRITE_ONCE(odp->stopping, true);
	ohca_core_mkey_withdraw(odp->dev, &odp->mkey);

	xa_for_each(&odp->chunks, i, chunk) {
		umem = chunk->umem;
		mutex_lock(&umem->umem_mutex);
		ohca_odp_unmap_pages(odp, umem, ib_umem_start(umem), ib_umem_end(umem));
		mutex_unlock(&umem->umem_mutex);
	}
}

/* Prefetch */

/**
 * struct ohca_prefetch - a request to map pages in advance
 * @work: maps them
 * @mode: how to map the pages
 * @num: number of ranges
 * @range: pages of regions, which are held
 */
struct ohca_prefetch {
	struct work_struct work;
	enum ohca_odp_mode mode;
	u32 num;
	struct {
		struct ohca_odp *odp;
		u64 first;
		u64 num;
	} range[];
};

static void ohca_prefetch_free(struct ohca_prefetch *prefetch)
{
	while (prefetch->num)
		ohca_core_mkey_put(&prefetch->range[--prefetch->num].odp->mkey);
	kvfree(prefetch);
}

static int ohca_prefetch_add(struct ohca_prefetch *prefetch, struct ib_pd *ibpd,
			     const struct ib_sge *sge)
{
	struct ohca_core_mkey *mkey = ohca_core_mkey_get(to_odev(ibpd->device), sge->lkey);
	struct ohca_odp *odp = container_of(mkey, struct ohca_odp, mkey);
	u64 offset, first, end;
	u32 i = prefetch->num;

	if (!mkey)
		return -ENOENT;
	prefetch->range[i].odp = odp;
	prefetch->num++;

	if (READ_ONCE(odp->mr->ibmr.pd) != ibpd)
		return -EPERM;
	if (prefetch->mode == OHCA_ODP_WRITE && !odp->root->umem.writable)
		return -EPERM;
	if (sge->addr < odp->iova)
		return -EFAULT;
	offset = sge->addr - odp->iova;
	if (offset > odp->length || sge->length > odp->length - offset)
		return -EFAULT;

	first = (offset + odp->offset) >> PAGE_SHIFT;
	end = PAGE_ALIGN(offset + odp->offset + sge->length) >> PAGE_SHIFT;
	if (end > odp->npages)
		return -EFAULT;
	prefetch->range[i].first = first;
	prefetch->range[i].num = sge->length ? end - first : 0;
	return 0;
}

static int ohca_prefetch_run(struct ohca_prefetch *prefetch)
{
	struct ohca_odp *odp;
	int err = 0;
	u32 i;

	for (i = 0; i < prefetch->num && !err; i++) {
		odp = prefetch->range[i].odp;
		err = ohca_odp_map(odp, prefetch->range[i].first, prefetch->range[i].num,
				   prefetch->mode, &odp->prefetches);
	}
	return err;
}

static void ohca_prefetch_work(struct work_struct *work)
{
	struct ohca_prefetch *prefetch = container_of(work, struct ohca_prefetch, work);

	ohca_prefetch_run(prefetch); /* errors are ignored: this was only advice */
	ohca_prefetch_free(prefetch);
}

static int ohca_advise_mr(struct ib_pd *ibpd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
			  struct ib_sge *sg_list, u32 num_sge, struct uverbs_attr_bundle *attrs)
{
	struct ohca_prefetch *prefetch;
	enum ohca_odp_mode mode;
	int err = 0;
	u32 i;

	switch (advice) {
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH:
		mode = OHCA_ODP_READ;
		break;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE:
		mode = OHCA_ODP_WRITE;
		break;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT:
		mode = OHCA_ODP_PRESENT;
		break;
	default:
		return -EOPNOTSUPP;
	}

	prefetch = kvzalloc(struct_size(prefetch, range, num_sge), GFP_KERNEL);
	if (!prefetch)
		return -ENOMEM;
	prefetch->mode = mode;
	for (i = 0; i < num_sge && !err; i++)
		err = ohca_prefetch_add(prefetch, ibpd, &sg_list[i]);

	if (!err && !(flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH)) {
		INIT_WORK(&prefetch->work, ohca_prefetch_work);
		queue_work(to_odev(ibpd->device)->faults.wq, &prefetch->work);
		return 0;
	}
	if (!err)
		err = ohca_prefetch_run(prefetch);
	ohca_prefetch_free(prefetch);
	return err;
}

/* Statistics */

static int ohca_fill_stat_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct ohca_odp *odp = to_omr(ibmr)->odp;
	struct nlattr *table;

	if (!odp)
		return 0;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	if (!table)
		return -EMSGSIZE;
	if (rdma_nl_stat_hwcounter_entry(msg, "page_faults", atomic64_read(&odp->faults)) ||
	    rdma_nl_stat_hwcounter_entry(msg, "page_invalidations",
					 atomic64_read(&odp->invalidations)) ||
	    rdma_nl_stat_hwcounter_entry(msg, "page_prefetch", atomic64_read(&odp->prefetches))) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}

const struct ib_device_ops ohca_odp_ops = {
	.advise_mr = ohca_advise_mr,
	.fill_stat_mr_entry = ohca_fill_stat_mr_entry,
};
