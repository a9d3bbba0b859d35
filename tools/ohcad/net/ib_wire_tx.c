// SPDX-License-Identifier: GPL-2.0
/* The wire of InfiniBand ports: what leaves through uplinks. */

#include <endian.h>

#include "fabric/fabric.h"
#include "fabric/ib_forward.h"
#include "fabric/ib_route.h"
#include "net/datagram.h"
#include "net/ib_wire.h"
#include "net/link.h"
#include "net/wire.h"
#include "packet/roce.h"
#include "qp/qp.h"
#include "qp/qp_mig.h"

/**
 * struct exits - the routes by which packets leave the process
 */
struct exits {
	struct ib_route route[IB_SWITCH_PORTS];
	unsigned int num;
};

static void find_exits(struct exits *exits, const struct qp *src, const struct ib_path *path)
{
	const struct ib_flow flow = {le16toh(path->av->ib.dlid), path->bth.pkey, path->av->sl};

	exits->num = ib_routes_out(exits->route, src->port, &flow);
}

static void send_packet(struct fabric *fabric, const struct exits *exits, struct ib_path *path,
			const struct pkt *pkt, struct iov_pos *payload)
{
	uint8_t packet[IB_MAX_PACKET];
	unsigned int i;
	uint16_t hops;
	uint32_t len;

	path->vl = exits->num ? exits->route[0].vl : 0;
	len = ib_encode(packet, path, pkt, payload);
	if (fabric->link_hooks) {
		size_t head = LRH_LEN + (path->sgid ? OHCA_GRH_LEN : 0);

		fabric->link_hooks->encoded(fabric, packet + head, len - head - VCRC_LEN);
		ib_put_vcrc(packet, len);
	}
	fabric->wire->stats.sent++;
	hops = ib_hops_of_copy(le16toh(path->av->ib.dlid), 0, exits->num ?: 1);
	for (i = 0; i < exits->num; i++) {
		const struct ib_route *route = &exits->route[i];

		/* Those of a multicast packet are counted with what stays in the process. */
		if (route->hops)
			ib_hops_count(route->hops, 1, pkt->len);

		if (packet[0] >> 4 != route->vl) {
			packet[0] = route->vl << 4;
			ib_put_vcrc(packet, len);
		}
		ib_forward_out(route->at, packet, len, hops);
	}
}

/* The route of packets by @av from a port */
static void set_route(struct ib_path *path, const struct ib_port *ib, const struct ohca_av *av)
{
	path->av = av;
	path->sgid = av->ib.flags & OHCA_AV_GRH ? ib->gids[le16toh(av->sgid_index)] : NULL;
	path->slid = ib_port_source_lid(ib, av);
	path->vl = 0;
}

void ib_wire_path(const struct qp *src, struct ib_path *path)
{
	const struct port *port = src->port;

	set_route(path, port->ib, &src->attr.av);
	path->bth = (struct bth_path){
		.service = wire_service(src),
		.mig_req = qp_mig_req(src),
		.pkey = qp_pkey(src),
		.dest_qpn = src->dest_qpn,
	};
}

void ib_wire_send(struct qp *src, const struct pkt *pkt, uint16_t pkey)
{
	struct iov_pos payload = {.iov = pkt->iov};
	uint32_t i, num = pkt_num_parts(pkt);
	struct ib_path path;
	struct exits exits;

	if (!bth_atomic_is_plain(pkt))
		return;
	ib_wire_path(src, &path);
	path.bth.pkey = pkey;
	find_exits(&exits, src, &path);
	for (i = 0; i < num; i++) {
		struct pkt part = pkt_part(pkt, i, src->mtu_shift);

		send_packet(src->hca->fabric, &exits, &path, &part, &payload);
	}
}

struct pkt ib_wire_datagram(const struct qp *src, const struct datagram *dg, struct ib_path *path)
{
	struct roce_path roce;
	struct pkt pkt = wire_datagram(src, dg, &roce);

	set_route(path, src->port->ib, dg->av);
	path->bth = roce.bth;
	/* An answer of the switch's agent is not from the port of @src. */
	path->slid = le16toh(dg->cqe.ib.slid);
	path->bth.src_qpn = le32toh(dg->cqe.src_qpn);
	return pkt;
}

bool ib_wire_send_datagram(struct qp *src, const struct datagram *dg)
{
	struct ib_path path;
	struct pkt pkt = ib_wire_datagram(src, dg, &path);
	struct iov_pos payload = {.iov = pkt.iov};
	struct exits exits;

	find_exits(&exits, src, &path);
	if (!exits.num)
		return false;
	send_packet(src->hca->fabric, &exits, &path, &pkt, &payload);
	return true;
}
