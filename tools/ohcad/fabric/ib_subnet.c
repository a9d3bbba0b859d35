// SPDX-License-Identifier: GPL-2.0
/* The subnet of a topology. */

#include <errno.h>
#include <stdlib.h>

#include "device/hca.h"
#include "fabric/fabric.h"
#include "fabric/ib_link.h"
#include "fabric/ib_subnet.h"
#include "fabric/ib_switch.h"
#include "fabric/topology.h"

/**
 * struct idle_hca - an HCA without a host
 * @ports: the ports that node.ports points to, from port 1 on
 */
struct idle_hca {
	struct ib_node node;
	struct ib_port ports[];
};

/**
 * struct ib_subnet - the subnet
 * @nodes: in the order of the topology; NULL: an HCA for an adapter that is not attached
 */
struct ib_subnet {
	const struct topology *topology;
	struct ib_node **nodes;
};

/* There is no host to be notified. */
static void state_changed(struct ib_port *at)
{
	(void)at;
}

static struct ib_node *idle_hca_new(struct fabric *fabric, struct loop *loop,
				    const struct topology_node *from)
{
	static const struct ib_node_ops ops = {
		.receive = ib_port_receive_smp,
		.state_changed = state_changed,
	};
	struct idle_hca *hca = calloc(1, sizeof(*hca) + from->num_ports * sizeof(hca->ports[0]));
	struct ib_port **list = calloc(from->num_ports + 1, sizeof(struct ib_port *));
	unsigned int i;

	if (!hca || !list) {
		free(hca);
		free(list);
		return NULL;
	}
	hca->node.ops = &ops;
	hca->node.type = NODE_CA;
	hca->node.name = from->name;
	hca->node.num_ports = from->num_ports;
	hca->node.loop = loop;
	hca->node.ports = list;
	ib_node_add(fabric, &hca->node);
	for (i = 0; i < from->num_ports; i++) {
		list[i + 1] = &hca->ports[i];
		hca->ports[i].guid = from->ports[i].guid;
		ib_port_init(&hca->ports[i], &hca->node, i + 1);
	}
	return &hca->node;
}

static void idle_hca_free(struct idle_hca *hca)
{
	unsigned int i;

	for (i = 0; i < hca->node.num_ports; i++)
		ib_port_fini(&hca->ports[i]);
	ib_node_del(&hca->node);
	free(hca->node.ports);
	free(hca);
}

static struct ib_node *node_new(struct fabric *fabric, struct loop *loop,
				const struct topology_node *from)
{
	struct ib_switch *sw;
	struct ib_node *node;
	unsigned int i;

	if (from->type == NODE_SWITCH) {
		sw = ib_switch_new(fabric, loop, from->guid, from->name, from->num_ports);
		node = sw ? &sw->node : NULL;
	} else {
		node = idle_hca_new(fabric, loop, from);
	}
	if (!node)
		return NULL;
	node->guid = from->guid;
	node->system_guid = from->system_guid;
	node->vendor = from->vendor;
	node->device = from->device;
	ib_node_describe(node, from->desc);
	for (i = 0; i < from->num_ports; i++)
		ib_port_set_supported(node->ports[i + 1], &from->ports[i].speeds);
	return node;
}

static void node_free(struct ib_node *node)
{
	if (node->sw)
		ib_switch_free(node->sw);
	else
		idle_hca_free(list_entry(node, struct idle_hca, node));
}

/* Connect a port of node @i, if the node at the other end exists already. */
static void plug(struct ib_subnet *subnet, unsigned int i, unsigned int num)
{
	const struct topology_port *port = &subnet->topology->nodes[i].ports[num - 1];
	struct ib_node *node = subnet->nodes[i], *other;

	other = port->port ? subnet->nodes[port->node] : NULL;
	if (other && !node->ports[num]->peer)
		ib_link_connect(node->ports[num], other->ports[port->port]);
}

/* InfiniBand uplinks are connected to the first switch with free ports. */
static void choose_for_uplinks(struct fabric *fabric, const struct ib_subnet *subnet)
{
	const struct topology *t = subnet->topology;
	unsigned int i, j;

	for (i = 0; i < t->num && !fabric->ib_switch; i++) {
		for (j = 0; t->nodes[i].type == NODE_SWITCH && j < t->nodes[i].num_ports; j++) {
			if (!t->nodes[i].ports[j].port)
				fabric->ib_switch = subnet->nodes[i]->sw;
		}
	}
}

int ib_subnet_new(struct fabric *fabric, struct loop *loop, const struct topology *topology)
{
	struct ib_subnet *subnet = calloc(1, sizeof(*subnet));
	unsigned int i, j;

	if (!subnet)
		return -ENOMEM;
	fabric->ib_subnet = subnet;
	subnet->topology = topology;
	subnet->nodes = calloc(topology->num, sizeof(struct ib_node *));
	if (!subnet->nodes)
		return -ENOMEM;
	for (i = 0; i < topology->num; i++) {
		if (topology->nodes[i].bound)
			continue;
		subnet->nodes[i] = node_new(fabric, loop, &topology->nodes[i]);
		if (!subnet->nodes[i])
			return -ENOMEM;
	}
	for (i = 0; i < topology->num; i++) {
		for (j = 1; subnet->nodes[i] && j <= topology->nodes[i].num_ports; j++)
			plug(subnet, i, j);
	}
	choose_for_uplinks(fabric, subnet);
	return 0;
}

void ib_subnet_free(struct fabric *fabric)
{
	struct ib_subnet *subnet = fabric->ib_subnet;
	unsigned int i, j;

	if (!subnet)
		return;
	for (i = 0; subnet->nodes && i < subnet->topology->num; i++) {
		for (j = 1; subnet->nodes[i] && j <= subnet->nodes[i]->num_ports; j++)
			ib_link_disconnect(subnet->nodes[i]->ports[j]);
	}
	for (i = 0; subnet->nodes && i < subnet->topology->num; i++) {
		if (subnet->nodes[i])
			node_free(subnet->nodes[i]);
	}
	free(subnet->nodes);
	free(subnet);
	fabric->ib_subnet = NULL;
	fabric->ib_switch = NULL;
}

void ib_subnet_attach(struct ib_subnet *subnet, struct port *port)
{
	const struct topology_node *from = topology_find(subnet->topology, port->hca->node);
	struct ib_node *node = port->ib->node;
	unsigned int i = from - subnet->topology->nodes, num = port->ib->num;

	node->name = from->name;
	node->guid = from->guid;
	node->system_guid = from->system_guid;
	ib_port_set_guid(port->ib, from->ports[num - 1].guid);
	ib_port_set_supported(port->ib, &from->ports[num - 1].speeds);
	subnet->nodes[i] = node;
	plug(subnet, i, num);
}

void ib_subnet_detach(struct ib_subnet *subnet, struct port *port)
{
	const struct topology_node *from = topology_find(subnet->topology, port->hca->node);

	ib_link_disconnect(port->ib);
	subnet->nodes[from - subnet->topology->nodes] = NULL;
}
