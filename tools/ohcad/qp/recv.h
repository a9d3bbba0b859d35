/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receive work requests: where they come from (the QP's own queue, or an SRQ), how one is taken
 * and how it completes.
 */

#ifndef OHCAD_RECV_H
#define OHCAD_RECV_H

#include "qp/qp.h"
#include "qp/srq.h"

/**
 * enum recv_result - what taking a receive yields
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
 * Have the next receive work request in qp->rq.wqe.  One of an SRQ is the QP's from then on, until
 * it completes: taking it again yields the same.
 */
enum recv_result recv_take(struct qp *qp);

/* Most elements that a receive may have. */
static inline uint32_t recv_max_sge(const struct qp *qp)
{
	return qp->rq.srq ? qp->rq.srq->wq.max_sge : qp->rq.wq.max_sge;
}

/*
 * Complete what was taken; @cqe has what tells of the message, the rest is filled in.  False: the
 * CQ takes no more of them, and the QP is in error.
 */
bool recv_complete(struct qp *qp, struct ohca_cqe *cqe);

/* The QP is in error: flush a receive that it has taken from an SRQ. */
void recv_flush(struct qp *qp);

/*
 * Receives come from @srq from now on, NULL: from none, or the QP's own queue.  One that was taken
 * from another SRQ is forgotten.
 */
void recv_use_srq(struct qp *qp, struct srq *srq);

#endif
