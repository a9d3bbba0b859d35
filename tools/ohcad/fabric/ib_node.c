// SPDX-License-Identifier: GPL-2.0
/* An InfiniBand node. */

#include <string.h>

#include "fabric/fabric.h"
#include "fabric/ib_node.h"

uint64_t ib_guid(const uint8_t mac[6], uint16_t middle)
{
	return (uint64_t)(mac[0] ^ 2) << 56 | (uint64_t)mac[1] << 48 | (uint64_t)mac[2] << 40 |
	       (uint64_t)middle << 24 | mac[3] << 16 | mac[4] << 8 | mac[5];
}

uint16_t ib_node_caps(const struct ib_node *node)
{
	const struct ib_port *ib;
	unsigned int i = 1;
	uint16_t caps = 0;

	for (; (ib = ib_node_next_port(node, &i)); i++)
		caps |= ib_speeds_caps(&ib->supported);
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
