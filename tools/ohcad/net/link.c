// SPDX-License-Identifier: GPL-2.0
/*
 * The way of packets to other QPs.  The peer of a connection is looked up once and remembered until
 * the fabric changes, which any change of a QP's connection is too.  An address that no port of this
 * process has is behind an uplink, if there is one.
 *
 * While the fabric has hooks (struct link_hooks), the packets that these select take the hooked
 * path; others notice nothing of it.
 */

#include <endian.h>

#include "fabric/fabric.h"
#include "fabric/link_layer.h"
#include "net/capture_pkt.h"
#include "net/datagram.h"
#include "net/link.h"
#include "net/link_count.h"
#include "net/mad.h"
#include "net/mcast.h"
#include "qp/qp.h"
#include "qp/sched.h"
#include "qp/qp_mig.h"
#include "packet/roce.h"
#include "net/wire.h"

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

/* Packets from @src come to @at: is that where a path of the peer, by @av of port @num, ends? */
static bool is_path_of(const struct qp *src, const struct port *at, const struct ohca_av *av,
		       uint8_t num)
{
	const struct port *from = src->port;

	return at->num == num && from->ops->paired(from, &src->attr.av, at, av);
}

static enum path_verdict judge_path(const struct qp *src, const struct port *at,
				    const struct qp *dst)
{
	const struct ohca_qp_attr *attr = &dst->attr;
	bool mig_req = qp_mig_req(src);
	const struct ohca_av *av = qp_mig_path(dst, mig_req);
	uint8_t num = av == &attr->alt_av ? attr->alt_port : attr->port;

	return qp_mig_judge(dst, mig_req, is_path_of(src, at, av, num));
}

/* Do both connect to each other, whichever path it is? */
static bool connected(const struct qp *src, const struct qp *dst)
{
	return dst->type == peer_type(src->type) && dst->dest_qpn == src->id && qp_receives(dst);
}

/* Does @dst take packets from @src that have come to @at?  It notes what else they are to it. */
static bool takes(struct qp *src, const struct port *at, const struct qp *dst)
{
	enum path_verdict verdict = judge_path(src, at, dst);

	if (verdict == PATH_OTHER)
		return false;
	src->mig_notice = qp_mig_tells(verdict);
	if (verdict == PATH_NO_ALTERNATE)
		src->refused = REFUSED_MIG_REQ;
	else if (!pkeys_match(qp_pkey(src), qp_mig_pkey(dst, verdict)))
		src->refused = REFUSED_PKEY | (verdict == PATH_ALTERNATE ? REFUSED_MIG_REQ : 0);
	return !src->refused;
}

static __attribute__((noinline)) struct qp *find_peer(struct qp *src)
{
	struct fabric *fabric = src->hca->fabric;
	const struct ohca_av *av = &src->attr.av;
	struct port *from = src->port, *port = from->ops->route(from, av, qp_pkey(src));
	struct qp *dst = port ? qp_get(port->hca, src->dest_qpn) : NULL;

	src->refused = 0;
	src->mig_notice = false;
	if (dst && !(connected(src, dst) && takes(src, port, dst)))
		dst = NULL;
	src->egress = !port && from->ops->egress(from, av, qp_pkey(src));
	src->hooked = fabric->link_hooks && (dst || src->egress) &&
		      fabric->link_hooks->between(fabric, src, dst);
	src->remote = src->egress || src->hooked;
	src->peer = src->hooked || src->mig_notice ? NULL : dst;
	src->peer_slow = src->peer ? NULL : dst;
	src->hops = dst ? link_hops(from, av, qp_pkey(src)) : NULL;
	src->peer_gen = fabric->gen;
	return src->peer;
}

static inline struct qp *usable(struct qp *dst)
{
	return dst && dst->hca->ready && !dst->hca->stalled ? dst : NULL;
}

/* NULL if packets can't go to it straight */
static inline struct qp *peer(struct qp *src)
{
	return usable(src->peer_gen == src->hca->fabric->gen ? src->peer : find_peer(src));
}

/* The same, by the hooked path too, and if it has to notice MigReq first */
struct qp *link_peer(struct qp *src)
{
	struct qp *dst = peer(src);

	return dst ? dst : usable(src->peer_slow);
}

/* A READ request has the PSNs of its responses. */
static inline uint32_t num_packets(const struct pkt *pkt)
{
	return pkt->op == PKT_READ_REQ ? 1 : pkt->npsn;
}

static inline void arrive(struct qp *src, struct qp *dst, const struct pkt *pkt)
{
	qp_count_received(dst, num_packets(pkt), pkt->len);
	if (__builtin_expect(dst->port == src->port, 0))
		link_count_local(src, pkt);
	if (__builtin_expect(!!src->hops, 0))
		ib_hops_count(src->hops, pkt_num_parts(pkt), pkt->len);
	capture_burst(src->hca->fabric->captures.running, &dst->port->capture, PCAPNG_IN, src, pkt);
	dst->ops->receive(dst, pkt);
}

/* Nobody takes it: it is counted where it ends.  Or the peer can't migrate. */
static void refuse(struct qp *src, const struct pkt *pkt)
{
	const struct ohca_av *av = &src->attr.av;
	struct port *from = src->port, *port;

	if (src->refused & REFUSED_MIG_REQ) {
		port = from->ops->route(from, av, qp_pkey(src));
		if (port)
			qp_mig_fail(qp_get(port->hca, src->dest_qpn));
	}
	link_lose(src, pkt);
}

/* To a peer that has to notice MigReq first */
static void arrive_slow(struct qp *src, struct qp *dst, const struct pkt *pkt)
{
	if (src->mig_notice)
		qp_mig_notice(dst);
	arrive(src, dst, pkt);
}

void link_send(struct qp *src, const struct pkt *pkt)
{
	struct qp *dst = peer(src);

	qp_count_sent(src, num_packets(pkt), pkt->len);
	capture_burst(src->hca->fabric->captures.running, &src->port->capture, PCAPNG_OUT, src,
		      pkt);
	if (dst)
		arrive(src, dst, pkt);
	else if (src->hooked)
		src->hca->fabric->link_hooks->send(src, pkt);
	else if (src->egress)
		wire_send(src, pkt);
	else if (usable(src->peer_slow))
		arrive_slow(src, src->peer_slow, pkt);
	else
		refuse(src, pkt);
}

void link_forward(struct qp *src, const struct pkt *pkt)
{
	const struct link_hooks *hooks = src->hca->fabric->link_hooks;
	struct qp *dst = link_peer(src);

	if (dst && hooks)
		hooks->arrive(src, dst, pkt);
	else if (dst)
		arrive(src, dst, pkt);
	else if (src->egress)
		wire_send(src, pkt);
	else
		link_lose(src, pkt);
}

void link_forward_pkey(struct qp *src, const struct pkt *pkt, uint16_t pkey)
{
	struct port *from = src->port;

	if (!link_peer(src) && src->egress && from->ops->egress(from, &src->attr.av, pkey))
		wire_send_pkey(src, pkt, pkey);
	else if (link_takes_pkey(src, pkt, pkey))
		link_forward(src, pkt);
}

void link_arrive(struct qp *src, const struct pkt *pkt)
{
	struct qp *dst = link_peer(src);

	if (dst)
		arrive_slow(src, dst, pkt);
}

bool link_has_opcode(struct qp *src, const struct pkt *pkt)
{
	return link_peer(src) || !src->egress || bth_atomic_is_plain(pkt);
}

void link_forget(struct qp *src)
{
	const struct link_hooks *hooks = src->hca->fabric->link_hooks;

	if (hooks)
		hooks->forget(src);
}

static void count_done(const struct qp *src, const struct datagram *dg,
		       const struct mcast_done *done)
{
	if (done->port)
		link_count_arrival(src, done->port, dg, done->takers);
}

/* @rest: NULL: to all members at once */
static uint64_t arrive_multicast(struct qp *src, struct port *port, const struct datagram *dg,
				 struct mcast_rest *rest)
{
	struct capture *capture = port->hca->fabric->captures.running;
	struct mcast_done done;
	uint64_t received;

	/* What comes from an uplink is a frame, which is recorded. */
	if (capture && src && mcast_has_members(port, dg->av))
		capture_datagram(capture, &port->capture, PCAPNG_IN, src, dg);
	received = mcast_receive(port, src, dg, rest, &done);
	count_done(src, dg, &done);
	return received;
}

uint64_t link_arrive_datagram(struct qp *src, struct port *port, const struct datagram *dg)
{
	struct capture *capture = port->hca->fabric->captures.running;
	struct qp *dst;

	if (!port->active)
		return 0;
	if (dg->dest_qpn == QPN_MCAST)
		return arrive_multicast(src, port, dg, NULL);
	dst = qp_of_port(port, dg->dest_qpn);
	/* What is for QP 0 is a subnet management packet, which comes otherwise. */
	if (dst && (!qp_is(dst, QPT_DATAGRAM) || dst->type == OHCA_QPT_SMI))
		dst = NULL;
	link_count_arrival(src, port, dg, dst && qp_receives(dst));
	if (!dst)
		return 0;
	capture_datagram(capture, &port->capture, PCAPNG_IN, src, dg);
	return dst->ops->receive_datagram(dst, dg) ? dg->len : 0;
}

uint64_t link_receive_datagram(struct qp *src, struct port *port, const struct datagram *dg)
{
	const struct link_hooks *hooks = port->hca->fabric->link_hooks;

	return hooks ? hooks->arrive_datagram(src, port, dg) : link_arrive_datagram(src, port, dg);
}

/* The sender's own port is among those that receive. */
static uint64_t send_multicast(struct qp *src, const struct datagram *dg, struct mcast_rest *rest)
{
	struct port *from = src->port, *to[FABRIC_MAX_PORTS];
	struct ib_packets packet;
	unsigned int i, num;
	uint64_t sum = 0;

	if (from->ops->discard)
		link_describe(&packet, dg);
	num = from->ops->mcast_ports(from, dg->av, &packet, to);
	for (i = 0; i < num; i++) {
		if (!rest)
			sum += link_receive_datagram(src, to[i], dg);
		else if (to[i]->active)
			sum += arrive_multicast(src, to[i], dg, rest);
	}
	wire_send_datagram(src, dg);
	return sum;
}

uint64_t link_forward_datagram(struct qp *src, const struct datagram *dg)
{
	struct port *from = src->port, *port;
	uint64_t received = 0;

	if (!from->active) {
		link_lose_datagram(src, dg);
		return 0;
	}
	if (dg->dest_qpn == QPN_MCAST)
		return mcast_is_group(dg->av->dgid) ? send_multicast(src, dg, NULL) : 0;
	port = from->ops->route(from, dg->av, dg->pkey);
	if (port) {
		link_count_hops(src, dg);
		return link_receive_datagram(src, port, dg);
	}
	if (!wire_send_datagram(src, dg) && (!from->ib || !gsi_ask_node(src, dg, &received)))
		link_lose_datagram(src, dg);
	return received;
}

uint64_t link_send_datagram(struct qp *src, const struct datagram *dg)
{
	struct fabric *fabric = src->hca->fabric;

	capture_datagram(fabric->captures.running, &src->port->capture, PCAPNG_OUT, src, dg);
	return fabric->link_hooks ? fabric->link_hooks->send_datagram(src, dg)
				  : link_forward_datagram(src, dg);
}

static bool is_to_many(const struct qp *src, const struct datagram *dg)
{
	return dg->dest_qpn == QPN_MCAST && mcast_is_group(dg->av->dgid) && src->port->active &&
	       !src->hca->fabric->link_hooks;
}

/* In a turn of the sender */
static uint64_t send_rest(struct qp *src, const struct datagram *dg, struct mcast_rest *rest)
{
	struct mcast_done done;
	uint64_t sum = 0;

	while (rest->first && rest->cost < mcast_room(src)) {
		sum += mcast_receive_rest(src, dg, rest, &done);
		count_done(src, dg, &done);
	}
	return sum;
}

uint64_t link_send_part(struct qp *src, const struct datagram *dg, struct mcast_rest *rest)
{
	rest->cost = 0;
	if (rest->first)
		return send_rest(src, dg, rest);
	if (!is_to_many(src, dg))
		return link_send_datagram(src, dg);
	capture_datagram(src->hca->fabric->captures.running, &src->port->capture, PCAPNG_OUT, src,
			 dg);
	return send_multicast(src, dg, rest);
}
