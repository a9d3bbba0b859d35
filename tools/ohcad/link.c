// SPDX-License-Identifier: GPL-2.0
/*
 * The way of packets from a QP to its peer.  Both are in this process: the peer is looked up once
 * and remembered until the fabric changes, which any change of a QP's connection is too.
 */

#include <endian.h>

#include "fabric.h"
#include "qp.h"

/* Does the entry @index of @port's table have @gid? */
static const struct gid_entry *own_gid(const struct port *port, const struct ohca_av *av)
{
	uint16_t index = le16toh(av->sgid_index);

	if (index >= PORT_GIDS || port->gids[index].type == OHCA_GID_NONE)
		return NULL;
	return &port->gids[index];
}

static bool connected(const struct qp *src, const struct qp *dst)
{
	const struct gid_entry *from = own_gid(&src->hca->port, &src->attr.av);
	const struct gid_entry *to = own_gid(&dst->hca->port, &dst->attr.av);

	return from && to && dst->type == src->type && dst->dest_qpn == src->id &&
	       qp_receives(dst) && from->vlan == to->vlan &&
	       !memcmp(src->attr.av.dgid, to->gid, sizeof(to->gid)) &&
	       !memcmp(dst->attr.av.dgid, from->gid, sizeof(from->gid));
}

static __attribute__((noinline)) struct qp *find_peer(struct qp *src)
{
	struct fabric *fabric = src->hca->fabric;
	const struct ohca_av *av = &src->attr.av;
	struct port *port = fabric_route(fabric, &src->hca->port, av->dmac, av->dgid);
	struct qp *dst = port ? qp_get(port->hca, src->dest_qpn) : NULL;

	src->peer = dst && connected(src, dst) ? dst : NULL;
	src->peer_gen = fabric->gen;
	return src->peer;
}

static inline struct qp *peer(struct qp *src)
{
	struct qp *dst = src->peer_gen == src->hca->fabric->gen ? src->peer : find_peer(src);

	return dst && dst->hca->ready && !dst->hca->stalled ? dst : NULL;
}

void link_send(struct qp *src, const struct pkt *pkt)
{
	struct qp *dst = peer(src);

	if (!dst)
		return;
	if (pkt->op == PKT_READ_RESP || pkt->op == PKT_ACK)
		requester_rx(dst, pkt);
	else
		responder_rx(dst, pkt);
}

bool link_busy(struct qp *src)
{
	struct qp *dst = peer(src);

	return dst && dst->resp.rd_num;
}
