// SPDX-License-Identifier: GPL-2.0
/* Protection domains. */

#include <endian.h>
#include <stdlib.h>

#include "device/cmd.h"
#include "mem/pd.h"

enum ohca_cmd_status cmd_alloc_pd(struct hca *hca, struct cmd_ctx *ctx)
{
	struct ohca_handle *out = ctx->out;
	struct pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return OHCA_CMD_NO_RESOURCE;
	if (table_add(&hca->pds, pd, &pd->id)) {
		free(pd);
		return OHCA_CMD_NO_RESOURCE;
	}
	out->id = htole32(pd->id);
	return OHCA_CMD_OK;
}

enum ohca_cmd_status cmd_free_pd(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct pd *pd = pd_get(hca, le32toh(in->id));

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!pd)
		return OHCA_CMD_BAD_HANDLE;
	if (pd->refs)
		return OHCA_CMD_BUSY;
	table_del(&hca->pds, pd->id);
	free(pd);
	return OHCA_CMD_OK;
}

void pd_reset_all(struct hca *hca)
{
	uint32_t id = 0;
	struct pd *pd;

	for (; (pd = table_next(&hca->pds, &id)); id++) {
		table_del(&hca->pds, id);
		free(pd);
	}
}
