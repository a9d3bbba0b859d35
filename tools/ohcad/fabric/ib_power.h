/* SPDX-License-Identifier: GPL-2.0 */
/* What happens to InfiniBand nodes from outside: cables are unplugged, and nodes are switched off. */

#ifndef OHCAD_IB_POWER_H
#define OHCAD_IB_POWER_H

#include <stdbool.h>

#include "fabric/ib_node.h"

/* The cable is plugged in, or not. */
void ib_port_plug(struct ib_port *ib, bool in);

/*
 * Power of a node.  Without, its links are down.  A switch, and an HCA without a host, have lost what
 * the subnet manager has set then; an HCA with a host keeps what its driver knows.
 */
void ib_node_power(struct ib_node *node, bool on);

#endif
