// SPDX-License-Identifier: GPL-2.0
/*
 * Nodes and cables of the InfiniBand subnet.  If there are many, a reply has some of them, and "next"; the next request
 * continues there with "from".
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "control/control_cmd.h"
#include "device/hca.h"
#include "fabric/fabric.h"
#include "fabric/ib_power.h"
#include "fabric/ib_node.h"

#define ROWS_PER_REPLY 32

/* Node number @i of the fabric, or NULL */
static struct ib_node *node_at(const struct fabric *fabric, uint32_t i)
{
	struct list *link = fabric->ib_nodes.next;

	while (link != &fabric->ib_nodes && i--)
		link = link->next;
	return link == &fabric->ib_nodes ? NULL : list_entry(link, struct ib_node, link);
}

static struct ib_node *node_after(const struct fabric *fabric, const struct ib_node *node)
{
	struct list *link = node->link.next;

	return link == &fabric->ib_nodes ? NULL : list_entry(link, struct ib_node, link);
}

static void put_guid(struct json_object *row, const char *name, uint64_t guid)
{
	char text[20];

	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	control_put_string(row, name, text);
}

static void put_node(struct json_object *row, const struct ib_node *node)
{
	unsigned int num = node->sw ? 0 : 1, up = 0, i = 1;
	const struct ib_port *first = ib_node_next_port(node, &num), *ib;

	for (; (ib = ib_node_next_port(node, &i)); i++)
		up += ib->state != IB_PORT_DOWN;
	control_put_string(row, "node", node->name);
	control_put_string(row, "type", node->sw ? "switch" : "hca");
	if (first->port)
		control_put_string(row, "hca", first->port->hca->name);
	put_guid(row, "guid", node->guid);
	control_put_number(row, "lid", first->lid);
	control_put_number(row, "ports", node->num_ports);
	control_put_number(row, "links_up", up);
	control_put_string(row, "state", node->down ? "down" : "up");
}

static bool take_from(const struct control_call *call, uint32_t *i, uint32_t *port)
{
	const char *from = call->value[0].string;
	int end = 0;

	*i = 0;
	*port = 1;
	return !from ||
	       (sscanf(from, "%" SCNu32 ":%" SCNu32 "%n", i, port, &end) == 2 && !from[end]);
}

static void put_next(struct control_call *call, uint32_t i, uint32_t port)
{
	char next[32];

	snprintf(next, sizeof(next), "%" PRIu32 ":%" PRIu32, i, port);
	control_put_string(call->result, "next", next);
}

int control_show_topology(struct control_call *call)
{
	struct json_object *rows = control_put_array(call->result, "nodes");
	const struct fabric *fabric = call->env->fabric;
	unsigned int left = ROWS_PER_REPLY;
	const struct ib_node *node;
	uint32_t i, port;

	if (!take_from(call, &i, &port))
		return control_error(call, EINVAL, "from is not what a reply had");
	for (node = node_at(fabric, i); node && left; node = node_after(fabric, node), i++, left--)
		put_node(control_put_row(rows), node);
	if (node)
		put_next(call, i, 1);
	return 0;
}

/* Each cable is shown at one of its ends: the other one is of a node without a name, or comes later. */
static bool is_shown_here(const struct ib_port *ib)
{
	const struct ib_port *peer = ib->peer;

	if (!peer)
		return false;
	return !peer->node->name || ib->node->guid < peer->node->guid ||
	       (ib->node == peer->node && ib->num < peer->num);
}

static void put_cable(struct json_object *row, const struct ib_port *ib)
{
	control_put_string(row, "node", ib->node->name);
	control_put_number(row, "port", ib->num);
	control_put_string(row, "to", ib->peer->node->name ?: "uplink");
	control_put_number(row, "to_port", ib->peer->num);
	control_put_string(row, "port_state", control_ib_state(ib));
	if (ib->state == IB_PORT_DOWN)
		return;
	control_put_string(row, "speed", ib_speed_name(&ib->active));
	control_put_number(row, "width", ib_width_lanes(&ib->active));
}

int control_show_cables(struct control_call *call)
{
	struct json_object *rows = control_put_array(call->result, "cables");
	const struct fabric *fabric = call->env->fabric;
	unsigned int left = ROWS_PER_REPLY;
	const struct ib_node *node;
	const struct ib_port *ib;
	uint32_t i, port;

	if (!take_from(call, &i, &port))
		return control_error(call, EINVAL, "from is not what a reply had");
	for (node = node_at(fabric, i); node; node = node_after(fabric, node), i++, port = 1) {
		for (; port && (ib = ib_node_next_port(node, &port)); port++) {
			if (!is_shown_here(ib))
				continue;
			if (!left--) {
				put_next(call, i, port);
				return 0;
			}
			put_cable(control_put_row(rows), ib);
		}
	}
	return 0;
}

static struct ib_node *take_node(struct control_call *call)
{
	struct ib_node *node = ib_node_find(call->env->fabric, call->value[0].string);

	if (!node)
		control_error(call, ENOENT, "there is no node '%s'", call->value[0].string);
	return node;
}

int control_node(struct control_call *call)
{
	struct ib_node *node = take_node(call);
	bool up;
	int err;

	if (!node)
		return -ENOENT;
	err = control_take_state(call, 1, &up);
	if (!err)
		ib_node_power(node, up);
	return err;
}

int control_cable(struct control_call *call)
{
	struct ib_node *node = take_node(call);
	uint64_t port = call->value[1].number;
	bool up;
	int err;

	if (!node)
		return -ENOENT;
	err = control_take_state(call, 2, &up);
	if (err)
		return err;
	if (!port || port > node->num_ports || !node->ports[port] || !node->ports[port]->peer)
		return control_error(call, ENOENT, "node '%s' has no cable at port %" PRIu64,
				     node->name, port);
	ib_port_plug(node->ports[port], up);
	return 0;
}
