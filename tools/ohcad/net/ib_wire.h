/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wire of InfiniBand ports: packets between the QPs of this process and those that the switch reaches through
 * uplinks.
 */

#ifndef OHCAD_IB_WIRE_H
#define OHCAD_IB_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packet/ib.h"

struct datagram;
struct port;
struct qp;

/* How packets of a connected QP get to its peer, but for the virtual lane */
void ib_wire_path(const struct qp *src, struct ib_path *path);
/* The same of a datagram of a QP, or one for it from the switch's agent, and what it is as a packet */
struct pkt ib_wire_datagram(const struct qp *src, const struct datagram *dg, struct ib_path *path);

/* A burst of @src to its peer, who is behind an uplink, with that P_Key; and a datagram.  False: no uplink leads there. */
void ib_wire_send(struct qp *src, const struct pkt *pkt, uint16_t pkey);
bool ib_wire_send_datagram(struct qp *src, const struct datagram *dg);

/* A packet from an uplink has reached @port: fabric->receive_ib. */
void ib_wire_receive(struct port *port, const struct ib_packet *p);
/* One that link_hooks.frame() has kept goes on. */
void ib_wire_receive_late(struct port *port, const uint8_t *packet, size_t len);

#endif
