// SPDX-License-Identifier: GPL-2.0
/* The wire of InfiniBand ports: what has come through uplinks, and for this port through the switch. */

#include <endian.h>
#include <string.h>

#include "capture/capture.h"
#include "fabric/fabric.h"
#include "fabric/ib_forward.h"
#include "fabric/ib_traffic.h"
#include "net/datagram.h"
#include "net/ib_wire.h"
#include "net/link.h"
#include "net/mcast.h"
#include "net/wire.h"
#include "qp/qp.h"
#include "qp/qp_mig.h"

/* Of the GRH */
static const uint8_t *sgid_of(const struct ib_packet *p)
{
	return p->grh + 8;
}

static const uint8_t *dgid_of(const struct ib_packet *p)
{
	return p->grh + 24;
}

/* Does it come to @ib by @av: from where that leads, and to its own address (9.6.1.2)? */
static bool comes_by(const struct ib_port *ib, const struct ib_packet *p, const struct ohca_av *av)
{
	uint16_t index = le16toh(av->sgid_index);

	if (p->slid != le16toh(av->ib.dlid) || p->dlid != ib_port_source_lid(ib, av) ||
	    !p->grh != !(av->ib.flags & OHCA_AV_GRH))
		return false;
	return !p->grh || (index < PORT_GIDS && !memcmp(av->dgid, sgid_of(p), sizeof(av->dgid)) &&
			   !memcmp(ib->gids[index], dgid_of(p), sizeof(ib->gids[0])));
}

/* Is it of the partition of the path?  If not, the port takes notice. */
static bool check_pkey(struct port *port, const struct qp *qp, const struct ib_packet *p,
		       enum path_verdict verdict)
{
	struct ib_violation v;

	if (pkeys_match(qp_mig_pkey(qp, verdict), p->bth.pkey))
		return true;
	v = ib_violation_of(p);
	v.src_qpn = qp->dest_qpn;
	ib_port_bad_pkey(port->ib, &v);
	return false;
}

/* Does the QP take what has come to @port?  It notices what the packet says of path migration. */
static bool takes(struct port *port, struct qp *qp, const struct ib_packet *p)
{
	bool mig_req = p->bth.mig_req;
	enum path_verdict verdict;

	if (!qp_receives(qp))
		return false;
	verdict = qp_mig_judge(qp, mig_req, comes_by(port->ib, p, qp_mig_path(qp, mig_req)));
	if (verdict == PATH_OTHER)
		return false;
	if (verdict == PATH_NO_ALTERNATE || !check_pkey(port, qp, p, verdict)) {
		if (verdict == PATH_NO_ALTERNATE || verdict == PATH_ALTERNATE)
			qp_mig_fail(qp);
		return false;
	}
	if (qp_mig_tells(verdict))
		qp_mig_notice(qp);
	return true;
}

/* It has passed the port, and no QP counts it. */
static void lose(struct port *port, const struct ib_packet *p, uint32_t bytes)
{
	ib_traffic_arrived(port->ib, 1, bytes, p->dlid >= LID_MCAST);
}

static void receive_connected(struct wire_stats *stats, struct port *port, struct qp *qp,
			      const struct ib_packet *p)
{
	if (!takes(port, qp, p)) {
		stats->not_peer++;
		lose(port, p, p->bth.pkt.len);
		return;
	}
	stats->received++;
	qp_count_received(qp, 1, p->bth.pkt.len);
	qp->ops->receive(qp, &p->bth.pkt);
}

static void make_datagram(struct datagram *dg, struct ohca_av *av, const struct ib_packet *p)
{
	const struct pkt *pkt = &p->bth.pkt;

	*av = (struct ohca_av){.ib.dlid = htole16(p->dlid), .sl = p->sl};
	dg->av = av;
	dg->from = NULL;
	dg->dest_qpn = p->bth.dest_qpn;
	dg->qkey = p->bth.qkey;
	dg->psn = pkt->psn;
	dg->pkey = p->bth.pkey;
	dg->cqe = (struct ohca_cqe){
		.src_qpn = htole32(p->bth.src_qpn),
		.ib.slid = htole16(p->slid),
		.sl = p->sl,
		.net_type = OHCA_NET_IB,
	};
	if (pkt->flags & PKT_IMM) {
		dg->cqe.flags |= OHCA_CQE_F_IMM;
		dg->cqe.imm_data = pkt->imm;
	}
	if (pkt->flags & PKT_SOLICITED)
		dg->cqe.flags |= OHCA_CQE_F_SOLICITED;
	if (p->grh) {
		dg->cqe.flags |= OHCA_CQE_F_GRH;
		av->ib.flags = OHCA_AV_GRH;
		memcpy(av->dgid, dgid_of(p), sizeof(av->dgid));
		memcpy(dg->grh, p->grh, sizeof(dg->grh));
	} else {
		memset(dg->grh, 0, sizeof(dg->grh));
	}
	dg->iov[0] = (struct iovec){dg->grh, sizeof(dg->grh)};
	dg->iov[1] = p->bth.payload;
	dg->num = 1 + pkt->num;
	dg->len = sizeof(dg->grh) + pkt->len;
}

static void receive_datagram(struct wire_stats *stats, struct qp *qp, const struct ib_packet *p)
{
	struct datagram dg;
	struct ohca_av av;

	stats->received++;
	if (!qp_receives(qp))
		lose(qp->port, p, p->bth.pkt.len);
	make_datagram(&dg, &av, p);
	qp->ops->receive_datagram(qp, &dg);
}

/* To a group: packets to one have a GRH. */
static void receive_multicast(struct port *port, const struct ib_packet *p)
{
	struct fabric *fabric = port->hca->fabric;
	const struct iovec iov = {.iov_base = (void *)p->lrh, .iov_len = p->len};
	struct datagram dg;
	struct ohca_av av;

	fabric->wire->stats.received++;
	make_datagram(&dg, &av, p);
	if (mcast_has_members(port, &av))
		capture_frame(fabric->captures.running, &port->capture, PCAPNG_IN, &iov, 1, p->len);
	link_receive_datagram(NULL, port, &dg);
}

/* A datagram to the LID of a group is for all members, and only such a one is. */
static bool is_multicast(const struct ib_packet *p)
{
	return p->dlid >= LID_MCAST && p->bth.service == BTH_UD && p->grh &&
	       mcast_is_group(dgid_of(p));
}

static void lose_unknown(struct port *port, const struct ib_packet *p)
{
	port->hca->fabric->wire->stats.no_qp++;
	lose(port, p, p->bth.pkt.len);
}

/* The QP that the packet is for, or NULL: one of the port, or one whose alternate path ends there if its peer has migrated */
static struct qp *find_qp(const struct port *port, const struct bth_packet *bth)
{
	struct qp *qp = qp_of_port(port, bth->dest_qpn);

	if (qp || !bth->mig_req)
		return qp;
	qp = qp_get(port->hca, bth->dest_qpn);
	if (!qp || !qp_is(qp, QPT_CONNECTED) || qp->attr.path_mig_state != OHCA_MIG_ARMED ||
	    qp->attr.alt_port != port->num)
		return NULL;
	return qp;
}

static void receive_good(struct port *port, const struct ib_packet *p)
{
	struct wire_stats *stats = &port->hca->fabric->wire->stats;
	struct qp *qp = find_qp(port, &p->bth);

	/* QP 0 has a lane of its own. */
	if (p->dlid >= LID_MCAST || !qp || !wire_is_for(qp, &p->bth) || qp->type == OHCA_QPT_SMI)
		lose_unknown(port, p);
	else if (p->bth.service == BTH_UD)
		receive_datagram(stats, qp, p);
	else
		receive_connected(stats, port, qp, p);
}

/* A congestion notification */
static void receive_cnp(struct port *port, const struct ib_packet *p)
{
	struct qp *qp = qp_of_port(port, p->bth.dest_qpn);

	port->hca->fabric->wire->stats.cnps++;
	lose(port, p, 0);
	if (qp)
		qp_count(qp, OHCA_CNT_RX_CNPS, 1);
}

/* @late: it has been here, and those who hooked are done with it */
static void receive(struct port *port, struct ib_packet *p, bool late)
{
	struct fabric *fabric = port->hca->fabric;
	struct wire_stats *stats = &fabric->wire->stats;
	const struct iovec iov = {.iov_base = (void *)p->lrh, .iov_len = p->len};
	enum packet_verdict verdict = ib_decode(p);

	if (verdict == PACKET_GOOD && p->bth.dest_qpn == QPN_MCAST && is_multicast(p)) {
		receive_multicast(port, p);
		return;
	}
	if (verdict == PACKET_GOOD && fabric->link_hooks && !late &&
	    fabric->link_hooks->frame(port, &p->bth, p->lrh, p->len))
		return;
	capture_frame(fabric->captures.running, &port->capture, PCAPNG_IN, &iov, 1, p->len);
	if (verdict == PACKET_GOOD) {
		receive_good(port, p);
	} else if (verdict == PACKET_CNP) {
		receive_cnp(port, p);
	} else {
		stats->bad_icrc += verdict == PACKET_BAD_CRC;
		stats->malformed += verdict == PACKET_MALFORMED;
		lose(port, p, 0);
	}
}

void ib_wire_receive(struct port *port, const struct ib_packet *from)
{
	struct ib_packet p = *from;

	receive(port, &p, false);
}

void ib_wire_receive_late(struct port *port, const uint8_t *packet, size_t len)
{
	struct ib_packet p;

	if (port->active && ib_peek(&p, packet, len) == PACKET_GOOD)
		receive(port, &p, true);
}
