/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fabric: a switch between the ports of this process.  It carries Ethernet frames by copy,
 * and RDMA packets as headers with references to the sender's memory, which the receiver copies
 * once.
 */

#ifndef OHCAD_FABRIC_H
#define OHCAD_FABRIC_H

#include <stdint.h>
#include <sys/uio.h>

#include "list.h"
#include "port.h"

struct pkt;

/**
 * struct fabric - a switch
 * @ports: struct port.link
 * @gen: changes whenever a port, its state, a MAC address or a GID changes: a route found is good
 *	as long as it stays the same
 */
struct fabric {
	struct list ports;
	uint64_t gen;
};

void fabric_init(struct fabric *fabric);
void fabric_attach(struct fabric *fabric, struct port *port);
void fabric_detach(struct fabric *fabric, struct port *port);
void fabric_changed(struct fabric *fabric);

/*
 * Send a frame from @src to the port(s) it is addressed to (all others for a multicast, broadcast
 * or unknown address, those in promiscuous mode too).  Frames to a port that is not active, or
 * has no receive buffer, are dropped as a switch does.
 */
void fabric_frame(struct fabric *fabric, struct port *src, const struct iovec *iov,
		  unsigned int num, uint32_t len);

/*
 * The port that owns the destination of @av at its MAC address in the VLAN of @from, one of @src's
 * GIDs; both ports are active.  NULL if nobody does.  @src itself is found too (loopback).
 */
struct port *fabric_route(struct fabric *fabric, struct port *src, const struct gid_entry *from,
			  const struct ohca_av *av);

#endif
