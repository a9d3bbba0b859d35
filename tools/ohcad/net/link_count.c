// SPDX-License-Identifier: GPL-2.0
/* Packets that the counters of InfiniBand ports do not get from QPs. */

#include <endian.h>

#include "fabric/fabric.h"
#include "fabric/ib_port.h"
#include "fabric/ib_traffic.h"
#include "fabric/link_layer.h"
#include "net/datagram.h"
#include "net/link.h"
#include "net/link_count.h"
#include "net/link_takers.h"
#include "packet/pkt.h"
#include "qp/qp.h"

void link_describe(struct ib_packets *packet, const struct datagram *dg)
{
	*packet = (struct ib_packets){
		.head = {.key = dg->pkey,
			 .slid = le16toh(dg->cqe.ib.slid),
			 .dlid = le16toh(dg->av->ib.dlid),
			 .sl = dg->cqe.sl,
			 .src_qpn = le32toh(dg->cqe.src_qpn),
			 .dest_qpn = dg->dest_qpn},
		.num = 1,
		.bytes = dg->len - OHCA_GRH_LEN,
	};
}

static void count_bad_pkeys(struct ib_port *ib, const struct ib_packets *packets)
{
	uint64_t i;

	for (i = 0; i < packets->num; i++)
		ib_port_bad_pkey(ib, &packets->head);
}

/* With @pkey, which is not that of the peer's partition if it is @bad: its port takes notice of each packet then. */
static void lose(struct qp *src, const struct pkt *pkt, uint16_t pkey, bool bad)
{
	const struct ohca_av *av = &src->attr.av;
	struct port *from = src->port, *to;
	const struct ib_packets packets = {
		.head = {.key = pkey,
			 .slid = ib_port_source_lid(from->ib, av),
			 .dlid = le16toh(av->ib.dlid),
			 .sl = av->sl,
			 .src_qpn = src->id,
			 .dest_qpn = src->dest_qpn},
		.num = pkt_num_parts(pkt),
		.bytes = pkt->len,
	};

	to = from->ops->discard(from, &packets);
	if (to && bad)
		count_bad_pkeys(to->ib, &packets);
}

void link_lose(struct qp *src, const struct pkt *pkt)
{
	if (src->port->ops->discard)
		lose(src, pkt, qp_pkey(src), src->refused & REFUSED_PKEY);
}

bool link_takes_pkey(struct qp *src, const struct pkt *pkt, uint16_t pkey)
{
	struct port *from = src->port;
	const struct qp *dst = link_peer(src);
	bool good;

	if (!from->ops->discard)
		return pkeys_match(pkey, PKEY_DEFAULT);
	good = dst && pkeys_match(pkey, qp_pkey(dst));
	if (good && from->ops->route(from, &src->attr.av, pkey))
		return true;
	lose(src, pkt, pkey, !good);
	return false;
}

void link_lose_datagram(struct qp *src, const struct datagram *dg)
{
	struct port *from = src->port;
	struct ib_packets packet;

	if (!from->ops->discard)
		return;
	link_describe(&packet, dg);
	from->ops->discard(from, &packet);
}

void link_count_local(const struct qp *src, const struct pkt *pkt)
{
	struct ib_port *ib = src->port->ib;

	if (!ib)
		return;
	ib_traffic_add(&ib->counters.no_xmit, pkt_num_parts(pkt), pkt->len, 0);
	ib_traffic_add(&ib->counters.no_rcv, pkt_num_parts(pkt), pkt->len, 0);
}

struct ib_hops *link_hops(struct port *port, const struct ohca_av *av, uint16_t pkey)
{
	const struct ib_flow flow = {le16toh(av->ib.dlid), pkey, av->sl};
	struct ib_route route;

	if (!port->ib || !port->hca->fabric->ib_subnet)
		return NULL;
	ib_route_find(&route, port, &flow);
	return route.hops;
}

void link_count_hops(const struct qp *src, const struct datagram *dg)
{
	struct ib_hops *hops = link_hops(src->port, dg->av, dg->pkey);

	if (hops)
		ib_hops_count(hops, 1, dg->len - OHCA_GRH_LEN);
}

void link_count_arrival(const struct qp *src, struct port *port, const struct datagram *dg,
			unsigned int takers)
{
	link_count_takers(port, dg, takers, link_is_local(src, port, dg));
}
