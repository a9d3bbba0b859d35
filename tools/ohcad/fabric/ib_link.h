/* SPDX-License-Identifier: GPL-2.0 */
/* The link between two InfiniBand ports: a cable, and the states of both ends (specification volume 1, 7.2). */

#ifndef OHCAD_IB_LINK_H
#define OHCAD_IB_LINK_H

#include "fabric/ib_port.h"

/* Connect two ports without a cable by one; remove the cable. */
void ib_link_connect(struct ib_port *a, struct ib_port *b);
void ib_link_disconnect(struct ib_port *a);

/* Train the link, which takes no time: if it is down and both ends want a link, it comes up in state INIT. */
void ib_link_train(struct ib_port *ib);
/* Take the link down, if it is up. */
void ib_link_down(struct ib_port *ib);
/* Does the port want a link: it polls, has power, and its cable is plugged in? */
bool ib_link_is_wanted(const struct ib_port *ib);
/*
 * Take the link down, and train it again.  To be called when it has changed whether the port wants a link: the remote end of an
 * uplink is notified.
 */
void ib_link_restart(struct ib_port *ib);
/*
 * To be called when the enabled widths and speeds have changed.  If the link is to change for that, it goes down and is
 * trained again.  Returns whether it went down.
 */
bool ib_link_retrain(struct ib_port *ib);
/* Take the link down into the physical state @phys.  With PORT_PHYS_POLLING, it is trained again. */
void ib_link_set_phys(struct ib_port *ib, uint8_t phys);
/* Change the state to ARMED or ACTIVE. */
void ib_link_set_state(struct ib_port *ib, enum ib_port_state state);

/* Send a subnet management packet by the link of @ib to the peer's node. */
void ib_link_send(struct ib_port *ib, const struct mad_packet *p);
/* Let a packet that fabric->smp_hook has held arrive at the peer of @ib, if there is a link. */
void ib_link_arrive(struct ib_port *from, const struct mad_packet *p);

#endif
