// SPDX-License-Identifier: GPL-2.0
/* Packets of data that the InfiniBand switch forwards as bytes. */

#include <string.h>

#include "device/hca.h"
#include "fabric/fabric.h"
#include "fabric/ib_forward.h"
#include "fabric/ib_traffic.h"
#include "fabric/ib_way.h"

void ib_forward_out(struct ib_port *out, const uint8_t *packet, uint32_t len, uint16_t hops)
{
	uint16_t dlid = get_be16(packet + 2);

	if (hops >= ib_max_hops(dlid)) {
		out->counters.xmit_discards++;
		return;
	}
	ib_count_packet(&out->counters.xmit, len, dlid);
	out->peer->node->ops->receive_data(out->peer, packet, len, hops + 1);
}

/* What of the packet is no header that each packet has */
static uint32_t payload_len(const struct ib_packet *p)
{
	return p->len - VCRC_LEN - IB_HEADERS_LEN;
}

struct ib_violation ib_violation_of(const struct ib_packet *p)
{
	const uint8_t *bth = p->bth.data;

	return (struct ib_violation){
		.key = get_be16(bth + 2),
		.slid = p->slid,
		.dlid = p->dlid,
		.sl = p->sl,
		.dest_qpn = get_be32(bth + 4) & QPN_MASK,
	};
}

/* On another virtual lane it has another variant CRC. */
static void leave(const struct ib_way *way, const struct ib_packet *p)
{
	uint8_t packet[IB_MAX_PACKET];

	if (way->vl == p->vl) {
		ib_forward_out(way->at, p->lrh, p->len, p->hops);
		return;
	}
	memcpy(packet, p->lrh, p->len);
	packet[0] = way->vl << 4;
	ib_put_vcrc(packet, p->len);
	ib_forward_out(way->at, packet, p->len, p->hops);
}

static struct ib_flow flow_of(const struct ib_packet *p)
{
	return (struct ib_flow){p->dlid, get_be16(p->bth.data + 2), p->sl};
}

/* What passes between switches is counted by its payload, as that of QPs. */
static void pass(const struct ib_way *way, const struct ib_packet *p)
{
	if (way->hops)
		ib_hops_pass(way->hops, 1, payload_len(p));
}

static void answer(struct ib_port *at, const struct ib_packet *p);

/* A datagram to QP 1 of the node with the port @at may have an answer. */
static void ask(struct ib_port *at, const struct ib_packet *p)
{
	struct ib_packet packet = *p;
	uint8_t bytes[IB_MAX_PACKET];
	struct mad_packet mad;

	if (!ib_decode_mad(&mad, &packet, QPN_GSI) || !ib_ask_node(at, &mad))
		return;
	if (ib_peek(&packet, bytes, ib_encode_mad(bytes, &mad)) == PACKET_GOOD)
		answer(at, &packet);
}

static void end(const struct ib_way *way, struct ib_port *in, const struct ib_packet *p)
{
	const struct ib_packets packet = {.head = ib_violation_of(p), .num = 1};

	if (way->end == IB_WAY_OUT)
		leave(way, p);
	else if (way->end == IB_WAY_PORT)
		in->node->fabric->receive_ib(way->to, p);
	else if (way->end == IB_WAY_AGENT)
		ask(way->at, p);
	else
		ib_way_count(way, &packet);
}

static void answer(struct ib_port *at, const struct ib_packet *p)
{
	const struct ib_flow flow = flow_of(p);
	struct ib_way way;

	ib_way_from_agent(&way, at, &flow);
	pass(&way, p);
	end(&way, at, p);
}

/**
 * struct copies - those of a multicast packet
 */
struct copies {
	struct ib_port *in;
	const struct ib_packet *p;
};

static void end_copy(void *arg, const struct ib_way *way)
{
	const struct copies *copies = arg;

	end(way, copies->in, copies->p);
}

static void count_out(void *arg, const struct ib_way *way)
{
	*(unsigned int *)arg += way->end == IB_WAY_OUT;
}

void ib_forward(struct ib_port *in, const struct ib_packet *p)
{
	const struct ib_packets packet = {
		.head = ib_violation_of(p), .num = 1, .bytes = payload_len(p)};
	const struct ib_flow flow = flow_of(p);
	struct ib_packet copy = *p;
	struct copies copies = {in, &copy};
	struct ib_way way;
	unsigned int num_out = 0;

	if (p->dlid >= LID_MCAST) {
		ib_way_mcast(in, &flow, NULL, count_out, &num_out);
		copy.hops = ib_hops_of_copy(p->dlid, p->hops, num_out ?: 1);
		ib_way_mcast(in, &flow, &packet, end_copy, &copies);
		return;
	}
	ib_way_go_on(&way, in, &flow);
	pass(&way, p);
	end(&way, in, p);
}
