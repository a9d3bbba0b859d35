// SPDX-License-Identifier: GPL-2.0
/* QPs that send and receive single packets: their work queues. */

#include <endian.h>

#include "dgram.h"

/* Packets of one run. */
#define RUN_BATCH 64

/* Complete the oldest work request of a queue; returns whether the queue goes on. */
static bool complete(struct qp *qp, struct wq *wq, struct ohca_cqe *cqe, enum ohca_wc_status status,
		     int vendor_err)
{
	cqe->qpn = htole32(qp->id);
	cqe->wqe_idx = htole32(wq->done++);
	cqe->vendor_err = htole32(vendor_err);
	cqe->status = status;
	wq->next = wq->done;
	qp->req.fetched = qp->sq.done;
	if (!qp_complete(qp, wq, cqe))
		return false;
	if (status && wq == &qp->sq)
		qp_send_error(qp);
	else if (status)
		qp_error(qp);
	return !status;
}

static bool complete_recv(struct qp *qp, struct ohca_cqe *cqe, enum ohca_wc_status status,
			  int vendor_err)
{
	cqe->wr_id = qp->resp.rqe.wr_id;
	cqe->opcode = OHCA_CQE_RECV;
	cqe->flags |= OHCA_CQE_F_RQ;
	return complete(qp, &qp->rq, cqe, status, vendor_err);
}

bool dgram_take(struct qp *qp, uint32_t len)
{
	const struct ohca_rq_wqe *wqe = &qp->resp.rqe;
	struct wq *rq = &qp->rq;
	struct ohca_cqe cqe = {};

	if (!qp_receives(qp) || !qp->hca->ready || qp->hca->stalled)
		return false;
	if ((rq->done == rq->pi && !wq_update(rq)) ||
	    (rq->done != rq->pi && !wq_load_recv(qp, rq->done))) {
		qp_fatal(qp);
		return false;
	}
	if (rq->done == rq->pi)
		return false;
	if (le32toh(wqe->num_sge) > rq->max_sge) {
		complete_recv(qp, &cqe, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE);
		return false;
	}
	return wq_sgl_len(wqe->sge, le32toh(wqe->num_sge)) >= len;
}

bool dgram_place(struct qp *qp, const struct iovec *iov, uint32_t len, struct ohca_cqe *cqe)
{
	const struct ohca_rq_wqe *wqe = &qp->resp.rqe;
	struct wq_span span = {
		.sge = wqe->sge,
		.num_sge = le32toh(wqe->num_sge),
		.len = len,
		.write = true,
	};
	struct iov_pos pos = {.iov = iov};
	struct iovec dst[WQ_MAX_IOV];
	unsigned int num;
	int64_t got;

	cqe->byte_len = htole32(len);
	while (span.len) {
		got = wq_resolve_span(qp, &span, dst, &num);
		if (got < 0) {
			complete_recv(qp, cqe, OHCA_WC_LOC_PROT_ERR, -got);
			return false;
		}
		span.off += got;
		span.len -= got;
		iov_copy(dst, num, &pos, false);
	}
	return complete_recv(qp, cqe, OHCA_WC_SUCCESS, 0);
}

enum ohca_wc_status dgram_gather(struct qp *qp, uint32_t min, uint32_t max, struct iovec *iov,
				 unsigned int *num, uint32_t *len, int *vendor_err)
{
	const struct ohca_sq_wqe *wqe = &qp->req.wqe;
	uint32_t count = le16toh(wqe->num_sge);
	bool is_inline = wqe->flags & OHCA_WQE_INLINE;
	struct wq_span span = {.sge = sq_wqe_sgl(wqe), .num_sge = count};
	int64_t got;

	*num = 0;
	if (!sq_wqe_fits(&qp->sq, wqe)) {
		*vendor_err = OHCA_VENDOR_ERR_WQE_SGE;
		return OHCA_WC_LOC_QP_OP_ERR;
	}
	span.len = is_inline ? count : wq_sgl_len(span.sge, count);
	if (span.len < min || span.len > max) {
		*vendor_err = OHCA_VENDOR_ERR_LENGTH;
		return OHCA_WC_LOC_LEN_ERR;
	}
	*len = span.len;
	if (is_inline) {
		iov->iov_base = (void *)sq_wqe_data(wqe);
		iov->iov_len = count;
		*num = 1;
		return OHCA_WC_SUCCESS;
	}
	got = wq_resolve_span(qp, &span, iov, num);
	if (got < (int64_t)span.len) {
		*vendor_err = got < 0 ? -got : OHCA_VENDOR_ERR_WQE_SGE;
		return OHCA_WC_LOC_PROT_ERR;
	}
	return OHCA_WC_SUCCESS;
}

/* Send one packet; returns its length, or -1 if there is none. */
static int64_t send_one(struct qp *qp, dgram_send_fn *send)
{
	const struct ohca_sq_wqe *wqe = &qp->req.wqe;
	struct wq *sq = &qp->sq;
	enum ohca_wc_status status;
	struct ohca_cqe cqe = {};
	uint32_t len = 0;
	int vendor_err = 0;
	bool signaled;

	if (qp->state != OHCA_QPS_RTS || sq->done == sq->pi)
		return -1;
	if (!wq_load_send(qp, sq->done)) {
		qp_fatal(qp);
		return -1;
	}
	signaled = wqe->flags & OHCA_WQE_SIGNALED || qp->flags & OHCA_QP_F_SIGNAL_ALL;
	cqe.wr_id = wqe->wr_id;
	cqe.opcode = wqe->opcode;
	status = send(qp, &len, &vendor_err);
	if (status || signaled) {
		if (!complete(qp, sq, &cqe, status, vendor_err))
			return -1;
	} else {
		sq->next = ++sq->done;
		qp->req.fetched = sq->done;
	}
	return len;
}

bool dgram_run(struct qp *qp, uint32_t budget, dgram_send_fn *send)
{
	unsigned int num;
	uint64_t sum = 0;
	int64_t sent;

	if (qp->state == OHCA_QPS_RTS) {
		if (!wq_update(&qp->sq)) {
			qp_fatal(qp);
			return true;
		}
		for (num = 0; num < RUN_BATCH && sum < budget; num++) {
			sent = send_one(qp, send);
			if (sent < 0)
				break;
			sum += sent;
		}
	}
	requester_check_drained(qp);
	return qp->state == OHCA_QPS_ERR || qp->state == OHCA_QPS_SQE ||
	       (qp->state == OHCA_QPS_RTS && qp->sq.done != qp->sq.pi);
}
