// SPDX-License-Identifier: GPL-2.0
/* The way of data packets through the switch. */

#include <endian.h>

#include "device/hca.h"
#include "fabric/fabric.h"
#include "fabric/ib_traffic.h"
#include "fabric/ib_way.h"

int ib_vl(const uint8_t table[SM_SL2VL_LEN], uint8_t sl, const struct ib_port *out)
{
	/* By OperationalVLs */
	static const uint8_t num_vls[] = {0, 1, 2, 4, 8, 15};
	uint8_t vl = table[sl / 2] >> (sl & 1 ? 0 : 4) & 15;

	return vl < num_vls[out->oper_vls] ? vl : -1;
}

/*
 * A switch compares the numbers of partitions, without the bit of full members: the table of its port is that of the
 * port at the other end, which may be a limited member and send.
 */
static bool enforces(const struct ib_port *ib, uint8_t side, uint16_t pkey)
{
	unsigned int i;

	if (!(ib->enforce & side))
		return false;
	for (i = 0; i < IB_PORT_PKEYS; i++) {
		if (ib->pkeys[i] & PKEY_NUM && !((ib->pkeys[i] ^ pkey) & PKEY_NUM))
			return false;
	}
	return true;
}

/* Of a port of the switch: the HCA at its other end, if data may pass there */
static struct port *data_peer(const struct ib_port *out)
{
	struct ib_port *peer = out->state == IB_PORT_ACTIVE ? out->peer : NULL;

	return peer && peer->port && peer->port->active ? peer->port : NULL;
}

static void end(struct ib_way *way, enum ib_way_end how, struct ib_port *at)
{
	way->end = how;
	way->at = at;
}

/* Into the switch: is its port in the way? */
static bool enter_switch(struct ib_way *way, struct ib_port *in, const struct ib_flow *flow)
{
	*way = (struct ib_way){0};
	if (!enforces(in, PORT_ENFORCE_IN, flow->pkey))
		return true;
	end(way, IB_WAY_PKEY_IN, in);
	return false;
}

/* Out of the HCA to the switch */
static bool leave_hca(struct ib_way *way, struct port *src, const struct ib_flow *flow)
{
	struct ib_port *in = src->ib->peer;

	*way = (struct ib_way){0};
	if (!src->active || !in || in->state != IB_PORT_ACTIVE ||
	    ib_vl(src->ib->sl2vl, flow->sl, src->ib) < 0)
		end(way, IB_WAY_UNSENT, src->ib);
	else
		return true;
	return false;
}

/* From @in out of the port @out of the switch */
static void leave_switch(struct ib_way *way, struct ib_port *in, struct ib_port *out,
			 const struct ib_flow *flow)
{
	struct ib_switch *sw = in->node->sw;
	int vl = ib_vl(sw->sl2vl[in->num][out->num], flow->sl, out);
	struct port *to = data_peer(out);

	if (vl < 0) {
		end(way, IB_WAY_RELAY, in);
	} else if (enforces(out, PORT_ENFORCE_OUT, flow->pkey)) {
		end(way, IB_WAY_PKEY_OUT, out);
	} else if (ib_leads_out(out)) {
		end(way, IB_WAY_OUT, out);
		way->vl = vl;
	} else if (!to) {
		end(way, IB_WAY_DOWN, out);
	} else {
		end(way, IB_WAY_PORT, NULL);
		way->to = to;
	}
}

void ib_way_go_on(struct ib_way *way, struct ib_port *in, const struct ib_flow *flow)
{
	struct ib_port *out;

	if (!enter_switch(way, in, flow))
		return;
	out = ib_switch_lookup(in->node->sw, flow->dlid);
	if (!out || out == in)
		end(way, IB_WAY_RELAY, in);
	else if (!out->num)
		end(way, IB_WAY_SWITCH, NULL);
	else
		leave_switch(way, in, out, flow);
}

void ib_way_find(struct ib_way *way, struct port *src, const struct ib_flow *flow)
{
	if (src->active && ib_port_has_lid(src->ib, flow->dlid))
		*way = (struct ib_way){.end = IB_WAY_PORT, .to = src};
	else if (leave_hca(way, src, flow))
		ib_way_go_on(way, src->ib->peer, flow);
}

static __attribute__((noinline)) void find_route(struct ib_port_route *route, struct port *src,
						 const struct ib_flow *flow)
{
	struct ib_way way;

	ib_way_find(&way, src, flow);
	*route = (struct ib_port_route){
		.gen = src->hca->fabric->gen,
		.dlid = flow->dlid,
		.pkey = flow->pkey,
		.sl = flow->sl,
		.to = way.to,
	};
}

/* Datagrams of one flow follow each other: each of them would look up the same. */
struct port *ib_route(struct port *src, const struct ib_flow *flow)
{
	struct ib_port_route *route = &src->ib->routes[flow->dlid % IB_PORT_ROUTES];

	if (route->gen != src->hca->fabric->gen || route->dlid != flow->dlid ||
	    route->pkey != flow->pkey || route->sl != flow->sl)
		find_route(route, src, flow);
	return route->to;
}

unsigned int ib_way_mcast(struct ib_way way[IB_SWITCH_PORTS], struct ib_port *in,
			  const struct ib_flow *flow)
{
	const uint16_t *ports = ib_switch_mcast(in->node->sw, flow->dlid);
	unsigned int num = 0, i;

	if (!enter_switch(&way[0], in, flow))
		return 1;
	for (i = 1; ports && i <= in->node->num_ports; i++) {
		if (i == in->num || !(ports[i / SM_MCAST_PORTS] >> i % SM_MCAST_PORTS & 1))
			continue;
		way[num] = (struct ib_way){0};
		leave_switch(&way[num++], in, in->node->ports[i], flow);
	}
	if (ports)
		return num;
	end(&way[0], IB_WAY_RELAY, in);
	return 1;
}

unsigned int ib_ways_out(struct ib_way way[IB_SWITCH_PORTS], struct port *src,
			 const struct ib_flow *flow)
{
	unsigned int num = 1, out = 0, i;

	if (flow->dlid < LID_MCAST)
		ib_way_find(&way[0], src, flow);
	else if (leave_hca(&way[0], src, flow))
		num = ib_way_mcast(way, src->ib->peer, flow);
	for (i = 0; i < num; i++) {
		if (way[i].end == IB_WAY_OUT)
			way[out++] = way[i];
	}
	return out;
}

/* Count packets where they end.  Of those with a wrong P_Key, the subnet manager is told. */
void ib_way_count(const struct ib_way *way, const struct ib_packets *packets)
{
	struct ib_port_counters *c = way->at ? &way->at->counters : NULL;

	switch (way->end) {
	case IB_WAY_PORT:
	case IB_WAY_SWITCH:
	case IB_WAY_OUT:
		break;
	case IB_WAY_UNSENT:
	case IB_WAY_DOWN:
		c->xmit_discards += packets->num;
		break;
	case IB_WAY_RELAY:
		c->rcv_relay_errors += packets->num;
		break;
	case IB_WAY_PKEY_IN:
		c->rcv_constraint += packets->num;
		ib_switch_bad_pkey(way->at, &packets->head);
		break;
	case IB_WAY_PKEY_OUT:
		c->xmit_constraint += packets->num;
		ib_switch_bad_pkey(way->at, &packets->head);
		break;
	}
}

static struct ib_flow flow_of(const struct ib_packets *packets)
{
	return (struct ib_flow){
		.dlid = packets->head.dlid,
		.pkey = packets->head.key,
		.sl = packets->head.sl,
	};
}

/* QPs have counted packets that never were on the link. */
static void unsent(struct port *src, const struct ib_packets *packets)
{
	bool mcast = packets->head.dlid >= LID_MCAST;

	ib_traffic_add(&src->ib->counters.no_xmit, packets->num, packets->bytes,
		       mcast ? packets->num : 0);
}

unsigned int ib_mcast_ports(struct port *src, const struct ib_packets *packet,
			    struct port *to[FABRIC_MAX_PORTS])
{
	const struct ib_flow flow = flow_of(packet);
	struct ib_way way[IB_SWITCH_PORTS];
	unsigned int ways, num = 0, i;

	if (!leave_hca(&way[0], src, &flow)) {
		ib_way_count(&way[0], packet);
		unsent(src, packet);
		return 0;
	}
	ways = ib_way_mcast(way, src->ib->peer, &flow);
	for (i = 0; i < ways; i++) {
		if (way[i].to)
			to[num++] = way[i].to;
		else
			ib_way_count(&way[i], packet);
	}
	return num;
}

struct port *ib_way_lose(struct port *src, const struct ib_packets *packets)
{
	const struct ib_flow flow = flow_of(packets);
	struct ib_way way;

	ib_way_find(&way, src, &flow);
	ib_way_count(&way, packets);
	if (way.end == IB_WAY_UNSENT || way.to == src)
		unsent(src, packets);
	else if (way.to)
		ib_traffic_arrived(way.to->ib, packets->num, packets->bytes, 0);
	return way.to;
}
