// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams (InfiniBand specification, 9.8.3): a work request is one packet, whose path it brings
 * along.  What nobody takes is dropped.
 */

#include <endian.h>

#include "fabric/port.h"
#include "net/datagram.h"
#include "net/link.h"
#include "net/mcast.h"
#include "qp/single.h"
#include "packet/roce.h"
#include "transport/ud.h"

/**
 * struct ud_qp - a QP of datagrams
 * @psn: of the next one
 */
struct ud_qp {
	struct qp qp;
	uint32_t psn;
};

static struct ud_qp *ud_qp(const struct qp *qp)
{
	return list_entry(qp, struct ud_qp, qp);
}

/* All that follows the network header but the payload */
#define UD_OVERHEAD (ROCE_UDP_LEN + ROCE_BTH_LEN + ROCE_DETH_LEN + ROCE_ICRC_LEN)

/* Headers of the packet, and what the receiver's completion tells of them. */
static void make_headers(struct qp *qp, struct datagram *dg, uint32_t len)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	bool imm = wqe->opcode == OHCA_OP_SEND_IMM;
	uint16_t udp_len = UD_OVERHEAD + ((len + 3) & ~3U) + (imm ? ROCE_IMM_LEN : 0);
	uint32_t qkey = le32toh(wqe->ud.qkey);

	dg->dest_qpn = le32toh(wqe->ud.dest_qpn);
	dg->qkey = qkey & OHCA_QKEY_OF_QP ? le32toh(qp->attr.qkey) : qkey;
	memset(&dg->cqe, 0, sizeof(dg->cqe));
	dg->cqe.flags = OHCA_CQE_F_GRH;
	if (imm) {
		dg->cqe.flags |= OHCA_CQE_F_IMM;
		dg->cqe.imm_data = wqe->imm_data;
	}
	if (wqe->flags & OHCA_WQE_SOLICITED)
		dg->cqe.flags |= OHCA_CQE_F_SOLICITED;
	dg->cqe.src_qpn = htole32(qp->id);
	memcpy(dg->cqe.smac, dg->from->mac, 6);
	dg->cqe.vlan = htole16(dg->from->vlan);
	dg->cqe.sl = dg->av->sl;
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

/* Is the address of the work request one that a packet can be sent to? */
static bool check_address(struct qp *qp, struct datagram *dg)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	const struct port *port = qp->hca->port;

	dg->av = &sq_wqe_ext(wqe)->av;
	if (port_check_av(port, dg->av) >= 0 || le32toh(wqe->ud.dest_qpn) > QPN_MCAST)
		return false;
	dg->from = port_gid(port, dg->av);
	return roce_is_ipv4(dg->from->gid) == roce_is_ipv4(dg->av->dgid);
}

static enum ohca_wc_status ud_send(struct qp *qp, struct ohca_cqe *cqe, uint32_t *len,
				   int *vendor_err)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	enum ohca_wc_status status;
	struct datagram dg;
	uint64_t copied;

	(void)cqe;
	if ((wqe->opcode != OHCA_OP_SEND && wqe->opcode != OHCA_OP_SEND_IMM) ||
	    !(wqe->flags & OHCA_WQE_EXT) ||
	    wqe->flags & ~(OHCA_WQE_SIGNALED | OHCA_WQE_SOLICITED | OHCA_WQE_FENCE |
			   OHCA_WQE_INLINE | OHCA_WQE_EXT) ||
	    (qp->type == OHCA_QPT_GSI && wqe->ud.pkey_index)) {
		*vendor_err = OHCA_VENDOR_ERR_WQE_OPCODE;
		return OHCA_WC_LOC_QP_OP_ERR;
	}
	status = single_gather(qp, 0, PKT_MAX_MTU, dg.iov + 1, &dg.num, len, vendor_err);
	if (status)
		return status;
	if (!check_address(qp, &dg)) {
		*vendor_err = OHCA_VENDOR_ERR_AV;
		return OHCA_WC_LOC_QP_OP_ERR;
	}
	make_headers(qp, &dg, *len);
	dg.iov[0].iov_base = dg.grh;
	dg.iov[0].iov_len = sizeof(dg.grh);
	dg.num++;
	dg.len = sizeof(dg.grh) + *len;
	qp_count(qp, OHCA_CNT_TX_PKTS, 1);
	qp_count(qp, OHCA_CNT_TX_BYTES, *len);
	if (dg.dest_qpn == QPN_MCAST)
		qp_count(qp, OHCA_CNT_TX_MCAST, 1);
	dg.psn = ud_qp(qp)->psn;
	ud_qp(qp)->psn = psn_add(ud_qp(qp)->psn, 1);
	copied = link_send_datagram(qp, &dg);
	/* The QP's turn is as long as the work that it makes. */
	if (copied > *len)
		*len = copied < UINT32_MAX ? copied : UINT32_MAX;
	return OHCA_WC_SUCCESS;
}

static bool ud_run(struct qp *qp, uint32_t budget)
{
	return single_run(qp, budget, ud_send);
}

static bool ud_receive(struct qp *qp, const struct datagram *dg)
{
	struct iov_pos pos = {.iov = dg->iov};
	struct ohca_cqe cqe = dg->cqe;

	if (!qp_receives(qp))
		return false;
	qp_count(qp, OHCA_CNT_RX_PKTS, 1);
	qp_count(qp, OHCA_CNT_RX_BYTES, dg->len - OHCA_GRH_LEN);
	if (dg->dest_qpn == QPN_MCAST)
		qp_count(qp, OHCA_CNT_RX_MCAST, 1);
	if (le32toh(qp->attr.qkey) != dg->qkey) {
		qp_count(qp, OHCA_CNT_RX_DROPPED, 1);
		return false;
	}
	return single_take(qp, dg->len) && single_place(qp, &pos, dg->len, &cqe);
}

static void ud_reset(struct qp *qp)
{
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
	.fini = mcast_detach_all,
	.reset = ud_reset,
	.query = ud_query,
	.enter_state = ud_enter_state,
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
	.qpn = QPN_GSI,
	.flags = QP_F_ALL,
	.must = OHCA_QP_F_PRIVILEGED,
	.send = true,
	.recv = true,
	.one = true,
};
