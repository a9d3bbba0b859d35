// SPDX-License-Identifier: GPL-2.0
/*
 * The way of packets to other QPs.  The peer of a connection is looked up once and remembered until
 * the fabric changes, which any change of a QP's connection is too.  An address that no port of this
 * process has is behind an uplink, if there is one.
 */

#include <endian.h>

#include "fabric.h"
#include "mcast.h"
#include "qp.h"
#include "roce.h"
#include "ud.h"
#include "wire.h"

/* The type of QP that one of this type talks to. */
static uint8_t peer_type(uint8_t type)
{
	switch (type) {
	case OHCA_QPT_XRC_INI:
		return OHCA_QPT_XRC_TGT;
	case OHCA_QPT_XRC_TGT:
		return OHCA_QPT_XRC_INI;
	default:
		return type;
	}
}

static bool connected(const struct qp *src, const struct qp *dst)
{
	const struct gid_entry *from = port_gid(&src->hca->port, &src->attr.av);
	const struct gid_entry *to = port_gid(&dst->hca->port, &dst->attr.av);

	return from && to && dst->type == peer_type(src->type) && dst->dest_qpn == src->id &&
	       qp_receives(dst) && from->vlan == to->vlan &&
	       !memcmp(src->attr.av.dgid, to->gid, sizeof(to->gid)) &&
	       !memcmp(dst->attr.av.dgid, from->gid, sizeof(from->gid));
}

static __attribute__((noinline)) struct qp *find_peer(struct qp *src)
{
	struct fabric *fabric = src->hca->fabric;
	const struct ohca_av *av = &src->attr.av;
	const struct gid_entry *from = port_gid(&src->hca->port, av);
	struct port *port = from ? fabric_route(fabric, &src->hca->port, from, av) : NULL;
	struct qp *dst = port ? qp_get(port->hca, src->dest_qpn) : NULL;

	src->peer = dst && connected(src, dst) ? dst : NULL;
	src->wire = from && !port && fabric->uplinks && src->hca->port.active;
	src->peer_gen = fabric->gen;
	return src->peer;
}

static inline struct qp *peer(struct qp *src)
{
	struct qp *dst = src->peer_gen == src->hca->fabric->gen ? src->peer : find_peer(src);

	return dst && dst->hca->ready && !dst->hca->stalled ? dst : NULL;
}

/* @pkts: OHCA_CNT_TX_PKTS or _RX_PKTS, after which comes the counter of bytes. */
static inline void count_packets(struct qp *qp, enum ohca_counter pkts, const struct pkt *pkt)
{
	qp_count(qp, pkts, pkt->op == PKT_READ_REQ ? 1 : pkt->npsn);
	qp_count(qp, pkts + 1, pkt->len);
}

void link_send(struct qp *src, const struct pkt *pkt)
{
	struct qp *dst = peer(src);

	count_packets(src, OHCA_CNT_TX_PKTS, pkt);
	if (!dst) {
		if (src->wire)
			wire_send(src, pkt);
		return;
	}
	count_packets(dst, OHCA_CNT_RX_PKTS, pkt);
	if (pkt_is_response(pkt->op))
		requester_rx(dst, pkt);
	else
		responder_rx(dst, pkt);
}

bool link_has_opcode(struct qp *src, const struct pkt *pkt)
{
	return peer(src) || !src->wire || roce_atomic_is_plain(pkt);
}

bool link_busy(struct qp *src)
{
	struct qp *dst = peer(src);

	return dst && (dst->resp.rd_num || dst->resp.fault.state == FAULT_WAITING);
}

bool link_faulted(struct qp *src)
{
	struct qp *dst = peer(src);

	return dst && dst->resp.nak == NAK_FAULT;
}

/* Multicast goes to all ports that are in the VLAN, the sender's own included. */
static uint64_t send_multicast(struct qp *src, const struct datagram *dg)
{
	struct fabric *fabric = src->hca->fabric;
	struct list *node;
	uint64_t sum = 0;

	for (node = fabric->ports.next; node != &fabric->ports; node = node->next) {
		struct port *port = list_entry(node, struct port, link);

		if (port->active && port_in_vlan(port, dg->from->vlan))
			sum += mcast_receive(port->hca, src, dg);
	}
	if (fabric->uplinks)
		wire_send_datagram(src, dg);
	return sum;
}

uint64_t link_send_datagram(struct qp *src, const struct datagram *dg)
{
	struct port *port;
	struct qp *dst;

	if (!src->hca->port.active)
		return 0;
	if (dg->dest_qpn == UD_MCAST_QPN)
		return mcast_is_group(dg->av->dgid) ? send_multicast(src, dg) : 0;
	port = fabric_route(src->hca->fabric, &src->hca->port, dg->from, dg->av);
	if (!port && src->hca->fabric->uplinks)
		wire_send_datagram(src, dg);
	dst = port ? qp_get(port->hca, dg->dest_qpn) : NULL;
	return dst && qp_is(dst, QPT_DATAGRAM) && ud_receive(dst, dg) ? dg->len : 0;
}
