// SPDX-License-Identifier: GPL-2.0
/* Cables and power of InfiniBand nodes. */

#include "fabric/ib_link.h"
#include "fabric/ib_power.h"
#include "fabric/ib_switch.h"
#include "fabric/port.h"

void ib_port_plug(struct ib_port *ib, bool in)
{
	if (ib->port) {
		port_plug(ib->port, in);
		return;
	}
	if (in != ib->unplugged)
		return;
	ib->unplugged = !in;
	ib_link_restart(ib);
}

static void power_off(struct ib_node *node)
{
	struct ib_port *ib;
	unsigned int i;

	node->down = true;
	for (i = 1; (ib = ib_node_next_port(node, &i)); i++)
		ib_link_restart(ib);
	if (node->sw)
		ib_switch_reset(node->sw);
	for (i = 1; !node->sw && (ib = ib_node_next_port(node, &i)); i++) {
		if (!ib->port)
			ib_port_reset(ib);
	}
}

void ib_node_power(struct ib_node *node, bool on)
{
	struct ib_port *ib;
	unsigned int i = 1;

	if (on != node->down)
		return;
	if (!on) {
		power_off(node);
		return;
	}
	node->down = false;
	for (; (ib = ib_node_next_port(node, &i)); i++)
		ib_link_restart(ib);
}
