// SPDX-License-Identifier: GPL-2.0
/*
 * Nodes and cables of the InfiniBand subnet, and routes between its ports.  If there are many, a reply has some of them,
 * and "next"; the next request continues there with "from".
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "control/control_cmd.h"
#include "device/hca.h"
#include "fabric/fabric.h"
#include "fabric/ib_power.h"
#include "fabric/ib_node.h"
#include "fabric/ib_route.h"
#include "mgmt/pma.h"
#include "packet/ib.h"

#define ROWS_PER_REPLY 32
#define SL_MAX 15

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

/* Argument number @arg, "from" */
static bool take_from(const struct control_call *call, unsigned int arg, uint32_t *i,
		      uint32_t *port)
{
	const char *from = call->value[arg].string;
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

	if (!take_from(call, 0, &i, &port))
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

/* What has passed the cable, as @ib has counted it, and the errors of both ends */
static void put_counters(struct json_object *row, const struct ib_port *ib)
{
	struct pma_sums sums, to;

	pma_sum(ib, &sums);
	control_put_number(row, "xmit_data", sums.xmit_data);
	control_put_number(row, "rcv_data", sums.rcv_data);
	control_put_number(row, "errors", sums.errors);
	if (!ib->peer->node->name)
		return;
	pma_sum(ib->peer, &to);
	control_put_number(row, "to_errors", to.errors);
}

static void put_cable(struct json_object *row, const struct ib_port *ib)
{
	control_put_string(row, "node", ib->node->name);
	control_put_number(row, "port", ib->num);
	control_put_string(row, "to", ib->peer->node->name ?: "uplink");
	control_put_number(row, "to_port", ib->peer->num);
	put_counters(row, ib);
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

	if (!take_from(call, 0, &i, &port))
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

/**
 * struct routes - those from a port to all others
 * @num: those that lead there, of which one has @most cables between switches
 * @wrong: those that do not, of which @first leads to the LID
 */
struct routes {
	unsigned int num, wrong, most;
	uint16_t first;
};

static bool leads_to(const struct ib_route *route, const struct ib_port *to)
{
	return route->end == IB_ROUTE_PORT ? route->to->ib == to
					   : route->end == IB_ROUTE_AGENT && route->at == to;
}

static void look_for(struct routes *routes, struct ib_port *from, const struct ib_port *to,
		     uint8_t sl)
{
	struct ib_flow flow = {.pkey = PKEY_DEFAULT, .sl = sl};
	unsigned int i, cables;
	struct ib_route route;

	for (i = 0; i < 1U << to->lmc; i++) {
		flow.dlid = to->lid + i;
		cables = ib_route_trace(&route, from, &flow);
		if (!leads_to(&route, to)) {
			routes->first = routes->wrong++ ? routes->first : flow.dlid;
			continue;
		}
		routes->num++;
		if (cables > routes->most)
			routes->most = cables;
	}
}

/* Its next port that has a LID, from number *@num on, which is set to its number; a switch has one, as if it was number 1. */
static struct ib_port *next_managed(const struct ib_node *node, uint32_t *num)
{
	struct ib_port *ib;

	if (node->sw)
		return *num == 1 && node->ports[0]->lid ? node->ports[0] : NULL;
	while ((ib = ib_node_next_port(node, num)) && !ib->lid)
		++*num;
	return ib;
}

static struct routes routes_from(const struct fabric *fabric, struct ib_port *from, uint8_t sl)
{
	const struct ib_node *node;
	struct routes routes = {0};
	struct ib_port *to;
	uint32_t port;

	for (node = node_at(fabric, 0); node; node = node_after(fabric, node)) {
		for (port = 1; (to = next_managed(node, &port)); port++) {
			if (to != from)
				look_for(&routes, from, to, sl);
		}
	}
	return routes;
}

static void put_routes(struct json_object *row, const struct ib_port *from,
		       const struct routes *routes)
{
	control_put_string(row, "node", from->node->name);
	control_put_number(row, "port", from->num);
	control_put_number(row, "lid", from->lid);
	control_put_number(row, "routes", routes->num);
	control_put_number(row, "cables", routes->most);
	control_put_number(row, "wrong", routes->wrong);
	if (routes->wrong)
		control_put_number(row, "wrong_lid", routes->first);
}

int control_show_routes(struct control_call *call)
{
	struct json_object *rows = control_put_array(call->result, "routes");
	const struct fabric *fabric = call->env->fabric;
	unsigned int left = ROWS_PER_REPLY;
	uint64_t sl = call->value[0].number;
	const struct ib_node *node;
	struct routes routes;
	struct ib_port *from;
	uint32_t i, port;

	if (sl > SL_MAX)
		return control_error(call, EINVAL, "sl is 0 to %u", SL_MAX);
	if (!take_from(call, 1, &i, &port))
		return control_error(call, EINVAL, "from is not what a reply had");
	for (node = node_at(fabric, i); node; node = node_after(fabric, node), i++, port = 1) {
		for (; (from = next_managed(node, &port)); port++) {
			if (!left--) {
				put_next(call, i, port);
				return 0;
			}
			routes = routes_from(fabric, from, sl);
			put_routes(control_put_row(rows), from, &routes);
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
