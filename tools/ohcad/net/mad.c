// SPDX-License-Identifier: GPL-2.0
/* Management datagrams of InfiniBand ports. */

#include <endian.h>
#include <string.h>

#include "device/object.h"
#include "fabric/ib_port.h"
#include "fabric/ib_traffic.h"
#include "fabric/ib_route.h"
#include "net/datagram.h"
#include "net/link.h"
#include "net/link_count.h"
#include "net/mad.h"
#include "packet/gid.h"
#include "qp/qp.h"

#define DATAGRAM_LEN (OHCA_GRH_LEN + MAD_LEN)

/* The packet that @dg of @src is; for QP 1 with any P_Key and Q_Key.  False: it is none for QP @qpn. */
static bool to_packet(struct mad_packet *p, const struct qp *src, const struct datagram *dg,
		      uint32_t qpn)
{
	if (dg->dest_qpn != qpn || (qpn == QPN_SMI && dg->qkey != QKEY_SMI) ||
	    dg->len != DATAGRAM_LEN)
		return false;
	p->slid = le16toh(dg->cqe.ib.slid);
	p->dlid = le16toh(dg->av->ib.dlid);
	p->sl = dg->cqe.sl;
	p->hops = 0;
	p->pkey = qpn == QPN_GSI ? dg->pkey : PKEY_DEFAULT;
	p->dest_qpn = qpn;
	p->src_qpn = qp_link_num(src);
	p->qkey = dg->qkey;
	iov_peek(dg->iov + 1, dg->num - 1, p->mad, sizeof(p->mad));
	return true;
}

/* The datagram that @p is, at @av: both stay while it is used. */
static void to_datagram(struct datagram *dg, struct ohca_av *av, const struct mad_packet *p,
			uint32_t qkey, uint16_t pkey)
{
	*av = (struct ohca_av){.ib.dlid = htole16(p->dlid)};
	*dg = (struct datagram){
		.av = av,
		.dest_qpn = p->dest_qpn,
		.qkey = qkey,
		.pkey = pkey,
		.cqe = {.src_qpn = htole32(p->src_qpn),
			.ib.slid = htole16(p->slid),
			.sl = p->sl,
			.net_type = OHCA_NET_IB},
		.num = 2,
		.len = DATAGRAM_LEN,
	};
	dg->iov[0] = (struct iovec){dg->grh, sizeof(dg->grh)};
	dg->iov[1] = (struct iovec){(void *)p->mad, sizeof(p->mad)};
}

void smp_send(struct qp *src, const struct datagram *dg)
{
	struct port *port = src->port;
	struct mad_packet p;

	if (!to_packet(&p, src, dg, QPN_SMI))
		return;
	if (!port->ib->lid)
		p.slid = LID_PERMISSIVE;
	ib_send_smp(port, &p);
}

/* To QP 0, if there is one that receives. */
static bool receive_smp(struct port *port, const struct mad_packet *p)
{
	struct qp *qp = qp_of_port(port, QPN_SMI);
	struct datagram dg;
	struct ohca_av av;

	if (!qp || !port->hca->ready || port->hca->stalled)
		return false;
	to_datagram(&dg, &av, p, QKEY_SMI, PKEY_DEFAULT);
	return qp->ops->receive_datagram(qp, &dg);
}

/* Does the answer of the node with the port @from come to @port?  It is counted on its route. */
static bool answer_arrives(struct ib_port *from, struct port *port, const struct datagram *answer)
{
	const struct ib_flow flow = {le16toh(answer->av->ib.dlid), answer->pkey, answer->cqe.sl};
	struct ib_packets packet;
	struct ib_route route;

	link_describe(&packet, answer);
	ib_route_from_agent(&route, from, &flow);
	if (route.end != IB_ROUTE_UNSENT && from->num)
		ib_traffic_left(from, packet.num, packet.bytes);
	ib_route_count_discards(&route, &packet);
	if (route.hops)
		ib_hops_count(route.hops, packet.num, packet.bytes);
	return route.to == port;
}

bool gsi_ask_node(struct qp *src, const struct datagram *dg, uint64_t *received)
{
	const struct ib_flow flow = {le16toh(dg->av->ib.dlid), dg->pkey, dg->av->sl};
	struct port *port = src->port;
	struct datagram answer;
	struct mad_packet p;
	struct ohca_av av;
	struct ib_route route;

	ib_route_find(&route, port, &flow);
	if (route.end != IB_ROUTE_AGENT)
		return false;
	/* The packet is counted where it has come to, whatever becomes of it. */
	link_lose_datagram(src, dg);
	if (!to_packet(&p, src, dg, QPN_GSI) || !ib_node_takes(route.at, &p) ||
	    !ib_ask_node(route.at, &p))
		return true;
	to_datagram(&answer, &av, &p, QKEY_GSI, p.pkey);
	if (answer_arrives(route.at, port, &answer))
		*received = link_receive_datagram(src, port, &answer);
	return true;
}

static int smp_init(struct hca *hca)
{
	static const struct ib_client_ops client_ops = {.receive_smp = receive_smp};
	unsigned int i;

	for (i = 0; i < hca->num_ports; i++)
		hca->ports[i]->ib_client = &client_ops;
	return 0;
}

const struct object_class smp_class = {
	.init = smp_init,
};
