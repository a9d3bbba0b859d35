// SPDX-License-Identifier: GPL-2.0
/* Flows: their commands, and the QPs that receive a frame. */

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"
#include "base/minmax.h"
#include "device/object.h"
#include "eth/eth.h"
#include "eth/flow.h"
#include "eth/flow_table.h"
#include "eth/netdev.h"
#include "eth/rss.h"
#include "fabric/port.h"
#include "packet/frame.h"
#include "qp/qp.h"
#include "qp/sched.h"

/* What it costs to look for the flows of a frame, in addition to what the frame costs (sched.h) */
#define LOOK_COST 1024

/**
 * struct flow - a flow
 */
struct flow {
	struct flow_rule rule;
	uint32_t id;
	struct qp *qp;
	struct port *port;
};

#define NO_MORE UINT64_MAX

/**
 * struct flow_walk - a frame on its way to the QPs of all flows of the first priority that has flows that match
 * @last: the last rule that there was when it came
 * @found: there are such flows, of @priority
 * @mask, @seq: the last rule whose QP has got it: its mask's id, and its number; 0: none of this mask, NO_MORE: all of it
 */
struct flow_walk {
	uint64_t last;
	bool found;
	uint16_t priority;
	uint32_t mask;
	uint64_t seq;
};

/**
 * struct flow_late - a copy of a frame that comes to the QPs of more flows in turns of their HCA
 */
struct flow_late {
	struct sched_job job;
	struct port *port;
	struct flow_walk walk;
	uint32_t len;
	uint8_t data[];
};

/* The next rule of a mask that the frame comes to */
static struct flow_rule *next_rule(const struct flow_table *table, const struct flow_mask *mask,
				   const struct frame *frame, const struct flow_walk *walk)
{
	struct flow_rule *rule = flow_table_find(table, mask, &frame->match);

	while (rule && mask->id == walk->mask && rule->seq <= walk->seq)
		rule = flow_table_next(rule);
	return rule && rule->seq <= walk->last ? rule : NULL;
}

/* Has the walk not passed the mask?  Masks of a priority have ascending ids. */
static bool is_ahead(const struct flow_mask *mask, const struct flow_walk *walk)
{
	if (!walk->found)
		return true;
	return mask->priority == walk->priority &&
	       (mask->id > walk->mask || (mask->id == walk->mask && walk->seq != NO_MORE));
}

/* The next rule that the frame comes to, of all masks; NULL: it has come to all */
static struct flow_rule *first_rule(const struct flow_table *table, const struct frame *frame,
				    const struct flow_walk *walk)
{
	const struct list *node;

	for (node = table->masks.next; node != &table->masks; node = node->next) {
		const struct flow_mask *mask = list_entry(node, struct flow_mask, link);
		struct flow_rule *rule;

		if (!is_ahead(mask, walk))
			continue;
		rule = next_rule(table, mask, frame, walk);
		if (rule)
			return rule;
	}
	return NULL;
}

/*
 * To the QPs of flows until it has cost @room.  Returns the cost; *@rule is the rule where it is to go on, NULL if it has come to
 * all.
 */
static uint64_t walk_on(const struct flow_table *table, struct flow_walk *walk, uint64_t room,
			const struct iovec *iov, unsigned int num, uint32_t len,
			struct flow_rule **rule)
{
	struct frame frame;
	uint64_t cost = 0;
	struct qp *qp;

	frame_parse(&frame, iov, num);
	for (*rule = first_rule(table, &frame, walk); *rule && cost < room;
	     cost += max_of(len, SCHED_MESSAGE)) {
		walk->found = true;
		walk->priority = (*rule)->mask->priority;
		walk->mask = (*rule)->mask->id;
		walk->seq = (*rule)->seq;
		qp = list_entry(*rule, struct flow, rule)->qp;
		eth_receive(qp_is(qp, QPT(OHCA_QPT_RSS)) ? rss_queue(qp, &frame) : qp, iov, num,
			    len);
		*rule = flow_table_next(*rule);
		if (*rule && (*rule)->seq <= walk->last)
			continue;
		walk->seq = NO_MORE;
		*rule = first_rule(table, &frame, walk);
	}
	return cost;
}

static void free_late(struct sched_job *job)
{
	struct flow_late *late = list_entry(job, struct flow_late, job);

	late->port->netdev->late--;
	free(late);
}

static uint64_t run_late(struct sched_job *job, uint64_t room, bool *done)
{
	struct flow_late *late = list_entry(job, struct flow_late, job);
	const struct iovec iov = {.iov_base = late->data, .iov_len = late->len};
	struct flow_rule *rule = NULL;
	uint64_t cost = LOOK_COST;

	if (late->port->active)
		cost += walk_on(&late->port->netdev->flows, &late->walk, room, &iov, 1, late->len,
				&rule);
	*done = !rule;
	return cost;
}

/* It comes to more flows later, or to none of them if there is too much of that. */
static void defer(struct port *port, const struct flow_walk *walk, const struct iovec *iov,
		  unsigned int num, uint32_t len)
{
	struct flow_late *late = malloc(sizeof(*late) + len);

	if (!late)
		return;
	late->job = (struct sched_job){.run = run_late, .free = free_late};
	late->port = port;
	late->walk = *walk;
	late->len = len;
	iov_peek(iov, num, late->data, len);
	if (sched_add_job(port->hca, &late->job))
		port->netdev->late++;
	else
		free(late);
}

bool flow_deliver(struct port *port, const struct iovec *iov, unsigned int num, uint32_t len)
{
	const struct flow_table *table = &port->netdev->flows;
	struct flow_walk walk = {.last = table->seq};
	struct flow_rule *rule;
	uint64_t cost;

	if (!port->has_flows)
		return false;
	/* Behind those that wait */
	cost = walk_on(table, &walk, port->netdev->late ? 0 : SCHED_SHORT, iov, num, len, &rule);
	if (rule)
		defer(port, &walk, iov, num, len);
	/* The sender's turn has room for one frame. */
	if (cost > max_of(len, SCHED_MESSAGE))
		sched_charge(port->hca, cost - max_of(len, SCHED_MESSAGE));
	return walk.found || rule;
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
