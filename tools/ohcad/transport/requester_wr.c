// SPDX-License-Identifier: GPL-2.0
/* Requester: the current work request, its WQE and its failure. */

#include <endian.h>

#include "transport/requester.h"

int requester_fail(struct qp *qp, enum ohca_wc_status status, int vendor_err)
{
	struct requester *req = rc_req(qp);
	struct sq_entry *entry = sq_entry(&qp->sq, qp->sq.wq.next);

	if (qp->sq.wq.next == qp->sq.fetched) {
		/* It was not begun, and its WQE may be replaced. */
		entry->wr_id = le64toh(qp->sq.wqe->wr_id);
		entry->opcode = qp->sq.wqe->opcode;
		entry->len = 0;
	}
	req->failed = status;
	req->vendor_err = vendor_err;
	return -1;
}

int requester_no_memory(struct qp *qp, int err, struct mkey_missing *missing)
{
	if (err == MKEY_MISSING) {
		err = sq_wait_page(qp, missing);
		if (!err)
			return -1;
	}
	return requester_fail(qp, OHCA_WC_LOC_PROT_ERR, err);
}

bool requester_load(struct qp *qp, uint32_t idx, const struct sq_entry *entry)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;

	if (!wq_load_send(qp, idx)) {
		qp_fatal(qp);
		return false;
	}
	return wqe->opcode == entry->opcode && le16toh(wqe->num_sge) == entry->num_sge &&
	       !((wqe->flags ^ entry->flags) & (OHCA_WQE_INLINE | OHCA_WQE_EXT)) &&
	       (wqe->flags & OHCA_WQE_INLINE ||
		sge_len(sq_wqe_sgl(wqe), entry->num_sge) == entry->len);
}
