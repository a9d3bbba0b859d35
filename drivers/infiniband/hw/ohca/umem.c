// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: memory of a process that queues are in.
 *
 * The queues of most programs are small, and the provider puts many of them in a page.  That page
 * is pinned and mapped for the first one, and released after the last one.
 */

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "ohca.h"
#include "ohca_compat.h"
#include "ucontext.h"
#include "umem.h"

/**
 * struct ohca_umem_page - a page that queues are in
 * @pages: of the context
 * @ib: the page; it holds @ib->owning_mm, which is not another process's until the page is gone
 * @users: number of queues, under the lock of @pages
 */
struct ohca_umem_page {
	struct ohca_umem_pages *pages;
	struct ib_umem *ib;
	u32 users;
};

void ohca_umem_pages_init(struct ohca_umem_pages *pages)
{
	mutex_init(&pages->lock);
	xa_init(&pages->xa);
}

void ohca_umem_pages_fini(struct ohca_umem_pages *pages)
{
	WARN_ON(!xa_empty(&pages->xa));
	mutex_destroy(&pages->lock);
}

/* Pin a page of the calling process, and add it. */
static struct ohca_umem_page *ohca_umem_page_add(struct ohca_dev *dev,
						 struct ohca_umem_pages *pages, u64 number)
{
	struct ohca_umem_page *page;
	int err;

	page = kzalloc_obj(*page);
	if (!page)
		return ERR_PTR(-ENOMEM);

	page->pages = pages;
	page->ib =
		ib_umem_get_va(dev->ibdev, number << PAGE_SHIFT, PAGE_SIZE, IB_ACCESS_LOCAL_WRITE);
	if (IS_ERR(page->ib)) {
		err = PTR_ERR(page->ib);
		goto err_free;
	}

	err = xa_err(xa_store(&pages->xa, number, page, GFP_KERNEL));
	if (err)
		goto err_umem;
	return page;

err_umem:
	ib_umem_release(page->ib);
err_free:
	kfree(page);
	return ERR_PTR(err);
}

/*
 * Returns NULL if another process that has the same context uses a page at this address of its own
 * memory.
 */
static struct ohca_umem_page *ohca_umem_page_get(struct ohca_dev *dev,
						 struct ohca_umem_pages *pages, u64 number)
{
	struct ohca_umem_page *page;

	mutex_lock(&pages->lock);
	page = xa_load(&pages->xa, number);
	if (!page)
		page = ohca_umem_page_add(dev, pages, number);
	else if (page->ib->owning_mm != current->mm)
		page = NULL;
	if (!IS_ERR_OR_NULL(page))
		page->users++;
	mutex_unlock(&pages->lock);
	return page;
}

static void ohca_umem_page_put(struct ohca_umem_page *page)
{
	struct ohca_umem_pages *pages = page->pages;
	bool last;

	mutex_lock(&pages->lock);
	last = !--page->users;
	if (last)
		xa_erase(&pages->xa, page->ib->address >> PAGE_SHIFT);
	mutex_unlock(&pages->lock);
	if (!last)
		return;
	ib_umem_release(page->ib);
	kfree(page);
}

/* Whether it is a part of one page, which the device has to be able to use as such. */
static bool ohca_umem_may_share(struct ohca_dev *dev, u64 addr, u64 size)
{
	return size < PAGE_SIZE && size <= PAGE_SIZE - offset_in_page(addr) &&
	       dev->attr.page_size_cap & PAGE_SIZE;
}

int ohca_umem_pin(struct ohca_dev *dev, struct ib_udata *udata, u64 addr, u64 size,
		  struct ohca_umem *umem)
{
	struct ohca_umem_page *page = NULL;
	struct ib_umem *ib;

	if (ohca_umem_may_share(dev, addr, size)) {
		page = ohca_umem_page_get(dev, &to_ouctx(ohca_udata_context(udata))->pages,
					  addr >> PAGE_SHIFT);
		if (IS_ERR(page))
			return PTR_ERR(page);
	}
	if (page) {
		*umem = (struct ohca_umem){page->ib, page, offset_in_page(addr)};
		return 0;
	}

	ib = ib_umem_get_va(dev->ibdev, addr, size, IB_ACCESS_LOCAL_WRITE);
	if (IS_ERR(ib))
		return PTR_ERR(ib);
	*umem = (struct ohca_umem){.ib = ib};
	return 0;
}

void ohca_umem_release(const struct ohca_umem *umem)
{
	if (umem->page)
		ohca_umem_page_put(umem->page);
	else
		ib_umem_release(umem->ib);
}
