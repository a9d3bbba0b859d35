// SPDX-License-Identifier: GPL-2.0
/* The way of data packets through switches. */

#include <endian.h>

#include "device/hca.h"
#include "fabric/fabric.h"
#include "fabric/ib_hops.h"
#include "fabric/ib_traffic.h"
#include "fabric/ib_way.h"
#include "fabric/owner.h"
#include "packet/ib.h"

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

static void end(struct ib_way *way, enum ib_way_end how, struct ib_port *at)
{
	way->end = how;
	way->at = at;
}

static void clear(struct ib_way *way)
{
	*way = (struct ib_way){0};
}

/* Into a switch: is its port in the way? */
static bool enter_switch(struct ib_way *way, struct ib_port *in, const struct ib_flow *flow)
{
	if (!enforces(in, PORT_ENFORCE_IN, flow->pkey))
		return true;
	end(way, IB_WAY_PKEY_IN, in);
	return false;
}

/* Over the cable of @out to what is no switch.  @peer: at its other end */
static void reach(struct ib_way *way, struct ib_port *out, struct ib_port *peer)
{
	struct port *to = peer->port;

	if (peer->node->ops->receive_data) {
		end(way, IB_WAY_OUT, out);
	} else if (!to && peer->state >= IB_PORT_ARMED) {
		end(way, IB_WAY_AGENT, peer);
	} else if (to && to->active) {
		end(way, IB_WAY_PORT, NULL);
		way->to = to;
	} else {
		end(way, IB_WAY_DOWN, out);
	}
}

/*
 * Over the cable of @out, on its virtual lane @vl.  Returns the port of the next switch, or NULL: there is none, and the way
 * ends.
 */
static struct ib_port *cross(struct ib_way *way, struct ib_port *out, int vl)
{
	struct ib_port *peer = out->state == IB_PORT_ACTIVE ? out->peer : NULL;

	way->vl = vl;
	if (!peer)
		end(way, IB_WAY_DOWN, out);
	else if (!peer->node->sw)
		reach(way, out, peer);
	else if (peer->state >= IB_PORT_ARMED)
		return peer;
	else
		end(way, IB_WAY_DOWN, out);
	return NULL;
}

/*
 * Does the switch know another port by a LID that the HCA's port says it has?  A host may set its own port's LID: then nobody
 * takes its packets for those of the other one, as they do not leave.
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

/* The same, counted */
static bool refuses_lid(struct ib_port *from)
{
	struct port *port = from->port;

	if (!has_others_lid(from))
		return false;
	owner_refuse(port, &port->refused.lids, "packets from the LID of another port",
		     port->perm_mac);
	return true;
}

/* Out of an HCA, with a host or without.  Returns as cross() does. */
static struct ib_port *leave_hca(struct ib_way *way, struct ib_port *from,
				 const struct ib_flow *flow)
{
	bool active = from->port ? from->port->active : from->state == IB_PORT_ACTIVE;
	int vl = ib_vl(from->sl2vl, flow->sl, from);

	if (active && from->peer && from->peer->state == IB_PORT_ACTIVE && vl >= 0 &&
	    !(from->port && refuses_lid(from)))
		return cross(way, from, vl);
	end(way, IB_WAY_UNSENT, from);
	return NULL;
}

/* From @in out of the port @out of the switch.  Returns as cross() does. */
static struct ib_port *leave_switch(struct ib_way *way, struct ib_port *in, struct ib_port *out,
				    const struct ib_flow *flow)
{
	int vl = ib_vl(ib_switch_sl2vl(in->node->sw, in->num, out->num), flow->sl, out);

	if (vl < 0)
		end(way, IB_WAY_RELAY, in);
	else if (enforces(out, PORT_ENFORCE_OUT, flow->pkey))
		end(way, IB_WAY_PKEY_OUT, out);
	else
		return cross(way, out, vl);
	return NULL;
}

/* Through one switch.  Returns as cross() does; @by: the port that leads to the next one */
static struct ib_port *pass_switch(struct ib_way *way, struct ib_port *in,
				   const struct ib_flow *flow, struct ib_port **by)
{
	struct ib_port *out;

	if (!enter_switch(way, in, flow))
		return NULL;
	out = ib_switch_lookup(in->node->sw, flow->dlid);
	*by = out;
	if (out && out != in && out->num)
		return leave_switch(way, in, out, flow);
	if (!out || out == in)
		end(way, IB_WAY_RELAY, in);
	else
		end(way, IB_WAY_AGENT, out);
	return NULL;
}

/* Switch by switch */
static void pass_switches(struct ib_way *way, struct ib_trace *trace, struct ib_port *in,
			  const struct ib_flow *flow)
{
	struct ib_port *next, *by;

	clear(way);
	while ((next = pass_switch(way, in, flow, &by))) {
		if (trace->num == IB_MAX_HOPS) {
			end(way, IB_WAY_LOOP, by);
			return;
		}
		trace->out[trace->num++] = by;
		in = next;
	}
}

static void leave(struct ib_way *way, struct ib_trace *trace, struct ib_port *from,
		  const struct ib_flow *flow)
{
	struct ib_port *in;

	clear(way);
	in = leave_hca(way, from, flow);
	if (in)
		pass_switches(way, trace, in, flow);
}

/* With one switch there are no hops, and the way is found as fast as one that is kept. */
static void find(struct ib_way *way, struct ib_port *from, const struct ib_flow *flow,
		 ib_find_fn *finder)
{
	struct ib_trace none;

	if (from->node->fabric->ib_subnet) {
		ib_ways_get(way, from, flow, finder);
		return;
	}
	none.num = 0;
	finder(way, &none, from, flow);
}

void ib_way_go_on(struct ib_way *way, struct ib_port *in, const struct ib_flow *flow)
{
	find(way, in, flow, pass_switches);
}

void ib_way_find(struct ib_way *way, struct port *src, const struct ib_flow *flow)
{
	if (src->active && ib_port_has_lid(src->ib, flow->dlid))
		*way = (struct ib_way){.end = IB_WAY_PORT, .to = src};
	else
		find(way, src->ib, flow, leave);
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

/* From the managed port of a switch or of an HCA */
static ib_find_fn *from_managed(const struct ib_port *from)
{
	return from->node->sw ? pass_switches : leave;
}

unsigned int ib_way_look(struct ib_way *way, struct ib_port *from, const struct ib_flow *flow)
{
	struct ib_trace trace;

	trace.num = 0;
	from_managed(from)(way, &trace, from, flow);
	return trace.num;
}

void ib_way_from_agent(struct ib_way *way, struct ib_port *from, const struct ib_flow *flow)
{
	find(way, from, flow, from_managed(from));
}

/**
 * struct mcast - a multicast packet
 * @depth: so many switches are on its way to where it is
 */
struct mcast {
	const struct ib_flow *flow;
	const struct ib_packets *packet;
	ib_way_fn *fn;
	void *arg;
	unsigned int depth;
};

static void mcast_enter(struct mcast *m, struct ib_port *in);

/* Tables may have loops: a packet that would come by the same cable once more is discarded. */
static void mcast_leave(struct mcast *m, struct ib_port *in, struct ib_port *out)
{
	struct ib_port *next;
	struct ib_way way;

	clear(&way);
	next = leave_switch(&way, in, out, m->flow);
	if (!next) {
		m->fn(m->arg, &way);
		return;
	}
	if (next->mcast_mark == in->node->fabric->ib_mcast_mark || m->depth == IB_MAX_HOPS) {
		end(&way, IB_WAY_LOOP, out);
		m->fn(m->arg, &way);
		return;
	}
	if (m->packet)
		ib_hop_pass(out, m->packet->num, m->packet->bytes, m->packet->num);
	m->depth++;
	mcast_enter(m, next);
	m->depth--;
}

static void mcast_enter(struct mcast *m, struct ib_port *in)
{
	const struct fabric *fabric = in->node->fabric;
	const uint16_t *ports = ib_switch_mcast(in->node->sw, m->flow->dlid);
	struct ib_way way;
	unsigned int i;

	clear(&way);
	if (!enter_switch(&way, in, m->flow)) {
		m->fn(m->arg, &way);
		return;
	}
	if (!ports) {
		end(&way, IB_WAY_RELAY, in);
		m->fn(m->arg, &way);
		return;
	}
	in->mcast_mark = fabric->ib_mcast_mark;
	for (i = 1; i <= in->node->num_ports; i++) {
		if (i != in->num && ports[i / SM_MCAST_PORTS] >> i % SM_MCAST_PORTS & 1)
			mcast_leave(m, in, in->node->ports[i]);
	}
}

void ib_way_mcast(struct ib_port *in, const struct ib_flow *flow, const struct ib_packets *packet,
		  ib_way_fn *fn, void *arg)
{
	struct mcast m = {.flow = flow, .packet = packet, .fn = fn, .arg = arg};

	in->node->fabric->ib_mcast_mark++;
	mcast_enter(&m, in);
}

/* The same from an HCA.  False: it was not sent, or came to an HCA without a switch; @way says where. */
static bool mcast_from(struct ib_way *way, struct port *src, const struct ib_flow *flow,
		       const struct ib_packets *packet, ib_way_fn *fn, void *arg)
{
	struct ib_port *in;

	clear(way);
	in = leave_hca(way, src->ib, flow);
	if (in)
		ib_way_mcast(in, flow, packet, fn, arg);
	return in;
}

/**
 * struct exits - ways that lead out of the process
 */
struct exits {
	struct ib_way *way;
	unsigned int num;
};

static void add_exit(void *arg, const struct ib_way *way)
{
	struct exits *exits = arg;

	if (way->end == IB_WAY_OUT && exits->num < IB_SWITCH_PORTS)
		exits->way[exits->num++] = *way;
}

unsigned int ib_ways_out(struct ib_way way[IB_SWITCH_PORTS], struct port *src,
			 const struct ib_flow *flow)
{
	struct exits exits = {.way = way};
	struct ib_way first;

	if (flow->dlid >= LID_MCAST) {
		mcast_from(&first, src, flow, NULL, add_exit, &exits);
	} else {
		ib_way_find(&first, src, flow);
		add_exit(&exits, &first);
	}
	return exits.num;
}

/**
 * struct vl_at - the virtual lane at a port
 */
struct vl_at {
	const struct port *to;
	int vl;
};

static void look_at(void *arg, const struct ib_way *way)
{
	struct vl_at *at = arg;

	if (way->to == at->to)
		at->vl = way->vl;
}

int ib_way_vl(struct port *src, const struct ib_flow *flow, const struct port *to)
{
	struct vl_at at = {.to = to, .vl = -1};
	struct ib_way way;

	if (flow->dlid >= LID_MCAST) {
		if (!mcast_from(&way, src, flow, NULL, look_at, &at))
			look_at(&at, &way);
	} else {
		ib_way_find(&way, src, flow);
		look_at(&at, &way);
	}
	return at.vl;
}

/* Of packets with a wrong P_Key, the subnet manager is told. */
void ib_way_count(const struct ib_way *way, const struct ib_packets *packets)
{
	struct ib_port_counters *c = way->at ? &way->at->counters : NULL;

	switch (way->end) {
	case IB_WAY_PORT:
	case IB_WAY_AGENT:
	case IB_WAY_OUT:
		break;
	case IB_WAY_UNSENT:
	case IB_WAY_DOWN:
	case IB_WAY_LOOP:
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

/**
 * struct copies - where copies of a multicast packet come to
 */
struct copies {
	const struct ib_packets *packet;
	struct port **to;
	unsigned int num;
};

static void add_copy(void *arg, const struct ib_way *way)
{
	struct copies *copies = arg;

	if (way->to && copies->num < FABRIC_MAX_PORTS)
		copies->to[copies->num++] = way->to;
	else if (way->end == IB_WAY_AGENT && way->at->num)
		ib_traffic_arrived(way->at, 1, copies->packet->bytes, 1);
	else
		ib_way_count(way, copies->packet);
}

unsigned int ib_mcast_ports(struct port *src, const struct ib_packets *packet,
			    struct port *to[FABRIC_MAX_PORTS])
{
	struct copies copies = {.packet = packet, .to = to};
	const struct ib_flow flow = flow_of(packet);
	struct ib_way way;

	if (mcast_from(&way, src, &flow, packet, add_copy, &copies))
		return copies.num;
	add_copy(&copies, &way);
	if (way.end == IB_WAY_UNSENT)
		unsent(src, packet);
	return copies.num;
}

struct port *ib_way_lose(struct port *src, const struct ib_packets *packets)
{
	const struct ib_flow flow = flow_of(packets);
	struct ib_way way;

	ib_way_find(&way, src, &flow);
	ib_way_count(&way, packets);
	if (way.hops)
		ib_hops_pass(way.hops, packets->num, packets->bytes);
	if (way.end == IB_WAY_UNSENT || way.to == src)
		unsent(src, packets);
	else if (way.to)
		ib_traffic_arrived(way.to->ib, packets->num, packets->bytes, 0);
	else if (way.end == IB_WAY_AGENT && way.at->num)
		ib_traffic_arrived(way.at, packets->num, packets->bytes, 0);
	return way.to;
}
