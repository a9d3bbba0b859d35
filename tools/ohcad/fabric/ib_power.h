/* SPDX-License-Identifier: GPL-2.0 */
/* Cables that are unplugged and InfiniBand nodes that are switched off, by the control socket and by faults */

#ifndef OHCAD_IB_POWER_H
#define OHCAD_IB_POWER_H

#include <stdbool.h>

#include "fabric/ib_node.h"

/* Plug the port's cable in, or unplug it. */
void ib_port_plug(struct ib_port *ib, bool in);

/*
 * Switch a node on or off.  The links of a node without power are down.  A switch, and an HCA without a host, lose what the
 * subnet manager has set.  An HCA with a host keeps it, as its driver knows these attributes.
 */
void ib_node_power(struct ib_node *node, bool on);

#endif
