// SPDX-License-Identifier: GPL-2.0
/* Commands: lengths, dispatch, output. */

#include <endian.h>
#include <string.h>

#include "device/cmd.h"
#include "device/profile.h"
#include "device/strict.h"

bool cmd_all_zero(const void *bytes, unsigned int len)
{
	const uint8_t *p = bytes;

	while (len--) {
		if (*p++)
			return false;
	}
	return true;
}

enum ohca_cmd_status cmd_begin_buf(struct hca *hca, struct cmd_ctx *ctx,
				   const struct ohca_xlt *desc, uint64_t size)
{
	return xlt_begin(&ctx->xlt, &hca->quotas[QUOTA_PAGES], desc, size);
}

/* If it is over and has failed, free the pages. */
static enum ohca_cmd_status loaded(struct hca *hca, struct cmd_ctx *ctx,
				   enum ohca_cmd_status status)
{
	if (status && status != CMD_MORE)
		xlt_free(&ctx->xlt, &hca->quotas[QUOTA_PAGES]);
	return status;
}

enum ohca_cmd_status cmd_load_buf(struct hca *hca, struct cmd_ctx *ctx, const struct ohca_xlt *desc)
{
	if (!hca->ready)
		return loaded(hca, ctx, OHCA_CMD_NO_RESOURCE);
	if (ctx->xlt.npages == le32toh(desc->npages))
		return OHCA_CMD_OK;
	return loaded(hca, ctx, xlt_load_part(&ctx->xlt, hca->dma, desc, ctx->end));
}

enum ohca_cmd_status cmd_check_ring(struct hca *hca, struct cmd_ctx *ctx, unsigned int num,
				    uint64_t offset, uint64_t bytes)
{
	return loaded(hca, ctx,
		      xlt_check(&ctx->xlt, hca->dma, offset, bytes, &ctx->pos[num], ctx->end));
}

uint16_t cmd_output_len(const struct hca *hca, const struct cmd_ctx *ctx, uint16_t room)
{
	const struct cmd_desc *desc = ctx->desc;
	uint16_t len = hca->profile->shortest && desc->out_min ? desc->out_min : desc->out_len;

	return room < len ? room : len;
}

enum ohca_cmd_status cmd_execute(struct hca *hca, struct cmd_ctx *ctx, uint16_t opcode, void *in,
				 uint16_t in_len, uint16_t out_room)
{
	const struct cmd_desc *desc;
	enum ohca_cmd_status status;
	uint16_t known;

	if (opcode >= HCA_NUM_OPCODES || !hca->cmds[opcode]) {
		strict_broken(hca, "S-104", "it tries a command that does not exist");
		return OHCA_CMD_BAD_OPCODE;
	}
	desc = hca->cmds[opcode];
	if (in_len < (desc->in_min ?: desc->in_len) || out_room < (desc->out_min ?: desc->out_len))
		return OHCA_CMD_BAD_LEN;
	if (in_len < desc->in_len) {
		memset((uint8_t *)in + in_len, 0, desc->in_len - in_len);
		in_len = desc->in_len;
	}
	known = desc->in_len + (desc->more ? desc->more(in) : 0);
	if (in_len < known)
		return OHCA_CMD_BAD_LEN;
	if (!cmd_all_zero((const uint8_t *)in + known, in_len - known)) {
		ctx->syndrome = known;
		return OHCA_CMD_BAD_PARAM;
	}

	ctx->in = in;
	ctx->desc = desc;
	memset(ctx->out, 0, desc->out_len);
	status = desc->cap & ~hca_caps(hca) ? OHCA_CMD_UNSUPPORTED : desc->fn(hca, ctx);
	if (status == OHCA_CMD_UNSUPPORTED)
		strict_broken(hca, "S-104", "it tries what the device does not offer");
	return status;
}
