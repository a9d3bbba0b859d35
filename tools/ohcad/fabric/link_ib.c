// SPDX-License-Identifier: GPL-2.0
/* InfiniBand as a link layer: LIDs, and GRHs where the address vector has one. */

#include <endian.h>
#include <stddef.h>
#include <string.h>

#include "device/hca.h"
#include "fabric/fabric.h"
#include "fabric/ib_port.h"
#include "fabric/ib_route.h"
#include "fabric/link_layer.h"

#define MAX_STATIC_RATE 25 /* enum ib_rate */
#define MAX_PATH_BITS 0x7f

static bool has_grh(const struct ohca_av *av)
{
	return av->ib.flags & OHCA_AV_GRH;
}

/* Fields of the GRH must be zero without a GRH. */
static int check_grh(const struct port *port, const struct ohca_av *av)
{
	static const uint8_t no_gid[16];
	uint16_t index = le16toh(av->sgid_index);

	if (!has_grh(av)) {
		if (memcmp(av->dgid, no_gid, sizeof(no_gid)))
			return offsetof(struct ohca_av, dgid);
		if (index)
			return offsetof(struct ohca_av, sgid_index);
		if (av->flow_label)
			return offsetof(struct ohca_av, flow_label);
		if (av->hop_limit)
			return offsetof(struct ohca_av, hop_limit);
		return av->tclass ? (int)offsetof(struct ohca_av, tclass) : -1;
	}
	if (index >= PORT_GIDS || !memcmp(port->ib->gids[index], no_gid, sizeof(no_gid)))
		return offsetof(struct ohca_av, sgid_index);
	if (le32toh(av->flow_label) > 0xfffff)
		return offsetof(struct ohca_av, flow_label);
	return -1;
}

static int ib_check_av(const struct port *port, const struct ohca_av *av)
{
	uint16_t dlid = le16toh(av->ib.dlid);

	if (av->port != port->num)
		return offsetof(struct ohca_av, port);
	if (!dlid || (dlid >= LID_MCAST && dlid != LID_PERMISSIVE && !has_grh(av)))
		return offsetof(struct ohca_av, ib.dlid);
	if (av->ib.path_bits > MAX_PATH_BITS)
		return offsetof(struct ohca_av, ib.path_bits);
	if (av->ib.static_rate > MAX_STATIC_RATE)
		return offsetof(struct ohca_av, ib.static_rate);
	if (av->ib.flags & ~OHCA_AV_GRH)
		return offsetof(struct ohca_av, ib.flags);
	if (av->sl > 15)
		return offsetof(struct ohca_av, sl);
	return check_grh(port, av);
}

static struct port *link_ib_route(struct port *src, const struct ohca_av *av, uint16_t pkey)
{
	const struct ib_flow flow = {le16toh(av->ib.dlid), pkey, av->sl};

	return ib_route_port(src, &flow);
}

static unsigned int link_ib_mcast_ports(struct port *src, const struct ohca_av *av,
					const struct ib_packets *packet,
					struct port *to[FABRIC_MAX_PORTS])
{
	unsigned int num = ib_mcast_ports(src, packet, to);

	(void)av;
	if (!src->active)
		return 0;
	if (num < FABRIC_MAX_PORTS)
		to[num++] = src;
	return num;
}

/* Is the destination GID of each path the source GID of the other one? */
static bool gids_match(const struct port *src, const struct ohca_av *a, const struct port *dst,
		       const struct ohca_av *b)
{
	uint16_t from = le16toh(a->sgid_index), to = le16toh(b->sgid_index);

	return from < PORT_GIDS && to < PORT_GIDS &&
	       !memcmp(a->dgid, dst->ib->gids[to], sizeof(a->dgid)) &&
	       !memcmp(b->dgid, src->ib->gids[from], sizeof(b->dgid));
}

/* A responder compares the addresses of each packet with those of its own path (9.6.1.5). */
static bool link_ib_paired(const struct port *src, const struct ohca_av *a, const struct port *dst,
			   const struct ohca_av *b)
{
	if (!dst->ib || has_grh(a) != has_grh(b))
		return false;
	if (le16toh(a->ib.dlid) != ib_port_source_lid(dst->ib, b) ||
	    le16toh(b->ib.dlid) != ib_port_source_lid(src->ib, a))
		return false;
	return !has_grh(a) || gids_match(src, a, dst, b);
}

static bool link_ib_egress(struct port *src, const struct ohca_av *av, uint16_t pkey)
{
	const struct ib_flow flow = {le16toh(av->ib.dlid), pkey, av->sl};
	struct ib_route route[IB_SWITCH_PORTS];

	/* Mostly there are no uplinks. */
	return src->hca->fabric->uplinks && ib_routes_out(route, src, &flow);
}

const struct link_ops link_ib = {
	.type = OHCA_LINK_INFINIBAND,
	.check_av = ib_check_av,
	.route = link_ib_route,
	.mcast_ports = link_ib_mcast_ports,
	.discard = ib_route_discard,
	.paired = link_ib_paired,
	.egress = link_ib_egress,
};
