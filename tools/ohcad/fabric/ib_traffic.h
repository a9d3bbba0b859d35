/* SPDX-License-Identifier: GPL-2.0 */
/* Traffic of a port, as performance management counts it (InfiniBand specification volume 1, 16.1.3.5) */

#ifndef OHCAD_IB_TRAFFIC_H
#define OHCAD_IB_TRAFFIC_H

#include "fabric/ib_port.h"
#include "packet/ib.h"

#define IB_HEADERS_LEN (LRH_LEN + BTH_LEN + ICRC_LEN) /* of each packet */

/* Count a packet of @len bytes, with the variant CRC, to the LID @dlid. */
void ib_count_packet(struct ib_traffic *traffic, uint32_t len, uint16_t dlid);

/*
 * A port of a switch at which an HCA is has counted management packets only: data goes from HCA to HCA, whose ports
 * count it.  What passes between switches is counted on the way: ib_route_cache.c.
 */
void ib_traffic_count(const struct ib_port *ib, struct ib_traffic *xmit, struct ib_traffic *rcv);

/* Add packets of QPs. */
static inline void ib_traffic_add(struct ib_qp_traffic *to, uint64_t pkts, uint64_t bytes,
				  uint64_t mcast)
{
	to->pkts += pkts;
	to->bytes += bytes;
	to->mcast += mcast;
}

/* Count packets of QPs that arrive at an HCA's port by the link, and that no QP receives. */
void ib_traffic_arrived(struct ib_port *ib, uint64_t pkts, uint64_t bytes, uint64_t mcast);

/* A port with packets to send starts or ends waiting for the reason IB_WAIT_*. */
void ib_wait(struct ib_port *ib, uint8_t why, bool waits);
/* Time that the port has waited for any reason, in ns: PortXmitWait */
uint64_t ib_waited(const struct ib_port *ib);

/* Count packets that the agent of a node without a host sends by the link. */
void ib_traffic_left(struct ib_port *ib, uint64_t pkts, uint64_t bytes);

/* The counters of the adapter start again at 0.  Keep the sums for the port at the other end. */
void ib_traffic_restart(struct ib_port *ib);

#endif
