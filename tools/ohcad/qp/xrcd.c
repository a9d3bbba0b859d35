// SPDX-License-Identifier: GPL-2.0
/* XRC domains. */

#include <endian.h>
#include <stdlib.h>

#include "device/cmd.h"
#include "qp/srq.h"

struct xrcd *xrcd_get(struct hca *hca, uint32_t xrcdn)
{
	return table_get(&hca->xrcds, xrcdn);
}

enum ohca_cmd_status cmd_alloc_xrcd(struct hca *hca, struct cmd_ctx *ctx)
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

enum ohca_cmd_status cmd_free_xrcd(struct hca *hca, struct cmd_ctx *ctx)
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

void xrcd_reset_all(struct hca *hca)
{
	struct xrcd *xrcd;
	uint32_t id = 0;

	for (; (xrcd = table_next(&hca->xrcds, &id)); id++) {
		table_del(&hca->xrcds, id);
		free(xrcd);
	}
}
