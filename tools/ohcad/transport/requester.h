/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of the requester's parts: requester.c begins work requests and sends messages,
 * requester_read.c sends requests that a response answers, requester_wr.c has the current work
 * request.
 */

#ifndef OHCAD_REQUESTER_H
#define OHCAD_REQUESTER_H

#include <endian.h>

#include "transport/op.h"
#include "transport/rc.h"

/* requester_wr.c */

/*
 * Load the WQE of work request @idx.  Returns false if it has changed since it was begun, or was
 * dropped (QP in error).
 */
bool requester_load(struct qp *qp, uint32_t idx, const struct sq_entry *entry);
/*
 * The work request sq.wq.next failed locally: it completes when the earlier ones have.  Returns -1.
 */
int requester_fail(struct qp *qp, enum ohca_wc_status status, int vendor_err);
/* Its memory is not accessible; with MKEY_MISSING it waits for @missing.  Returns -1. */
int requester_no_memory(struct qp *qp, int err, struct mkey_missing *missing);

/*
 * Set the position after @npsn more packets of sq.wq.next; before they are sent, because the answer
 * may arrive at once.
 */
static inline void requester_advance(struct qp *qp, const struct sq_entry *entry, uint32_t npsn)
{
	struct requester *req = rc_req(qp);
	uint32_t end;

	req->cur += npsn;
	end = psn_add(entry->psn, entry->kind == OP_READ_ATOMIC ? entry->npsn : req->cur);
	if (((end - req->una) & PSN_MASK) > ((req->sent - req->una) & PSN_MASK))
		req->sent = end;
	if (req->cur >= entry->npsn || entry->kind == OP_READ_ATOMIC) {
		qp->sq.wq.next++;
		req->cur = 0;
	}
}

/* The SRQ whose lists the device's own RDMA READs use, or NULL: the QP's lists */
static inline const struct srq *requester_srq(const struct qp *qp)
{
	return rc_tm(qp) ? qp->srq : NULL;
}

/*
 * Gather @len bytes of the message from @off on; fewer, but whole packets, if they are in too many
 * pieces.  Returns -1 if that failed, or has to wait for a page.
 */
static inline int64_t requester_gather(struct qp *qp, uint32_t off, uint32_t len, struct iovec *iov,
				       unsigned int *num)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	struct mkey_missing missing;
	struct sge_span span = {
		.sge = sq_wqe_sgl(wqe),
		.num_sge = le16toh(wqe->num_sge),
		.off = off,
		.len = len,
		.rights = qp_rights(qp),
		.missing = &missing,
	};
	int64_t got;

	if (wqe->flags & OHCA_WQE_INLINE) {
		iov->iov_base = (void *)(sq_wqe_data(wqe) + off);
		iov->iov_len = len;
		*num = 1;
		return len;
	}
	got = sge_resolve_span(qp->hca, &span, iov, num);
	if (got < 0)
		return requester_no_memory(qp, -got, &missing);
	if (got < len)
		got &= ~((1LL << qp->mtu_shift) - 1);
	return got;
}

/* requester_read.c */

/*
 * Send sq.next, of kind OP_READ_ATOMIC, from the first missing response on.  Returns the bytes to
 * subtract from the budget, or -1: failed.
 */
int64_t requester_send_read(struct qp *qp, const struct sq_entry *entry);

#endif
