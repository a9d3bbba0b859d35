// SPDX-License-Identifier: GPL-2.0
/* Flows: their commands, and the QPs that receive a frame. */

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/port.h"
#include "device/object.h"
#include "eth/eth.h"
#include "eth/flow.h"
#include "eth/flow_table.h"
#include "eth/netdev.h"
#include "packet/frame.h"
#include "qp/qp.h"
#include "eth/rss.h"

/**
 * struct flow - a flow
 */
struct flow {
	struct flow_rule rule;
	uint32_t id;
	struct qp *qp;
	struct port *port;
};

/* Give the frame to the QPs of all flows of a mask that match it.  Returns whether there was any. */
static bool deliver(const struct flow_table *table, const struct flow_mask *mask,
		    const struct frame *frame, const struct iovec *iov, unsigned int num,
		    uint32_t len)
{
	struct flow_rule *rule = flow_table_find(table, mask, &frame->match), *next;
	bool found = rule;

	for (; rule; rule = next) {
		struct qp *qp = list_entry(rule, struct flow, rule)->qp;

		next = flow_table_next(rule);
		eth_receive(qp_is(qp, QPT(OHCA_QPT_RSS)) ? rss_queue(qp, frame) : qp, iov, num,
			    len);
	}
	return found;
}

bool flow_deliver(struct port *port, const struct iovec *iov, unsigned int num, uint32_t len)
{
	const struct flow_table *table = &port->netdev->flows;
	const struct list *node;
	struct frame frame;
	bool found = false;
	uint16_t priority = 0;

	if (!port->has_flows)
		return false;
	frame_parse(&frame, iov, num);
	for (node = table->masks.next; node != &table->masks; node = node->next) {
		const struct flow_mask *mask = list_entry(node, struct flow_mask, link);

		if (found && mask->priority != priority)
			break;
		if (!deliver(table, mask, &frame, iov, num, len))
			continue;
		found = true;
		priority = mask->priority;
	}
	return found;
}

#define BAD(field, status) CMD_BAD(ctx, struct ohca_create_flow_in, field, status)

static enum ohca_cmd_status check_create(struct hca *hca, const struct ohca_create_flow_in *in,
					 struct cmd_ctx *ctx)
{
	static const uint8_t zero[sizeof(in->mask.rsvd)];
	const struct port *port = hca_port(hca, in->port);
	const struct qp *qp = qp_get(hca, le32toh(in->qpn));
	const union match value = {.fields = in->value}, mask = {.fields = in->mask};
	unsigned int i;

	if (in->rsvd)
		return BAD(rsvd, OHCA_CMD_BAD_PARAM);
	if (!port || port->ib)
		return BAD(port, OHCA_CMD_BAD_PARAM);
	if (memcmp(in->mask.rsvd, zero, sizeof(zero)))
		return BAD(mask, OHCA_CMD_BAD_PARAM);
	for (i = 0; i < MATCH_WORDS; i++) {
		if (value.words[i] & ~mask.words[i])
			return BAD(value, OHCA_CMD_BAD_PARAM);
	}
	if (!qp)
		return BAD(qpn, OHCA_CMD_BAD_HANDLE);
	if (!qp_is(qp, QPT(OHCA_QPT_ETH) | QPT(OHCA_QPT_RSS)) || qp_is_netdev(qp) ||
	    (qp_is(qp, QPT(OHCA_QPT_RSS)) && rss_is_netdev(qp)))
		return BAD(qpn, OHCA_CMD_BAD_PARAM);
	return OHCA_CMD_OK;
}

/* Number it and have frames come to it. */
static bool flow_add(struct hca *hca, struct flow *flow, const struct ohca_create_flow_in *in)
{
	struct flow_table *table = &flow->port->netdev->flows;
	const union match mask = {.fields = in->mask};

	if (table_add(&hca->flows, flow, &flow->id))
		return false;
	if (!flow_table_add(table, &flow->rule, &mask, le16toh(in->priority))) {
		table_del(&hca->flows, flow->id);
		return false;
	}
	flow->port->has_flows = true;
	flow->qp->refs++;
	return true;
}

static enum ohca_cmd_status cmd_create_flow(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_flow_in *in = ctx->in;
	struct ohca_handle *out = ctx->out;
	enum ohca_cmd_status status;
	struct flow *flow;

	status = check_create(hca, in, ctx);
	if (status)
		return status;
	flow = quota_calloc(&hca->quotas[QUOTA_FLOWS], 1, sizeof(*flow));
	if (!flow)
		return OHCA_CMD_NO_RESOURCE;
	flow->rule.value.fields = in->value;
	flow->qp = qp_get(hca, le32toh(in->qpn));
	flow->port = hca_port(hca, in->port);
	if (!flow_add(hca, flow, in)) {
		quota_free(&hca->quotas[QUOTA_FLOWS], 1, flow);
		return OHCA_CMD_NO_RESOURCE;
	}
	out->id = htole32(flow->id);
	return OHCA_CMD_OK;
}

static void flow_free(struct hca *hca, struct flow *flow)
{
	struct flow_table *table = &flow->port->netdev->flows;

	table_del(&hca->flows, flow->id);
	flow_table_del(table, &flow->rule);
	flow->port->has_flows = table->rules.count;
	flow->qp->refs--;
	quota_free(&hca->quotas[QUOTA_FLOWS], 1, flow);
}

static enum ohca_cmd_status cmd_destroy_flow(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct flow *flow = table_get(&hca->flows, le32toh(in->id));

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!flow)
		return OHCA_CMD_BAD_HANDLE;
	flow_free(hca, flow);
	return OHCA_CMD_OK;
}

static void flow_drop(struct hca *hca, void *object, uint32_t id)
{
	(void)id;
	flow_free(hca, object);
}

static int flow_init(struct hca *hca)
{
	return table_init(&hca->flows, 1, HCA_MAX_FLOW + 1);
}

static void flow_fini(struct hca *hca)
{
	table_fini(&hca->flows);
}

static const struct cmd_desc flow_cmds[] = {
	CMD_DESC(CREATE_FLOW, cmd_create_flow, sizeof(struct ohca_create_flow_in), CMD_HANDLE_LEN,
		 .cap = OHCA_CAP_RAW),
	CMD_DESC(DESTROY_FLOW, cmd_destroy_flow, CMD_HANDLE_LEN, 0, .cap = OHCA_CAP_RAW),
};

const struct object_class flow_class = {
	.init = flow_init,
	.fini = flow_fini,
	OBJECT_TABLE(flows, flow_drop),
	OBJECT_CMDS(flow_cmds),
};
