// SPDX-License-Identifier: GPL-2.0
/* The fabric: a switch between the ports of this process. */

#include <errno.h>
#include <string.h>

#include "base/iov.h"
#include "device/hca.h"
#include "fabric/fabric.h"
#include "fabric/ib_switch.h"
#include "fabric/ib_traffic.h"
#include "fabric/uplink.h"

void fabric_init(struct fabric *fabric)
{
	memset(fabric, 0, sizeof(*fabric));
	list_init(&fabric->ports);
	list_init(&fabric->ib_nodes);
	list_init(&fabric->ib_routes);
	owners_init(&fabric->owners);
	fabric->gen = 1;
	captures_init(&fabric->captures);
}

static void port_changed(struct port *port)
{
	fabric_changed(port->hca->fabric);
}

void fabric_attach(struct fabric *fabric, struct port *port, bool cable)
{
	list_add_tail(&fabric->ports, &port->link);
	capture_if_add(&fabric->captures, &port->capture);
	port->changed = port_changed;
	fabric_changed(fabric);
	if (port->ib) {
		/* The first port of the HCA brings the node. */
		if (list_empty(&port->ib->node->link))
			ib_node_add(fabric, port->ib->node);
		ib_switch_attach(fabric, port);
	}
	port_plug(port, cable);
}

void fabric_detach(struct fabric *fabric, struct port *port)
{
	list_del(&port->link);
	capture_if_del(&port->capture);
	fabric_changed(fabric);
	port_plug(port, false);
	if (port->ib)
		ib_switch_detach(fabric, port);
	port->changed = NULL;
}

struct port *fabric_owner(const struct fabric *fabric, const struct port *src, const uint8_t mac[6])
{
	struct list *node;

	for (node = fabric->ports.next; node != &fabric->ports; node = node->next) {
		struct port *port = list_entry(node, struct port, link);

		if (port != src && port->active && !port->ib && !memcmp(mac, port->mac, 6))
			return port;
	}
	return NULL;
}

/* May a port that is not @dmac's get the frame, in promiscuous mode or by flows? */
static bool overhears(const struct port *port, const uint8_t dmac[6])
{
	return (port->promisc || port->has_flows) && owner_hears(port, dmac);
}

/*
 * Deliver to all ports but @src that accept the frame.  The address of each port is known, so a
 * frame to an unknown address is only for ports that accept all frames: the promiscuous ones.
 */
static void deliver(struct fabric *fabric, const struct port *src, const uint8_t dmac[6],
		    const struct iovec *iov, unsigned int num, uint32_t len)
{
	struct list *node;

	for (node = fabric->ports.next; node != &fabric->ports; node = node->next) {
		struct port *port = list_entry(node, struct port, link);
		bool ours;

		if (port == src || !port->active || port->ib)
			continue;
		ours = (dmac[0] & 1) || !memcmp(dmac, port->mac, 6);
		if (!ours && !overhears(port, dmac))
			continue;
		if (port->client_ops->receive_frame(port, iov, num, len, ours || port->promisc))
			capture_frame(fabric->captures.running, &port->capture, PCAPNG_IN, iov, num,
				      len);
	}
}

void fabric_frame(struct fabric *fabric, struct port *src, const struct iovec *iov,
		  unsigned int num, uint32_t len)
{
	uint8_t dmac[6];

	if (!src->active || len < FABRIC_MIN_FRAME || len > PORT_MAX_FRAME)
		return;
	iov_peek(iov, num, dmac, sizeof(dmac));
	capture_frame(fabric->captures.running, &src->capture, PCAPNG_OUT, iov, num, len);
	src->client_ops->receive_frame(src, iov, num, len, false);
	deliver(fabric, src, dmac, iov, num, len);
	if (fabric->uplinks && ((dmac[0] & 1) || !owner_knows(fabric, dmac)) &&
	    !owner_is_forged(src, iov, num))
		uplinks_send(fabric->uplinks, dmac, iov, num, len);
}

struct port *fabric_only(struct fabric *fabric, const struct port *src, const uint8_t dmac[6])
{
	struct port *only = NULL;
	struct list *node;

	if (!src->active || fabric->captures.running || src->has_flows)
		return NULL;
	for (node = fabric->ports.next; node != &fabric->ports; node = node->next) {
		struct port *port = list_entry(node, struct port, link);
		bool ours = !memcmp(dmac, port->mac, 6);

		if (port == src || !port->active || port->ib)
			continue;
		if (ours ? port->has_flows || only : overhears(port, dmac))
			return NULL;
		if (ours)
			only = port;
	}
	return only;
}

/* A frame from an uplink has arrived. */
static void receive(struct fabric *fabric, const uint8_t *frame, uint32_t len)
{
	const struct iovec iov = {.iov_base = (void *)frame, .iov_len = len};

	if (!fabric->receive(fabric, frame, len))
		deliver(fabric, NULL, frame, &iov, 1, len);
}

/* Ports wait no more: their QPs will be resumed. */
static void relieved(struct fabric *fabric)
{
	struct list *node;

	for (node = fabric->ports.next; node != &fabric->ports; node = node->next) {
		struct port *port = list_entry(node, struct port, link);

		if (port->ib)
			ib_wait(port->ib, IB_WAIT_UPLINK, false);
	}
}

int fabric_open_uplinks(struct fabric *fabric, struct loop *loop)
{
	static const struct uplinks_ops uplinks_ops = {
		.receive = receive, .is_local = owner_knows, .relieved = relieved};

	fabric->uplinks = uplinks_new(fabric, &uplinks_ops, loop, &fabric->captures);
	if (!fabric->uplinks)
		return -ENOMEM;
	fabric_changed(fabric);
	return 0;
}

void fabric_close_uplinks(struct fabric *fabric)
{
	uplinks_free(fabric->uplinks);
	fabric->uplinks = NULL;
	fabric_changed(fabric);
}

struct port *fabric_find(struct fabric *fabric, struct route routes[1 << PORT_LOG_ROUTES],
			 const uint8_t gid[16], const uint8_t mac[6], uint16_t vlan)
{
	struct route *route = &routes[gid_hash(gid, PORT_LOG_ROUTES)];
	struct list *node;

	if (route->gen == fabric->gen && route->vlan == vlan && !memcmp(route->dgid, gid, 16) &&
	    !memcmp(route->dmac, mac, 6))
		return route->port;
	memcpy(route->dgid, gid, 16);
	memcpy(route->dmac, mac, 6);
	route->vlan = vlan;
	route->gen = fabric->gen;
	route->port = NULL;
	for (node = fabric->ports.next; node != &fabric->ports; node = node->next) {
		struct port *port = list_entry(node, struct port, link);

		if (!port->active || port->ib || !port_has_gid(port, gid, mac, vlan))
			continue;
		route->port = port;
		break;
	}
	return route->port;
}

struct port *fabric_route(struct fabric *fabric, struct port *src, const struct gid_entry *from,
			  const struct ohca_av *av)
{
	return src->active ? fabric_find(fabric, src->routes, av->dgid, av->dmac, from->vlan)
			   : NULL;
}
