/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completer: what is acknowledged completes, what was lost is sent again or given up.  It moves
 * positions in the send queue, and sends nothing.
 */

#ifndef OHCAD_COMPLETER_H
#define OHCAD_COMPLETER_H

#include "transport/rc.h"

/* The oldest work request. */
static inline struct sq_entry *completer_head(struct qp *qp)
{
	return sq_entry(&qp->sq, qp->sq.wq.done);
}

/* It completes with an error, and the QP is in error, or its send queue. */
void completer_fail(struct qp *qp, enum ohca_wc_status status, int vendor_err);
/*
 * If sq.wq.next failed and all earlier work requests are complete: complete it, and the QP is in
 * error.
 */
void completer_check_failed(struct qp *qp);

/*
 * Everything before @end has arrived.  Returns false if that can't be the end of it: the QP is in
 * error, or the responses of an RDMA READ before @end were lost (then it will be sent again).
 */
bool completer_ack(struct qp *qp, uint32_t end);
/* OHCA_QPT_UC: what was sent is done. */
void completer_sent(struct qp *qp);
/* Local operations complete, too, once what was before them has. */
void completer_reap(struct qp *qp);

/*
 * Send from @psn on, which is outstanding, as if it never had been.  False: it was not sent, or
 * that is known already.
 */
bool completer_rewind(struct qp *qp, uint32_t psn);
/* Something was lost from @psn on; counted once, however many answers tell so. */
void completer_retry(struct qp *qp, uint32_t psn);
/*
 * A response from @psn on was lost, which a later one tells.  So do all that were under way with it:
 * they count once.
 */
void completer_response_lost(struct qp *qp, uint32_t psn);
/* The retransmission timer has expired. */
void completer_timeout(struct qp *qp);

#endif
