// SPDX-License-Identifier: GPL-2.0
/*
 * Completer: acknowledged requests complete, and lost ones are sent again or fail (InfiniBand
 * specification, 9.7.5 to 9.9.2).
 */

#include <endian.h>

#include "qp/qp_latency.h"
#include "qp/qp_mig.h"
#include "transport/completer.h"
#include "transport/op.h"
#include "transport/peer.h"
#include "transport/tm.h"

/* Complete the oldest work request. */
static void complete(struct qp *qp, enum ohca_wc_status status, int vendor_err)
{
	const struct sq_entry *entry = completer_head(qp);
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
		qp_count_error(qp, OHCA_CNT_REQ_ERRORS);
	else if (!(entry->flags & OHCA_WQE_SIGNALED))
		return;
	else
		qp_latency_completed(qp, idx);
	if (rc_tm(qp))
		tm_complete_send(qp, &cqe);
	else
		qp_complete(qp, &qp->sq.wq, &cqe);
}

void completer_fail(struct qp *qp, enum ohca_wc_status status, int vendor_err)
{
	complete(qp, status, vendor_err);
	qp_send_error(qp);
}

void completer_check_failed(struct qp *qp)
{
	struct requester *req = rc_req(qp);

	if (!req->failed || qp->sq.wq.done != qp->sq.wq.next || qp->state == OHCA_QPS_ERR)
		return;
	if (qp->sq.wq.done == qp->sq.fetched)
		qp->sq.fetched++;
	completer_fail(qp, req->failed, req->vendor_err);
}

bool completer_rewind(struct qp *qp, uint32_t psn)
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
		if (sq_entry(&qp->sq, i)->kind == OP_READ_ATOMIC)
			req->reads--;
	}
	req->probe = req->una;
	qp->sq.wq.next = idx;
	req->cur = entry->kind == OP_READ_ATOMIC ? 0 : (psn - entry->psn) & PSN_MASK;
	req->failed = 0;
	return true;
}

void completer_retry(struct qp *qp, uint32_t psn)
{
	struct requester *req = rc_req(qp);

	if (!completer_rewind(qp, psn))
		return;
	qp->retries++;
	if (req->retry_left)
		req->retry_left--;
	else if (!qp_mig_path_failed(qp))
		completer_fail(qp, OHCA_WC_RETRY_EXC_ERR, OHCA_VENDOR_ERR_TIMEOUT);
}

void completer_response_lost(struct qp *qp, uint32_t psn)
{
	struct requester *req = rc_req(qp);

	if (req->gap)
		return;
	req->gap = true;
	if (psn_diff(psn, req->again_end) < 0)
		completer_rewind(qp, psn);
	else
		completer_retry(qp, psn);
}

/* sq.next is never behind acknowledged packets, even if they were to be sent again. */
static void advance_to_acked(struct qp *qp)
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
	if (ahead > (int32_t)req->cur && sq_entry(&qp->sq, qp->sq.wq.next)->kind != OP_READ_ATOMIC)
		req->cur = ahead;
}

bool completer_ack(struct qp *qp, uint32_t end)
{
	struct requester *req = rc_req(qp);
	bool lost = false;

	while (qp->sq.wq.done != qp->sq.fetched) {
		struct sq_entry *entry = completer_head(qp);

		if (entry->kind == OP_READ_ATOMIC && entry->got < entry->npsn) {
			uint32_t got = psn_add(entry->psn, entry->got);

			lost = psn_diff(end, psn_add(entry->psn, entry->npsn)) >= 0;
			if (psn_after(end, got))
				end = got;
			break;
		}
		if (psn_diff(end, psn_add(entry->psn, entry->npsn)) < 0)
			break;
		complete(qp, OHCA_WC_SUCCESS, 0);
		if (qp->state == OHCA_QPS_ERR)
			return false;
	}
	if (psn_after(end, req->una)) {
		req->una = end;
		/* By more than half of all PSNs behind, they would seem to be ahead. */
		if (psn_diff(req->probe, end) < 0)
			req->probe = end;
		if (psn_diff(req->again_end, end) < 0)
			req->again_end = end;
		req->progress = true;
		req->retry_left = qp->attr.retry_cnt;
		req->rnr_left = qp->attr.rnr_retry;
	}
	advance_to_acked(qp);
	if (lost)
		completer_response_lost(qp, req->una);
	return !lost;
}

void completer_sent(struct qp *qp)
{
	completer_ack(qp, requester_next_psn(qp));
}

void completer_reap(struct qp *qp)
{
	completer_ack(qp, rc_req(qp)->una);
}

/* The timer expires four times in a time-out, so that a loss is noticed early in the fifth quarter. */
#define QUARTERS 4

static void arm_timer(struct qp *qp)
{
	loop_timer_arm(qp->hca->loop, &qp->sq.timer,
		       loop_now(qp->hca->loop) + (4096ULL / QUARTERS << qp->attr.timeout));
}

void completer_watch(struct qp *qp)
{
	rc_req(qp)->progress = false;
	rc_req(qp)->quarters = 0;
	arm_timer(qp);
}

void completer_timeout(struct qp *qp)
{
	struct requester *req = rc_req(qp);

	if (qp_drained(qp) || !qp->attr.timeout)
		return;
	if (req->progress || qp->sq.paused || qp->hca->stalled || peer_is_busy(qp)) {
		completer_watch(qp);
		return;
	}
	if (++req->quarters < QUARTERS) {
		arm_timer(qp);
		return;
	}
	qp_count(qp, OHCA_CNT_TIMEOUTS, 1);
	req->gap = false;
	completer_retry(qp, req->una);
	qp_schedule(qp);
}
