/* SPDX-License-Identifier: GPL-2.0 */
/* Packets of data that the InfiniBand switch forwards as bytes: from outside of the process, and to there. */

#ifndef OHCAD_IB_FORWARD_H
#define OHCAD_IB_FORWARD_H

#include <stdint.h>

#include "fabric/ib_switch.h"
#include "packet/ib.h"

/* What a violation of the packet's P_Key reports, of which ib_peek() is enough */
struct ib_violation ib_violation_of(const struct ib_packet *p);

/*
 * A packet has come to the port @in of the switch from outside of the process: it goes on to an HCA's port, by
 * fabric->receive_ib, or leaves the process, or the switch answers it.
 */
void ib_forward(struct ib_port *in, const struct ib_packet *p);
/*
 * A packet of @len bytes, which has passed @hops, leaves the process by the port of the switch, which ib_leads_out(); or
 * it has passed too many: PortXmitDiscards.
 */
void ib_forward_out(struct ib_port *out, const uint8_t *packet, uint32_t len, uint16_t hops);

#endif
