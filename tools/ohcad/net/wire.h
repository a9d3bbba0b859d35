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
 * struct wire_stats - packets that came and went
 * @sent: packets made
 * @received: packets given to a QP
 * @malformed: dropped: lengths, opcode, checksum of IPv4, padding
 * @bad_icrc: dropped
 * @no_qp: dropped: no QP of that number and type
 * @not_peer: dropped: not from where the QP is connected to, or of another partition
 * @marked: congestion experienced (ECN)
 * @cnps: congestion notifications; nothing else is done with them
 */
struct wire_stats {
	uint64_t sent;
	uint64_t received;
	uint64_t malformed;
	uint64_t bad_icrc;
	uint64_t no_qp;
	uint64_t not_peer;
	uint64_t marked;
	uint64_t cnps;
};

/**
 * struct wire - what the transport keeps of a fabric with uplinks: fabric->wire
 * @routes: ports that packets from uplinks have been for
 */
struct wire {
	struct wire_stats stats;
	struct route routes[1 << PORT_LOG_ROUTES];
};

/*
 * The fabric has uplinks from now on, none yet, and its QPs talk to others through them.  0 or
 * -ENOMEM.
 */
int wire_init(struct fabric *fabric, struct loop *loop);
/* Harmless for a fabric that has none. */
void wire_fini(struct fabric *fabric);

/* enum bth_service: what packets of the QP are. */
uint8_t wire_service(const struct qp *qp);
/* Is the QP of the type that the packet is for? */
bool wire_is_for(const struct qp *qp, const struct bth_packet *p);
/* How packets of a connected QP get to its peer; false if they come from no address any more. */
bool wire_path(const struct qp *src, struct roce_path *path);
/* What a datagram is as a packet, and how it gets to where it goes. */
struct pkt wire_datagram(const struct qp *src, const struct datagram *dg, struct roce_path *path);

/* A burst of @src to its peer, who is behind an uplink. */
void wire_send(struct qp *src, const struct pkt *pkt);
void wire_send_datagram(struct qp *src, const struct datagram *dg);

/* A packet for @port that link_hooks.frame() has kept goes on. */
void wire_receive_late(struct port *port, const uint8_t *frame, size_t len);
/* The transport headers of such a packet and what follows up to the invariant CRC, @size bytes; NULL: it has none. */
uint8_t *wire_transport(const struct port *port, uint8_t *frame, size_t len, size_t *size);

#endif
