// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams (InfiniBand specification, 9.8.3): a work request is one packet, and contains its
 * address.  A datagram without a receiver is dropped.
 */

#include <endian.h>

#include "base/minmax.h"
#include "fabric/ib_port.h"
#include "fabric/link_layer.h"
#include "net/datagram.h"
#include "net/link.h"
#include "net/link_count.h"
#include "net/mad.h"
#include "net/mcast.h"
#include "packet/ib.h"
#include "packet/ipoib.h"
#include "packet/roce.h"
#include "qp/sched.h"
#include "qp/single.h"
#include "transport/ud.h"

/**
 * struct ud_qp - a QP of datagrams
 * @psn: of the next one
 * @segments: of the work request that was begun, OHCA_OP_LSO: those that were sent
 * @rest: of its datagram that was sent last
 */
struct ud_qp {
	struct qp qp;
	uint32_t psn;
	uint32_t segments;
	struct mcast_rest rest;
};

static struct ud_qp *ud_qp(const struct qp *qp)
{
	return list_entry(qp, struct ud_qp, qp);
}

/* All headers after the network header */
#define ROCE_UD_OVERHEAD (ROCE_UDP_LEN + BTH_LEN + DETH_LEN + ICRC_LEN)
#define IB_UD_OVERHEAD (BTH_LEN + DETH_LEN + ICRC_LEN)

/* Make the network header of RoCEv2, before @len bytes of immediate data and payload. */
static void make_roce_header(struct datagram *dg, uint32_t len)
{
	uint16_t udp_len = ROCE_UD_OVERHEAD + len;

	dg->cqe.flags |= OHCA_CQE_F_GRH;
	memcpy(dg->cqe.smac, dg->from->mac, 6);
	dg->cqe.vlan = htole16(dg->from->vlan);
	if (roce_is_ipv4(dg->from->gid)) {
		dg->cqe.net_type = OHCA_NET_IPV4;
		/* 20 bytes of zeros before it */
		memset(dg->grh, 0, sizeof(dg->grh) - ROCE_IPV4_LEN);
		roce_make_ipv4(dg->grh + sizeof(dg->grh) - ROCE_IPV4_LEN, dg->from, dg->av,
			       udp_len);
	} else {
		dg->cqe.net_type = OHCA_NET_IPV6;
		roce_make_ipv6(dg->grh, dg->from, dg->av, udp_len);
	}
}

/* The same for InfiniBand: there may be no GRH. */
static void make_ib_header(const struct ib_port *ib, struct datagram *dg, uint32_t len)
{
	const struct ohca_av *av = dg->av;

	dg->cqe.net_type = OHCA_NET_IB;
	dg->cqe.ib.slid = htole16(ib_port_source_lid(ib, av));
	if (av->ib.flags & OHCA_AV_GRH) {
		dg->cqe.flags |= OHCA_CQE_F_GRH;
		ib_make_grh(dg->grh, ib->gids[le16toh(av->sgid_index)], av, IB_UD_OVERHEAD + len);
	} else {
		memset(dg->grh, 0, sizeof(dg->grh));
	}
}

static uint32_t dest_qpn(const struct qp *qp)
{
	return le32toh(qp->sq.wqe->ud.dest_qpn) & QPN_MASK;
}

/* Make the headers of the packet, and the fields for the receiver's completion. */
static void make_headers(struct qp *qp, struct datagram *dg, uint32_t len)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	const struct port *port = qp->port;
	bool imm = wqe->opcode == OHCA_OP_SEND_IMM;
	uint32_t qkey = le32toh(wqe->ud.qkey);

	dg->dest_qpn = dest_qpn(qp);
	dg->qkey = qkey & OHCA_QKEY_OF_QP ? le32toh(qp->attr.qkey) : qkey;
	dg->pkey = port_pkey(port, le16toh(qp->type == OHCA_QPT_GSI ? wqe->ud.pkey_index
								    : qp->attr.pkey_index));
	memset(&dg->cqe, 0, sizeof(dg->cqe));
	if (imm) {
		dg->cqe.flags |= OHCA_CQE_F_IMM;
		dg->cqe.imm_data = wqe->imm_data;
	}
	if (wqe->flags & OHCA_WQE_SOLICITED)
		dg->cqe.flags |= OHCA_CQE_F_SOLICITED;
	dg->cqe.src_qpn = htole32(qp_link_num(qp));
	dg->cqe.sl = dg->av->sl;
	len = ((len + 3) & ~3U) + (imm ? IMM_LEN : 0);
	if (port->ib)
		make_ib_header(port->ib, dg, len);
	else
		make_roce_header(dg, len);
}

/* A multicast LID needs a multicast group, and QP 0 may use the permissive LID as well. */
static bool check_lid(const struct qp *qp, uint16_t dlid)
{
	if (dlid == LID_PERMISSIVE)
		return qp->type == OHCA_QPT_SMI;
	return (dlid >= LID_MCAST) == (dest_qpn(qp) == QPN_MCAST);
}

/* Check that a packet can be sent to the address of the work request. */
static bool check_address(struct qp *qp, struct datagram *dg)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	const struct port *port = qp->port;

	dg->av = &sq_wqe_ext(wqe)->av;
	dg->from = NULL;
	if (port->ops->check_av(port, dg->av) >= 0)
		return false;
	if (port->ib)
		return check_lid(qp, le16toh(dg->av->ib.dlid));
	dg->from = port_gid(port, dg->av);
	return roce_is_ipv4(dg->from->gid) == roce_is_ipv4(dg->av->dgid);
}

/* Flags of a work request */
#define UD_FLAGS \
	(OHCA_WQE_SIGNALED | OHCA_WQE_SOLICITED | OHCA_WQE_FENCE | OHCA_WQE_INLINE | OHCA_WQE_EXT)

/* May the QP do that? */
static bool check_operation(const struct qp *qp)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	uint64_t caps = qp->type == OHCA_QPT_UD ? hca_caps(qp->hca) : 0;
	uint8_t flags = UD_FLAGS | (caps & OHCA_CAP_UD_CSUM ? OHCA_WQE_CSUM : 0);

	if (!(wqe->flags & OHCA_WQE_EXT))
		return false;
	switch (wqe->opcode) {
	case OHCA_OP_SEND:
	case OHCA_OP_SEND_IMM:
		break;
	case OHCA_OP_LSO:
		if (!(caps & OHCA_CAP_UD_LSO))
			return false;
		flags &= ~OHCA_WQE_INLINE;
		break;
	default:
		return false;
	}
	return !(wqe->flags & ~flags) &&
	       (qp->type != OHCA_QPT_GSI || le16toh(wqe->ud.pkey_index) < port_num_pkeys(qp->port));
}

/* A datagram leaves. */
static void count(struct qp *qp, const struct datagram *dg, uint32_t len)
{
	qp_count_sent(qp, 1, len);
	if (dg->dest_qpn == QPN_MCAST)
		qp_count(qp, OHCA_CNT_TX_MCAST, 1);
	ud_qp(qp)->psn = psn_add(ud_qp(qp)->psn, 1);
}

/*
 * Send a datagram whose payload is there, @len bytes, or go on with it.  @cqe_flags: what its receiver's completion has
 * besides.  Returns what it has cost: the bytes that receivers have copied, or more if they are many.
 */
static uint64_t send_datagram(struct qp *qp, struct datagram *dg, uint32_t len, uint8_t cqe_flags)
{
	struct mcast_rest *rest = &ud_qp(qp)->rest;
	uint64_t copied;

	make_headers(qp, dg, len);
	dg->cqe.flags |= cqe_flags;
	dg->iov[0].iov_base = dg->grh;
	dg->iov[0].iov_len = sizeof(dg->grh);
	dg->num++;
	qp->static_rate = dg->av->ib.static_rate;
	qp->sl = dg->av->sl;
	dg->len = sizeof(dg->grh) + len;
	dg->psn = ud_qp(qp)->psn;
	if (!rest->first)
		count(qp, dg, len);
	if (qp->type == OHCA_QPT_SMI) {
		smp_send(qp, dg);
		return 0;
	}
	copied = link_send_part(qp, dg, rest);
	return max_of(copied, rest->cost);
}

/* The QP's turn is as long as the work that it makes. */
static void count_work(uint32_t *len, uint64_t cost)
{
	*len = max_of(*len, min_of(cost, UINT32_MAX));
}

/* Send the segments that were not sent yet, as many as a turn of the QP has room for. */
static void send_segments(struct qp *qp, struct tso *tso, struct datagram *dg, uint32_t *len)
{
	struct ud_qp *ud = ud_qp(qp);
	uint64_t cost = 0, sent = 0, max = qp->hca->sched->max;
	uint32_t part;

	tso_skip(tso, ud->segments);
	while (sent < max && cost < max && (part = tso_next(tso, dg->iov + 1, &dg->num))) {
		cost += send_datagram(qp, dg, part, OHCA_CQE_F_CSUM_OK);
		sent += max_of(part, SCHED_MESSAGE);
		if (ud->rest.first)
			break;
		ud->segments++;
	}
	if (!ud->rest.first && !tso_segments(tso))
		ud->segments = 0;
	count_work(len, cost);
}

/* OHCA_OP_LSO */
static enum ohca_wc_status send_lso(struct qp *qp, uint32_t *len, int *vendor_err)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	uint16_t hdr_len = le16toh(wqe->ud.hdr_len), mss = le16toh(wqe->ud.mss);
	struct iovec iov[SGE_MAX_IOV + 1];
	enum ohca_wc_status status;
	struct datagram dg;
	unsigned int num;
	struct tso tso;

	*vendor_err = OHCA_VENDOR_ERR_LENGTH;
	if (hdr_len > OHCA_LSO_MAX_HDR || mss < OHCA_LSO_MIN_MSS)
		return OHCA_WC_LOC_QP_OP_ERR;
	if (hdr_len + mss > port_mtu(qp->port))
		return OHCA_WC_LOC_LEN_ERR;
	status = single_gather(qp, 0, OHCA_IPOIB_HDR_LEN + OHCA_TSO_MAX_IP - hdr_len, iov + 1, &num,
			       len, vendor_err);
	if (status)
		return status;
	iov[0].iov_base = (void *)sq_wqe_lso_hdr(wqe);
	iov[0].iov_len = hdr_len;
	if (!ipoib_lso_start(&tso, hdr_len, mss, iov, num + 1, hdr_len + *len)) {
		*vendor_err = OHCA_VENDOR_ERR_LENGTH;
		return OHCA_WC_LOC_QP_OP_ERR;
	}
	if (!check_address(qp, &dg)) {
		*vendor_err = OHCA_VENDOR_ERR_AV;
		return OHCA_WC_LOC_QP_OP_ERR;
	}
	send_segments(qp, &tso, &dg, len);
	*vendor_err = 0;
	return OHCA_WC_SUCCESS;
}

/* A send */
static enum ohca_wc_status send_one(struct qp *qp, uint32_t *len, int *vendor_err)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	uint8_t head[IPOIB_MAX_HEADERS];
	enum ohca_wc_status status;
	uint8_t cqe_flags = 0;
	struct datagram dg;

	status = single_gather(qp, 0, port_mtu(qp->port), dg.iov + 1, &dg.num, len, vendor_err);
	if (status)
		return status;
	if (!check_address(qp, &dg)) {
		*vendor_err = OHCA_VENDOR_ERR_AV;
		return OHCA_WC_LOC_QP_OP_ERR;
	}
	if (wqe->flags & OHCA_WQE_CSUM && ipoib_csum_make(dg.iov + 1, &dg.num, *len, head))
		cqe_flags = OHCA_CQE_F_CSUM_OK;
	count_work(len, send_datagram(qp, &dg, *len, cqe_flags));
	return OHCA_WC_SUCCESS;
}

static void ud_stop(struct qp *qp)
{
	mcast_rest_drop(&ud_qp(qp)->rest, qp);
	ud_qp(qp)->segments = 0;
}

/* A part of a work request that has begun: it does not complete yet. */
static enum ohca_wc_status send_part(struct qp *qp, uint32_t *len, int *vendor_err)
{
	if (!check_operation(qp)) {
		*vendor_err = OHCA_VENDOR_ERR_WQE_OPCODE;
		return OHCA_WC_LOC_QP_OP_ERR;
	}
	return qp->sq.wqe->opcode == OHCA_OP_LSO ? send_lso(qp, len, vendor_err)
						 : send_one(qp, len, vendor_err);
}

static enum ohca_wc_status ud_send(struct qp *qp, struct ohca_cqe *cqe, uint32_t *len,
				   int *vendor_err)
{
	const struct ud_qp *ud = ud_qp(qp);
	enum ohca_wc_status status;

	(void)cqe;
	status = send_part(qp, len, vendor_err);
	if (qp->sq.paused)
		return status;
	if (status)
		ud_stop(qp);
	qp->sq.fetched = qp->sq.wq.done + (ud->rest.first || ud->segments);
	return status;
}

static bool ud_run(struct qp *qp, uint32_t budget)
{
	return single_run(qp, budget, ud_send);
}

static void refuse(struct qp *qp, const struct datagram *dg, uint32_t key,
		   void (*report)(struct ib_port *ib, const struct ib_violation *v))
{
	struct ib_port *ib = qp->port->ib;
	struct ib_packets packet;

	qp_count(qp, OHCA_CNT_RX_DROPPED, 1);
	if (!ib)
		return;
	link_describe(&packet, dg);
	packet.head.key = key;
	report(ib, &packet.head);
}

/*
 * Find the entry of the P_Key table with which the QP accepts the datagram: its own, or for the GSI
 * the first that matches (10.9.2).  Returns -1 if there is none; packets to QP 0 have no partition.
 */
static int match_pkey(const struct qp *qp, const struct datagram *dg)
{
	const struct port *port = qp->port;
	unsigned int i, num = port_num_pkeys(port);

	if (qp->type == OHCA_QPT_SMI)
		return 0;
	if (qp->type != OHCA_QPT_GSI) {
		i = le16toh(qp->attr.pkey_index);
		return pkeys_match(port_pkey(port, i), dg->pkey) ? (int)i : -1;
	}
	for (i = 0; i < num; i++) {
		if (pkeys_match(port_pkey(port, i), dg->pkey))
			return i;
	}
	return -1;
}

/*
 * Are the checksums of what the datagram carries known to be good?  Those that the sender's device made
 * are.
 */
static bool csum_good(const struct qp *qp, const struct datagram *dg)
{
	if (qp->type != OHCA_QPT_UD || !(hca_caps(qp->hca) & OHCA_CAP_UD_CSUM))
		return false;
	return dg->cqe.flags & OHCA_CQE_F_CSUM_OK ||
	       ipoib_csum_good(dg->iov + 1, dg->num - 1, dg->len - OHCA_GRH_LEN);
}

static bool ud_receive(struct qp *qp, const struct datagram *dg)
{
	const struct ib_port *ib = qp->port->ib;
	struct iov_pos pos = {.iov = dg->iov};
	struct ohca_cqe cqe = dg->cqe;
	int pkey_index;

	if (!qp_receives(qp))
		return false;
	qp_count_received(qp, 1, dg->len - OHCA_GRH_LEN);
	if (dg->dest_qpn == QPN_MCAST)
		qp_count(qp, OHCA_CNT_RX_MCAST, 1);
	pkey_index = match_pkey(qp, dg);
	if (pkey_index < 0) {
		refuse(qp, dg, dg->pkey, ib_port_bad_pkey);
		return false;
	}
	if (le32toh(qp->attr.qkey) != dg->qkey) {
		refuse(qp, dg, dg->qkey, ib_port_bad_qkey);
		return false;
	}
	if (qp->type == OHCA_QPT_GSI)
		cqe.pkey_index = htole16(pkey_index);
	if (ib)
		cqe.ib.dlid_path_bits = le16toh(dg->av->ib.dlid) & ((1 << ib->lmc) - 1);
	if (!single_take(qp, dg->len))
		return false;
	cqe.flags &= ~OHCA_CQE_F_CSUM_OK;
	if (csum_good(qp, dg))
		cqe.flags |= OHCA_CQE_F_CSUM_OK;
	return single_place(qp, &pos, dg->len, &cqe);
}

static void ud_reset(struct qp *qp)
{
	ud_stop(qp);
	ud_qp(qp)->psn = 0;
	link_forget(qp);
}

static void ud_query(const struct qp *qp, struct ohca_qp_attr *attr)
{
	attr->sq_psn = htole32(ud_qp(qp)->psn);
	attr->rq_psn = 0;
}

static void ud_enter_state(struct qp *qp, enum ohca_qp_state from)
{
	if (qp->state == OHCA_QPS_RTS && from == OHCA_QPS_RTR)
		ud_qp(qp)->psn = le32toh(qp->attr.sq_psn);
}

static const struct qp_ops ud_ops = {
	.leave = mcast_detach_all,
	.reset = ud_reset,
	.query = ud_query,
	.enter_state = ud_enter_state,
	.stop_send = ud_stop,
	.run = ud_run,
	.receive_datagram = ud_receive,
};

const struct qp_type ud_type = {
	.ops = &ud_ops,
	.size = sizeof(struct ud_qp),
	.type = OHCA_QPT_UD,
	.cap = OHCA_CAP_UD,
	.flags = QP_F_ALL | OHCA_QP_F_SRQ | OHCA_QP_F_NO_MCAST_LOOPBACK,
	.send = true,
	.recv = true,
};

const struct qp_type gsi_type = {
	.ops = &ud_ops,
	.size = sizeof(struct ud_qp),
	.type = OHCA_QPT_GSI,
	.cap = OHCA_CAP_UD,
	.flags = QP_F_ALL,
	.must = OHCA_QP_F_PRIVILEGED,
	.send = true,
	.recv = true,
	.one = true,
};

const struct qp_type smi_type = {
	.ops = &ud_ops,
	.size = sizeof(struct ud_qp),
	.type = OHCA_QPT_SMI,
	.link = OHCA_LINK_INFINIBAND,
	.cap = OHCA_CAP_UD,
	.flags = QP_F_ALL,
	.must = OHCA_QP_F_PRIVILEGED,
	.send = true,
	.recv = true,
	.one = true,
};
