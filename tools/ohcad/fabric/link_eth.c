// SPDX-License-Identifier: GPL-2.0
/* Ethernet as a link layer: RoCEv2 addresses. */

#include <endian.h>
#include <string.h>

#include "device/hca.h"
#include "fabric/fabric.h"
#include "fabric/link_layer.h"

static int eth_check_av(const struct port *port, const struct ohca_av *av)
{
	if (av->port != port->num)
		return offsetof(struct ohca_av, port);
	if (!port_gid(port, av))
		return offsetof(struct ohca_av, sgid_index);
	if (le32toh(av->flow_label) > 0xfffff)
		return offsetof(struct ohca_av, flow_label);
	if (av->sl > 15)
		return offsetof(struct ohca_av, sl);
	return -1;
}

static struct port *eth_route(struct port *src, const struct ohca_av *av, uint16_t pkey)
{
	const struct gid_entry *from = port_gid(src, av);

	(void)pkey;
	return from ? fabric_route(src->hca->fabric, src, from, av) : NULL;
}

/* Multicast goes to all ports that are in the VLAN. */
static unsigned int eth_mcast_ports(struct port *src, const struct ohca_av *av,
				    const struct ib_packets *packet,
				    struct port *to[FABRIC_MAX_PORTS])
{
	const struct gid_entry *from = port_gid(src, av);
	struct fabric *fabric = src->hca->fabric;
	struct list *node = fabric->ports.next;
	unsigned int num = 0;

	(void)packet;
	for (; from && node != &fabric->ports && num < FABRIC_MAX_PORTS; node = node->next) {
		struct port *port = list_entry(node, struct port, link);

		if (port->active && !port->ib && port_in_vlan(port, from->vlan))
			to[num++] = port;
	}
	return num;
}

/* By MAC addresses as well, which each belong to one HCA: a GID may be in the tables of several. */
static bool eth_paired(const struct port *src, const struct ohca_av *a, const struct port *dst,
		       const struct ohca_av *b)
{
	const struct gid_entry *from = port_gid(src, a), *to = port_gid(dst, b);

	return from && to && from->vlan == to->vlan && !memcmp(a->dgid, to->gid, sizeof(to->gid)) &&
	       !memcmp(b->dgid, from->gid, sizeof(from->gid)) &&
	       !memcmp(a->dmac, to->mac, sizeof(to->mac)) &&
	       !memcmp(b->dmac, from->mac, sizeof(from->mac));
}

static bool eth_egress(struct port *src, const struct ohca_av *av, uint16_t pkey)
{
	(void)pkey;
	return src->hca->fabric->uplinks && src->active && port_gid(src, av);
}

const struct link_ops link_eth = {
	.type = OHCA_LINK_ETHERNET,
	.check_av = eth_check_av,
	.route = eth_route,
	.mcast_ports = eth_mcast_ports,
	.paired = eth_paired,
	.egress = eth_egress,
};
