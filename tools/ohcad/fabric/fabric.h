/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fabric: a switch between the ports of this process.  It carries Ethernet frames by copy, and
 * RDMA packets as headers with references to the sender's memory, which the receiver copies once.
 * Uplinks (uplink.h), if there are any, lead out of the process.
 */

#ifndef OHCAD_FABRIC_H
#define OHCAD_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/list.h"
#include "fabric/owner.h"
#include "fabric/port.h"

struct fabric;
struct ib_agent_ops;
struct ib_port;
struct ib_subnet;
struct ib_packet;
struct ib_switch;
struct link_hooks;
struct loop;
struct mad_packet;
struct pkt_faults;
struct uplinks;
struct wire;

#define FABRIC_MIN_FRAME 14 /* an Ethernet header */

/**
 * struct fabric - a switch for Ethernet, and one for InfiniBand, or a subnet of many
 * @ports: struct port.link
 * @gen: changes whenever a port, its state, a MAC address or a GID changes: a route is valid as
 *	long as it stays the same
 * @owners: owners of MAC addresses and GIDs
 * @ib_nodes: struct ib_node.link: HCAs with InfiniBand ports, switches, and all other nodes of a topology
 * @ib_subnet: the subnet of a topology; NULL: there is one switch at most
 * @ib_switch: that switch, NULL: there are no InfiniBand ports; of a topology, the switch for uplinks, or NULL
 * @ib_routes: struct ib_hops.link, all cached routes; owned by ib_route_cache.c
 * @ib_mcast_mark: number of the last multicast packet; owned by ib_route.c
 * @ib_agent: management agents of these and of the switch; set by mgmt/
 * @uplinks: NULL: none
 * @receive: while there are uplinks: a frame of at least FABRIC_MIN_FRAME bytes has come from one.  False: it is
 *	no packet but a frame like others.  net/'s, as is @wire
 * @smp_hook: called for each SMP that leaves @from by its link; calls ib_link_arrive() unless it drops it; NULL: none.
 *	inject/'s
 * @receive_ib: while there are uplinks: a packet that has come from one of InfiniBand has reached @port; net/'s
 * @link_hooks: hooks for packets between QPs; NULL: none.  Owned by net/
 * @faults: rules for packets; inject/'s
 * @captures: of its ports and uplinks
 */
struct fabric {
	struct list ports;
	uint64_t gen;
	struct owners owners;
	struct list ib_nodes;
	struct ib_subnet *ib_subnet;
	struct ib_switch *ib_switch;
	struct list ib_routes;
	uint64_t ib_mcast_mark;
	const struct ib_agent_ops *ib_agent;
	struct uplinks *uplinks;
	bool (*receive)(struct fabric *fabric, const uint8_t *frame, size_t len);
	void (*receive_ib)(struct port *port, const struct ib_packet *p);
	struct wire *wire;
	void (*smp_hook)(struct ib_port *from, const struct mad_packet *p);
	const struct link_hooks *link_hooks;
	struct pkt_faults *faults;
	struct captures captures;
};

void fabric_init(struct fabric *fabric);
/* @cable: it is plugged in */
void fabric_attach(struct fabric *fabric, struct port *port, bool cable);
void fabric_detach(struct fabric *fabric, struct port *port);

/* Routes have to be looked up again. */
static inline void fabric_changed(struct fabric *fabric)
{
	fabric->gen++;
}

/* Let the fabric have uplinks; there are none yet.  Returns 0 or -ENOMEM. */
int fabric_open_uplinks(struct fabric *fabric, struct loop *loop);
void fabric_close_uplinks(struct fabric *fabric);

/*
 * Send a frame from @src to the port(s) it is addressed to (all others for a multicast or broadcast
 * address; for an unknown one those in promiscuous mode and with flows), and to the uplinks if its
 * destination may be there.  The caller has asked owner_admits() for its source address.  Frames to a
 * port that is not active, or has no receive buffer, are dropped, as a switch does.
 */
void fabric_frame(struct fabric *fabric, struct port *src, const struct iovec *iov,
		  unsigned int num, uint32_t len);

/*
 * The one port that a frame from @src to @dmac arrives at, if nothing else receives it: no uplink,
 * flow, capture, or port in promiscuous mode.  Else NULL.
 */
struct port *fabric_only(struct fabric *fabric, const struct port *src, const uint8_t dmac[6]);

/* The active port with this MAC address, other than @src, or NULL */
struct port *fabric_owner(const struct fabric *fabric, const struct port *src,
			  const uint8_t mac[6]);

/* The active port that has @gid with @mac in @vlan, or NULL; @routes remembers some. */
struct port *fabric_find(struct fabric *fabric, struct route routes[1 << PORT_LOG_ROUTES],
			 const uint8_t gid[16], const uint8_t mac[6], uint16_t vlan);

/*
 * The port that owns the destination of @av at its MAC address in the VLAN of @from, one of @src's
 * GIDs; both ports are active.  Returns NULL if there is none.  It may be @src itself (loopback).
 */
struct port *fabric_route(struct fabric *fabric, struct port *src, const struct gid_entry *from,
			  const struct ohca_av *av);

#endif
