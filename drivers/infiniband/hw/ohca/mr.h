/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: memory regions and windows.
 */

#ifndef _OHCA_MR_H
#define _OHCA_MR_H

#include <rdma/ib_verbs.h>

#include "ohca.h"
#include "xlt.h"

struct ib_dmah;
struct ib_umem;
struct ohca_odp;

/* Rights that the device can grant */
#define OHCA_ACCESS_FLAGS                                                         \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
	 IB_ACCESS_REMOTE_ATOMIC)

/**
 * struct ohca_mr - memory region
 * @ibmr: ib_core's part; the consumer may change the low bits of its keys
 * @key: key as it was created
 * @access: enum ib_access_flags of user memory
 * @umem: user memory, NULL for a kernel's region; another thread may replace it
 * @dmabuf: @umem is that of a dma-buf
 * @odp: user memory with on-demand paging, or NULL
 * @list: pages of a fast registration, or empty
 */
struct ohca_mr {
	struct ib_mr ibmr;
	u32 key;
	int access;
	bool dmabuf;
	struct ib_umem *umem;
	struct ohca_odp *odp;
	struct ohca_xlt_list list;
};

/**
 * struct ohca_mw - memory window
 * @ibmw: ib_core's part
 */
struct ohca_mw {
	struct ib_mw ibmw;
};

static inline struct ohca_mr *to_omr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct ohca_mr, ibmr);
}

/**
 * ohca_max_fast_reg() - pages that a fast registration can have
 * @dev: device
 *
 * Return: number of pages
 */
static inline u32 ohca_max_fast_reg(struct ohca_dev *dev)
{
	return min_t(u32, dev->attr.max_fast_reg, OHCA_XLT_LIST_MAX);
}

struct ohca_mr *ohca_mr_create(struct ohca_dev *dev, const struct ohca_mkey_params *params);
u8 ohca_access(int access);
struct ib_mr *ohca_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *ohca_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			       struct ib_dmah *dmah, struct ib_udata *udata);
struct ib_mr *ohca_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova, int fd,
				      int access, struct ib_dmah *dmah,
				      struct uverbs_attr_bundle *attrs);
struct ib_mr *ohca_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
				 int access, struct ib_pd *ibpd, struct ib_udata *udata);
struct ib_mr *ohca_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg);
int ohca_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset);
int ohca_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
int ohca_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int ohca_dealloc_mw(struct ib_mw *ibmw);

#endif /* _OHCA_MR_H */
