/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: receive-side scaling.
 */

#ifndef _OHCA_RSS_H
#define _OHCA_RSS_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "rsc.h"
#include "umem.h"

struct ohca_dev;

/**
 * struct ohca_rwq - receive work queue; in the device, a queue pair that only receives
 * @ibwq: ib_core's part; its state is written under @mutex
 * @core: the part for events
 * @mutex: one modification at a time
 * @umem: buffer
 */
struct ohca_rwq {
	struct ib_wq ibwq;
	struct ohca_core_qp core;
	struct mutex mutex; /* one modification at a time */
	struct ohca_umem umem;
};

/**
 * struct ohca_ind_tbl - indirection table
 * @ibtbl: ib_core's part, which has the number
 */
struct ohca_ind_tbl {
	struct ib_rwq_ind_table ibtbl;
};

static inline struct ohca_rwq *to_orwq(struct ib_wq *ibwq)
{
	return container_of(ibwq, struct ohca_rwq, ibwq);
}

int ohca_rss_check(const struct ib_qp_init_attr *init);
int ohca_rss_create(struct ohca_dev *dev, const struct ib_qp_init_attr *init,
		    struct ib_udata *udata, u32 *qpn);
struct ib_wq *ohca_create_wq(struct ib_pd *ibpd, struct ib_wq_init_attr *init,
			     struct ib_udata *udata);
int ohca_modify_wq(struct ib_wq *ibwq, struct ib_wq_attr *attr, u32 mask, struct ib_udata *udata);
int ohca_destroy_wq(struct ib_wq *ibwq, struct ib_udata *udata);
int ohca_create_rwq_ind_table(struct ib_rwq_ind_table *ibtbl,
			      struct ib_rwq_ind_table_init_attr *init, struct ib_udata *udata);
int ohca_destroy_rwq_ind_table(struct ib_rwq_ind_table *ibtbl);

#endif /* _OHCA_RSS_H */
