// SPDX-License-Identifier: GPL-2.0
/* Data packets from and to uplinks, which the InfiniBand switch forwards as bytes. */

#include <string.h>

#include "device/hca.h"
#include "fabric/fabric.h"
#include "fabric/ib_forward.h"
#include "fabric/ib_traffic.h"
#include "fabric/ib_route.h"

void ib_forward_out(struct ib_port *out, const uint8_t *packet, uint32_t len, uint16_t hops)
{
	uint16_t dlid = get_be16(packet + 2);

	if (hops >= ib_max_hops(dlid) ||
	    !out->peer->node->ops->receive_data(out->peer, packet, len, hops + 1))
		out->counters.xmit_discards++;
	else
		ib_count_packet(&out->counters.xmit, len, dlid);
}

/* The length without the headers that every packet has */
static uint32_t payload_len(const struct ib_packet *p)
{
	return p->len - VCRC_LEN - IB_HEADERS_LEN;
}

/* Has the packet a DETH?  Only datagrams have. */
static bool has_deth(const struct ib_packet *p)
{
	return p->bth.data[0] >> 5 == BTH_UD && p->bth.len >= BTH_LEN + DETH_LEN + ICRC_LEN;
}

struct ib_violation ib_violation_of(const struct ib_packet *p)
{
	const uint8_t *bth = p->bth.data;

	return (struct ib_violation){
		.key = get_be16(bth + 2),
		.slid = p->slid,
		.dlid = p->dlid,
		.sl = p->sl,
		.src_qpn = has_deth(p) ? get_be32(bth + BTH_LEN + 4) & QPN_MASK : 0,
		.dest_qpn = get_be32(bth + 4) & QPN_MASK,
		.no_src_qpn = !has_deth(p),
	};
}

/* Send by the uplink.  The virtual lane is part of the variant CRC. */
static void leave(const struct ib_route *route, const struct ib_packet *p)
{
	uint8_t packet[IB_MAX_PACKET];

	if (route->vl == p->vl) {
		ib_forward_out(route->at, p->lrh, p->len, p->hops);
		return;
	}
	memcpy(packet, p->lrh, p->len);
	packet[0] = route->vl << 4;
	ib_put_vcrc(packet, p->len);
	ib_forward_out(route->at, packet, p->len, p->hops);
}

static struct ib_flow flow_of(const struct ib_packet *p)
{
	return (struct ib_flow){p->dlid, get_be16(p->bth.data + 2), p->sl};
}

/* Count the packet at the cables between switches, by its payload as packets of QPs are. */
static void count_hops(const struct ib_route *route, const struct ib_packet *p)
{
	if (route->hops)
		ib_hops_count(route->hops, 1, payload_len(p));
}

static void answer(struct ib_port *at, const struct ib_packet *p);

/*
 * Let the agent behind QP 1 of @at's node process a datagram, and send its response.  A switch's own port, number 0, has no link
 * that counts them.
 */
static void ask(struct ib_port *at, const struct ib_packet *p)
{
	struct ib_packet packet = *p;
	uint8_t bytes[IB_MAX_PACKET];
	struct mad_packet mad;

	if (at->num)
		ib_traffic_arrived(at, 1, payload_len(p), p->dlid >= LID_MCAST);
	/* An answer to a group would come from the LID of the group. */
	if (p->dlid >= LID_MCAST || !ib_decode_mad(&mad, &packet, QPN_GSI) ||
	    !ib_node_takes(at, &mad) || !ib_ask_node(at, &mad))
		return;
	if (ib_peek(&packet, bytes, ib_encode_mad(bytes, &mad)) == PACKET_GOOD)
		answer(at, &packet);
}

static void end(const struct ib_route *route, struct ib_port *in, const struct ib_packet *p)
{
	const struct ib_packets packet = {.head = ib_violation_of(p), .num = 1};

	if (route->end == IB_ROUTE_OUT)
		leave(route, p);
	else if (route->end == IB_ROUTE_PORT)
		in->node->fabric->receive_ib(route->to, p);
	else if (route->end == IB_ROUTE_AGENT)
		ask(route->at, p);
	else
		ib_route_count_discards(route, &packet);
}

static void answer(struct ib_port *at, const struct ib_packet *p)
{
	const struct ib_flow flow = flow_of(p);
	struct ib_route route;

	ib_route_from_agent(&route, at, &flow);
	if (route.end != IB_ROUTE_UNSENT && at->num)
		ib_traffic_left(at, 1, payload_len(p));
	count_hops(&route, p);
	end(&route, at, p);
}

/**
 * struct copies - copies of a multicast packet
 */
struct copies {
	struct ib_port *in;
	const struct ib_packet *p;
};

static void end_copy(void *arg, const struct ib_route *route)
{
	const struct copies *copies = arg;

	end(route, copies->in, copies->p);
}

static void count_out(void *arg, const struct ib_route *route)
{
	*(unsigned int *)arg += route->end == IB_ROUTE_OUT;
}

void ib_forward(struct ib_port *in, const struct ib_packet *p)
{
	const struct ib_packets packet = {
		.head = ib_violation_of(p), .num = 1, .bytes = payload_len(p)};
	const struct ib_flow flow = flow_of(p);
	struct ib_packet copy = *p;
	struct copies copies = {in, &copy};
	struct ib_route route;
	unsigned int num_out = 0;

	if (p->dlid >= LID_MCAST) {
		ib_route_mcast(in, &flow, NULL, count_out, &num_out);
		copy.hops = ib_hops_of_copy(p->dlid, p->hops, num_out ?: 1);
		ib_route_mcast(in, &flow, &packet, end_copy, &copies);
		return;
	}
	ib_route_from_switch(&route, in, &flow);
	count_hops(&route, p);
	end(&route, in, p);
}
