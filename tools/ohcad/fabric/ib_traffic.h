/* SPDX-License-Identifier: GPL-2.0 */
/* What has passed a port, as performance management counts it (InfiniBand specification volume 1, 16.1.3.5). */

#ifndef OHCAD_IB_TRAFFIC_H
#define OHCAD_IB_TRAFFIC_H

#include "fabric/ib_port.h"
#include "packet/ib.h"

#define IB_HEADERS_LEN (LRH_LEN + BTH_LEN + ICRC_LEN) /* of each packet */

/* A packet of @len bytes with the variant CRC, to the LID @dlid, passes a port. */
void ib_count_packet(struct ib_traffic *traffic, uint32_t len, uint16_t dlid);

/*
 * A port of a switch at which an HCA is has counted management packets only: data goes from HCA to HCA, whose ports
 * count it.  What passes between switches is counted on the way: ib_hops.c.
 */
void ib_traffic_count(const struct ib_port *ib, struct ib_traffic *xmit, struct ib_traffic *rcv);

/* Add packets to those that were not on the link. */
static inline void ib_traffic_add(struct ib_qp_traffic *to, uint64_t pkts, uint64_t bytes,
				  uint64_t mcast)
{
	to->pkts += pkts;
	to->bytes += bytes;
	to->mcast += mcast;
}

/* Packets of QPs have come to an HCA's port by the link, and no QP counts them. */
void ib_traffic_arrived(struct ib_port *ib, uint64_t pkts, uint64_t bytes, uint64_t mcast);

/* The port has something to send, and waits for the reason IB_WAIT_* or does not any more. */
void ib_wait(struct ib_port *ib, uint8_t why, bool waits);
/* ns that it has waited for any reason by now: PortXmitWait */
uint64_t ib_waited(const struct ib_port *ib);

/* Packets of an agent, without a host, leave by the link. */
void ib_traffic_left(struct ib_port *ib, uint64_t pkts, uint64_t bytes);

/* The counters of the port begin anew: the port at the other end goes on with what it has. */
void ib_traffic_restart(struct ib_port *ib);

#endif
