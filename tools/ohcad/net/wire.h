/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wire: RoCEv2 packets between the QPs of this process and those that are reached through
 * uplinks.  Bursts leave as packets, and packets arrive as bursts of one.  InfiniBand packets are in ib_wire.h; they are
 * counted together.
 */

#ifndef OHCAD_WIRE_H
#define OHCAD_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/port.h"

struct bth_packet;
struct datagram;
struct fabric;
struct loop;
struct pkt;
struct qp;
struct roce_path;

/**
 * struct wire_stats - counts of packets
 * @sent: packets sent
 * @received: packets passed to a QP
 * @malformed: dropped: lengths, opcode, checksum of IPv4, padding
 * @bad_icrc: dropped
 * @no_qp: dropped: no QP of that number and type
 * @not_peer: dropped: not from the address that the QP is connected to, or of another partition
 * @from_here: dropped: from a GID or a LID of this process
 * @marked: congestion experienced (ECN)
 * @cnps: congestion notifications, which have no effect
 */
struct wire_stats {
	uint64_t sent;
	uint64_t received;
	uint64_t malformed;
	uint64_t bad_icrc;
	uint64_t no_qp;
	uint64_t not_peer;
	uint64_t from_here;
	uint64_t marked;
	uint64_t cnps;
};

/**
 * struct wire - state of the transport of a fabric with uplinks: fabric->wire
 * @routes: ports that packets from uplinks were recently for
 */
struct wire {
	struct wire_stats stats;
	struct route routes[1 << PORT_LOG_ROUTES];
};

/*
 * Open the fabric's uplinks, of which there are none yet, and let its QPs use them.  Returns 0 or
 * -ENOMEM.
 */
int wire_init(struct fabric *fabric, struct loop *loop);
/* Does nothing for a fabric without uplinks. */
void wire_fini(struct fabric *fabric);

/* Returns enum bth_service of the QP's packets. */
uint8_t wire_service(const struct qp *qp);
/* Is the QP of the type that the packet is for? */
bool wire_is_for(const struct qp *qp, const struct bth_packet *p);
/* How packets of a connected QP get to its peer; false if they come from no address any more. */
bool wire_path(const struct qp *src, struct roce_path *path);
/* Make a packet of a datagram, and find its path. */
struct pkt wire_datagram(const struct qp *src, const struct datagram *dg, struct roce_path *path);

/* Send a burst of @src to its peer, which is behind an uplink. */
void wire_send(struct qp *src, const struct pkt *pkt);
/* The same with this P_Key instead of the QP's */
void wire_send_pkey(struct qp *src, const struct pkt *pkt, uint16_t pkey);
/* A datagram, or a copy of a multicast one for uplinks.  False: no uplink leads to where it goes. */
bool wire_send_datagram(struct qp *src, const struct datagram *dg);

/* A packet for @port that link_hooks.frame() has kept goes on. */
void wire_receive_late(struct port *port, const uint8_t *frame, size_t len);
/* The transport headers of such a packet and what follows up to the invariant CRC, @size bytes; NULL: it has none. */
uint8_t *wire_transport(const struct port *port, uint8_t *frame, size_t len, size_t *size);
/* Update the CRCs of such a packet after a change of what wire_transport() returns. */
void wire_put_crcs(const struct port *port, uint8_t *frame, size_t len);

#endif
