// SPDX-License-Identifier: GPL-2.0
/* The fabric: a switch between the ports of this process. */

#include <string.h>

#include "fabric.h"
#include "eth.h"
#include "flow.h"
#include "hca.h"
#include "qp.h"

void fabric_init(struct fabric *fabric)
{
	list_init(&fabric->ports);
	fabric->gen = 1;
}

void fabric_attach(struct fabric *fabric, struct port *port)
{
	list_add_tail(&fabric->ports, &port->link);
	fabric_changed(fabric);
	port->cable = true;
	port_update(port);
}

void fabric_detach(struct fabric *fabric, struct port *port)
{
	list_del(&port->link);
	fabric_changed(fabric);
	port->cable = false;
	port_update(port);
}

void fabric_changed(struct fabric *fabric)
{
	fabric->gen++;
}

void fabric_frame(struct fabric *fabric, struct port *src, const struct iovec *iov,
		  unsigned int num, uint32_t len)
{
	struct list *node;
	uint8_t dmac[6];

	if (!src->active || len < ETH_HDR_LEN || len > PORT_MAX_FRAME)
		return;
	eth_peek(iov, num, dmac, sizeof(dmac));
	flow_deliver(src, iov, num, len);

	/*
	 * The address of each port is known, so a frame to an unknown one is flooded to those that
	 * would take it, as all other frames: the promiscuous ports.
	 */
	for (node = fabric->ports.next; node != &fabric->ports; node = node->next) {
		struct port *port = list_entry(node, struct port, link);

		if (port == src || !port->active || flow_deliver(port, iov, num, len) ||
		    !port->eth_qp)
			continue;
		if ((dmac[0] & 1) || port->promisc || !memcmp(dmac, port->mac, 6))
			eth_receive(port->eth_qp, iov, num, len);
	}
}

/* Has the port a GID entry that packets from @from by @av are for? */
static bool port_takes(const struct port *port, const struct gid_entry *from,
		       const struct ohca_av *av)
{
	int i;

	if (!port->active)
		return false;
	for (i = 0; i < PORT_GIDS; i++) {
		const struct gid_entry *entry = &port->gids[i];

		if (entry->type != OHCA_GID_NONE && !memcmp(entry->gid, av->dgid, 16) &&
		    !memcmp(entry->mac, av->dmac, 6) && entry->vlan == from->vlan)
			return true;
	}
	return false;
}

static struct route *route_slot(struct port *src, const struct ohca_av *av)
{
	uint32_t word;

	memcpy(&word, av->dgid + 12, sizeof(word));
	return &src->routes[(word * 0x9e3779b1U) >> (32 - PORT_LOG_ROUTES)];
}

struct port *fabric_route(struct fabric *fabric, struct port *src, const struct gid_entry *from,
			  const struct ohca_av *av)
{
	struct route *route = route_slot(src, av);
	struct list *node;

	if (route->gen == fabric->gen && route->vlan == from->vlan &&
	    !memcmp(route->dgid, av->dgid, 16) && !memcmp(route->dmac, av->dmac, 6))
		return route->port;
	memcpy(route->dgid, av->dgid, 16);
	memcpy(route->dmac, av->dmac, 6);
	route->vlan = from->vlan;
	route->gen = fabric->gen;
	route->port = NULL;
	if (!src->active)
		return NULL;
	for (node = fabric->ports.next; node != &fabric->ports; node = node->next) {
		struct port *port = list_entry(node, struct port, link);

		if (!port_takes(port, from, av))
			continue;
		route->port = port;
		break;
	}
	return route->port;
}
