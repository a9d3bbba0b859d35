// SPDX-License-Identifier: GPL-2.0
/* Receive work requests. */

#include <endian.h>

#include "qp/recv.h"

enum recv_result recv_take(struct qp *qp)
{
	struct srq *srq = qp->rq.srq;
	struct wq *wq = srq ? &srq->wq : &qp->rq.wq;

	if (qp->rq.wq.taken)
		return RECV_OK;
	if (wq->done == wq->pi) {
		if (!wq_update(wq))
			goto broken;
		if (wq->done == wq->pi)
			return RECV_NONE;
	}
	if (!wq_load_recv(qp, wq, wq->done))
		goto broken;
	if (wq->done + 1 != wq->pi)
		__builtin_prefetch(ring_entry(&wq->ring, wq->done + 1));
	if (srq) {
		qp->rq.wq.taken = true;
		srq_taken(srq);
	}
	return RECV_OK;

broken:
	if (srq)
		srq_error(srq);
	return RECV_BROKEN;
}

bool recv_complete(struct qp *qp, struct ohca_cqe *cqe)
{
	struct srq *srq = qp->rq.srq;
	struct wq *wq = &qp->rq.wq;

	if (cqe->status == OHCA_WC_WR_FLUSH_ERR)
		qp_count(qp, OHCA_CNT_RESP_FLUSHED, 1);
	else if (cqe->status)
		qp_count_error(qp, OHCA_CNT_RESP_ERRORS);
	cqe->wr_id = qp->rq.wqe->wr_id;
	cqe->qpn = htole32(qp->id);
	cqe->flags |= OHCA_CQE_F_RQ;
	if (srq) {
		qp->rq.wq.taken = false;
		cqe->flags |= OHCA_CQE_F_SRQ;
		cqe->srqn = htole32(srq->id);
		cqe->wqe_idx = htole32(srq->wq.done);
		if (qp->ops->complete_recv)
			return qp->ops->complete_recv(qp, cqe);
		if (srq->type == OHCA_SRQ_XRC)
			wq = &srq->wq;
	} else {
		cqe->wqe_idx = htole32(wq->done);
		wq->next = ++wq->done;
	}
	return qp_complete(qp, wq, cqe);
}

void recv_flush(struct qp *qp)
{
	struct ohca_cqe cqe = {
		.vendor_err = htole32(OHCA_VENDOR_ERR_FLUSH),
		.status = OHCA_WC_WR_FLUSH_ERR,
		.opcode = OHCA_CQE_RECV,
	};

	if (qp->rq.wq.taken)
		recv_complete(qp, &cqe);
}

void recv_use_srq(struct qp *qp, struct srq *srq)
{
	if (qp->rq.srq == srq)
		return;
	qp->rq.srq = srq;
	qp->rq.wq.taken = false;
	list_del(&qp->rq.srq_user);
	if (srq && srq->type == OHCA_SRQ_XRC)
		list_add_tail(&srq->users, &qp->rq.srq_user);
}
