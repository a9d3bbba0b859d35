// SPDX-License-Identifier: GPL-2.0
/* Packets that arrive through uplinks. */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "capture/capture.h"
#include "fabric/fabric.h"
#include "net/datagram.h"
#include "net/ib_wire.h"
#include "net/link.h"
#include "net/mcast.h"
#include "packet/roce.h"
#include "qp/qp.h"
#include "fabric/uplink.h"
#include "net/wire.h"

#define TCLASS_ECN_MASK 3
#define TCLASS_ECN_CE 3

/* Two limited members of a partition can't communicate; the port is a full member. */
static bool pkey_is_ours(uint16_t pkey)
{
	return (pkey | PKEY_FULL) == PKEY_DEFAULT;
}

bool wire_is_for(const struct qp *qp, const struct bth_packet *p)
{
	switch (p->service) {
	case BTH_RC:
		return qp->type == OHCA_QPT_RC;
	case BTH_UC:
		return qp->type == OHCA_QPT_UC;
	case BTH_XRC:
		return qp->type ==
		       (pkt_is_response(p->pkt.op) ? OHCA_QPT_XRC_INI : OHCA_QPT_XRC_TGT);
	default:
		return qp_is(qp, QPT_DATAGRAM);
	}
}

/* Whether the packet is from the address that the QP is connected to */
static bool is_from_peer(const struct qp *qp, const struct roce_packet *p)
{
	const struct gid_entry *to = port_gid(qp->port, &qp->attr.av);

	return to && qp_receives(qp) && to->vlan == p->vlan && pkey_is_ours(p->bth.pkey) &&
	       !memcmp(to->gid, p->dgid, sizeof(p->dgid)) &&
	       !memcmp(qp->attr.av.dgid, p->sgid, sizeof(p->sgid));
}

/* Whether a switch has marked it for congestion */
static bool is_marked(const struct roce_packet *p)
{
	return (p->tclass & TCLASS_ECN_MASK) == TCLASS_ECN_CE;
}

static void count_mark(struct qp *qp, const struct roce_packet *p)
{
	if (is_marked(p))
		qp_count(qp, OHCA_CNT_RX_MARKED, 1);
}

static void receive_connected(struct wire_stats *stats, struct qp *qp, const struct roce_packet *p)
{
	if (!is_from_peer(qp, p)) {
		stats->not_peer++;
		return;
	}
	stats->received++;
	count_mark(qp, p);
	qp_count_received(qp, 1, p->bth.pkt.len);
	qp->ops->receive(qp, &p->bth.pkt);
}

static void make_datagram(struct datagram *dg, struct ohca_av *av, const struct roce_packet *p)
{
	memset(av, 0, sizeof(*av));
	memcpy(av->dgid, p->dgid, sizeof(p->dgid));
	dg->av = av;
	dg->from = NULL;
	dg->dest_qpn = p->bth.dest_qpn;
	dg->qkey = p->bth.qkey;
	dg->psn = p->bth.pkt.psn;
	dg->pkey = p->bth.pkey;
	memset(&dg->cqe, 0, sizeof(dg->cqe));
	dg->cqe.flags = OHCA_CQE_F_GRH;
	if (p->bth.pkt.flags & PKT_IMM) {
		dg->cqe.flags |= OHCA_CQE_F_IMM;
		dg->cqe.imm_data = p->bth.pkt.imm;
	}
	if (p->bth.pkt.flags & PKT_SOLICITED)
		dg->cqe.flags |= OHCA_CQE_F_SOLICITED;
	dg->cqe.src_qpn = htole32(p->bth.src_qpn);
	memcpy(dg->cqe.smac, p->smac, 6);
	dg->cqe.vlan = htole16(p->vlan);
	dg->cqe.sl = p->sl;
	dg->cqe.net_type = p->ip_len == ROCE_IPV4_LEN ? OHCA_NET_IPV4 : OHCA_NET_IPV6;
	memset(dg->grh, 0, sizeof(dg->grh));
	memcpy(dg->grh + sizeof(dg->grh) - p->ip_len, p->ip, p->ip_len);
	dg->iov[0].iov_base = dg->grh;
	dg->iov[0].iov_len = sizeof(dg->grh);
	dg->iov[1] = p->bth.payload;
	dg->num = 1 + p->bth.pkt.num;
	dg->len = sizeof(dg->grh) + p->bth.pkt.len;
}

/* Pass it to all ports of the VLAN; @frame is the same packet. */
static void receive_multicast(struct fabric *fabric, const struct roce_packet *p,
			      const struct iovec *frame)
{
	struct capture *capture = fabric->captures.running;
	struct datagram dg;
	struct ohca_av av;
	struct list *node;

	make_datagram(&dg, &av, p);
	fabric->wire->stats.received++;
	for (node = fabric->ports.next; node != &fabric->ports; node = node->next) {
		struct port *port = list_entry(node, struct port, link);

		if (!port->active || !port_in_vlan(port, p->vlan))
			continue;
		if (capture && mcast_has_members(port, &av))
			capture_frame(capture, &port->capture, PCAPNG_IN, frame, 1, frame->iov_len);
		link_receive_datagram(NULL, port, &dg);
	}
}

static void receive_datagram(struct wire_stats *stats, struct qp *qp, const struct roce_packet *p)
{
	struct datagram dg;
	struct ohca_av av;

	if (!pkey_is_ours(p->bth.pkey)) {
		stats->not_peer++;
		qp_count(qp, OHCA_CNT_RX_DROPPED, 1);
		return;
	}
	stats->received++;
	count_mark(qp, p);
	make_datagram(&dg, &av, p);
	qp->ops->receive_datagram(qp, &dg);
}

/* A congestion notification: the QP's peer asks it to slow down.  @port: NULL for multicast */
static void receive_cnp(struct wire_stats *stats, struct port *port, const struct roce_packet *p)
{
	struct qp *qp = port ? qp_of_port(port, p->bth.dest_qpn) : NULL;

	stats->cnps++;
	if (qp)
		qp_count(qp, OHCA_CNT_RX_CNPS, 1);
}

/* @port: NULL for multicast; @frame: the same packet */
static void receive(struct fabric *fabric, struct port *port, const struct roce_packet *p,
		    const struct iovec *frame)
{
	struct wire_stats *stats = &fabric->wire->stats;
	struct qp *qp = port ? qp_of_port(port, p->bth.dest_qpn) : NULL;

	if (!port && p->bth.service == BTH_UD && p->bth.dest_qpn == QPN_MCAST &&
	    pkey_is_ours(p->bth.pkey))
		receive_multicast(fabric, p, frame);
	else if (!qp || !wire_is_for(qp, &p->bth))
		stats->no_qp++;
	else if (p->bth.service == BTH_UD)
		receive_datagram(stats, qp, p);
	else
		receive_connected(stats, qp, p);
}

/* @late: the hooks have passed it on */
static bool receive_frame(struct fabric *fabric, const uint8_t *frame, size_t len, bool late)
{
	struct wire_stats *stats = &fabric->wire->stats;
	const struct iovec iov = {.iov_base = (void *)frame, .iov_len = len};
	struct port *port = NULL;
	enum packet_verdict verdict;
	struct roce_packet p;

	verdict = roce_peek(&p, frame, len);
	if (verdict == PACKET_OTHER)
		return false;
	if (owner_of_gid(fabric, p.sgid, p.vlan)) {
		stats->from_here++;
		return true;
	}
	if (!mcast_is_group(p.dgid)) {
		port = fabric_find(fabric, fabric->wire->routes, p.dgid, p.dmac, p.vlan);
		if (!port)
			return false;
	}
	if (verdict == PACKET_GOOD)
		verdict = roce_decode(&p);
	if (verdict == PACKET_GOOD && fabric->link_hooks && port && !late &&
	    fabric->link_hooks->frame(port, &p.bth, frame, len))
		return true;
	if (port)
		capture_frame(fabric->captures.running, &port->capture, PCAPNG_IN, &iov, 1, len);
	if (is_marked(&p))
		stats->marked++;
	if (verdict == PACKET_GOOD)
		receive(fabric, port, &p, &iov);
	else if (verdict == PACKET_CNP)
		receive_cnp(stats, port, &p);
	else if (verdict == PACKET_BAD_CRC)
		stats->bad_icrc++;
	else
		stats->malformed++;
	return true;
}

static bool wire_receive(struct fabric *fabric, const uint8_t *frame, size_t len)
{
	return receive_frame(fabric, frame, len, false);
}

void wire_receive_late(struct port *port, const uint8_t *frame, size_t len)
{
	if (port->ib)
		ib_wire_receive_late(port, frame, len);
	else
		receive_frame(port->hca->fabric, frame, len, true);
}

uint8_t *wire_transport(const struct port *port, uint8_t *frame, size_t len, size_t *size)
{
	const struct bth_packet *bth;
	enum packet_verdict verdict;
	struct roce_packet roce;
	struct ib_packet ib;

	if (port->ib) {
		verdict = ib_peek(&ib, frame, len);
		bth = &ib.bth;
	} else {
		verdict = roce_peek(&roce, frame, len);
		bth = &roce.bth;
	}
	if (verdict != PACKET_GOOD)
		return NULL;
	*size = bth->len;
	return frame + (bth->data - frame);
}

void wire_put_crcs(const struct port *port, uint8_t *frame, size_t len)
{
	struct roce_packet p;
	uint8_t *end;
	uint32_t crc;

	if (port->ib) {
		end = frame + len - VCRC_LEN - ICRC_LEN;
		crc = htole32(ib_icrc(frame, end - frame));
		memcpy(end, &crc, sizeof(crc));
		ib_put_vcrc(frame, len);
	} else if (roce_peek(&p, frame, len) == PACKET_GOOD) {
		end = frame + (p.bth.data - frame) + p.bth.len - ICRC_LEN;
		crc = htole32(roce_icrc(p.ip, p.ip_len, end - p.ip));
		memcpy(end, &crc, sizeof(crc));
	}
}

int wire_init(struct fabric *fabric, struct loop *loop)
{
	int err;

	fabric->wire = calloc(1, sizeof(*fabric->wire));
	if (!fabric->wire)
		return -ENOMEM;
	fabric->receive = wire_receive;
	fabric->receive_ib = ib_wire_receive;
	err = fabric_open_uplinks(fabric, loop);
	if (!err)
		return 0;
	free(fabric->wire);
	fabric->wire = NULL;
	return err;
}

void wire_fini(struct fabric *fabric)
{
	const struct wire_stats *stats;

	if (!fabric->wire)
		return;
	fabric_close_uplinks(fabric);
	stats = &fabric->wire->stats;
	log_info(NULL,
		 "packets: %llu sent, %llu received, %llu marked, %llu CNPs; "
		 "dropped: %llu malformed, %llu CRC, %llu no QP, %llu not its peer, "
		 "%llu from here",
		 (unsigned long long)stats->sent, (unsigned long long)stats->received,
		 (unsigned long long)stats->marked, (unsigned long long)stats->cnps,
		 (unsigned long long)stats->malformed, (unsigned long long)stats->bad_icrc,
		 (unsigned long long)stats->no_qp, (unsigned long long)stats->not_peer,
		 (unsigned long long)stats->from_here);
	free(fabric->wire);
	fabric->wire = NULL;
}
