/* SPDX-License-Identifier: GPL-2.0 */
/* The link between two InfiniBand ports: a cable, and the states of both ends (specification volume 1, 7.2). */

#ifndef OHCAD_IB_LINK_H
#define OHCAD_IB_LINK_H

#include "fabric/ib_port.h"

/* A cable between two ports that have none; and none any more. */
void ib_link_connect(struct ib_port *a, struct ib_port *b);
void ib_link_disconnect(struct ib_port *a);

/* The link comes up, in state INIT, if both ends want that and it is down; training takes no time. */
void ib_link_train(struct ib_port *ib);
/* It goes down, if it is up. */
void ib_link_down(struct ib_port *ib);
/*
 * What the port is enabled for has changed: the link goes down and is trained anew, if it is to be another one than it
 * is.  Returns whether it went down.
 */
bool ib_link_retrain(struct ib_port *ib);
/* The subnet manager has the port go down into @phys; PORT_PHYS_POLLING ends in INIT if the peer wants it too. */
void ib_link_set_phys(struct ib_port *ib, uint8_t phys);
/* ARMED or ACTIVE, from the state before */
void ib_link_set_state(struct ib_port *ib, enum ib_port_state state);

/* A subnet management packet leaves @ib by its link, and comes to the peer's node. */
void ib_link_send(struct ib_port *ib, const struct mad_packet *p);
/* It arrives there after all, if there is a link; for fabric->smp_hook. */
void ib_link_arrive(struct ib_port *from, const struct mad_packet *p);

#endif
