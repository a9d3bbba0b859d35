/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: memory regions with on-demand paging.
 */

#ifndef _OHCA_ODP_H
#define _OHCA_ODP_H

#include <linux/err.h>
#include <linux/types.h>

struct ib_device_ops;
struct ib_mr;
struct ib_pd;
struct ohca_core_mkey;
struct ohca_odp;

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING

struct ib_mr *ohca_odp_reg(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access);
struct ib_mr *ohca_odp_reg_all(struct ib_pd *ibpd, u64 iova, int access);
void ohca_odp_stop(struct ohca_odp *odp);
void ohca_odp_free(struct ohca_odp *odp);
bool ohca_odp_fault(struct ohca_core_mkey *mkey, u64 first, u64 num, bool write);
extern const struct ib_device_ops ohca_odp_ops;

#else

static inline struct ib_mr *ohca_odp_reg(struct ib_pd *ibpd, u64 start, u64 length, u64 iova,
					 int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline struct ib_mr *ohca_odp_reg_all(struct ib_pd *ibpd, u64 iova, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void ohca_odp_stop(struct ohca_odp *odp)
{
}

static inline void ohca_odp_free(struct ohca_odp *odp)
{
}

#endif

#endif /* _OHCA_ODP_H */
