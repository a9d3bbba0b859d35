/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: memory of a process that queues are in.
 */

#ifndef _OHCA_UMEM_H
#define _OHCA_UMEM_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/xarray.h>

struct ib_udata;
struct ib_umem;
struct ohca_dev;
struct ohca_umem_page;

/**
 * struct ohca_umem - memory of a process that one of its queues is in
 * @ib: pinned and DMA mapped memory, NULL for a kernel's queue
 * @page: if @ib is a page that other queues may be in, too; else NULL
 * @offset: of the queue in @ib
 */
struct ohca_umem {
	struct ib_umem *ib;
	struct ohca_umem_page *page;
	u32 offset;
};

/**
 * struct ohca_umem_pages - pages of a context that queues are in
 * @lock: protects the pages and their users; a process's mmap_lock is taken under it
 * @xa: struct ohca_umem_page by the number of the page in the process's memory
 */
struct ohca_umem_pages {
	struct mutex lock; /* pages and their users */
	struct xarray xa;
};

/**
 * ohca_umem_pages_init() - no queue has memory
 * @pages: of a new context
 */
void ohca_umem_pages_init(struct ohca_umem_pages *pages);

/**
 * ohca_umem_pages_fini() - the end of a context, all of whose queues are gone
 * @pages: of the context
 */
void ohca_umem_pages_fini(struct ohca_umem_pages *pages);

/**
 * ohca_umem_pin() - pin memory of the calling process for a queue
 * @dev: device
 * @udata: of the verb, whose context has the pages
 * @addr: user address
 * @size: bytes
 * @umem: result; released by ohca_umem_release().  Not changed on failure
 *
 * Queues in the same page share it: it is pinned, mapped and counted (RLIMIT_MEMLOCK) once.
 *
 * Return: 0 or a negative errno: -EFAULT without such memory, -EINVAL if the address wraps around,
 *	-ENOMEM, also beyond the limit of locked memory, -EIO if the device could use only a copy
 */
int ohca_umem_pin(struct ohca_dev *dev, struct ib_udata *udata, u64 addr, u64 size,
		  struct ohca_umem *umem);

/**
 * ohca_umem_release() - the end of ohca_umem_pin()
 * @umem: memory that the device does not use any more, or none
 */
void ohca_umem_release(const struct ohca_umem *umem);

#endif /* _OHCA_UMEM_H */
