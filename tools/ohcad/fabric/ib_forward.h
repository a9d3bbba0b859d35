/* SPDX-License-Identifier: GPL-2.0 */
/* Data packets from and to uplinks, which the InfiniBand switch forwards as bytes. */

#ifndef OHCAD_IB_FORWARD_H
#define OHCAD_IB_FORWARD_H

#include <stdint.h>

#include "fabric/ib_switch.h"
#include "packet/ib.h"

/* The details of a P_Key violation by the packet.  @p was filled by ib_peek() or ib_decode(). */
struct ib_violation ib_violation_of(const struct ib_packet *p);

/*
 * Forward a packet that has arrived at the port @in of the switch from an uplink: to an HCA's port, by fabric->receive_ib, to
 * an uplink, or to an agent, whose response is sent.
 */
void ib_forward(struct ib_port *in, const struct ib_packet *p);
/*
 * Send a packet of @len bytes by the uplink of @out, for which ib_leads_out() is true.  @hops: hops that it has passed.  If
 * these are too many, it is discarded and counted in PortXmitDiscards.
 */
void ib_forward_out(struct ib_port *out, const uint8_t *packet, uint32_t len, uint16_t hops);

#endif
