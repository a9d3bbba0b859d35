// SPDX-License-Identifier: GPL-2.0
/* Protection domains. */

#include <endian.h>
#include <stdlib.h>

#include "device/object.h"
#include "mem/pd.h"

static enum ohca_cmd_status cmd_alloc_pd(struct hca *hca, struct cmd_ctx *ctx)
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

static enum ohca_cmd_status cmd_free_pd(struct hca *hca, struct cmd_ctx *ctx)
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

static void pd_drop(struct hca *hca, void *object, uint32_t id)
{
	table_del(&hca->pds, id);
	free(object);
}

static int pd_init(struct hca *hca)
{
	return table_init(&hca->pds, 1, HCA_MAX_PD + 1);
}

static void pd_fini(struct hca *hca)
{
	table_fini(&hca->pds);
}

static const struct cmd_desc pd_cmds[] = {
	CMD_DESC(ALLOC_PD, cmd_alloc_pd, 0, CMD_HANDLE_LEN),
	CMD_DESC(FREE_PD, cmd_free_pd, CMD_HANDLE_LEN, 0),
};

const struct object_class pd_class = {
	.init = pd_init,
	.fini = pd_fini,
	OBJECT_TABLE(pds, pd_drop),
	OBJECT_CMDS(pd_cmds),
};
