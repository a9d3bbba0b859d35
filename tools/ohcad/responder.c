// SPDX-License-Identifier: GPL-2.0
/*
 * Responder: requests of the peer become data in memory, completions and acknowledgments
 * (InfiniBand specification, 9.7.4, 9.7.5 and 9.9.3).
 */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "eq.h"
#include "log.h"
#include "qp.h"

/*
 * An RDMA READ up to this length is answered at once if no other waits, a longer one in the QP's
 * own turn.
 */
#define READ_AT_ONCE (32U << 10)

/**
 * struct inbound - what is new of a train that arrived
 * @pkt: its headers
 * @pos: its payload
 */
struct inbound {
	const struct pkt *pkt;
	uint8_t flags;
	uint32_t npsn;
	uint32_t len;
	struct iov_pos pos;
};

int responder_init(struct qp *qp)
{
	qp->resp.rd = calloc(HCA_MAX_RD_ATOMIC, sizeof(*qp->resp.rd));
	return qp->resp.rd ? 0 : -ENOMEM;
}

void responder_fini(struct qp *qp)
{
	free(qp->resp.rd);
}

void responder_reset(struct qp *qp)
{
	struct responder *resp = &qp->resp;

	resp->epsn = 0;
	resp->msn = 0;
	resp->op = RESP_NONE;
	resp->nak_sent = false;
	resp->comm_est = false;
	resp->closing = false;
	resp->rd_head = 0;
	resp->rd_num = 0;
}

void responder_start(struct qp *qp)
{
	qp->resp.epsn = le32toh(qp->attr.rq_psn);
}

static struct rd_job *job_at(struct responder *resp, uint32_t i)
{
	return &resp->rd[(resp->rd_head + i) % HCA_MAX_RD_ATOMIC];
}

/* Acknowledge @psn, after the answers to RDMA READs that came before. */
static void respond(struct qp *qp, uint32_t psn, uint8_t syndrome)
{
	struct responder *resp = &qp->resp;

	if (resp->rd_num) {
		struct rd_job *job = job_at(resp, resp->rd_num - 1);

		job->ack = true;
		job->ack_psn = psn;
		job->ack_syndrome = syndrome;
		job->ack_msn = resp->msn;
	} else {
		struct pkt pkt = {
			.op = PKT_ACK,
			.syndrome = syndrome,
			.psn = psn,
			.npsn = 1,
			.msn = resp->msn,
		};

		link_send(qp, &pkt);
	}
}

static void close_now(struct qp *qp)
{
	if (qp->resp.closing_event)
		eq_async(qp->hca, qp->resp.closing_event, qp->id);
	qp_error(qp);
}

/* Refuse what came with the expected PSN, and stop: with @event if it is not 0. */
static void refuse(struct qp *qp, uint8_t syndrome, enum ohca_event event)
{
	log_debug(qp->hca->name, "QP %u: request refused, syndrome %#x", qp->id, syndrome);
	qp->resp.closing = true;
	qp->resp.closing_event = event;
	respond(qp, qp->resp.epsn, syndrome);
	if (!qp->resp.rd_num)
		close_now(qp);
}

static void refuse_invalid(struct qp *qp)
{
	refuse(qp, AETH_NAK_INV_REQ, OHCA_EVENT_QP_REQ_ERR);
}

/* The peer asked for memory that it may not have, or that is not there (OHCA_VENDOR_ERR_DMA). */
static void refuse_access(struct qp *qp, int vendor_err)
{
	refuse(qp, vendor_err == OHCA_VENDOR_ERR_DMA ? AETH_NAK_REM_OP : AETH_NAK_REM_ACCESS,
	       OHCA_EVENT_QP_ACCESS_ERR);
}

/* Complete the oldest receive. */
static bool complete_recv(struct qp *qp, const struct inbound *in, uint8_t opcode,
			  enum ohca_wc_status status, int vendor_err)
{
	struct ohca_cqe cqe = {
		.wr_id = qp->resp.rqe.wr_id,
		.qpn = htole32(qp->id),
		.byte_len = htole32(qp->resp.done),
		.wqe_idx = htole32(qp->rq.done),
		.vendor_err = htole32(vendor_err),
		.status = status,
		.opcode = opcode,
		.flags = OHCA_CQE_F_RQ,
	};

	if (in->flags & PKT_IMM) {
		cqe.flags |= OHCA_CQE_F_IMM;
		cqe.imm_data = in->pkt->imm;
	}
	if (in->flags & PKT_SOLICITED)
		cqe.flags |= OHCA_CQE_F_SOLICITED;
	qp->rq.done++;
	qp->rq.next = qp->rq.done;
	return qp_complete(qp, &qp->rq, &cqe);
}

/* The receive can't take the message: it completes in error, and the QP is in error. */
static void fail_recv(struct qp *qp, const struct inbound *in, enum ohca_wc_status status,
		      int vendor_err, uint8_t syndrome)
{
	complete_recv(qp, in, in->pkt->op == PKT_SEND ? OHCA_CQE_RECV : OHCA_CQE_RECV_RDMA_IMM,
		      status, vendor_err);
	refuse(qp, syndrome, 0);
}

/* Have the next receive work request in resp->rqe; false if there is none, which was answered. */
static bool take_recv(struct qp *qp)
{
	struct wq *rq = &qp->rq;

	if (rq->done == rq->pi && !wq_update(rq))
		goto fatal;
	if (rq->done == rq->pi) {
		qp->resp.nak_sent = true;
		respond(qp, qp->resp.epsn, AETH_RNR_NAK | qp->attr.min_rnr_timer);
		return false;
	}
	if (!wq_load_recv(qp, rq->done))
		goto fatal;
	if (rq->done + 1 != rq->pi)
		__builtin_prefetch(ring_entry(&rq->ring, rq->done + 1));
	return true;

fatal:
	refuse(qp, AETH_NAK_REM_OP, OHCA_EVENT_QP_FATAL);
	return false;
}

/* Is there as much payload as that many packets of this message have? */
static bool length_fits(const struct qp *qp, const struct inbound *in)
{
	uint64_t full = (uint64_t)in->npsn << qp->mtu_shift;

	if (!(in->flags & PKT_LAST))
		return in->len == full;
	return in->len <= full &&
	       (in->len > full - (1ULL << qp->mtu_shift) || (!in->len && in->npsn == 1));
}

/* All of the train was taken. */
static void accept(struct qp *qp, const struct inbound *in)
{
	struct responder *resp = &qp->resp;

	resp->epsn = psn_add(resp->epsn, in->npsn);
	if (in->flags & PKT_LAST) {
		resp->op = RESP_NONE;
		resp->msn = psn_add(resp->msn, 1);
	}
	if (in->flags & PKT_ACK_REQ)
		respond(qp, psn_add(resp->epsn, PSN_MASK), AETH_ACK_NO_CREDITS);
}

/* Scatter the payload; 0 or OHCA_VENDOR_ERR_*. */
static int place_recv(struct qp *qp, struct inbound *in)
{
	struct wq_span span = {
		.sge = qp->resp.rqe.sge,
		.num_sge = le32toh(qp->resp.rqe.num_sge),
		.off = qp->resp.done,
		.len = in->len,
		.write = true,
	};
	struct iovec iov[WQ_MAX_IOV];
	unsigned int num;
	int64_t got;

	while (span.len) {
		got = wq_resolve_span(qp, &span, iov, &num);
		if (got < 0)
			return -got;
		span.off += got;
		span.len -= got;
		iov_copy(iov, num, &in->pos, !span.len && in->flags & PKT_LAST);
	}
	return 0;
}

static void rx_send(struct qp *qp, struct inbound *in)
{
	struct responder *resp = &qp->resp;
	uint32_t num_sge;
	int err;

	if (resp->op != (in->flags & PKT_FIRST ? RESP_NONE : RESP_SEND) || !length_fits(qp, in)) {
		refuse_invalid(qp);
		return;
	}
	if (in->flags & PKT_FIRST) {
		if (!take_recv(qp))
			return;
		resp->op = RESP_SEND;
		resp->done = 0;
	}
	num_sge = le32toh(resp->rqe.num_sge);
	if (num_sge > qp->rq.max_sge) {
		fail_recv(qp, in, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE, AETH_NAK_REM_OP);
		return;
	}
	if ((uint64_t)resp->done + in->len > wq_sgl_len(resp->rqe.sge, num_sge)) {
		fail_recv(qp, in, OHCA_WC_LOC_LEN_ERR, OHCA_VENDOR_ERR_LENGTH, AETH_NAK_INV_REQ);
		return;
	}
	err = place_recv(qp, in);
	if (err) {
		fail_recv(qp, in, OHCA_WC_LOC_PROT_ERR, err, AETH_NAK_REM_OP);
		return;
	}
	resp->done += in->len;
	if (in->flags & PKT_LAST && !complete_recv(qp, in, OHCA_CQE_RECV, OHCA_WC_SUCCESS, 0)) {
		respond(qp, resp->epsn, AETH_NAK_REM_OP);
		return;
	}
	accept(qp, in);
}

/* The region that the peer may access, by the QP's leave: 0 or OHCA_VENDOR_ERR_*. */
static int remote_check(struct qp *qp, uint32_t rkey, uint8_t access, uint64_t va, uint64_t len,
			struct mkey **mkey)
{
	struct mkey_access who = {.pdn = qp->pdn, .access = access};

	return mkey_check(qp->hca, rkey, &who, va, len, mkey);
}

/* Copy the payload of an RDMA WRITE to its place; 0 or OHCA_VENDOR_ERR_*. */
static int place_write(struct qp *qp, struct inbound *in)
{
	struct responder *resp = &qp->resp;
	uint64_t left = in->len;
	uint64_t va = resp->va;
	struct iovec iov[WQ_MAX_IOV];
	struct mkey *mkey;
	unsigned int num;
	int64_t got;
	int err;

	err = remote_check(qp, resp->rkey, OHCA_ACCESS_REMOTE_WRITE, va, left, &mkey);
	if (err)
		return err;
	while (left) {
		num = 0;
		got = mkey_resolve(qp->hca, mkey, va, left, true, iov, &num, WQ_MAX_IOV);
		if (got < 0)
			return OHCA_VENDOR_ERR_DMA;
		va += got;
		left -= got;
		iov_copy(iov, num, &in->pos, !left && in->flags & PKT_LAST);
	}
	return 0;
}

/* Take the RETH of an RDMA WRITE; false if it was refused. */
static bool start_write(struct qp *qp, const struct inbound *in)
{
	struct responder *resp = &qp->resp;
	const struct pkt *pkt = in->pkt;
	struct mkey *mkey;
	int err;

	if (!(qp->access & OHCA_ACCESS_REMOTE_WRITE) || pkt->dma_len > HCA_MAX_MSG) {
		refuse_invalid(qp);
		return false;
	}
	/*
	 * The whole of it, before anything is written; what arrives is checked once more when it
	 * does.
	 */
	if (in->len != pkt->dma_len) {
		err = remote_check(qp, pkt->rkey, OHCA_ACCESS_REMOTE_WRITE, pkt->va, pkt->dma_len,
				   &mkey);
		if (err) {
			refuse_access(qp, err);
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

static void rx_write(struct qp *qp, struct inbound *in)
{
	struct responder *resp = &qp->resp;
	bool imm = in->flags & PKT_IMM && in->flags & PKT_LAST;
	int err;

	if (resp->op != (in->flags & PKT_FIRST ? RESP_NONE : RESP_WRITE) || !length_fits(qp, in)) {
		refuse_invalid(qp);
		return;
	}
	if (imm && !take_recv(qp))
		return;
	if (in->flags & PKT_FIRST && !start_write(qp, in))
		return;
	if (in->len > resp->left || (in->flags & PKT_LAST && in->len != resp->left)) {
		refuse_invalid(qp);
		return;
	}
	err = in->len ? place_write(qp, in) : 0;
	if (err) {
		/* The receive of the immediate data is at hand already. */
		if (imm)
			complete_recv(qp, in, OHCA_CQE_RECV_RDMA_IMM, OHCA_WC_LOC_ACCESS_ERR, err);
		refuse_access(qp, err);
		return;
	}
	resp->va += in->len;
	resp->left -= in->len;
	resp->done += in->len;
	if (imm && !complete_recv(qp, in, OHCA_CQE_RECV_RDMA_IMM, OHCA_WC_SUCCESS, 0)) {
		respond(qp, resp->epsn, AETH_NAK_REM_OP);
		return;
	}
	accept(qp, in);
}

/* Packets of the answer to an RDMA READ. */
static uint32_t read_packets(const struct qp *qp, uint32_t len)
{
	return len ? (len + (1U << qp->mtu_shift) - 1) >> qp->mtu_shift : 1;
}

static void push_job(struct qp *qp, const struct pkt *pkt, uint32_t npsn)
{
	struct responder *resp = &qp->resp;
	struct rd_job *job = job_at(resp, resp->rd_num++);

	job->va = pkt->va;
	job->rkey = pkt->rkey;
	job->len = pkt->dma_len;
	job->off = 0;
	job->psn = pkt->psn;
	job->npsn = npsn;
	job->msn = resp->msn;
	job->ack = false;
	if (resp->rd_num == 1 && job->len <= READ_AT_ONCE)
		responder_run(qp, READ_AT_ONCE);
	else
		qp_schedule(qp);
}

static void rx_read(struct qp *qp, const struct pkt *pkt)
{
	struct responder *resp = &qp->resp;
	struct mkey *mkey;
	uint32_t npsn;
	int err;

	if (resp->op != RESP_NONE || !(qp->access & OHCA_ACCESS_REMOTE_READ) ||
	    pkt->dma_len > HCA_MAX_MSG || resp->rd_num >= qp->attr.max_dest_rd_atomic) {
		refuse_invalid(qp);
		return;
	}
	err = remote_check(qp, pkt->rkey, OHCA_ACCESS_REMOTE_READ, pkt->va, pkt->dma_len, &mkey);
	if (err) {
		refuse_access(qp, err);
		return;
	}
	npsn = read_packets(qp, pkt->dma_len);
	resp->epsn = psn_add(resp->epsn, npsn);
	resp->msn = psn_add(resp->msn, 1);
	push_job(qp, pkt, npsn);
}

/* An RDMA READ that was seen before is executed anew, from its first PSN on. */
static void rx_read_again(struct qp *qp, const struct pkt *pkt)
{
	struct responder *resp = &qp->resp;
	struct mkey *mkey;
	uint32_t npsn;
	int err;

	/* Answers from there on that are not out yet would be repeated. */
	while (resp->rd_num) {
		struct rd_job *job = job_at(resp, resp->rd_num - 1);

		if (psn_diff(psn_add(job->psn, job->npsn), pkt->psn) <= 0)
			break;
		resp->rd_num--;
	}
	if (pkt->dma_len > HCA_MAX_MSG || resp->rd_num >= qp->attr.max_dest_rd_atomic)
		return;
	npsn = read_packets(qp, pkt->dma_len);
	if (psn_diff(psn_add(pkt->psn, npsn), resp->epsn) > 0)
		return;
	err = remote_check(qp, pkt->rkey, OHCA_ACCESS_REMOTE_READ, pkt->va, pkt->dma_len, &mkey);
	if (!err && qp->access & OHCA_ACCESS_REMOTE_READ)
		push_job(qp, pkt, npsn);
	else
		refuse_access(qp, OHCA_VENDOR_ERR_ACCESS);
}

/* The memory of an RDMA READ under way is gone: nothing after it is answered. */
static void abort_reads(struct qp *qp, uint32_t psn, int vendor_err)
{
	qp->resp.rd_num = 0;
	qp->resp.epsn = psn;
	refuse_access(qp, vendor_err);
}

/* The next part of the oldest RDMA READ; returns its bytes, or -1 if it was refused. */
static int64_t answer(struct qp *qp)
{
	struct responder *resp = &qp->resp;
	struct rd_job job = *job_at(resp, 0);
	uint32_t len = job.len - job.off;
	struct iovec iov[WQ_MAX_IOV];
	struct mkey *mkey = NULL;
	int64_t got = 0;
	int err;
	struct pkt pkt = {
		.op = PKT_READ_RESP,
		.flags = job.off ? 0 : PKT_FIRST,
		.syndrome = AETH_ACK_NO_CREDITS,
		.psn = psn_add(job.psn, job.off >> qp->mtu_shift),
		.msn = job.msn,
		.iov = iov,
	};

	if (len > PKT_MAX_LEN)
		len = PKT_MAX_LEN;
	err = remote_check(qp, job.rkey, OHCA_ACCESS_REMOTE_READ, job.va + job.off, len, &mkey);
	if (!err && len) {
		got = mkey_resolve(qp->hca, mkey, job.va + job.off, len, false, iov, &pkt.num,
				   WQ_MAX_IOV);
		if (got < 0)
			err = OHCA_VENDOR_ERR_DMA;
		else if (got < len)
			got &= ~((1LL << qp->mtu_shift) - 1);
	}
	if (err) {
		abort_reads(qp, pkt.psn, err);
		return -1;
	}

	/* Positions first: the peer may answer the response with its next request. */
	job_at(resp, 0)->off += got;
	if (job.off + got == job.len) {
		pkt.flags |= PKT_LAST;
		resp->rd_head = (resp->rd_head + 1) % HCA_MAX_RD_ATOMIC;
		resp->rd_num--;
	}
	pkt.len = got;
	pkt.npsn = read_packets(qp, got);
	link_send(qp, &pkt);
	if (pkt.flags & PKT_LAST && job.ack) {
		struct pkt ack = {
			.op = PKT_ACK,
			.syndrome = job.ack_syndrome,
			.psn = job.ack_psn,
			.npsn = 1,
			.msn = job.ack_msn,
		};

		link_send(qp, &ack);
	}
	return got;
}

bool responder_run(struct qp *qp, uint32_t budget)
{
	struct responder *resp = &qp->resp;
	uint64_t sum = 0;
	int64_t sent;

	while (resp->rd_num && sum < budget) {
		sent = answer(qp);
		if (sent < 0 || qp->state == OHCA_QPS_ERR)
			return false;
		sum += sent + 64;
	}
	if (!resp->rd_num && resp->closing)
		close_now(qp);
	return resp->rd_num;
}

/* Take off the part of a train that was seen before. */
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

void responder_rx(struct qp *qp, const struct pkt *pkt)
{
	struct responder *resp = &qp->resp;
	struct inbound in = {
		.pkt = pkt,
		.flags = pkt->flags,
		.npsn = pkt->npsn,
		.len = pkt->len,
		.pos = {.iov = pkt->iov},
	};
	int32_t ahead = psn_diff(pkt->psn, resp->epsn);

	if (resp->closing || qp->state < OHCA_QPS_RTR || qp->state > OHCA_QPS_SQD)
		return;
	if (qp->state == OHCA_QPS_RTR && !resp->comm_est) {
		resp->comm_est = true;
		eq_async(qp->hca, OHCA_EVENT_COMM_EST, qp->id);
	}
	if (ahead > 0) {
		if (!resp->nak_sent)
			respond(qp, resp->epsn, AETH_NAK_PSN_SEQ);
		resp->nak_sent = true;
		return;
	}
	if (ahead < 0 && pkt->op == PKT_READ_REQ) {
		rx_read_again(qp, pkt);
		return;
	}
	if (ahead < 0) {
		if ((uint32_t)-ahead >= pkt->npsn) {
			respond(qp, psn_add(resp->epsn, PSN_MASK), AETH_ACK_NO_CREDITS);
			return;
		}
		trim(qp, &in, -ahead);
	}
	resp->nak_sent = false;
	if (pkt->op == PKT_SEND)
		rx_send(qp, &in);
	else if (pkt->op == PKT_WRITE)
		rx_write(qp, &in);
	else
		rx_read(qp, pkt);
}
