// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address handles.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ohca.h"
#include "ohca_abi.h"

struct ibv_ah *ohca_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ohca_cmd_create_ah_resp resp = {};
	struct ohca_ah *ah;
	int ret;

	if (!ohca_has(pd->context, OHCA_CAP_UD)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	ret = ibv_cmd_create_ah(pd, &ah->ah, attr, &resp.ibv_resp, sizeof(resp));
	if (ret)
		goto err_free;
	static_assert(sizeof(ah->av) == sizeof(resp.av), "address vector");
	memcpy(&ah->av, resp.av, sizeof(ah->av));
	return &ah->ah;

err_free:
	free(ah);
	errno = ret;
	return NULL;
}

int ohca_destroy_ah(struct ibv_ah *ah)
{
	int ret;

	ret = ibv_cmd_destroy_ah(ah);
	if (ret)
		return ret;
	free(to_oah(ah));
	return 0;
}
