/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: protection domains.
 */

#ifndef _OHCA_PD_H
#define _OHCA_PD_H

#include <rdma/ib_verbs.h>

/**
 * struct ohca_pd - protection domain
 * @ibpd: ib_core's part
 * @pdn: number
 */
struct ohca_pd {
	struct ib_pd ibpd;
	u32 pdn;
};

static inline struct ohca_pd *to_opd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct ohca_pd, ibpd);
}

#endif /* _OHCA_PD_H */
