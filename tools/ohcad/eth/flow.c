// SPDX-License-Identifier: GPL-2.0
/*
 * Flows.
 *
 * A port's flows are a list sorted by priority.  A frame's headers are parsed once (frame.c)
 * and compared word by word.
 */

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/port.h"
#include "device/object.h"
#include "eth/eth.h"
#include "eth/flow.h"
#include "eth/netdev.h"
#include "packet/frame.h"
#include "qp/qp.h"
#include "eth/rss.h"

/**
 * struct flow - a flow
 * @link: in netdev.flows, by priority
 */
struct flow {
	struct list link;
	uint32_t id;
	uint16_t priority;
	struct qp *qp;
	struct port *port;
	union match value, mask;
};

static bool matches(const struct flow *flow, const union match *match)
{
	unsigned int i;

	for (i = 0; i < MATCH_WORDS; i++) {
		if ((match->words[i] & flow->mask.words[i]) != flow->value.words[i])
			return false;
	}
	return true;
}

bool flow_deliver(struct port *port, const struct iovec *iov, unsigned int num, uint32_t len)
{
	struct list *node, *next;
	struct frame frame;
	bool found = false;
	uint16_t priority = 0;

	if (!port->has_flows)
		return false;
	frame_parse(&frame, iov, num);
	for (node = port->netdev->flows.next; node != &port->netdev->flows; node = next) {
		struct flow *flow = list_entry(node, struct flow, link);

		next = node->next;
		if (found && flow->priority != priority)
			break;
		if (!matches(flow, &frame.match))
			continue;
		found = true;
		priority = flow->priority;
		eth_receive(qp_is(flow->qp, QPT(OHCA_QPT_RSS)) ? rss_queue(flow->qp, &frame)
							       : flow->qp,
			    iov, num, len);
	}
	return found;
}

#define BAD(field, status) CMD_BAD(ctx, struct ohca_create_flow_in, field, status)

static enum ohca_cmd_status check_create(struct hca *hca, const struct ohca_create_flow_in *in,
					 const struct flow *flow, struct cmd_ctx *ctx)
{
	static const uint8_t zero[sizeof(in->mask.rsvd)];
	const struct port *port = hca_port(hca, in->port);
	const struct qp *qp = qp_get(hca, le32toh(in->qpn));
	unsigned int i;

	if (in->rsvd)
		return BAD(rsvd, OHCA_CMD_BAD_PARAM);
	if (!port || port->ib)
		return BAD(port, OHCA_CMD_BAD_PARAM);
	if (memcmp(in->mask.rsvd, zero, sizeof(zero)))
		return BAD(mask, OHCA_CMD_BAD_PARAM);
	for (i = 0; i < MATCH_WORDS; i++) {
		if (flow->value.words[i] & ~flow->mask.words[i])
			return BAD(value, OHCA_CMD_BAD_PARAM);
	}
	if (!qp)
		return BAD(qpn, OHCA_CMD_BAD_HANDLE);
	if (!qp_is(qp, QPT(OHCA_QPT_ETH) | QPT(OHCA_QPT_RSS)) || qp_is_netdev(qp) ||
	    (qp_is(qp, QPT(OHCA_QPT_RSS)) && rss_is_netdev(qp)))
		return BAD(qpn, OHCA_CMD_BAD_PARAM);
	return OHCA_CMD_OK;
}

/* Insert it behind those of the same priority. */
static void insert(struct port *port, struct flow *flow)
{
	struct list *node = port->netdev->flows.next;

	while (node != &port->netdev->flows &&
	       list_entry(node, struct flow, link)->priority <= flow->priority)
		node = node->next;
	list_add_tail(node, &flow->link);
	port->has_flows = true;
}

static enum ohca_cmd_status cmd_create_flow(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_flow_in *in = ctx->in;
	struct ohca_handle *out = ctx->out;
	enum ohca_cmd_status status;
	struct flow *flow = calloc(1, sizeof(*flow));

	if (!flow)
		return OHCA_CMD_NO_RESOURCE;
	flow->priority = le16toh(in->priority);
	flow->value.fields = in->value;
	flow->mask.fields = in->mask;
	status = check_create(hca, in, flow, ctx);
	if (!status && table_add(&hca->flows, flow, &flow->id))
		status = OHCA_CMD_NO_RESOURCE;
	if (status) {
		free(flow);
		return status;
	}
	flow->qp = qp_get(hca, le32toh(in->qpn));
	flow->qp->refs++;
	flow->port = hca_port(hca, in->port);
	insert(flow->port, flow);
	out->id = htole32(flow->id);
	return OHCA_CMD_OK;
}

static void flow_free(struct hca *hca, struct flow *flow)
{
	table_del(&hca->flows, flow->id);
	list_del(&flow->link);
	flow->port->has_flows = !list_empty(&flow->port->netdev->flows);
	flow->qp->refs--;
	free(flow);
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
