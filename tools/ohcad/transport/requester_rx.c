// SPDX-License-Identifier: GPL-2.0
/*
 * Requester, receiving half: acknowledgments, RDMA READ responses, completion, retry (InfiniBand
 * specification, 9.7.5 to 9.9.2).
 */

#include <endian.h>

#include "base/log.h"
#include "transport/op.h"
#include "transport/peer.h"
#include "transport/requester.h"
#include "transport/tm.h"

/* Table 45, encoding of the RNR NAK timer: units of 10 us. */
static const uint32_t rnr_time[AETH_VALUE_MASK + 1] = {
	65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
	48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

#define RNR_UNIT 10000ULL /* ns */

static struct sq_entry *oldest(struct qp *qp)
{
	return sq_entry(&qp->sq, qp->sq.wq.done);
}

/* The oldest work request completes. */
static void complete(struct qp *qp, enum ohca_wc_status status, int vendor_err)
{
	const struct sq_entry *entry = oldest(qp);
	uint32_t idx = qp->sq.wq.done++;
	struct ohca_cqe cqe = {
		.wr_id = htole64(entry->wr_id),
		.qpn = htole32(qp->id),
		.byte_len = htole32(entry->len),
		.wqe_idx = htole32(idx),
		.vendor_err = htole32(vendor_err),
		.status = status,
		.opcode = entry->opcode,
	};

	if (status)
		qp_count(qp, OHCA_CNT_REQ_ERRORS, 1);
	if (!status && !(entry->flags & OHCA_WQE_SIGNALED))
		return;
	if (rc_tm(qp))
		tm_complete_send(qp, &cqe);
	else
		qp_complete(qp, &qp->sq.wq, &cqe);
}

/* The oldest work request fails, and the QP with it. */
static void give_up(struct qp *qp, enum ohca_wc_status status, int vendor_err)
{
	complete(qp, status, vendor_err);
	qp_send_error(qp);
}

void requester_check_failed(struct qp *qp)
{
	struct requester *req = rc_req(qp);

	if (!req->failed || qp->sq.wq.done != qp->sq.wq.next || qp->state == OHCA_QPS_ERR)
		return;
	if (qp->sq.wq.done == qp->sq.fetched)
		qp->sq.fetched++;
	give_up(qp, req->failed, req->vendor_err);
}

/*
 * Send from @psn on, which is outstanding, as if it never had been.  False: it was not sent, or
 * that is known already.
 */
static bool rewind_to(struct qp *qp, uint32_t psn)
{
	struct requester *req = rc_req(qp);
	struct sq_entry *entry;
	uint32_t idx, i;

	for (idx = qp->sq.wq.done; idx != qp->sq.wq.next; idx++) {
		entry = sq_entry(&qp->sq, idx);
		if (psn_diff(psn, psn_add(entry->psn, entry->npsn)) < 0)
			break;
	}
	if (idx == qp->sq.fetched)
		return false;
	entry = sq_entry(&qp->sq, idx);
	if (idx == qp->sq.wq.next && req->cur <= ((psn - entry->psn) & PSN_MASK))
		return false;
	for (i = idx; i != qp->sq.wq.next; i++) {
		if (sq_entry(&qp->sq, i)->kind == OP_RD)
			req->reads--;
	}
	qp->sq.wq.next = idx;
	req->cur = entry->kind == OP_RD ? 0 : (psn - entry->psn) & PSN_MASK;
	req->failed = 0;
	return true;
}

/* Something was lost from @psn on; counted once, however many answers tell so. */
static void retry(struct qp *qp, uint32_t psn)
{
	struct requester *req = rc_req(qp);

	if (!rewind_to(qp, psn))
		return;
	if (req->retry_left)
		req->retry_left--;
	else
		give_up(qp, OHCA_WC_RETRY_EXC_ERR, OHCA_VENDOR_ERR_TIMEOUT);
}

/*
 * A response from @psn on was lost, which a later one tells.  So do all that were under way with it:
 * they count once.
 */
static void response_lost(struct qp *qp, uint32_t psn)
{
	struct requester *req = rc_req(qp);

	if (req->gap)
		return;
	req->gap = true;
	if (psn_diff(psn, req->again_end) < 0)
		rewind_to(qp, psn);
	else
		retry(qp, psn);
}

/* sq.next is never behind what is acknowledged, even if that was to be sent again. */
static void catch_up(struct qp *qp)
{
	struct requester *req = rc_req(qp);
	int32_t ahead;

	if ((int32_t)(qp->sq.wq.next - qp->sq.wq.done) < 0) {
		qp->sq.wq.next = qp->sq.wq.done;
		req->cur = 0;
		req->failed = 0;
	}
	if (qp->sq.wq.next == qp->sq.fetched)
		return;
	ahead = psn_diff(req->una, sq_entry(&qp->sq, qp->sq.wq.next)->psn);
	if (ahead > (int32_t)req->cur && sq_entry(&qp->sq, qp->sq.wq.next)->kind != OP_RD)
		req->cur = ahead;
}

/*
 * Everything before @end has arrived.  Returns false if that can't be the end of it: the QP is in
 * error, or the responses of an RDMA READ before @end were lost (then it will be sent again).
 */
static bool acknowledge(struct qp *qp, uint32_t end)
{
	struct requester *req = rc_req(qp);
	bool lost = false;

	while (qp->sq.wq.done != qp->sq.fetched) {
		struct sq_entry *entry = oldest(qp);

		if (entry->kind == OP_RD && entry->got < entry->npsn) {
			uint32_t got = psn_add(entry->psn, entry->got);

			lost = psn_diff(end, psn_add(entry->psn, entry->npsn)) >= 0;
			if (psn_diff(end, got) > 0)
				end = got;
			break;
		}
		if (psn_diff(end, psn_add(entry->psn, entry->npsn)) < 0)
			break;
		complete(qp, OHCA_WC_SUCCESS, 0);
		if (qp->state == OHCA_QPS_ERR)
			return false;
	}
	if (psn_diff(end, req->una) > 0) {
		req->una = end;
		req->progress = true;
		req->retry_left = qp->attr.retry_cnt;
		req->rnr_left = qp->attr.rnr_retry;
	}
	catch_up(qp);
	if (lost)
		response_lost(qp, req->una);
	return !lost;
}

void requester_sent(struct qp *qp)
{
	acknowledge(qp, requester_next_psn(qp));
}

void requester_reap(struct qp *qp)
{
	acknowledge(qp, rc_req(qp)->una);
}

static void rx_rnr_nak(struct qp *qp, uint32_t psn, uint8_t code)
{
	struct requester *req = rc_req(qp);

	qp_count(qp, OHCA_CNT_RNR_NAKS, 1);
	if (qp->attr.rnr_retry != 7) {
		if (!req->rnr_left) {
			give_up(qp, OHCA_WC_RNR_RETRY_EXC_ERR, OHCA_VENDOR_ERR_RNR);
			return;
		}
		req->rnr_left--;
	}
	/* The peer is there: what it loses behind this request does not add up to its end. */
	req->retry_left = qp->attr.retry_cnt;
	rewind_to(qp, psn);
	qp->sq.paused |= SQ_WAIT_RECEIVER;
	loop_timer_arm(qp->hca->loop, &qp->sq.timer,
		       loop_now(qp->hca->loop) + rnr_time[code] * RNR_UNIT);
}

/* Is that what is wrong with the oldest work request? */
static bool misaligned(struct qp *qp)
{
	const struct sq_entry *entry = oldest(qp);

	return op_in(entry->opcode, OPS_ATOMIC | OPS(OHCA_OP_ATOMIC_WRITE)) &&
	       requester_load(qp, qp->sq.wq.done, entry) && le64toh(qp->sq.wqe->rdma.raddr) % 8;
}

static void rx_nak(struct qp *qp, uint32_t psn, uint8_t syndrome)
{
	switch (syndrome) {
	case AETH_NAK_PSN_SEQ:
		qp_count(qp, OHCA_CNT_PKT_SEQ_ERR, 1);
		if (peer_has_fault(qp))
			rewind_to(qp, psn);
		else
			retry(qp, psn);
		return;
	case AETH_NAK_INV_REQ:
		give_up(qp, OHCA_WC_REM_INV_REQ_ERR,
			misaligned(qp) ? OHCA_VENDOR_ERR_ALIGN : OHCA_VENDOR_ERR_NAK);
		return;
	case AETH_NAK_REM_ACCESS:
		give_up(qp, OHCA_WC_REM_ACCESS_ERR, OHCA_VENDOR_ERR_NAK);
		return;
	case AETH_NAK_REM_OP:
		give_up(qp, OHCA_WC_REM_OP_ERR, OHCA_VENDOR_ERR_NAK);
		return;
	default:
		give_up(qp, OHCA_WC_BAD_RESP_ERR, OHCA_VENDOR_ERR_PACKET);
	}
}

static void rx_ack(struct qp *qp, const struct pkt *pkt)
{
	if ((pkt->syndrome & AETH_KIND_MASK) == AETH_ACK) {
		acknowledge(qp, psn_add(pkt->psn, 1));
		return;
	}
	if (!acknowledge(qp, pkt->psn) || qp_drained(qp))
		return;
	if ((pkt->syndrome & AETH_KIND_MASK) == AETH_RNR_NAK)
		rx_rnr_nak(qp, pkt->psn, pkt->syndrome & AETH_VALUE_MASK);
	else
		rx_nak(qp, pkt->psn, pkt->syndrome);
}

/* Copy the payload of a response to its place; 0, OHCA_VENDOR_ERR_* or MKEY_MISSING. */
static int scatter(struct qp *qp, const struct sq_entry *entry, const struct pkt *pkt,
		   struct mkey_missing *missing)
{
	struct wq_span span = {
		.sge = sq_wqe_sgl(qp->sq.wqe),
		.num_sge = entry->num_sge,
		.off = entry->got << qp->mtu_shift,
		.len = pkt->len,
		.write = true,
		.missing = missing,
		.srq = requester_srq(qp),
	};
	struct iov_pos pos = {.iov = pkt->iov};
	struct iovec iov[WQ_MAX_IOV];
	unsigned int num;
	int64_t got;

	while (span.len) {
		got = wq_resolve_span(qp, &span, iov, &num);
		if (got < 0)
			return -got;
		span.off += got;
		span.len -= got;
		iov_copy(iov, num, &pos, !span.len && pkt->flags & PKT_LAST);
	}
	return 0;
}

/* Does the response have the kind, length and end that the rest of the request asks for? */
static bool is_next_part(const struct qp *qp, const struct sq_entry *entry, const struct pkt *pkt)
{
	uint32_t len = entry->opcode == OHCA_OP_ATOMIC_WRITE ? 0 : entry->len;
	uint32_t left = entry->npsn - entry->got;

	if ((pkt->op == PKT_ATOMIC_RESP) != op_in(entry->opcode, OPS_ATOMIC))
		return false;
	if (pkt->flags & PKT_LAST)
		return pkt->npsn == left && pkt->len == len - (entry->got << qp->mtu_shift);
	return pkt->npsn < left && pkt->len == pkt->npsn << qp->mtu_shift;
}

static void rx_response(struct qp *qp, const struct pkt *pkt)
{
	struct requester *req = rc_req(qp);
	struct mkey_missing missing;
	struct sq_entry *entry;
	int32_t ahead;
	int err;

	if (!acknowledge(qp, pkt->psn) || qp_drained(qp))
		return;
	entry = oldest(qp);
	if (entry->kind != OP_RD) {
		give_up(qp, OHCA_WC_BAD_RESP_ERR, OHCA_VENDOR_ERR_PACKET);
		return;
	}
	ahead = psn_diff(pkt->psn, psn_add(entry->psn, entry->got));
	if (ahead > 0)
		response_lost(qp, psn_add(entry->psn, entry->got));
	if (ahead)
		return;
	if (!is_next_part(qp, entry, pkt)) {
		give_up(qp, OHCA_WC_BAD_RESP_ERR, OHCA_VENDOR_ERR_PACKET);
		return;
	}
	if (!requester_load(qp, qp->sq.wq.done, entry)) {
		if (qp->state != OHCA_QPS_ERR)
			give_up(qp, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE);
		return;
	}
	err = scatter(qp, entry, pkt, &missing);
	if (err == MKEY_MISSING) {
		/*
		 * As if it had not come: it is asked for again when the page is there.  What comes
		 * behind it until then tells nothing new.
		 */
		err = sq_wait_page(qp, &missing);
		if (!err) {
			rewind_to(qp, pkt->psn);
			req->gap = true;
			req->again_end = req->psn;
			return;
		}
	}
	if (err) {
		give_up(qp, OHCA_WC_LOC_PROT_ERR, err);
		return;
	}
	req->gap = false;
	entry->got += pkt->npsn;
	if (entry->got == entry->npsn && qp->sq.wq.done != qp->sq.wq.next)
		req->reads--;
	acknowledge(qp, psn_add(pkt->psn, pkt->npsn));
}

void requester_rx(struct qp *qp, const struct pkt *pkt)
{
	struct requester *req = rc_req(qp);
	int32_t ahead = psn_diff(pkt->psn, req->una);

	/* Old answers and those to nothing that was sent are dropped. */
	if ((qp->state != OHCA_QPS_RTS && qp->state != OHCA_QPS_SQD) || ahead < 0 ||
	    psn_diff(pkt->psn, req->psn) >= 0)
		return;
	if (pkt->op == PKT_ACK)
		rx_ack(qp, pkt);
	else
		rx_response(qp, pkt);
	if (req->running || qp->state == OHCA_QPS_ERR)
		return;
	requester_check_failed(qp);
	qp_check_drained(qp);
	if (qp->sq.wq.next != qp->sq.wq.pi)
		qp_schedule(qp);
}

void requester_timeout(struct qp *qp)
{
	struct requester *req = rc_req(qp);
	uint64_t period = 4096ULL << qp->attr.timeout;

	if (qp_drained(qp) || !qp->attr.timeout)
		return;
	if (req->progress || qp->sq.paused || qp->hca->stalled || peer_is_busy(qp)) {
		req->progress = false;
		loop_timer_arm(qp->hca->loop, &qp->sq.timer, loop_now(qp->hca->loop) + period);
		return;
	}
	qp_count(qp, OHCA_CNT_TIMEOUTS, 1);
	req->gap = false;
	retry(qp, req->una);
	qp_schedule(qp);
}
