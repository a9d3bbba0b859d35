/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Routes of data packets from a port through switches, as given by the current port states and forwarding tables: where
 * packets end, which counter of which port counts those that are discarded, and the cables between switches that they pass.
 */

#ifndef OHCAD_IB_ROUTE_H
#define OHCAD_IB_ROUTE_H

#include "fabric/ib_port.h"
#include "fabric/ib_switch.h"

struct ib_hops;

/* Where a route ends.  For those that discard packets, the counter of the port is named. */
enum ib_route_end {
	IB_ROUTE_PORT, /* at a port of an HCA with a host */
	IB_ROUTE_AGENT, /* at a node without a host: a switch, or an HCA of a topology that no adapter is bound to */
	IB_ROUTE_OUT, /* at an uplink */
	IB_ROUTE_UNSENT, /* in the source node: its port is not active, or there is no virtual lane.  PortXmitDiscards */
	IB_ROUTE_RELAY, /* in a switch: the LID has no port, or the input port, or there is no virtual lane.
			 * PortRcvSwitchRelayErrors */
	IB_ROUTE_DOWN, /* at a port of a switch without an active link.  PortXmitDiscards */
	IB_ROUTE_LOOP, /* at a port of a switch after IB_MAX_HOPS hops.  This limit stands for the packet lifetime of
			* switches.  PortXmitDiscards */
	IB_ROUTE_PKEY_IN, /* at the input port of a switch that enforces partitions.  PortRcvConstraintErrors */
	IB_ROUTE_PKEY_OUT, /* at the output port of such a switch.  PortXmitConstraintErrors */
};

/**
 * struct ib_flow - packets from one port that take the same route
 */
struct ib_flow {
	uint16_t dlid;
	uint16_t pkey;
	uint8_t sl;
};

/**
 * struct ib_route - the route of a flow; valid until fabric->gen changes
 * @to: IB_ROUTE_PORT: the port, which is the source port for loopback; else NULL
 * @at: IB_ROUTE_AGENT: the port of the node, port 0 of a switch; IB_ROUTE_OUT: the port of the switch with the uplink;
 *	IB_ROUTE_UNSENT and those after it: the port that counts the discarded packets
 * @vl: IB_ROUTE_PORT, IB_ROUTE_OUT: the virtual lane on the last cable
 * @hops: the cables between switches, for ib_hops_count(); NULL: there are none
 */
struct ib_route {
	enum ib_route_end end;
	struct port *to;
	struct ib_port *at;
	uint8_t vl;
	struct ib_hops *hops;
};

/**
 * struct ib_packets - packets of a QP, which it has counted
 * @head: header fields, the same in all packets
 * @num: number of packets
 * @bytes: sum of their payloads
 */
struct ib_packets {
	struct ib_violation head;
	uint64_t num, bytes;
};

/* Called with each route of a multicast packet */
typedef void ib_route_fn(void *arg, const struct ib_route *route);

/* Find the route of @flow from the HCA's port @src. */
void ib_route_find(struct ib_route *route, struct port *src, const struct ib_flow *flow);
/* Find the route of packets that have arrived at the port @in of a switch. */
void ib_route_from_switch(struct ib_route *route, struct ib_port *in, const struct ib_flow *flow);
/* Find the route of packets that the agent of a node without a host sends.  @from: the managed port */
void ib_route_from_agent(struct ib_route *route, struct ib_port *from, const struct ib_flow *flow);
/*
 * Find the route from a managed port, of any node, without use of the cache and without counting anything.  Returns the
 * number of cables between switches.
 */
unsigned int ib_route_trace(struct ib_route *route, struct ib_port *from,
			    const struct ib_flow *flow);
/*
 * Call @fn for each route, at least one, of a packet with a multicast LID that has arrived at the port @in of a switch.
 * @packet, unless NULL, is counted at each cable between switches.
 */
void ib_route_mcast(struct ib_port *in, const struct ib_flow *flow, const struct ib_packets *packet,
		    ib_route_fn *fn, void *arg);
/* Find the routes from @src that end at uplinks: for a unicast LID at most one.  Returns their number. */
unsigned int ib_routes_out(struct ib_route route[IB_SWITCH_PORTS], struct port *src,
			   const struct ib_flow *flow);
/* The virtual lane of packets from @src on the cable of @to; -1: they do not arrive there */
int ib_route_vl(struct port *src, const struct ib_flow *flow, const struct port *to);

/* Count packets, with the sum of their payloads, that pass the cables between switches. */
void ib_hops_count(struct ib_hops *hops, uint64_t num, uint64_t bytes);
/* Add what ib_hops_count() has counted to the counters of the ports.  To be called before these are read. */
void ib_routes_flush_counters(struct fabric *fabric);
/* Free the cached routes from @from. */
void ib_route_cache_free(struct ib_port *from);

/* The active port at which packets from @src arrive, @src itself for loopback; NULL: none */
struct port *ib_route_port(struct port *src, const struct ib_flow *flow);

/*
 * The active ports, without @src, to which switches forward a multicast packet from @src.  Returns their number.
 * Discarded copies are counted.
 */
unsigned int ib_mcast_ports(struct port *src, const struct ib_packets *packet,
			    struct port *to[FABRIC_MAX_PORTS]);

/* Count packets where they are discarded.  Does nothing for a route that discards none. */
void ib_route_count_discards(const struct ib_route *route, const struct ib_packets *packets);

/*
 * Count packets from @src that no QP receives, at each port on their route and where they end.  Returns the port at which
 * they arrive, or NULL.
 */
struct port *ib_route_discard(struct port *src, const struct ib_packets *packets);

/* Is the virtual lane of data one of the port's OperationalVLs? */
bool ib_has_vl(const struct ib_port *ib, uint8_t vl);
/* The virtual lane of @sl by an entry of SLtoVLMappingTable; -1: @out has no such lane, and packets are discarded */
int ib_vl(const uint8_t table[SM_SL2VL_LEN], uint8_t sl, const struct ib_port *out);

#endif
