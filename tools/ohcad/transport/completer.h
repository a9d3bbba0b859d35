/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completer: acknowledged requests complete, and lost ones are sent again or fail.  It changes
 * positions in the send queue, and does not send.
 */

#ifndef OHCAD_COMPLETER_H
#define OHCAD_COMPLETER_H

#include "transport/rc.h"

/* The oldest work request */
static inline struct sq_entry *completer_head(struct qp *qp)
{
	return sq_entry(&qp->sq, qp->sq.wq.done);
}

/* Complete it with an error, and move the QP to the error state, or to SQE. */
void completer_fail(struct qp *qp, enum ohca_wc_status status, int vendor_err);
/*
 * If sq.wq.next failed and all earlier work requests are complete: complete it, and the QP is in
 * error.
 */
void completer_check_failed(struct qp *qp);

/*
 * All packets before @end have arrived.  Returns false if that can't be right, and the QP is then
 * in error; or if responses of an RDMA READ before @end were lost, which is then sent again.
 */
bool completer_ack(struct qp *qp, uint32_t end);
/* OHCA_QPT_UC: all requests that were sent complete. */
void completer_sent(struct qp *qp);
/* Complete local operations as well, when all earlier requests have completed. */
void completer_reap(struct qp *qp);

/*
 * Send from @psn on, which is outstanding, as if it never had been.  False: it was not sent, or
 * that is known already.
 */
bool completer_rewind(struct qp *qp, uint32_t psn);
/* Packets from @psn on were lost; counted once, whatever the number of responses that show it. */
void completer_retry(struct qp *qp, uint32_t psn);
/*
 * A response from @psn on was lost, which a later response shows.  The other responses outstanding
 * then show it too; the loss is counted once.
 */
void completer_response_lost(struct qp *qp, uint32_t psn);
/* Something is outstanding: the time-out begins. */
void completer_watch(struct qp *qp);
/* A quarter of the time-out has passed. */
void completer_timeout(struct qp *qp);

#endif
