/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: user contexts, and the pages that a process maps.
 */

#ifndef _OHCA_UCONTEXT_H
#define _OHCA_UCONTEXT_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "ending.h"
#include "uar.h"
#include "umem.h"

struct vm_area_struct;

/**
 * enum ohca_mmap_type - what a process may map
 * @OHCA_MMAP_DB: doorbell page of its UAR
 * @OHCA_MMAP_SHADOW: shadow page of its UAR
 * @OHCA_MMAP_DM: device memory
 */
enum ohca_mmap_type {
	OHCA_MMAP_DB,
	OHCA_MMAP_SHADOW,
	OHCA_MMAP_DM,
};

/**
 * struct ohca_mmap_entry - pages that a process may map
 * @rdma: ib_core's part; ohca_mmap_free() frees the entry with its last reference
 * @type: which pages
 * @phys: OHCA_MMAP_DM: their physical address
 * @dm: OHCA_MMAP_DM: the device memory, owned
 */
struct ohca_mmap_entry {
	struct rdma_user_mmap_entry rdma;
	enum ohca_mmap_type type;
	phys_addr_t phys;
	u32 dm;
};

/**
 * struct ohca_ucontext - an opened device
 * @ibuc: ib_core's part
 * @uar: the context's own UAR
 * @db: mmap entry of the doorbell page
 * @shadow: mmap entry of the shadow page, NULL without one
 * @endings: objects that are being destroyed
 * @pages: memory that small queues share
 */
struct ohca_ucontext {
	struct ib_ucontext ibuc;
	struct ohca_uar uar;
	struct rdma_user_mmap_entry *db;
	struct rdma_user_mmap_entry *shadow;
	struct ohca_endings endings;
	struct ohca_umem_pages pages;
};

static inline struct ohca_ucontext *to_ouctx(struct ib_ucontext *ibuc)
{
	return container_of(ibuc, struct ohca_ucontext, ibuc);
}

/**
 * ohca_udata_context() - the context of a verb's caller
 * @udata: of the verb, NULL of a kernel consumer
 *
 * Return: context, or NULL
 */
static inline struct ib_ucontext *ohca_udata_context(struct ib_udata *udata)
{
	struct ohca_ucontext *uc = rdma_udata_to_drv_context(udata, struct ohca_ucontext, ibuc);

	return uc ? &uc->ibuc : NULL;
}

static inline struct ohca_mmap_entry *to_ommap(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct ohca_mmap_entry, rdma);
}

int ohca_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata);
void ohca_dealloc_ucontext(struct ib_ucontext *ibuc);
int ohca_query_ucontext(struct ib_ucontext *ibuc, struct uverbs_attr_bundle *attrs);
void ohca_disassociate_ucontext(struct ib_ucontext *ibuc);
extern const struct uapi_definition ohca_uapi_defs[];

/* mmap.c */
int ohca_mmap_init(struct ohca_ucontext *uc);
struct ohca_mmap_entry *ohca_mmap_alloc_dm(struct ohca_ucontext *uc, u64 length, u8 log_align);
void ohca_mmap_fini(struct ohca_ucontext *uc);
int ohca_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma);
void ohca_mmap_free(struct rdma_user_mmap_entry *entry);

#endif /* _OHCA_UCONTEXT_H */
