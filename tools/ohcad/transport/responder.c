// SPDX-License-Identifier: GPL-2.0
/*
 * Responder: requests of the peer become data in memory, completions and acknowledgments
 * (InfiniBand specification, 9.7.4, 9.7.5 and 9.9.3).
 */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "qp/srq.h"
#include "base/log.h"
#include "net/link.h"
#include "transport/local_op.h"
#include "qp/qp.h"
#include "qp/recv.h"
#include "transport/responder.h"
#include "transport/tm.h"

/**
 * struct inbound - the new part of a burst that arrived
 * @pkt: its headers
 * @ahead: distance of its PSN from the expected one; negative: before
 * @again: a duplicate of a request that has a response of its own
 * @pos: its payload
 */
struct inbound {
	const struct pkt *pkt;
	int32_t ahead;
	bool again;
	uint8_t flags;
	uint32_t npsn;
	uint32_t len;
	struct iov_pos pos;
};

/*
 * A request is handled in steps, functions that return whether to continue.  A step that returns
 * false has answered the request, or dropped it.  The lists of them are below: STEPS(STEP) is
 * STEP(name of a step) for each.
 */
#define STEP(step)                         \
	if (!step(qp, in)) {               \
		trace_stop(qp, in, #step); \
		return;                    \
	}

static __attribute__((noinline, cold)) void trace_stop(const struct qp *qp,
						       const struct inbound *in, const char *step)
{
	log_debug(qp->hca->name, "QP %u: request with PSN %u ends at %s", qp->id, in->pkt->psn,
		  step);
}

void responder_fini(struct qp *qp)
{
	free(rc_resp(qp)->lists);
}

void responder_reset(struct qp *qp)
{
	struct responder *resp = rc_resp(qp);

	resp->epsn = 0;
	resp->msn = 0;
	resp->op = RESP_NONE;
	resp->nak = NAK_NONE;
	resp->comm_est = false;
	resp->closing = false;
	resp->pdn = qp->pdn;
	resp->res_head = 0;
	resp->res_num = 0;
	if (resp->lists) {
		resp->lists->num_results = 0;
		list_del(&resp->lists->syncing);
	}
}

void responder_start(struct qp *qp)
{
	rc_resp(qp)->epsn = le32toh(qp->attr.rq_psn);
	/* The first answer is to know whether the peer is remote. */
	link_peer(qp);
}

/*
 * The burst could not be placed.  If a page is missing, the burst is dropped, and the receive of
 * its message is kept.  Returns false for other errors, and if the page was refused; *@err then has
 * the error.
 */
static bool drop_burst(struct qp *qp, const struct inbound *in, int *err,
		       const struct mkey_missing *missing)
{
	if (*err != MKEY_MISSING)
		return false;
	*err = responder_drop(qp, missing);
	if (*err)
		return false;
	if (in->flags & PKT_FIRST)
		rc_resp(qp)->op = RESP_NONE;
	return true;
}

/* Complete the current receive. */
static bool complete_recv(struct qp *qp, const struct inbound *in, uint8_t opcode,
			  enum ohca_wc_status status, int vendor_err)
{
	struct ohca_cqe cqe = {
		.byte_len = htole32(rc_resp(qp)->done),
		.vendor_err = htole32(vendor_err),
		.status = status,
		.opcode = opcode,
	};

	if (in->flags & PKT_IMM) {
		cqe.flags |= OHCA_CQE_F_IMM;
		cqe.imm_data = in->pkt->imm;
	} else if (in->flags & PKT_INV && !status) {
		cqe.flags |= OHCA_CQE_F_INV;
		cqe.inv_key = htole32(in->pkt->inv_key);
	}
	if (in->flags & PKT_SOLICITED)
		cqe.flags |= OHCA_CQE_F_SOLICITED;
	return recv_complete(qp, &cqe);
}

/*
 * The receive can't take the message: it completes in error, and the QP enters the error state.  An
 * unreliable connection drops a message that is too long, and keeps the receive.
 */
static void fail_recv(struct qp *qp, const struct inbound *in, enum ohca_wc_status status,
		      int vendor_err, uint8_t syndrome)
{
	bool unreliable = qp->type == OHCA_QPT_UC;

	if (unreliable && status == OHCA_WC_LOC_LEN_ERR) {
		responder_refuse(qp, syndrome, 0);
		return;
	}
	complete_recv(qp, in, in->pkt->op == PKT_SEND ? OHCA_CQE_RECV : OHCA_CQE_RECV_RDMA_IMM,
		      status, vendor_err);
	if (unreliable)
		qp_error(qp);
	else
		responder_refuse(qp, syndrome, 0);
}

/* There is no receive for the message. */
static void not_ready(struct qp *qp)
{
	qp_count(qp, OHCA_CNT_OUT_OF_BUFFER, 1);
	if (qp->type == OHCA_QPT_UC)
		rc_resp(qp)->op = RESP_NONE;
	rc_resp(qp)->nak = NAK_SENT;
	responder_ack(qp, rc_resp(qp)->epsn, AETH_RNR_NAK | qp->attr.min_rnr_timer);
}

/*
 * Load the next receive work request into qp->rq.wqe.  Returns false if there is none; that was
 * answered.
 */
static bool take_recv(struct qp *qp)
{
	enum recv_result result = recv_take(qp);

	if (result == RECV_NONE)
		not_ready(qp);
	else if (result == RECV_BROKEN)
		responder_refuse(qp, AETH_NAK_REM_OP, OHCA_EVENT_QP_FATAL);
	return result == RECV_OK;
}

/* The same for a message that may match a tag of the SRQ; @in then has its data. */
static bool take_tag_or_recv(struct qp *qp, struct inbound *in)
{
	struct tm_msg msg = {.pos = in->pos, .len = in->len, .last = in->flags & PKT_LAST};

	switch (tm_begin(qp, &msg)) {
	case TM_TAKE:
		if (!take_recv(qp))
			return false;
		tm_taken(qp, &msg);
		return true;
	case TM_MATCH:
		iov_skip(&in->pos, msg.skip);
		in->len = msg.len;
		return true;
	case TM_BUSY:
		not_ready(qp);
		return false;
	case TM_INVALID:
		responder_refuse_invalid(qp);
		return false;
	default:
		responder_ack(qp, rc_resp(qp)->epsn, AETH_NAK_REM_OP);
		return false;
	}
}

/*
 * Whether the payload has the length that this number of packets of the message must have: only a
 * message of one packet may be empty (9.7.4.1.6).
 */
static bool length_fits(const struct qp *qp, const struct inbound *in)
{
	uint64_t full = (uint64_t)in->npsn << qp->mtu_shift;

	if (!(in->flags & PKT_LAST))
		return in->len == full;
	return in->len <= full && (in->len > full - (1ULL << qp->mtu_shift) ||
				   (!in->len && in->npsn == 1 && in->flags & PKT_FIRST));
}

/* The whole burst was accepted. */
static inline __attribute__((always_inline)) void accept(struct qp *qp, const struct inbound *in)
{
	struct responder *resp = rc_resp(qp);

	responder_advance(qp, in->npsn);
	if (in->flags & PKT_LAST) {
		resp->op = RESP_NONE;
		resp->msn = psn_add(resp->msn, 1);
	}
	if (in->flags & PKT_ACK_REQ)
		responder_ack(qp, psn_add(resp->epsn, PSN_MASK), responder_credits(qp));
}

/* Scatter the payload; 0, OHCA_VENDOR_ERR_* or MKEY_MISSING. */
static int place_recv(struct qp *qp, struct inbound *in, struct mkey_missing *missing)
{
	struct sge_span span = {
		.sge = qp->rq.wqe->sge,
		.num_sge = le32toh(qp->rq.wqe->num_sge),
		.off = rc_resp(qp)->done,
		.len = in->len,
		.write = true,
		.missing = missing,
		.rights = srq_rights(qp->rq.srq, qp),
	};

	return sge_scatter(qp->hca, &span, &in->pos, in->flags & PKT_LAST);
}

/* SEND: each step of SEND_STEPS */

static inline bool send_in_sequence(struct qp *qp, struct inbound *in)
{
	if (rc_resp(qp)->op == (in->flags & PKT_FIRST ? RESP_NONE : RESP_SEND) &&
	    length_fits(qp, in))
		return true;
	responder_refuse_invalid(qp);
	return false;
}

static inline bool send_has_receive(struct qp *qp, struct inbound *in)
{
	struct responder *resp = rc_resp(qp);

	if (!(in->flags & PKT_FIRST))
		return true;
	if (rc_tm(qp) ? !take_tag_or_recv(qp, in) : !take_recv(qp))
		return false;
	resp->op = RESP_SEND;
	resp->done = 0;
	return true;
}

static inline bool send_list_fits(struct qp *qp, struct inbound *in)
{
	if (le32toh(qp->rq.wqe->num_sge) <= recv_max_sge(qp) || tm_matched(qp))
		return true;
	fail_recv(qp, in, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE, AETH_NAK_REM_OP);
	return false;
}

static inline bool send_has_room(struct qp *qp, struct inbound *in)
{
	const struct ohca_rq_wqe *wqe = qp->rq.wqe;

	if ((uint64_t)rc_resp(qp)->done + in->len <= sge_len(wqe->sge, le32toh(wqe->num_sge)))
		return true;
	fail_recv(qp, in, OHCA_WC_LOC_LEN_ERR, OHCA_VENDOR_ERR_LENGTH, AETH_NAK_INV_REQ);
	return false;
}

static inline bool send_is_placed(struct qp *qp, struct inbound *in)
{
	struct mkey_missing missing;
	int err = place_recv(qp, in, &missing);

	if (!err) {
		rc_resp(qp)->done += in->len;
		return true;
	}
	if (!drop_burst(qp, in, &err, &missing))
		fail_recv(qp, in, OHCA_WC_LOC_PROT_ERR, err, AETH_NAK_REM_OP);
	return false;
}

static inline bool send_invalidates(struct qp *qp, struct inbound *in)
{
	int err = in->flags & PKT_INV ? local_op_remote_inv(qp, in->pkt->inv_key) : 0;

	if (!err)
		return true;
	complete_recv(qp, in, OHCA_CQE_RECV, OHCA_WC_LOC_ACCESS_ERR, err);
	responder_fail_invalidate(qp);
	return false;
}

static inline bool send_completes(struct qp *qp, struct inbound *in)
{
	if (!(in->flags & PKT_LAST) || complete_recv(qp, in, OHCA_CQE_RECV, OHCA_WC_SUCCESS, 0))
		return true;
	responder_ack(qp, rc_resp(qp)->epsn, AETH_NAK_REM_OP);
	return false;
}

#define SEND_STEPS(STEP)       \
	STEP(send_in_sequence) \
	STEP(send_has_receive) \
	STEP(send_list_fits)   \
	STEP(send_has_room)    \
	STEP(send_is_placed)   \
	STEP(send_invalidates) \
	STEP(send_completes)

static void rx_send(struct qp *qp, struct inbound *in)
{
	SEND_STEPS(STEP)
	accept(qp, in);
}

/*
 * Copy the payload of an RDMA WRITE to its destination.  Returns 0, OHCA_VENDOR_ERR_* or
 * MKEY_MISSING.
 */
static int place_write(struct qp *qp, struct inbound *in, struct mkey_missing *missing)
{
	struct responder *resp = rc_resp(qp);
	uint64_t left = in->len;
	uint64_t va = resp->va;
	struct iovec iov[SGE_MAX_IOV];
	struct mkey *mkey;
	unsigned int num;
	int64_t got;
	int err;

	err = responder_check(qp, resp->rkey, OHCA_ACCESS_REMOTE_WRITE, va, left, &mkey);
	if (err)
		return err;
	while (left) {
		num = 0;
		got = mkey_resolve(qp->hca, mkey, va, left, true, iov, &num, SGE_MAX_IOV, missing);
		if (got < 0)
			return -got;
		va += got;
		left -= got;
		iov_copy(iov, num, &in->pos, !left && in->flags & PKT_LAST);
	}
	return 0;
}

/* RDMA WRITE: each step of WRITE_STEPS */

/* Its immediate data use a receive. */
static inline bool takes_receive(const struct inbound *in)
{
	return in->flags & PKT_IMM && in->flags & PKT_LAST;
}

static inline bool write_in_sequence(struct qp *qp, struct inbound *in)
{
	if (rc_resp(qp)->op == (in->flags & PKT_FIRST ? RESP_NONE : RESP_WRITE) &&
	    length_fits(qp, in))
		return true;
	responder_refuse_invalid(qp);
	return false;
}

/* The length of the RETH is a part of the format. */
static inline bool write_has_length(struct qp *qp, struct inbound *in)
{
	uint32_t left = in->flags & PKT_FIRST ? in->pkt->dma_len : rc_resp(qp)->left;

	if (in->flags & PKT_LAST ? in->len == left : in->len <= left)
		return true;
	responder_refuse_invalid(qp);
	return false;
}

static inline bool write_has_receive(struct qp *qp, struct inbound *in)
{
	return !takes_receive(in) || take_recv(qp);
}

/* The RETH of the first packet */
static inline bool write_may_start(struct qp *qp, struct inbound *in)
{
	struct responder *resp = rc_resp(qp);
	const struct pkt *pkt = in->pkt;
	struct mkey *mkey;
	int err;

	if (!(in->flags & PKT_FIRST))
		return true;
	if (!(qp->access & OHCA_ACCESS_REMOTE_WRITE) || pkt->dma_len > qp->hca->max_msg) {
		responder_refuse_invalid(qp);
		return false;
	}
	/*
	 * Check the whole range before anything is written; each burst is checked again when it
	 * arrives.
	 */
	if (in->len != pkt->dma_len) {
		err = responder_check(qp, pkt->rkey, OHCA_ACCESS_REMOTE_WRITE, pkt->va,
				      pkt->dma_len, &mkey);
		if (err) {
			responder_refuse_access(qp, err);
			return false;
		}
	}
	resp->op = RESP_WRITE;
	resp->va = pkt->va;
	resp->rkey = pkt->rkey;
	resp->left = pkt->dma_len;
	resp->done = 0;
	return true;
}

static inline bool write_is_placed(struct qp *qp, struct inbound *in)
{
	struct responder *resp = rc_resp(qp);
	struct mkey_missing missing;
	int err = in->len ? place_write(qp, in, &missing) : 0;

	if (err == MKEY_MISSING)
		missing.len += resp->left - in->len;
	if (err && drop_burst(qp, in, &err, &missing))
		return false;
	if (in->flags & PKT_FIRST)
		qp_count(qp, OHCA_CNT_RX_WRITES, 1);
	if (err) {
		/* The receive for the immediate data was taken already. */
		if (takes_receive(in) && qp->type != OHCA_QPT_UC)
			complete_recv(qp, in, OHCA_CQE_RECV_RDMA_IMM, OHCA_WC_LOC_ACCESS_ERR, err);
		responder_refuse_access(qp, err);
		return false;
	}
	resp->va += in->len;
	resp->left -= in->len;
	resp->done += in->len;
	return true;
}

static inline bool write_completes(struct qp *qp, struct inbound *in)
{
	if (!takes_receive(in) || complete_recv(qp, in, OHCA_CQE_RECV_RDMA_IMM, OHCA_WC_SUCCESS, 0))
		return true;
	responder_ack(qp, rc_resp(qp)->epsn, AETH_NAK_REM_OP);
	return false;
}

#define WRITE_STEPS(STEP)       \
	STEP(write_in_sequence) \
	STEP(write_has_length)  \
	STEP(write_has_receive) \
	STEP(write_may_start)   \
	STEP(write_is_placed)   \
	STEP(write_completes)

static void rx_write(struct qp *qp, struct inbound *in)
{
	WRITE_STEPS(STEP)
	accept(qp, in);
}

/* Remove the part of a burst that was received before. */
static void trim(struct qp *qp, struct inbound *in, uint32_t seen)
{
	uint64_t len = (uint64_t)seen << qp->mtu_shift;

	in->flags &= ~PKT_FIRST;
	in->npsn -= seen;
	if (len > in->len)
		len = in->len;
	in->len -= len;
	iov_skip(&in->pos, len);
}

/*
 * A burst of an unreliable connection: after a loss, the rest of the message is dropped (9.8.2.2).
 */
static void rx_unreliable(struct qp *qp, struct inbound *in)
{
	struct responder *resp = rc_resp(qp);

	if (psn_diff(in->pkt->psn, resp->epsn) > 0)
		qp_count(qp, OHCA_CNT_OUT_OF_SEQUENCE, 1);
	if (in->flags & PKT_FIRST || in->pkt->psn != resp->epsn)
		resp->op = RESP_NONE;
	resp->epsn = in->pkt->psn;
	if (!(in->flags & PKT_FIRST) && resp->op == RESP_NONE)
		log_debug(qp->hca->name, "QP %u: rest of a message that was dropped", qp->id);
	else if (in->pkt->op == PKT_SEND)
		rx_send(qp, in);
	else if (in->pkt->op == PKT_WRITE)
		rx_write(qp, in);
	resp->epsn = psn_add(in->pkt->psn, in->npsn);
}

/* A reliable connection: each step of REQUEST_STEPS */

/* A PSN after the expected one shows a loss, which is reported once. */
static inline bool request_in_sequence(struct qp *qp, struct inbound *in)
{
	struct responder *resp = rc_resp(qp);

	if (in->ahead <= 0)
		return true;
	qp_count(qp, OHCA_CNT_OUT_OF_SEQUENCE, 1);
	if (!resp->nak) {
		responder_ack(qp, resp->epsn, AETH_NAK_PSN_SEQ);
		resp->nak = NAK_SENT;
	}
	return false;
}

/* A duplicate is acknowledged again, unless it has a response of its own. */
static inline bool request_is_new(struct qp *qp, struct inbound *in)
{
	if (in->ahead >= 0)
		return true;
	qp_count(qp, OHCA_CNT_DUPLICATES, 1);
	if (in->again || (uint32_t)-in->ahead < in->npsn)
		return true;
	responder_ack(qp, psn_add(rc_resp(qp)->epsn, PSN_MASK), responder_credits(qp));
	return false;
}

/*
 * XRC: use the SRQ that the packet names for receives, and its protection domain for keys.  Returns
 * false if there is no such SRQ, or if it is not that of the message under way.  A duplicate uses
 * no SRQ, and does not affect later requests; without the SRQ, its key can't be checked: a READ is
 * dropped, and others need no key.
 */
static bool use_named_srq(struct qp *qp, const struct inbound *in)
{
	struct srq *srq = srq_get(qp->hca, in->pkt->srqn);
	struct responder *resp = rc_resp(qp);
	bool exists = srq && srq->type == OHCA_SRQ_XRC && srq->xrcd == qp->xrcd;

	if (!exists && in->again)
		return in->pkt->op != PKT_READ_REQ;
	if (!exists || (resp->op != RESP_NONE && !in->again && qp->rq.srq != srq)) {
		responder_refuse_invalid(qp);
		return false;
	}
	if (!in->again)
		recv_use_srq(qp, srq);
	resp->pdn = srq->pdn;
	return true;
}

static inline bool request_has_srq(struct qp *qp, struct inbound *in)
{
	return qp->type != OHCA_QPT_XRC_TGT || use_named_srq(qp, in);
}

static inline bool request_needs_executing(struct qp *qp, struct inbound *in)
{
	if (!in->again)
		return true;
	responder_read_again(qp, in->pkt);
	return false;
}

#define REQUEST_STEPS(STEP)       \
	STEP(request_in_sequence) \
	STEP(request_is_new)      \
	STEP(request_has_srq)     \
	STEP(request_needs_executing)

static inline __attribute__((always_inline)) void rx_reliable(struct qp *qp, struct inbound *in)
{
	REQUEST_STEPS(STEP)
	if (in->ahead < 0)
		trim(qp, in, -in->ahead);
	rc_resp(qp)->nak = NAK_NONE;
	if (in->pkt->op == PKT_SEND)
		rx_send(qp, in);
	else if (in->pkt->op == PKT_WRITE)
		rx_write(qp, in);
	else
		responder_read(qp, in->pkt);
}

void responder_rx(struct qp *qp, const struct pkt *pkt)
{
	struct responder *resp = rc_resp(qp);
	struct inbound in = {
		.pkt = pkt,
		.ahead = psn_diff(pkt->psn, resp->epsn),
		.flags = pkt->flags,
		.npsn = pkt->npsn,
		.len = pkt->len,
		.pos = {.iov = pkt->iov},
	};

	if (resp->closing || !qp_receives(qp))
		return;
	in.again = in.ahead < 0 && pkt_is_read_atomic(pkt->op);
	if (qp->type == OHCA_QPT_UC)
		rx_unreliable(qp, &in);
	else
		rx_reliable(qp, &in);
}
