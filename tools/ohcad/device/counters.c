// SPDX-License-Identifier: GPL-2.0
/* Sets of counters. */

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "device/object.h"
#include "device/counters.h"

struct counters *counters_get(struct hca *hca, uint32_t id)
{
	return table_get(&hca->counters, id);
}

struct counters *counters_of_port(struct hca *hca, uint8_t port)
{
	return &hca->port_counters[port - 1];
}

static void add(struct counters *total, const struct counters *counters)
{
	unsigned int i;

	for (i = 0; i < OHCA_NUM_COUNTERS; i++)
		total->value[i] += counters->value[i];
}

void counters_total(const struct hca *hca, uint8_t port, struct counters *total)
{
	const struct counters *counters;
	uint32_t id = 0;

	*total = hca->port_counters[port - 1];
	add(total, &hca->old_counters[port - 1]);
	for (; (counters = table_next(&hca->counters, &id)); id++) {
		if (counters->port == port)
			add(total, counters);
	}
}

static bool port_exists(const struct hca *hca, uint8_t port)
{
	return port && port <= hca->num_ports;
}

static void counters_free(struct hca *hca, struct counters *counters)
{
	quota_free(&hca->quotas[QUOTA_MEMORY], sizeof(*counters), counters);
}

static enum ohca_cmd_status cmd_alloc_counters(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_alloc_counters_in *in = ctx->in;
	struct ohca_handle *out = ctx->out;
	struct counters *counters;

	if (!cmd_all_zero(in->rsvd, sizeof(in->rsvd)))
		return CMD_BAD(ctx, struct ohca_alloc_counters_in, rsvd, OHCA_CMD_BAD_PARAM);
	if (!port_exists(hca, in->port))
		return CMD_BAD(ctx, struct ohca_alloc_counters_in, port, OHCA_CMD_BAD_PARAM);
	counters = quota_calloc(&hca->quotas[QUOTA_MEMORY], sizeof(*counters), sizeof(*counters));
	if (!counters)
		return OHCA_CMD_NO_RESOURCE;
	counters->port = in->port;
	if (table_add(&hca->counters, counters, &counters->id)) {
		counters_free(hca, counters);
		return OHCA_CMD_NO_RESOURCE;
	}
	out->id = htole32(counters->id);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_free_counters(struct hca *hca, struct cmd_ctx *ctx)
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
	add(&hca->old_counters[counters->port - 1], counters);
	counters_free(hca, counters);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_query_counters(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_query_counters_in *in = ctx->in;
	struct ohca_query_counters_out *out = ctx->out;
	const struct counters *counters;
	unsigned int i;

	if (!cmd_all_zero(in->rsvd, sizeof(in->rsvd)))
		return CMD_BAD(ctx, struct ohca_query_counters_in, rsvd, OHCA_CMD_BAD_PARAM);
	if (in->id ? in->port : !port_exists(hca, in->port))
		return CMD_BAD(ctx, struct ohca_query_counters_in, port, OHCA_CMD_BAD_PARAM);
	counters = in->id ? counters_get(hca, le32toh(in->id)) : counters_of_port(hca, in->port);
	if (!counters)
		return OHCA_CMD_BAD_HANDLE;
	for (i = 0; i < OHCA_NUM_COUNTERS; i++)
		out->value[i] = htole64(counters->value[i]);
	return OHCA_CMD_OK;
}

static void restart_own(struct hca *hca)
{
	unsigned int i;

	memset(hca->port_counters, 0, sizeof(hca->port_counters));
	for (i = 0; i < hca->num_ports; i++)
		hca->port_counters[i].port = i + 1;
}

static void counters_drop(struct hca *hca, void *object, uint32_t id)
{
	table_del(&hca->counters, id);
	counters_free(hca, object);
}

static void counters_reset(struct hca *hca)
{
	restart_own(hca);
	memset(hca->old_counters, 0, sizeof(hca->old_counters));
}

static int counters_init(struct hca *hca)
{
	restart_own(hca);
	return table_init(&hca->counters, 1, HCA_MAX_COUNTERS + 1);
}

static void counters_fini(struct hca *hca)
{
	table_fini(&hca->counters);
}

static const struct cmd_desc counters_cmds[] = {
	CMD_DESC(ALLOC_COUNTERS, cmd_alloc_counters, sizeof(struct ohca_alloc_counters_in),
		 CMD_HANDLE_LEN, .cap = OHCA_CAP_COUNTERS),
	CMD_DESC(FREE_COUNTERS, cmd_free_counters, CMD_HANDLE_LEN, 0, .cap = OHCA_CAP_COUNTERS),
	CMD_DESC(QUERY_COUNTERS, cmd_query_counters, sizeof(struct ohca_query_counters_in),
		 sizeof(struct ohca_query_counters_out), .out_min = OHCA_QUERY_COUNTERS_OUT_MIN,
		 .cap = OHCA_CAP_COUNTERS),
};

const struct object_class counters_class = {
	.init = counters_init,
	.fini = counters_fini,
	OBJECT_TABLE(counters, counters_drop),
	.reset = counters_reset,
	OBJECT_CMDS(counters_cmds),
};
