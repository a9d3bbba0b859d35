// SPDX-License-Identifier: GPL-2.0
/* An InfiniBand node. */

#include <string.h>

#include "fabric/fabric.h"
#include "fabric/ib_link.h"
#include "fabric/ib_node.h"
#include "fabric/ib_switch.h"

uint64_t ib_guid(const uint8_t mac[6], uint16_t middle)
{
	return (uint64_t)(mac[0] ^ 2) << 56 | (uint64_t)mac[1] << 48 | (uint64_t)mac[2] << 40 |
	       (uint64_t)middle << 24 | mac[3] << 16 | mac[4] << 8 | mac[5];
}

uint16_t ib_node_caps(const struct ib_node *node)
{
	uint16_t caps = 0;
	unsigned int i;

	for (i = 1; i <= node->num_ports; i++)
		caps |= ib_speeds_caps(&node->ports[i]->supported);
	return caps;
}

void ib_node_describe(struct ib_node *node, const char *text)
{
	memset(node->desc, 0, sizeof(node->desc));
	strncpy(node->desc, text, sizeof(node->desc) - 1);
}

void ib_node_add(struct fabric *fabric, struct ib_node *node)
{
	node->fabric = fabric;
	list_add_tail(&fabric->ib_nodes, &node->link);
}

void ib_node_del(struct ib_node *node)
{
	list_del(&node->link);
}

struct ib_node *ib_node_find(const struct fabric *fabric, const char *name)
{
	struct list *link;

	for (link = fabric->ib_nodes.next; link != &fabric->ib_nodes; link = link->next) {
		struct ib_node *node = list_entry(link, struct ib_node, link);

		if (!strcmp(node->name, name))
			return node;
	}
	return NULL;
}

static void power_off(struct ib_node *node)
{
	unsigned int i;

	node->down = true;
	for (i = 1; i <= node->num_ports; i++)
		ib_link_down(node->ports[i]);
	if (node->sw)
		ib_switch_reset(node->sw);
	for (i = 1; !node->sw && i <= node->num_ports; i++) {
		if (!node->ports[i]->port)
			ib_port_reset(node->ports[i]);
	}
}

void ib_node_power(struct ib_node *node, bool on)
{
	unsigned int i;

	if (on != node->down)
		return;
	if (!on) {
		power_off(node);
		return;
	}
	node->down = false;
	for (i = 1; i <= node->num_ports; i++)
		ib_link_train(node->ports[i]);
}
