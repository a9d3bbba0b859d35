// SPDX-License-Identifier: GPL-2.0
/* Sets of counters. */

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "device/cmd.h"
#include "device/counters.h"

struct counters *counters_get(struct hca *hca, uint32_t id)
{
	return id ? table_get(&hca->counters, id) : &hca->port.counters;
}

enum ohca_cmd_status cmd_alloc_counters(struct hca *hca, struct cmd_ctx *ctx)
{
	struct ohca_handle *out = ctx->out;
	struct counters *counters = calloc(1, sizeof(*counters));

	if (!counters)
		return OHCA_CMD_NO_RESOURCE;
	if (table_add(&hca->counters, counters, &counters->id)) {
		free(counters);
		return OHCA_CMD_NO_RESOURCE;
	}
	out->id = htole32(counters->id);
	return OHCA_CMD_OK;
}

enum ohca_cmd_status cmd_free_counters(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct counters *counters = table_get(&hca->counters, le32toh(in->id));

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!counters)
		return OHCA_CMD_BAD_HANDLE;
	if (counters->refs)
		return OHCA_CMD_BUSY;
	table_del(&hca->counters, counters->id);
	free(counters);
	return OHCA_CMD_OK;
}

enum ohca_cmd_status cmd_query_counters(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct ohca_query_counters_out *out = ctx->out;
	struct counters *counters = counters_get(hca, le32toh(in->id));
	unsigned int i;

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!counters)
		return OHCA_CMD_BAD_HANDLE;
	for (i = 0; i < OHCA_NUM_COUNTERS; i++)
		out->value[i] = htole64(counters->value[i]);
	return OHCA_CMD_OK;
}

void counters_reset_all(struct hca *hca)
{
	struct counters *counters;
	uint32_t id = 0;

	for (; (counters = table_next(&hca->counters, &id)); id++) {
		table_del(&hca->counters, id);
		free(counters);
	}
	memset(&hca->port.counters, 0, sizeof(hca->port.counters));
}
