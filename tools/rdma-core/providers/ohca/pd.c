// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Protection domains, thread domains, and parent domains, which join the two.
 */

#include <errno.h>
#include <stdlib.h>

#include "ohca.h"
#include "ohca_abi.h"

struct ibv_pd *ohca_alloc_pd(struct ibv_context *ctx)
{
	struct ohca_cmd_alloc_pd_resp resp = {};
	struct ibv_alloc_pd cmd = {};
	struct ohca_pd *pd;
	int ret;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	ret = ibv_cmd_alloc_pd(ctx, &pd->pd, &cmd, sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (ret)
		goto err_free;
	atomic_init(&pd->refs, 1);
	return &pd->pd;

err_free:
	free(pd);
	errno = ret;
	return NULL;
}

int ohca_dealloc_pd(struct ibv_pd *ibpd)
{
	struct ohca_pd *pd = to_opd(ibpd);
	int ret;

	if (atomic_load(&pd->refs) > 1)
		return ohca_errno(EBUSY);
	if (pd->real) {
		ohca_pd_put(pd->real);
		if (pd->td)
			atomic_fetch_sub(&pd->td->refs, 1);
	} else {
		ret = ibv_cmd_dealloc_pd(ibpd);
		if (ret)
			return ret;
	}
	free(pd);
	return 0;
}

struct ibv_pd *ohca_import_pd(struct ibv_context *ctx, uint32_t handle)
{
	struct ohca_pd *pd;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	pd->pd.context = ctx;
	pd->pd.handle = handle;
	atomic_init(&pd->refs, 1);
	return &pd->pd;
}

/* Programs destroy the PD's queues after this, too. */
void ohca_unimport_pd(struct ibv_pd *pd)
{
	ohca_pd_put(to_opd(pd));
}

struct ibv_td *ohca_alloc_td(struct ibv_context *ctx, struct ibv_td_init_attr *attr)
{
	struct ohca_td *td;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->td.context = ctx;
	atomic_init(&td->refs, 1);
	return &td->td;
}

int ohca_dealloc_td(struct ibv_td *ibtd)
{
	struct ohca_td *td = to_otd(ibtd);

	if (atomic_load(&td->refs) > 1)
		return ohca_errno(EBUSY);
	free(td);
	return 0;
}

struct ibv_pd *ohca_alloc_parent_domain(struct ibv_context *ctx,
					struct ibv_parent_domain_init_attr *attr)
{
	struct ohca_pd *pd;

	if (ibv_check_alloc_parent_domain(attr))
		return NULL;
	if (to_opd(attr->pd)->real) {
		errno = EINVAL;
		return NULL;
	}
	if (!check_comp_mask(attr->comp_mask, IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
						      IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS &&
	    (!attr->alloc || !attr->free)) {
		errno = EINVAL;
		return NULL;
	}
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) {
		pd->alloc = attr->alloc;
		pd->free = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		pd->alloc_context = attr->pd_context;
	pd->real = to_opd(attr->pd);
	ohca_pd_get(pd->real);
	if (attr->td) {
		pd->td = to_otd(attr->td);
		atomic_fetch_add(&pd->td->refs, 1);
	}
	atomic_init(&pd->refs, 1);
	ibv_initialize_parent_domain(&pd->pd, attr->pd);
	return &pd->pd;
}

void ohca_pd_get(struct ohca_pd *pd)
{
	atomic_fetch_add(&pd->refs, 1);
}

void ohca_pd_put(struct ohca_pd *pd)
{
	if (atomic_fetch_sub(&pd->refs, 1) == 1)
		free(pd);
}
