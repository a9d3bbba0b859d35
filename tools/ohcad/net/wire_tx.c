// SPDX-License-Identifier: GPL-2.0
/* Packets that leave through uplinks. */

#include "fabric/fabric.h"
#include "fabric/link_layer.h"
#include "fabric/uplink.h"
#include "net/datagram.h"
#include "net/ib_wire.h"
#include "net/link.h"
#include "net/wire.h"
#include "packet/roce.h"
#include "qp/qp.h"

/* Whoever has hooked may change it. */
static void show_hook(struct fabric *fabric, uint8_t *frame, uint32_t len)
{
	struct roce_packet p;

	if (roce_peek(&p, frame, len) == PACKET_GOOD)
		fabric->link_hooks->encoded(fabric, frame + (p.bth.data - frame), p.bth.len);
}

static void send_packet(struct fabric *fabric, const struct roce_path *path, const struct pkt *pkt,
			struct iov_pos *payload)
{
	uint8_t frame[ROCE_MAX_FRAME];
	const struct iovec iov = {.iov_base = frame,
				  .iov_len = roce_encode(frame, path, pkt, payload)};

	if (fabric->link_hooks)
		show_hook(fabric, frame, iov.iov_len);
	fabric->wire->stats.sent++;
	uplinks_send(fabric->uplinks, path->av->dmac, &iov, 1, iov.iov_len);
}

uint8_t wire_service(const struct qp *qp)
{
	switch (qp->type) {
	case OHCA_QPT_UC:
		return BTH_UC;
	case OHCA_QPT_XRC_INI:
	case OHCA_QPT_XRC_TGT:
		return BTH_XRC;
	case OHCA_QPT_UD:
	case OHCA_QPT_GSI:
		return BTH_UD;
	default:
		return BTH_RC;
	}
}

bool wire_path(const struct qp *src, struct roce_path *path)
{
	path->av = &src->attr.av;
	path->from = port_gid(src->port, &src->attr.av);
	path->bth.service = wire_service(src);
	path->bth.mig_req = false; /* there is no path migration with RoCE */
	path->bth.pkey = qp_pkey(src);
	path->sport = roce_sport(&src->attr.av, src->id, src->dest_qpn);
	path->bth.dest_qpn = src->dest_qpn;
	return path->from;
}

/* pkt.h describes the packets of a burst. */
void wire_send_pkey(struct qp *src, const struct pkt *pkt, uint16_t pkey)
{
	struct iov_pos payload = {.iov = pkt->iov};
	uint32_t i, num = pkt_num_parts(pkt);
	struct roce_path path;

	if (src->port->ib) {
		ib_wire_send(src, pkt, pkey);
		return;
	}
	if (!wire_path(src, &path) || !bth_atomic_is_plain(pkt))
		return;
	path.bth.pkey = pkey;
	for (i = 0; i < num; i++) {
		struct pkt part = pkt_part(pkt, i, src->mtu_shift);

		send_packet(src->hca->fabric, &path, &part, &payload);
	}
}

void wire_send(struct qp *src, const struct pkt *pkt)
{
	wire_send_pkey(src, pkt, qp_pkey(src));
}

struct pkt wire_datagram(const struct qp *src, const struct datagram *dg, struct roce_path *path)
{
	struct pkt pkt = {
		.op = PKT_SEND,
		.flags = PKT_FIRST | PKT_LAST,
		.psn = dg->psn,
		.npsn = 1,
		.iov = dg->iov + 1,
		.num = dg->num - 1,
		.len = dg->len - OHCA_GRH_LEN,
	};

	path->av = dg->av;
	path->from = dg->from;
	path->bth.service = BTH_UD;
	path->bth.mig_req = false;
	path->bth.pkey = dg->pkey;
	path->sport = roce_sport(dg->av, qp_link_num(src), dg->dest_qpn);
	path->bth.dest_qpn = dg->dest_qpn;
	path->bth.qkey = dg->qkey;
	path->bth.src_qpn = qp_link_num(src);
	if (dg->cqe.flags & OHCA_CQE_F_SOLICITED)
		pkt.flags |= PKT_SOLICITED;
	if (dg->cqe.flags & OHCA_CQE_F_IMM) {
		pkt.flags |= PKT_IMM;
		pkt.imm = dg->cqe.imm_data;
	}
	return pkt;
}

static void send_datagram(struct qp *src, const struct datagram *dg)
{
	struct roce_path path;
	struct pkt pkt = wire_datagram(src, dg, &path);
	struct iov_pos payload = {.iov = pkt.iov};

	send_packet(src->hca->fabric, &path, &pkt, &payload);
}

bool wire_send_datagram(struct qp *src, const struct datagram *dg)
{
	struct port *port = src->port;

	if (port->ib) {
		if (!port->hca->fabric->uplinks || !ib_wire_send_datagram(src, dg))
			return false;
	} else if (port->ops->egress(port, dg->av, dg->pkey)) {
		send_datagram(src, dg);
	} else {
		return false;
	}
	src->egress = true;
	return true;
}
