/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: shared receive queues, and XRC domains.
 */

#ifndef _OHCA_SRQ_H
#define _OHCA_SRQ_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "buf.h"
#include "ohca.h"
#include "rsc.h"
#include "umem.h"
#include "wq.h"

/**
 * struct ohca_xrcd - XRC domain
 * @ibxrcd: ib_core's part
 * @xrcdn: number
 */
struct ohca_xrcd {
	struct ib_xrcd ibxrcd;
	u32 xrcdn;
};

/**
 * struct ohca_srq - shared receive queue
 * @ibsrq: ib_core's part
 * @core: the part for events
 * @mutex: one modification at a time; protects @umem and @log_size
 * @umem: buffer of a user SRQ, none for the kernel's
 * @max_sge: elements of a list
 * @log_size: log2 of the number of entries
 * @log_stride: log2 of the bytes of an entry
 * @buf: buffer of a kernel SRQ; the field below is for those only
 * @wq: queue
 */
struct ohca_srq {
	struct ib_srq ibsrq;
	struct ohca_core_srq core;
	struct mutex mutex; /* umem, log_size */
	struct ohca_umem umem;
	u16 max_sge;
	u8 log_size;
	u8 log_stride;
	struct ohca_buf buf;
	struct ohca_wq wq;
};

static inline struct ohca_xrcd *to_oxrcd(struct ib_xrcd *ibxrcd)
{
	return container_of(ibxrcd, struct ohca_xrcd, ibxrcd);
}

static inline struct ohca_srq *to_osrq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct ohca_srq, ibsrq);
}

/**
 * ohca_max_tags() - tags that the list of an SRQ can have
 * @dev: device
 *
 * Return: number, limited by the bits for the place in a tag's handle
 */
static inline u32 ohca_max_tags(const struct ohca_dev *dev)
{
	return min_t(u32, dev->attr.max_tags, U16_MAX);
}

int ohca_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata);
int ohca_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		    struct ib_udata *udata);
int ohca_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
extern const struct uapi_definition ohca_srq_defs[];
int ohca_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
void ohca_srq_sync(struct ohca_srq *srq);
int ohca_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int ohca_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

#endif /* _OHCA_SRQ_H */
