// SPDX-License-Identifier: GPL-2.0
/*
 * Flows.
 *
 * A port's flows are a list sorted by priority.  A frame's headers are taken apart once, into the
 * same structure that flows are made of, and compared word by word.
 */

#include <endian.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "eth.h"
#include "flow.h"
#include "qp.h"

#define MATCH_WORDS (sizeof(struct ohca_flow_match) / sizeof(uint64_t))

/* A match as the words that are compared. */
union match {
	struct ohca_flow_match fields;
	uint64_t words[MATCH_WORDS];
};

/**
 * struct flow - a flow
 * @link: in port.flows, by priority
 */
struct flow {
	struct list link;
	uint32_t id;
	uint16_t priority;
	struct qp *qp;
	union match value, mask;
};

static void parse_l4(struct ohca_flow_match *m, const uint8_t *hdr, size_t avail, size_t off)
{
	if ((m->ip_proto != IPPROTO_TCP && m->ip_proto != IPPROTO_UDP) || off + 4 > avail)
		return;
	memcpy(&m->src_port, hdr + off, 2);
	memcpy(&m->dst_port, hdr + off + 2, 2);
}

static void parse_ip(struct ohca_flow_match *m, const uint8_t *hdr, size_t avail, size_t off)
{
	if (be16toh(m->ether_type) == ETH_TYPE_IPV4 && off + 20 <= avail && hdr[off] >> 4 == 4) {
		m->ip_version = 4;
		m->ip_tos = hdr[off + 1];
		m->ip_ttl = hdr[off + 8];
		m->ip_proto = hdr[off + 9];
		memcpy(m->src_ip, hdr + off + 12, 4);
		memcpy(m->dst_ip, hdr + off + 16, 4);
		/* Ports are in the first fragment only. */
		if (!(hdr[off + 6] & 0x1f) && !hdr[off + 7])
			parse_l4(m, hdr, avail, off + (hdr[off] & 15) * 4);
	} else if (be16toh(m->ether_type) == ETH_TYPE_IPV6 && off + 40 <= avail &&
		   hdr[off] >> 4 == 6) {
		m->ip_version = 6;
		m->ip_tos = (hdr[off] & 15) << 4 | hdr[off + 1] >> 4;
		m->ip_ttl = hdr[off + 7];
		m->ip_proto = hdr[off + 6];
		memcpy(m->src_ip, hdr + off + 8, 16);
		memcpy(m->dst_ip, hdr + off + 24, 16);
		parse_l4(m, hdr, avail, off + 40);
	}
}

/* The headers of a frame of at least ETH_HDR_LEN bytes. */
static void parse(union match *match, const struct iovec *iov, unsigned int num)
{
	struct ohca_flow_match *m = &match->fields;
	uint8_t hdr[ETH_MAX_HEADERS + 4];
	size_t avail = eth_peek(iov, num, hdr, sizeof(hdr));
	size_t off = ETH_HDR_LEN;

	memset(match, 0, sizeof(*match));
	memcpy(m->dmac, hdr, 6);
	memcpy(m->smac, hdr + 6, 6);
	memcpy(&m->ether_type, hdr + 12, 2);
	if (be16toh(m->ether_type) == ETH_TYPE_VLAN && avail >= off + 4) {
		memcpy(&m->vlan, hdr + 14, 2);
		memcpy(&m->ether_type, hdr + 16, 2);
		off += 4;
	}
	parse_ip(m, hdr, avail, off);
}

static bool matches(const struct flow *flow, const union match *frame)
{
	unsigned int i;

	for (i = 0; i < MATCH_WORDS; i++) {
		if ((frame->words[i] & flow->mask.words[i]) != flow->value.words[i])
			return false;
	}
	return true;
}

bool flow_deliver(struct port *port, const struct iovec *iov, unsigned int num, uint32_t len)
{
	struct list *node, *next;
	union match frame;
	bool found = false;
	uint16_t priority = 0;

	if (list_empty(&port->flows))
		return false;
	parse(&frame, iov, num);
	for (node = port->flows.next; node != &port->flows; node = next) {
		struct flow *flow = list_entry(node, struct flow, link);

		next = node->next;
		if (found && flow->priority != priority)
			break;
		if (!matches(flow, &frame))
			continue;
		found = true;
		priority = flow->priority;
		eth_receive(flow->qp, iov, num, len);
	}
	return found;
}

#define BAD(field, status) CMD_BAD(ctx, struct ohca_create_flow_in, field, status)

static enum ohca_cmd_status check_create(struct hca *hca, const struct ohca_create_flow_in *in,
					 const struct flow *flow, struct cmd_ctx *ctx)
{
	static const uint8_t zero[sizeof(in->mask.rsvd)];
	const struct qp *qp = qp_get(hca, le32toh(in->qpn));
	unsigned int i;

	if (in->rsvd)
		return BAD(rsvd, OHCA_CMD_BAD_PARAM);
	if (in->port != 1)
		return BAD(port, OHCA_CMD_BAD_PARAM);
	if (memcmp(in->mask.rsvd, zero, sizeof(zero)))
		return BAD(mask, OHCA_CMD_BAD_PARAM);
	for (i = 0; i < MATCH_WORDS; i++) {
		if (flow->value.words[i] & ~flow->mask.words[i])
			return BAD(value, OHCA_CMD_BAD_PARAM);
	}
	if (!qp)
		return BAD(qpn, OHCA_CMD_BAD_HANDLE);
	if (qp->type != OHCA_QPT_ETH || qp->flags & OHCA_QP_F_PRIVILEGED)
		return BAD(qpn, OHCA_CMD_BAD_PARAM);
	return OHCA_CMD_OK;
}

/* Behind those of the same priority. */
static void insert(struct port *port, struct flow *flow)
{
	struct list *node = port->flows.next;

	while (node != &port->flows &&
	       list_entry(node, struct flow, link)->priority <= flow->priority)
		node = node->next;
	list_add_tail(node, &flow->link);
}

enum ohca_cmd_status cmd_create_flow(struct hca *hca, struct cmd_ctx *ctx)
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
	flow->qp->flows++;
	insert(&hca->port, flow);
	out->id = htole32(flow->id);
	return OHCA_CMD_OK;
}

static void flow_free(struct hca *hca, struct flow *flow)
{
	table_del(&hca->flows, flow->id);
	list_del(&flow->link);
	flow->qp->flows--;
	free(flow);
}

enum ohca_cmd_status cmd_destroy_flow(struct hca *hca, struct cmd_ctx *ctx)
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

void flow_reset_all(struct hca *hca)
{
	uint32_t id = 0;
	struct flow *flow;

	for (; (flow = table_next(&hca->flows, &id)); id++)
		flow_free(hca, flow);
}
