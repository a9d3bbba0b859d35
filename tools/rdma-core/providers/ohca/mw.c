// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows.
 */

#include <errno.h>
#include <stdlib.h>

#include "ohca.h"

struct ibv_mw *ohca_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ib_uverbs_alloc_mw_resp resp = {};
	struct ibv_alloc_mw cmd = {};
	struct ohca_mw *mw;
	int ret;

	if (!ohca_has(pd->context, OHCA_CAP_MW)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) {
		errno = EINVAL;
		return NULL;
	}
	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return NULL;
	ret = ibv_cmd_alloc_mw(pd, type, &mw->mw, &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (ret) {
		free(mw);
		errno = ret;
		return NULL;
	}
	return &mw->mw;
}

int ohca_dealloc_mw(struct ibv_mw *mw)
{
	int ret;

	ret = ibv_cmd_dealloc_mw(mw);
	if (ret)
		return ret;
	free(to_omw(mw));
	return 0;
}

int ohca_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct ibv_send_wr *bad, wr = {
					 .wr_id = bind->wr_id,
					 .opcode = IBV_WR_BIND_MW,
					 .send_flags = bind->send_flags,
					 .bind_mw = {.mw = mw,
						     .rkey = ibv_inc_rkey(mw->rkey),
						     .bind_info = bind->bind_info},
				 };

	return ohca_post_send(qp, &wr, &bad);
}
