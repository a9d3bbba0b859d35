// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions.
 */

#include <errno.h>
#include <stdlib.h>

#include "ohca.h"

/* The application's view of a new region, or NULL with errno set. */
static struct ibv_mr *ohca_new_mr(struct verbs_mr *vmr, int ret)
{
	if (!ret)
		return &vmr->ibv_mr;
	free(vmr);
	errno = ret;
	return NULL;
}

struct ibv_mr *ohca_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			   int access)
{
	struct verbs_mr *vmr = calloc(1, sizeof(*vmr));
	struct ib_uverbs_reg_mr_resp resp;
	struct ibv_reg_mr cmd;

	if (!vmr)
		return NULL;
	return ohca_new_mr(vmr, ibv_cmd_reg_mr(pd, addr, length, hca_va, access, vmr, &cmd,
					       sizeof(cmd), &resp, sizeof(resp)));
}

struct ibv_mr *ohca_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				  int fd, int access)
{
	struct verbs_mr *vmr = calloc(1, sizeof(*vmr));

	if (!vmr)
		return NULL;
	return ohca_new_mr(vmr,
			   ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, vmr, NULL));
}

int ohca_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		  int access)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct ibv_rereg_mr cmd;

	if (!ohca_has(vmr->ibv_mr.context, OHCA_CAP_MODIFY_MKEY))
		return ohca_errno(EOPNOTSUPP);
	return ibv_cmd_rereg_mr(vmr, flags, addr, length, (uintptr_t)addr, access, pd, &cmd,
				sizeof(cmd), &resp, sizeof(resp));
}

int ohca_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		   struct ibv_sge *sg_list, uint32_t num_sge)
{
	if (!ohca_has(pd->context, OHCA_CAP_ODP))
		return ohca_errno(EOPNOTSUPP);
	return ibv_cmd_advise_mr(pd, advice, flags, sg_list, num_sge);
}

int ohca_dereg_mr(struct verbs_mr *vmr)
{
	int ret;

	ret = ibv_cmd_dereg_mr(vmr);
	if (ret)
		return ret;
	free(vmr);
	return 0;
}

struct ibv_mr *ohca_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	struct verbs_mr *vmr = calloc(1, sizeof(*vmr));

	if (!vmr)
		return NULL;
	return ohca_new_mr(vmr, ibv_cmd_query_mr(pd, vmr, handle));
}

void ohca_unimport_mr(struct ibv_mr *mr)
{
	free(verbs_get_mr(mr));
}
