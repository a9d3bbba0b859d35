// SPDX-License-Identifier: GPL-2.0
/* XRC domains. */

#include <endian.h>
#include <stdlib.h>

#include "device/object.h"
#include "qp/srq.h"

struct xrcd *xrcd_get(struct hca *hca, uint32_t xrcdn)
{
	return table_get(&hca->xrcds, xrcdn);
}

static enum ohca_cmd_status cmd_alloc_xrcd(struct hca *hca, struct cmd_ctx *ctx)
{
	struct ohca_handle *out = ctx->out;
	struct xrcd *xrcd = calloc(1, sizeof(*xrcd));

	if (!xrcd)
		return OHCA_CMD_NO_RESOURCE;
	if (table_add(&hca->xrcds, xrcd, &xrcd->id)) {
		free(xrcd);
		return OHCA_CMD_NO_RESOURCE;
	}
	out->id = htole32(xrcd->id);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_free_xrcd(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct xrcd *xrcd = xrcd_get(hca, le32toh(in->id));

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!xrcd)
		return OHCA_CMD_BAD_HANDLE;
	if (xrcd->refs)
		return OHCA_CMD_BUSY;
	table_del(&hca->xrcds, xrcd->id);
	free(xrcd);
	return OHCA_CMD_OK;
}

static void xrcd_drop(struct hca *hca, void *object, uint32_t id)
{
	table_del(&hca->xrcds, id);
	free(object);
}

static int xrcd_init(struct hca *hca)
{
	return table_init(&hca->xrcds, 1, HCA_MAX_XRCD + 1);
}

static void xrcd_fini(struct hca *hca)
{
	table_fini(&hca->xrcds);
}

static const struct cmd_desc xrcd_cmds[] = {
	CMD_DESC(ALLOC_XRCD, cmd_alloc_xrcd, 0, CMD_HANDLE_LEN, .cap = OHCA_CAP_XRC),
	CMD_DESC(FREE_XRCD, cmd_free_xrcd, CMD_HANDLE_LEN, 0, .cap = OHCA_CAP_XRC),
};

const struct object_class xrcd_class = {
	.init = xrcd_init,
	.fini = xrcd_fini,
	OBJECT_TABLE(xrcds, xrcd_drop),
	OBJECT_CMDS(xrcd_cmds),
};
