/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receive work requests: taken from the QP's own queue or from an SRQ, and completed.
 */

#ifndef OHCAD_RECV_H
#define OHCAD_RECV_H

#include "qp/qp.h"
#include "qp/srq.h"

/**
 * enum recv_result - results of taking a receive
 * @RECV_OK: it is in qp->rq.wqe
 * @RECV_NONE: there is none
 * @RECV_BROKEN: the queue is not accessible or jumped
 */
enum recv_result {
	RECV_OK,
	RECV_NONE,
	RECV_BROKEN,
};

/*
 * Load the next receive work request into qp->rq.wqe.  One of an SRQ belongs to the QP until it
 * completes: taking it again yields the same one.
 */
enum recv_result recv_take(struct qp *qp);

/* The maximum number of elements of a receive */
static inline uint32_t recv_max_sge(const struct qp *qp)
{
	return qp->rq.srq ? qp->rq.srq->wq.max_sge : qp->rq.wq.max_sge;
}

/*
 * Complete the taken receive; @cqe has the fields of the message, the others are filled in.
 * Returns false if the CQ is in error: the QP is then in error, too.
 */
bool recv_complete(struct qp *qp, struct ohca_cqe *cqe);

/* The QP is in error: flush a receive that it has taken from an SRQ. */
void recv_flush(struct qp *qp);

/*
 * Take receives from @srq from now on; NULL: from none, or from the QP's own queue.  One that was
 * taken from another SRQ is dropped.
 */
void recv_use_srq(struct qp *qp, struct srq *srq);

#endif
