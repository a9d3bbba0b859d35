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

/* Out of the HCA and into the switch: is its port in the way? */
static bool enter_switch(struct ib_way *way, struct port *src, const struct ib_flow *flow)
{
	struct ib_port *in = src->ib->peer;

	way->to = NULL;
	if (!src->active || !in || in->state != IB_PORT_ACTIVE ||
	    ib_vl(src->ib->sl2vl, flow->sl, src->ib) < 0)
		end(way, IB_WAY_UNSENT, src->ib);
	else if (enforces(in, PORT_ENFORCE_IN, flow->pkey))
		end(way, IB_WAY_PKEY_IN, in);
	else
		return true;
	return false;
}

/* From @in out of the port @out of the switch */
static void leave_switch(struct ib_way *way, struct ib_port *in, struct ib_port *out,
			 const struct ib_flow *flow)
{
	struct ib_switch *sw = in->node->sw;
	struct port *to = data_peer(out);

	if (ib_vl(sw->sl2vl[in->num][out->num], flow->sl, out) < 0) {
		end(way, IB_WAY_RELAY, in);
	} else if (enforces(out, PORT_ENFORCE_OUT, flow->pkey)) {
		end(way, IB_WAY_PKEY_OUT, out);
	} else if (!to) {
		end(way, IB_WAY_DOWN, out);
	} else {
		end(way, IB_WAY_PORT, NULL);
		way->to = to;
	}
}

void ib_way_find(struct ib_way *way, struct port *src, const struct ib_flow *flow)
{
	struct ib_port *in = src->ib->peer, *out;

	if (src->active && ib_port_has_lid(src->ib, flow->dlid)) {
		*way = (struct ib_way){.end = IB_WAY_PORT, .to = src};
		return;
	}
	if (!enter_switch(way, src, flow))
		return;
	out = ib_switch_lookup(in->node->sw, flow->dlid);
	if (!out || out == in)
		end(way, IB_WAY_RELAY, in);
	else if (!out->num)
		end(way, IB_WAY_SWITCH, NULL);
	else
		leave_switch(way, in, out, flow);
}

/* Count packets where they end.  Of those with a wrong P_Key, the subnet manager is told. */
static void count(const struct ib_way *way, const struct ib_packets *packets)
{
	struct ib_port_counters *c = way->at ? &way->at->counters : NULL;

	switch (way->end) {
	case IB_WAY_PORT:
	case IB_WAY_SWITCH:
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
	struct ib_port *in = src->ib->peer;
	unsigned int num = 0, i;
	const uint16_t *ports;
	struct ib_way way;

	if (!enter_switch(&way, src, &flow)) {
		count(&way, packet);
		if (way.end == IB_WAY_UNSENT)
			unsent(src, packet);
		return 0;
	}
	ports = ib_switch_mcast(in->node->sw, flow.dlid);
	if (!ports) {
		in->counters.rcv_relay_errors++;
		return 0;
	}
	for (i = 1; i <= in->node->num_ports; i++) {
		if (i == in->num || !(ports[i / SM_MCAST_PORTS] >> i % SM_MCAST_PORTS & 1))
			continue;
		way.to = NULL;
		leave_switch(&way, in, in->node->ports[i], &flow);
		if (way.to)
			to[num++] = way.to;
		else
			count(&way, packet);
	}
	return num;
}

struct port *ib_way_lose(struct port *src, const struct ib_packets *packets)
{
	const struct ib_flow flow = flow_of(packets);
	struct ib_way way;

	ib_way_find(&way, src, &flow);
	count(&way, packets);
	if (way.end == IB_WAY_UNSENT || way.to == src)
		unsent(src, packets);
	else if (way.to)
		ib_traffic_arrived(way.to->ib, packets->num, packets->bytes, 0);
	return way.to;
}
