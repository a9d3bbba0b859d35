/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way of data packets from a port through switches, as ports and tables are now: where it ends, what counts the packets
 * that are discarded on it, and the cables between switches that they pass.
 */

#ifndef OHCAD_IB_WAY_H
#define OHCAD_IB_WAY_H

#include "fabric/ib_port.h"
#include "fabric/ib_switch.h"

struct ib_hops;

/* Where packets end, and which counter of which port has them then */
enum ib_way_end {
	IB_WAY_PORT, /* at a port of an HCA */
	IB_WAY_AGENT, /* at a node without a host: a switch itself, or such an HCA */
	IB_WAY_OUT, /* outside of the process */
	IB_WAY_UNSENT, /* in the node that they are from: it may not send, or there is no virtual lane.  PortXmitDiscards */
	IB_WAY_RELAY, /* in a switch: no port has the LID, or the one they came from; or there is no virtual lane.
		       * PortRcvSwitchRelayErrors */
	IB_WAY_DOWN, /* at a port of a switch that leads to nobody.  PortXmitDiscards */
	IB_WAY_LOOP, /* at a port of a switch that leads to one more, after too many: it takes the place of the lifetime
		      * that switches limit.  PortXmitDiscards */
	IB_WAY_PKEY_IN, /* at a port of a switch that refuses their P_Key.  PortRcvConstraintErrors */
	IB_WAY_PKEY_OUT, /* the same.  PortXmitConstraintErrors */
};

/**
 * struct ib_flow - packets that take the same way
 */
struct ib_flow {
	uint16_t dlid;
	uint16_t pkey;
	uint8_t sl;
};

/**
 * struct ib_way - their way; good until fabric->gen changes
 * @to: IB_WAY_PORT: the port, which may be the one that they come from; else NULL
 * @at: IB_WAY_AGENT: the port of the node, 0 of a switch; IB_WAY_OUT: the port of the switch by which they leave;
 *	IB_WAY_UNSENT and the following: the port that discards and counts them
 * @vl: IB_WAY_PORT, IB_WAY_OUT: their virtual lane on the last cable
 * @hops: the cables between switches, for ib_hops_pass(); NULL: there are none
 */
struct ib_way {
	enum ib_way_end end;
	struct port *to;
	struct ib_port *at;
	uint8_t vl;
	struct ib_hops *hops;
};

/**
 * struct ib_packets - packets of a QP, which it has counted
 * @head: what is alike in all of them
 * @bytes: sum of their payloads
 */
struct ib_packets {
	struct ib_violation head;
	uint64_t num, bytes;
};

/* Takes one of the ways of a multicast packet. */
typedef void ib_way_fn(void *arg, const struct ib_way *way);

void ib_way_find(struct ib_way *way, struct port *src, const struct ib_flow *flow);
/* The same of packets that have come to the port @in of a switch */
void ib_way_go_on(struct ib_way *way, struct ib_port *in, const struct ib_flow *flow);
/* The same of packets of an agent of a node without a host, with the managed port @from */
void ib_way_from_agent(struct ib_way *way, struct ib_port *from, const struct ib_flow *flow);
/*
 * The same from a managed port, with a host or without, of which nothing is kept and nothing counted.  Returns the number of
 * cables between switches that it has.
 */
unsigned int ib_way_look(struct ib_way *way, struct ib_port *from, const struct ib_flow *flow);
/*
 * The ways of a packet to a multicast LID from there, not back to @in: @fn is called for each, at least once.  @packet, if it
 * is not NULL, is counted at each cable between switches.
 */
void ib_way_mcast(struct ib_port *in, const struct ib_flow *flow, const struct ib_packets *packet,
		  ib_way_fn *fn, void *arg);
/*
 * Those ways of packets from @src that lead out of the process; for a unicast LID there is one at most.  Returns their
 * number.
 */
unsigned int ib_ways_out(struct ib_way way[IB_SWITCH_PORTS], struct port *src,
			 const struct ib_flow *flow);
/* The virtual lane of packets from @src on the cable of @to; -1: they do not come there. */
int ib_way_vl(struct port *src, const struct ib_flow *flow, const struct port *to);

/* Packets with this sum of payloads pass the cables. */
void ib_hops_pass(struct ib_hops *hops, uint64_t num, uint64_t bytes);
/* What has passed is in the counters of all ports then: before these are read. */
void ib_ways_settle(struct fabric *fabric);
/* @from, a port from which ways are kept, goes. */
void ib_ways_forget(struct ib_port *from);

/* The port that packets from @src come to, which may be @src itself; NULL: none. */
struct port *ib_route(struct port *src, const struct ib_flow *flow);

/*
 * The active ports, @src not among them, to which switches carry a multicast packet from @src.  Returns their
 * number.  Copies that are discarded are counted.
 */
unsigned int ib_mcast_ports(struct port *src, const struct ib_packets *packet,
			    struct port *to[FABRIC_MAX_PORTS]);

/* Count packets at the end of a way that is one of the discarding ones.  Others: nothing */
void ib_way_count(const struct ib_way *way, const struct ib_packets *packets);

/*
 * Packets from @src that no QP takes are counted at each port that they pass, and where they end.  Returns the port
 * that they came to, or NULL.
 */
struct port *ib_way_lose(struct port *src, const struct ib_packets *packets);

/* The virtual lane of @sl by a table of SLtoVLMappingTable; -1: packets to @out are discarded. */
int ib_vl(const uint8_t table[SM_SL2VL_LEN], uint8_t sl, const struct ib_port *out);

#endif
