// SPDX-License-Identifier: GPL-2.0
/* Routes of data packets through switches. */

#include <endian.h>

#include "device/hca.h"
#include "fabric/fabric.h"
#include "fabric/ib_route_cache.h"
#include "fabric/ib_traffic.h"
#include "fabric/ib_route.h"
#include "fabric/owner.h"
#include "packet/ib.h"

bool ib_has_vl(const struct ib_port *ib, uint8_t vl)
{
	static const uint8_t num_vls[] = {0, 1, 2, 4, 8, 15};

	return vl < num_vls[ib->oper_vls];
}

int ib_vl(const uint8_t table[SM_SL2VL_LEN], uint8_t sl, const struct ib_port *out)
{
	uint8_t vl = table[sl / 2] >> (sl & 1 ? 0 : 4) & 15;

	return ib_has_vl(out, vl) ? vl : -1;
}

/*
 * Does the port of a switch enforce partitions on this side, and is the P_Key not in its table?  The membership bit is not
 * compared: a limited member at the other end of the link may send.
 */
static bool refuses_pkey(const struct ib_port *ib, uint8_t side, uint16_t pkey)
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

static void end(struct ib_route *route, enum ib_route_end how, struct ib_port *at)
{
	route->end = how;
	route->at = at;
}

static void clear(struct ib_route *route)
{
	*route = (struct ib_route){0};
}

/* Enter the switch by @in.  False: the route ends there. */
static bool enter_switch(struct ib_route *route, struct ib_port *in, const struct ib_flow *flow)
{
	if (!refuses_pkey(in, PORT_ENFORCE_IN, flow->pkey))
		return true;
	end(route, IB_ROUTE_PKEY_IN, in);
	return false;
}

/* Cross the cable of @out to @peer, which is not a port of a switch: the route ends. */
static void reach(struct ib_route *route, struct ib_port *out, struct ib_port *peer)
{
	struct port *to = peer->port;

	if (peer->node->ops->receive_data) {
		end(route, IB_ROUTE_OUT, out);
	} else if (!to && peer->state >= IB_PORT_ARMED) {
		end(route, IB_ROUTE_AGENT, peer);
	} else if (to && to->active) {
		end(route, IB_ROUTE_PORT, NULL);
		route->to = to;
	} else {
		end(route, IB_ROUTE_DOWN, out);
	}
}

/*
 * Cross the cable of @out on the virtual lane @vl.  Returns the port of the next switch, or NULL if the route ends: there is
 * no switch at the other end, or no link.
 */
static struct ib_port *cross(struct ib_route *route, struct ib_port *out, int vl)
{
	struct ib_port *peer = out->state == IB_PORT_ACTIVE ? out->peer : NULL;

	route->vl = vl;
	if (!peer)
		end(route, IB_ROUTE_DOWN, out);
	else if (!peer->node->sw)
		reach(route, out, peer);
	else if (peer->state >= IB_PORT_ARMED)
		return peer;
	else
		end(route, IB_ROUTE_DOWN, out);
	return NULL;
}

/*
 * Does the switch forward one of the port's LIDs to another port?  The host can set the LID of its own port.  Packets of such
 * a port are not sent, so that no receiver takes them for packets of the other port.
 */
static bool has_others_lid(struct ib_port *from)
{
	struct ib_port *at = from->peer, *out;
	unsigned int i;

	if (!from->lid || !at->node->sw)
		return false;
	for (i = 0; i < 1U << from->lmc; i++) {
		out = ib_switch_lookup(at->node->sw, from->lid | i);
		if (out && out != at)
			return true;
	}
	return false;
}

/* As has_others_lid(); each packet is counted. */
static bool refuses_lid(struct ib_port *from)
{
	struct port *port = from->port;

	if (!has_others_lid(from))
		return false;
	owner_refuse(port, &port->refused.lids, "packets from the LID of another port",
		     port->perm_mac);
	return true;
}

/* Leave an HCA by its port @from.  Returns the same as cross(). */
static struct ib_port *leave_hca(struct ib_route *route, struct ib_port *from,
				 const struct ib_flow *flow)
{
	bool active = from->port ? from->port->active : from->state == IB_PORT_ACTIVE;
	int vl = ib_vl(from->sl2vl, flow->sl, from);

	if (active && from->peer && from->peer->state == IB_PORT_ACTIVE && vl >= 0 &&
	    !(from->port && refuses_lid(from)))
		return cross(route, from, vl);
	end(route, IB_ROUTE_UNSENT, from);
	return NULL;
}

/* Leave a switch, which was entered by @in, by @out.  Returns the same as cross(). */
static struct ib_port *leave_switch(struct ib_route *route, struct ib_port *in, struct ib_port *out,
				    const struct ib_flow *flow)
{
	int vl = ib_vl(ib_switch_sl2vl(in->node->sw, in->num, out->num), flow->sl, out);

	if (vl < 0)
		end(route, IB_ROUTE_RELAY, in);
	else if (refuses_pkey(out, PORT_ENFORCE_OUT, flow->pkey))
		end(route, IB_ROUTE_PKEY_OUT, out);
	else
		return cross(route, out, vl);
	return NULL;
}

/* Pass one switch.  Returns the same as cross().  @by: the port by which packets leave it */
static struct ib_port *pass_switch(struct ib_route *route, struct ib_port *in,
				   const struct ib_flow *flow, struct ib_port **by)
{
	struct ib_port *out;

	if (!enter_switch(route, in, flow))
		return NULL;
	out = ib_switch_lookup(in->node->sw, flow->dlid);
	*by = out;
	if (out && out != in && out->num)
		return leave_switch(route, in, out, flow);
	if (!out || out == in)
		end(route, IB_ROUTE_RELAY, in);
	else
		end(route, IB_ROUTE_AGENT, out);
	return NULL;
}

/* Pass all switches from @in on. */
static void pass_switches(struct ib_route *route, struct ib_trace *trace, struct ib_port *in,
			  const struct ib_flow *flow)
{
	struct ib_port *next, *by;

	clear(route);
	while ((next = pass_switch(route, in, flow, &by))) {
		if (trace->num == IB_MAX_HOPS) {
			end(route, IB_ROUTE_LOOP, by);
			return;
		}
		trace->out[trace->num++] = by;
		in = next;
	}
}

static void leave(struct ib_route *route, struct ib_trace *trace, struct ib_port *from,
		  const struct ib_flow *flow)
{
	struct ib_port *in;

	clear(route);
	in = leave_hca(route, from, flow);
	if (in)
		pass_switches(route, trace, in, flow);
}

/* With one switch there are no hops.  Finding the route is as fast as a lookup in the cache then. */
static void find(struct ib_route *route, struct ib_port *from, const struct ib_flow *flow,
		 ib_find_fn *finder)
{
	struct ib_trace none;

	if (from->node->fabric->ib_subnet) {
		ib_route_cache_get(route, from, flow, finder);
		return;
	}
	none.num = 0;
	finder(route, &none, from, flow);
}

void ib_route_from_switch(struct ib_route *route, struct ib_port *in, const struct ib_flow *flow)
{
	find(route, in, flow, pass_switches);
}

void ib_route_find(struct ib_route *route, struct port *src, const struct ib_flow *flow)
{
	if (src->active && ib_port_has_lid(src->ib, flow->dlid))
		*route = (struct ib_route){.end = IB_ROUTE_PORT, .to = src};
	else
		find(route, src->ib, flow, leave);
}

static __attribute__((noinline)) void update_port_route(struct ib_port_route *to, struct port *src,
							const struct ib_flow *flow)
{
	struct ib_route route;

	ib_route_find(&route, src, flow);
	*to = (struct ib_port_route){
		.gen = src->hca->fabric->gen,
		.dlid = flow->dlid,
		.pkey = flow->pkey,
		.sl = flow->sl,
		.to = route.to,
	};
}

/* Consecutive datagrams mostly belong to one flow, and need only one lookup. */
struct port *ib_route_port(struct port *src, const struct ib_flow *flow)
{
	struct ib_port_route *route = &src->ib->routes[flow->dlid % IB_PORT_ROUTES];

	if (route->gen != src->hca->fabric->gen || route->dlid != flow->dlid ||
	    route->pkey != flow->pkey || route->sl != flow->sl)
		update_port_route(route, src, flow);
	return route->to;
}

/* The function that finds routes from a managed port, of a switch or of an HCA */
static ib_find_fn *from_managed(const struct ib_port *from)
{
	return from->node->sw ? pass_switches : leave;
}

unsigned int ib_route_trace(struct ib_route *route, struct ib_port *from,
			    const struct ib_flow *flow)
{
	struct ib_trace trace;

	trace.num = 0;
	from_managed(from)(route, &trace, from, flow);
	return trace.num;
}

void ib_route_from_agent(struct ib_route *route, struct ib_port *from, const struct ib_flow *flow)
{
	find(route, from, flow, from_managed(from));
}

/**
 * struct mcast - a multicast packet on its route
 * @depth: number of switches that the current copy has passed
 */
struct mcast {
	const struct ib_flow *flow;
	const struct ib_packets *packet;
	ib_route_fn *fn;
	void *arg;
	unsigned int depth;
};

static void mcast_enter(struct mcast *m, struct ib_port *in);

/* Forwarding tables may have loops: a copy that would enter a switch by the same port again is discarded. */
static void mcast_leave(struct mcast *m, struct ib_port *in, struct ib_port *out)
{
	struct ib_port *next;
	struct ib_route route;

	clear(&route);
	next = leave_switch(&route, in, out, m->flow);
	if (!next) {
		m->fn(m->arg, &route);
		return;
	}
	if (next->mcast_mark == in->node->fabric->ib_mcast_mark || m->depth == IB_MAX_HOPS) {
		end(&route, IB_ROUTE_LOOP, out);
		m->fn(m->arg, &route);
		return;
	}
	if (m->packet)
		ib_hop_count(out, m->packet->num, m->packet->bytes, m->packet->num);
	m->depth++;
	mcast_enter(m, next);
	m->depth--;
}

static void mcast_enter(struct mcast *m, struct ib_port *in)
{
	const struct fabric *fabric = in->node->fabric;
	const uint16_t *ports = ib_switch_mcast(in->node->sw, m->flow->dlid);
	struct ib_route route;
	unsigned int i;

	clear(&route);
	if (!enter_switch(&route, in, m->flow)) {
		m->fn(m->arg, &route);
		return;
	}
	if (!ports) {
		end(&route, IB_ROUTE_RELAY, in);
		m->fn(m->arg, &route);
		return;
	}
	in->mcast_mark = fabric->ib_mcast_mark;
	for (i = 1; i <= in->node->num_ports; i++) {
		if (i != in->num && ports[i / SM_MCAST_PORTS] >> i % SM_MCAST_PORTS & 1)
			mcast_leave(m, in, in->node->ports[i]);
	}
}

void ib_route_mcast(struct ib_port *in, const struct ib_flow *flow, const struct ib_packets *packet,
		    ib_route_fn *fn, void *arg)
{
	struct mcast m = {.flow = flow, .packet = packet, .fn = fn, .arg = arg};

	in->node->fabric->ib_mcast_mark++;
	mcast_enter(&m, in);
}

/* As ib_route_mcast(), from an HCA.  False: @fn was not called, and @route is the only route. */
static bool mcast_from(struct ib_route *route, struct port *src, const struct ib_flow *flow,
		       const struct ib_packets *packet, ib_route_fn *fn, void *arg)
{
	struct ib_port *in;

	clear(route);
	in = leave_hca(route, src->ib, flow);
	if (in)
		ib_route_mcast(in, flow, packet, fn, arg);
	return in;
}

/**
 * struct exits - routes that lead to uplinks
 */
struct exits {
	struct ib_route *route;
	unsigned int num;
};

static void add_exit(void *arg, const struct ib_route *route)
{
	struct exits *exits = arg;

	if (route->end == IB_ROUTE_OUT && exits->num < IB_SWITCH_PORTS)
		exits->route[exits->num++] = *route;
}

unsigned int ib_routes_out(struct ib_route route[IB_SWITCH_PORTS], struct port *src,
			   const struct ib_flow *flow)
{
	struct exits exits = {.route = route};
	struct ib_route first;

	if (flow->dlid >= LID_MCAST) {
		mcast_from(&first, src, flow, NULL, add_exit, &exits);
	} else {
		ib_route_find(&first, src, flow);
		add_exit(&exits, &first);
	}
	return exits.num;
}

/**
 * struct vl_at - the virtual lane on the cable of the port @to
 */
struct vl_at {
	const struct port *to;
	int vl;
};

static void look_at(void *arg, const struct ib_route *route)
{
	struct vl_at *at = arg;

	if (route->to == at->to)
		at->vl = route->vl;
}

int ib_route_vl(struct port *src, const struct ib_flow *flow, const struct port *to)
{
	struct vl_at at = {.to = to, .vl = -1};
	struct ib_route route;

	if (flow->dlid >= LID_MCAST) {
		if (!mcast_from(&route, src, flow, NULL, look_at, &at))
			look_at(&at, &route);
	} else {
		ib_route_find(&route, src, flow);
		look_at(&at, &route);
	}
	return at.vl;
}

/* A wrong P_Key also sends trap 259 to the subnet manager. */
void ib_route_count_discards(const struct ib_route *route, const struct ib_packets *packets)
{
	struct ib_port_counters *c = route->at ? &route->at->counters : NULL;

	switch (route->end) {
	case IB_ROUTE_PORT:
	case IB_ROUTE_AGENT:
	case IB_ROUTE_OUT:
		break;
	case IB_ROUTE_UNSENT:
	case IB_ROUTE_DOWN:
	case IB_ROUTE_LOOP:
		c->xmit_discards += packets->num;
		break;
	case IB_ROUTE_RELAY:
		c->rcv_relay_errors += packets->num;
		break;
	case IB_ROUTE_PKEY_IN:
		c->rcv_constraint += packets->num;
		ib_switch_bad_pkey(route->at, &packets->head);
		break;
	case IB_ROUTE_PKEY_OUT:
		c->xmit_constraint += packets->num;
		ib_switch_bad_pkey(route->at, &packets->head);
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

/* The QPs have counted these packets as sent, but they never were on the link. */
static void count_not_on_link(struct port *src, const struct ib_packets *packets)
{
	bool mcast = packets->head.dlid >= LID_MCAST;

	ib_traffic_add(&src->ib->counters.no_xmit, packets->num, packets->bytes,
		       mcast ? packets->num : 0);
}

/**
 * struct copies - the ports that copies of a multicast packet arrive at
 */
struct copies {
	const struct ib_packets *packet;
	struct port **to;
	unsigned int num;
};

static void add_copy(void *arg, const struct ib_route *route)
{
	struct copies *copies = arg;

	if (route->to && copies->num < FABRIC_MAX_PORTS)
		copies->to[copies->num++] = route->to;
	else if (route->end == IB_ROUTE_AGENT && route->at->num)
		ib_traffic_arrived(route->at, 1, copies->packet->bytes, 1);
	else
		ib_route_count_discards(route, copies->packet);
}

unsigned int ib_mcast_ports(struct port *src, const struct ib_packets *packet,
			    struct port *to[FABRIC_MAX_PORTS])
{
	struct copies copies = {.packet = packet, .to = to};
	const struct ib_flow flow = flow_of(packet);
	struct ib_route route;

	if (mcast_from(&route, src, &flow, packet, add_copy, &copies))
		return copies.num;
	add_copy(&copies, &route);
	if (route.end == IB_ROUTE_UNSENT)
		count_not_on_link(src, packet);
	return copies.num;
}

struct port *ib_route_discard(struct port *src, const struct ib_packets *packets)
{
	const struct ib_flow flow = flow_of(packets);
	struct ib_route route;

	ib_route_find(&route, src, &flow);
	ib_route_count_discards(&route, packets);
	if (route.hops)
		ib_hops_count(route.hops, packets->num, packets->bytes);
	if (route.end == IB_ROUTE_UNSENT || route.to == src)
		count_not_on_link(src, packets);
	else if (route.to)
		ib_traffic_arrived(route.to->ib, packets->num, packets->bytes, 0);
	else if (route.end == IB_ROUTE_AGENT && route.at->num)
		ib_traffic_arrived(route.at, packets->num, packets->bytes, 0);
	return route.to;
}
