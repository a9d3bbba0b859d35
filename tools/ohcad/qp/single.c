// SPDX-License-Identifier: GPL-2.0
/*
 * Work queues of QPs whose work requests are one step each: they send and receive single packets,
 * or change the tags of an SRQ.
 */

#include <endian.h>

#include "qp/qp_latency.h"
#include "qp/single.h"
#include "qp/srq.h"
#include "qp/recv.h"
#include "qp/sched.h"

/* Complete the oldest send work request.  Returns whether the queue can continue. */
static bool complete_send(struct qp *qp, struct ohca_cqe *cqe, enum ohca_wc_status status,
			  int vendor_err)
{
	struct wq *sq = &qp->sq.wq;

	cqe->qpn = htole32(qp->id);
	cqe->wqe_idx = htole32(sq->done++);
	cqe->vendor_err = htole32(vendor_err);
	cqe->status = status;
	sq->next = sq->done;
	qp->sq.fetched = sq->done;
	if (status)
		qp_count_error(qp, OHCA_CNT_REQ_ERRORS);
	else
		qp_latency_completed(qp, sq->next - 1);
	if (!qp_complete(qp, sq, cqe))
		return false;
	if (!status || status == OHCA_WC_TM_ERR)
		return true;
	qp_send_error(qp);
	return false;
}

/* Complete the current receive.  Returns whether the QP can continue. */
static bool complete_recv(struct qp *qp, struct ohca_cqe *cqe, enum ohca_wc_status status,
			  int vendor_err)
{
	if (!cqe->opcode)
		cqe->opcode = OHCA_CQE_RECV;
	cqe->vendor_err = htole32(vendor_err);
	cqe->status = status;
	if (!recv_complete(qp, cqe))
		return false;
	if (status)
		qp_error(qp);
	return !status;
}

/* Of Ethernet frames, only those of the port itself are counted, in counters of their own. */
static void count_drop(struct qp *qp, enum ohca_counter why)
{
	if (qp_is(qp, QPT_DATAGRAM))
		qp_count(qp, why, 1);
	else if (why == OHCA_CNT_OUT_OF_BUFFER && qp_is_netdev(qp))
		qp_count(qp, OHCA_CNT_ETH_NO_BUFFER, 1);
}

bool single_take(struct qp *qp, uint32_t len)
{
	const struct ohca_rq_wqe *wqe = qp->rq.wqe;
	enum recv_result result;
	struct ohca_cqe cqe = {};

	if (!qp_receives(qp) || !qp->hca->ready || qp->hca->stalled)
		return false;
	result = recv_take(qp);
	if (result == RECV_BROKEN)
		qp_fatal(qp);
	else if (result == RECV_NONE)
		count_drop(qp, OHCA_CNT_OUT_OF_BUFFER);
	if (result != RECV_OK)
		return false;
	if (le32toh(wqe->num_sge) > recv_max_sge(qp)) {
		complete_recv(qp, &cqe, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE);
		return false;
	}
	if (sge_len(wqe->sge, le32toh(wqe->num_sge)) < len) {
		count_drop(qp, OHCA_CNT_RX_DROPPED);
		return false;
	}
	return true;
}

bool single_has_room(struct qp *qp, uint32_t len)
{
	const struct ohca_rq_wqe *wqe = qp->rq.wqe;
	struct wq *rq = &qp->rq.wq;
	uint64_t sum = 0;
	uint32_t idx;

	if (!qp_receives(qp) || !wq_update(rq))
		return false;
	for (idx = rq->done; sum < len && idx != rq->pi && idx - rq->done < SINGLE_MAX_PARTS;
	     idx++) {
		if (!wq_load_recv(qp, rq, idx) || le32toh(wqe->num_sge) > rq->max_sge)
			return false;
		sum += sge_len(wqe->sge, le32toh(wqe->num_sge));
	}
	return sum >= len;
}

bool single_place(struct qp *qp, struct iov_pos *pos, uint32_t len, struct ohca_cqe *cqe)
{
	const struct ohca_rq_wqe *wqe = qp->rq.wqe;
	struct mkey_missing missing;
	struct sge_span span = {
		.sge = wqe->sge,
		.num_sge = le32toh(wqe->num_sge),
		.len = len,
		.write = true,
		.missing = &missing,
		.rights = srq_rights(qp->rq.srq, qp),
	};
	int err;

	cqe->byte_len = htole32(len);
	err = sge_scatter(qp->hca, &span, pos, false);
	if (err == MKEY_MISSING) {
		count_drop(qp, OHCA_CNT_OUT_OF_BUFFER);
		return false;
	}
	if (err) {
		complete_recv(qp, cqe, OHCA_WC_LOC_PROT_ERR, err);
		return false;
	}
	return complete_recv(qp, cqe, OHCA_WC_SUCCESS, 0);
}

enum ohca_wc_status single_gather(struct qp *qp, uint32_t min, uint32_t max, struct iovec *iov,
				  unsigned int *num, uint32_t *len, int *vendor_err)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	uint32_t count = le16toh(wqe->num_sge);
	bool is_inline = wqe->flags & OHCA_WQE_INLINE;
	struct mkey_missing missing;
	struct sge_span span = {.sge = sq_wqe_sgl(wqe),
				.num_sge = count,
				.rights = qp_rights(qp),
				.missing = &missing};
	int64_t got;

	*num = 0;
	if (!sq_wqe_fits(&qp->sq.wq, wqe)) {
		*vendor_err = OHCA_VENDOR_ERR_WQE_SGE;
		return OHCA_WC_LOC_QP_OP_ERR;
	}
	span.len = is_inline ? count : sge_len(span.sge, count);
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
	got = sge_resolve_span(qp->hca, &span, iov, num);
	if (got < (int64_t)span.len) {
		*vendor_err = got < 0 ? -got : OHCA_VENDOR_ERR_WQE_SGE;
		if (got == -MKEY_MISSING)
			*vendor_err = sq_wait_page(qp, &missing) ?: MKEY_MISSING;
		return OHCA_WC_LOC_PROT_ERR;
	}
	return OHCA_WC_SUCCESS;
}

/* In SQD, what has begun goes on. */
static bool may_send(const struct qp *qp)
{
	return qp->state == OHCA_QPS_RTS || (qp->state == OHCA_QPS_SQD && !qp_drained(qp));
}

/* Send one packet, or a part of a work request; returns its length, or -1 if there is none. */
static int64_t send_one(struct qp *qp, single_send_fn *send)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	struct wq *sq = &qp->sq.wq;
	enum ohca_wc_status status;
	struct ohca_cqe cqe = {};
	uint32_t len = 0;
	int vendor_err = 0;
	bool signaled;

	if (!may_send(qp) || qp->sq.paused || sq->done == sq->pi)
		return -1;
	if (!wq_load_send(qp, sq->done)) {
		qp_fatal(qp);
		return -1;
	}
	signaled = wqe->flags & OHCA_WQE_SIGNALED || qp->flags & OHCA_QP_F_SIGNAL_ALL;
	cqe.wr_id = wqe->wr_id;
	cqe.opcode = wqe->opcode;
	status = send(qp, &cqe, &len, &vendor_err);
	if (qp->sq.paused)
		return -1;
	if (!status && !qp_drained(qp))
		return qp->hca->sched->max; /* a part is as long as a turn */
	if (status || signaled) {
		if (!complete_send(qp, &cqe, status, vendor_err))
			return -1;
	} else {
		sq->next = ++sq->done;
		qp->sq.fetched = sq->done;
	}
	return len;
}

bool single_run(struct qp *qp, uint32_t budget, single_send_fn *send)
{
	uint32_t seen = qp->sq.wq.pi;
	unsigned int num;
	uint64_t sum = 0;
	int64_t sent;

	if (may_send(qp)) {
		if (!wq_update(&qp->sq.wq)) {
			qp_fatal(qp);
			return true;
		}
		qp_latency_posted(qp, seen);
		for (num = 0; num < qp->hca->sched->batch && sum < budget; num++) {
			sent = send_one(qp, send);
			if (sent < 0)
				break;
			sum += sent;
		}
	}
	qp_check_drained(qp);
	return qp->state == OHCA_QPS_ERR || qp->state == OHCA_QPS_SQE ||
	       (may_send(qp) && !qp->sq.paused && qp->sq.wq.done != qp->sq.wq.pi);
}
