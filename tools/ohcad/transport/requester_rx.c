// SPDX-License-Identifier: GPL-2.0
/* Requester, receiving half: acknowledgments and responses (InfiniBand specification, 9.7.5 to 9.9.2). */

#include <endian.h>

#include "qp/srq.h"
#include "base/log.h"
#include "transport/completer.h"
#include "transport/op.h"
#include "transport/peer.h"
#include "transport/requester.h"

/* Table 45, encoding of the RNR NAK timer: units of 10 us. */
static const uint32_t rnr_time[AETH_VALUE_MASK + 1] = {
	65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
	48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

#define RNR_UNIT 10000ULL /* ns */

static void rx_rnr_nak(struct qp *qp, uint32_t psn, uint8_t code)
{
	struct requester *req = rc_req(qp);
	/* Nothing was sent since the last one: it is the same. */
	bool again = qp->sq.paused & SQ_WAIT_RECEIVER;

	qp_count(qp, OHCA_CNT_RNR_NAKS, 1);
	qp->retries += !again;
	if (qp->attr.rnr_retry != 7 && !again) {
		if (!req->rnr_left) {
			completer_fail(qp, OHCA_WC_RNR_RETRY_EXC_ERR, OHCA_VENDOR_ERR_RNR);
			return;
		}
		req->rnr_left--;
	}
	/* The peer has answered, so losses after this request are counted from 0 again. */
	req->retry_left = qp->attr.retry_cnt;
	completer_rewind(qp, psn);
	qp->sq.paused |= SQ_WAIT_RECEIVER;
	loop_timer_arm(qp->hca->loop, &qp->sq.timer,
		       loop_now(qp->hca->loop) + rnr_time[code] * RNR_UNIT);
}

/* Whether a misaligned address is the reason for the NAK of the oldest work request */
static bool misaligned(struct qp *qp)
{
	const struct sq_entry *entry = completer_head(qp);

	return op_in(entry->opcode, OPS_ATOMIC | OPS(OHCA_OP_ATOMIC_WRITE)) &&
	       requester_load(qp, qp->sq.wq.done, entry) && le64toh(qp->sq.wqe->rdma.raddr) % 8;
}

static void rx_nak(struct qp *qp, uint32_t psn, uint8_t syndrome)
{
	switch (syndrome) {
	case AETH_NAK_PSN_SEQ:
		qp_count(qp, OHCA_CNT_PKT_SEQ_ERR, 1);
		if (peer_has_fault(qp))
			completer_rewind(qp, psn);
		else
			completer_retry(qp, psn);
		return;
	case AETH_NAK_INV_REQ:
		completer_fail(qp, OHCA_WC_REM_INV_REQ_ERR,
			       misaligned(qp) ? OHCA_VENDOR_ERR_ALIGN : OHCA_VENDOR_ERR_NAK);
		return;
	case AETH_NAK_REM_ACCESS:
		completer_fail(qp, OHCA_WC_REM_ACCESS_ERR, OHCA_VENDOR_ERR_NAK);
		return;
	default:
		completer_fail(qp, OHCA_WC_REM_OP_ERR, OHCA_VENDOR_ERR_NAK);
	}
}

/* Kinds and codes that the specification reserves (tables 43 and 45 of 9.7.5.1) */
static bool is_reserved(uint8_t syndrome)
{
	switch (syndrome & AETH_KIND_MASK) {
	case AETH_ACK:
	case AETH_RNR_NAK:
		return false;
	case AETH_NAK:
		return syndrome > AETH_NAK_REM_OP;
	default:
		return true;
	}
}

/*
 * The answer, which is taken into account, says how many receives the peer has for work requests from the first that is not
 * complete (9.7.7.2).
 */
static inline void note_credits(struct qp *qp, uint8_t syndrome)
{
	struct requester *req = rc_req(qp);

	req->limited = syndrome != AETH_ACK_NO_CREDITS;
	if (__builtin_expect(req->limited, 0))
		req->limit = qp->sq.wq.done + aeth_credits(syndrome);
}

static void rx_ack(struct qp *qp, const struct pkt *pkt)
{
	if (is_reserved(pkt->syndrome))
		return;
	if ((pkt->syndrome & AETH_KIND_MASK) == AETH_ACK) {
		completer_ack(qp, psn_add(pkt->psn, 1));
		note_credits(qp, pkt->syndrome);
		return;
	}
	if (!completer_ack(qp, pkt->psn) || qp_drained(qp))
		return;
	if ((pkt->syndrome & AETH_KIND_MASK) == AETH_RNR_NAK)
		rx_rnr_nak(qp, pkt->psn, pkt->syndrome & AETH_VALUE_MASK);
	else
		rx_nak(qp, pkt->psn, pkt->syndrome);
}

/*
 * Copy the payload of a response to its destination.  Returns 0, OHCA_VENDOR_ERR_* or MKEY_MISSING.
 */
static int scatter(struct qp *qp, const struct sq_entry *entry, const struct pkt *pkt,
		   struct mkey_missing *missing)
{
	struct sge_span span = {
		.sge = sq_wqe_sgl(qp->sq.wqe),
		.num_sge = entry->num_sge,
		.off = entry->got << qp->mtu_shift,
		.len = pkt->len,
		.write = true,
		.missing = missing,
		.rights = srq_rights(requester_srq(qp), qp),
	};
	struct iov_pos pos = {.iov = pkt->iov};

	return sge_scatter(qp->hca, &span, &pos, pkt->flags & PKT_LAST);
}

/* Whether the response has the kind, length and end that are expected next */
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

	if (!completer_ack(qp, pkt->psn) || qp_drained(qp))
		return;
	entry = completer_head(qp);
	if (entry->kind != OP_READ_ATOMIC) {
		completer_fail(qp, OHCA_WC_BAD_RESP_ERR, OHCA_VENDOR_ERR_PACKET);
		return;
	}
	ahead = psn_diff(pkt->psn, psn_add(entry->psn, entry->got));
	if (ahead > 0)
		completer_response_lost(qp, psn_add(entry->psn, entry->got));
	if (ahead)
		return;
	if (!is_next_part(qp, entry, pkt)) {
		completer_fail(qp, OHCA_WC_BAD_RESP_ERR, OHCA_VENDOR_ERR_PACKET);
		return;
	}
	if (!requester_load(qp, qp->sq.wq.done, entry)) {
		if (qp->state != OHCA_QPS_ERR)
			completer_fail(qp, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE);
		return;
	}
	err = scatter(qp, entry, pkt, &missing);
	if (err == MKEY_MISSING) {
		/*
		 * Drop it as if it were lost: it is requested again when the page is present.
		 * Responses after it until then are not a further loss.
		 */
		err = sq_wait_page(qp, &missing);
		if (!err) {
			completer_rewind(qp, pkt->psn);
			req->gap = true;
			req->again_end = req->psn;
			return;
		}
	}
	if (err) {
		completer_fail(qp, OHCA_WC_LOC_PROT_ERR, err);
		return;
	}
	req->gap = false;
	entry->got += pkt->npsn;
	if (entry->got == entry->npsn && qp->sq.wq.done != qp->sq.wq.next)
		req->reads--;
	completer_ack(qp, psn_add(pkt->psn, pkt->npsn));
	if (pkt->flags & PKT_LAST && (pkt->syndrome & AETH_KIND_MASK) == AETH_ACK)
		note_credits(qp, pkt->syndrome);
}

void requester_rx(struct qp *qp, const struct pkt *pkt)
{
	struct requester *req = rc_req(qp);
	uint32_t ahead = (pkt->psn - req->una) & PSN_MASK;

	/* Old answers, and answers to PSNs that were not sent, are dropped. */
	if ((qp->state != OHCA_QPS_RTS && qp->state != OHCA_QPS_SQD) ||
	    ahead >= ((req->sent - req->una) & PSN_MASK))
		return;
	if (pkt->op == PKT_ACK)
		rx_ack(qp, pkt);
	else
		rx_response(qp, pkt);
	if (req->running || qp->state == OHCA_QPS_ERR)
		return;
	completer_check_failed(qp);
	qp_check_drained(qp);
	if (qp->sq.wq.next != qp->sq.wq.pi)
		qp_schedule(qp);
}
