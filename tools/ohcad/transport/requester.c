// SPDX-License-Identifier: GPL-2.0
/*
 * Requester, sending half: work requests become bursts of packets.
 *
 * A work request is checked once, when it is begun, and gets its PSNs.  The state until its
 * completion is in a struct sq_entry.  Its data are read when they are sent, and again if they must
 * be sent again.
 */

#include <endian.h>

#include "fabric/fabric.h"
#include "net/link.h"
#include "qp/qp_latency.h"
#include "qp/sched.h"
#include "transport/completer.h"
#include "transport/local_op.h"
#include "base/log.h"
#include "transport/requester.h"

/* Unacknowledged bytes that a QP may have under way to a remote peer: four of the longest bursts */
#define WINDOW (4 * SCHED_EGRESS)

void requester_reset(struct qp *qp)
{
	struct requester *req = rc_req(qp);

	req->cur = 0;
	req->psn = 0;
	req->una = 0;
	req->reads = 0;
	req->progress = false;
	req->gap = false;
	req->failed = 0;
	req->local = false;
}

void requester_count_anew(struct qp *qp)
{
	rc_req(qp)->retry_left = qp->attr.retry_cnt;
	rc_req(qp)->rnr_left = qp->attr.rnr_retry;
}

void requester_start(struct qp *qp)
{
	struct requester *req = rc_req(qp);

	req->psn = le32toh(qp->attr.sq_psn);
	req->una = req->psn;
	req->sent = req->psn;
	req->again_end = req->psn;
	req->probe = req->psn;
	req->limited = false;
	requester_count_anew(qp);
}

void requester_stop(struct qp *qp)
{
	struct requester *req = rc_req(qp);

	req->cur = 0;
	req->una = req->psn;
	req->sent = req->psn;
	req->gap = false;
	req->failed = 0;
	req->local = false;
}

uint32_t requester_window(const struct qp *qp)
{
	const struct requester *req = rc_req(qp);
	int64_t sent;

	if (!wq_exists(&qp->sq.wq))
		return WINDOW;
	/* A read that is sent again begins before its responses that have arrived. */
	sent = psn_diff(requester_next_psn(qp), req->una);
	sent *= 1LL << qp->mtu_shift;
	return sent < 0 ? WINDOW : sent < WINDOW ? WINDOW - sent : 0;
}

static uint32_t packets(const struct qp *qp, uint32_t len)
{
	return len ? (len + (1U << qp->mtu_shift) - 1) >> qp->mtu_shift : 1;
}

/*
 * Returns the length of the work request in qp->sq.wqe, or -1 if it is invalid: then it has failed.
 */
static int64_t check_wqe(struct qp *qp)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	const struct op_rule *rule = op_rule(qp, wqe);
	uint32_t num = le16toh(wqe->num_sge);
	uint64_t len = num;

	if (!rule || (rule->kind == OP_READ_ATOMIC && !qp->attr.max_rd_atomic))
		return requester_fail(qp, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE);
	if (!qp->sq.wqe_fits)
		return requester_fail(qp, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE);
	if (!(wqe->flags & OHCA_WQE_INLINE))
		len = sge_len(sq_wqe_sgl(wqe), num);
	if (len > qp->hca->max_msg || (rule->fixed && len != rule->len))
		return requester_fail(qp, OHCA_WC_LOC_LEN_ERR, OHCA_VENDOR_ERR_LENGTH);
	return len;
}

/* Whether the work request must wait for earlier ones with responses */
static bool must_wait(const struct qp *qp, uint8_t kind, uint8_t flags)
{
	uint32_t reads = rc_req(qp)->reads;

	return reads && (flags & OHCA_WQE_FENCE ||
			 (kind == OP_READ_ATOMIC && reads >= qp->attr.max_rd_atomic));
}

/* Operations that take a receive of the peer */
#define OPS_RECEIVED                                                         \
	(OPS(OHCA_OP_SEND) | OPS(OHCA_OP_SEND_IMM) | OPS(OHCA_OP_SEND_INV) | \
	 OPS(OHCA_OP_RDMA_WRITE_IMM))

/* Does the work request exceed the peer's credits? */
static inline bool exceeds_credits(const struct qp *qp, uint32_t idx, uint8_t opcode)
{
	const struct requester *req = rc_req(qp);

	return __builtin_expect(req->limited, 0) && (int32_t)(idx - req->limit) >= 0 &&
	       op_in(opcode, OPS_RECEIVED);
}

/* And does the last burst that did still wait for its answer? */
static inline bool lacks_credits(const struct qp *qp, uint32_t idx, uint8_t opcode)
{
	const struct requester *req = rc_req(qp);

	return exceeds_credits(qp, idx, opcode) && psn_diff(req->probe, req->una) > 0;
}

/*
 * Execute a local operation, or a part of it, when it is begun.  Returns false if it can't be executed, failed, or goes on: then
 * *@part is the cost of the part.
 */
static bool execute(struct qp *qp, int64_t *part)
{
	struct requester *req = rc_req(qp);
	int err;

	/* No earlier request may still use the key. */
	if (qp->sq.wqe->opcode == OHCA_OP_LOCAL_INV && qp->sq.wq.done != qp->sq.wq.next)
		return false;
	err = local_op(qp, !req->local);
	req->local = err == LOCAL_OP_MORE;
	if (req->local)
		*part = LOCAL_OP_PART;
	else if (err)
		requester_fail(qp, OHCA_WC_MW_BIND_ERR, err);
	return !err;
}

/* Begin the next work request of the queue.  Returns false if there is none that can begin; *@part: see execute() */
static bool begin(struct qp *qp, int64_t *part)
{
	struct requester *req = rc_req(qp);
	uint32_t idx = qp->sq.wq.next;
	struct sq_entry *entry;
	uint32_t npsn;
	int64_t len;
	uint8_t kind;

	if (idx == qp->sq.wq.pi || qp->state != OHCA_QPS_RTS)
		return false;
	if (!wq_load_send(qp, idx)) {
		qp_fatal(qp);
		return false;
	}
	if (idx + 1 != qp->sq.wq.pi)
		__builtin_prefetch(ring_entry(&qp->sq.wq.ring, idx + 1));

	len = check_wqe(qp);
	if (len < 0)
		return false;
	kind = op_rules[qp->sq.wqe->opcode].kind;
	npsn = kind == OP_LOCAL ? 0 : packets(qp, len);
	if (must_wait(qp, kind, qp->sq.wqe->flags) || lacks_credits(qp, idx, qp->sq.wqe->opcode) ||
	    ((req->psn - req->una) & PSN_MASK) + npsn > PSN_WINDOW ||
	    (kind == OP_LOCAL && !execute(qp, part)))
		return false;

	entry = sq_entry(&qp->sq, idx);
	entry->wr_id = le64toh(qp->sq.wqe->wr_id);
	entry->psn = req->psn;
	entry->npsn = npsn;
	entry->len = len;
	entry->got = 0;
	entry->num_sge = le16toh(qp->sq.wqe->num_sge);
	entry->opcode = qp->sq.wqe->opcode;
	entry->flags = qp->sq.wqe->flags;
	entry->kind = kind;
	if (qp->flags & OHCA_QP_F_SIGNAL_ALL)
		entry->flags |= OHCA_WQE_SIGNALED;
	req->psn = psn_add(req->psn, npsn);
	qp->sq.fetched = idx + 1;
	return true;
}

/*
 * Load the WQE of a work request again that was begun; one that changed meanwhile has failed.
 * Local operations are not executed again.
 */
static bool resume(struct qp *qp, const struct sq_entry *entry)
{
	if (entry->kind == OP_LOCAL)
		return true;
	if (must_wait(qp, entry->kind, rc_req(qp)->cur ? 0 : entry->flags) ||
	    lacks_credits(qp, qp->sq.wq.next, entry->opcode))
		return false;
	if (!requester_load(qp, qp->sq.wq.next, entry)) {
		if (qp->state == OHCA_QPS_ERR)
			return false;
		requester_fail(qp, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE);
		return false;
	}
	return true;
}

static int64_t send_burst(struct qp *qp, const struct sq_entry *entry)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	uint32_t off = rc_req(qp)->cur << qp->mtu_shift;
	uint32_t len = sched_part(qp, entry->len - off);
	bool probes = exceeds_credits(qp, qp->sq.wq.next, entry->opcode);
	struct iovec iov[SGE_MAX_IOV];
	unsigned int num = 0;
	struct pkt pkt;
	int64_t got;

	/* One packet asks for the receive of a SEND. */
	if (probes && entry->opcode != OHCA_OP_RDMA_WRITE_IMM && len > 1U << qp->mtu_shift)
		len = 1U << qp->mtu_shift;
	got = requester_gather(qp, off, len, iov, &num);
	if (got < 0)
		return got;

	pkt.op = PKT_SEND;
	pkt.flags = qp->type == OHCA_QPT_UC ? 0 : PKT_ACK_REQ;
	pkt.psn = psn_add(entry->psn, rc_req(qp)->cur);
	pkt.npsn = packets(qp, got);
	pkt.srqn = le32toh(wqe->rdma.srqn);
	pkt.iov = iov;
	pkt.num = num;
	pkt.len = got;
	if (!rc_req(qp)->cur)
		pkt.flags |= PKT_FIRST;
	if (off + got == entry->len) {
		pkt.flags |= PKT_LAST;
		if (entry->flags & OHCA_WQE_SOLICITED)
			pkt.flags |= PKT_SOLICITED;
		if (entry->opcode == OHCA_OP_SEND_IMM || entry->opcode == OHCA_OP_RDMA_WRITE_IMM) {
			pkt.flags |= PKT_IMM;
			pkt.imm = wqe->imm_data;
		} else if (entry->opcode == OHCA_OP_SEND_INV) {
			pkt.flags |= PKT_INV;
			pkt.inv_key = le32toh(wqe->inv_key);
		}
	}
	if (entry->opcode == OHCA_OP_RDMA_WRITE || entry->opcode == OHCA_OP_RDMA_WRITE_IMM) {
		pkt.op = PKT_WRITE;
		pkt.va = le64toh(wqe->rdma.raddr);
		pkt.rkey = le32toh(wqe->rdma.rkey);
		pkt.dma_len = entry->len;
	}
	if (probes)
		rc_req(qp)->probe = psn_add(pkt.psn, pkt.npsn);
	requester_advance(qp, entry, pkt.npsn);
	link_send(qp, &pkt);
	if (qp->type == OHCA_QPT_UC)
		completer_sent(qp);
	return got;
}

/*
 * Send a burst of the next work request, or execute it, or a part of it.  Returns the bytes in the burst, or in its
 * answer, or what the part costs, or -1 if nothing can be done now.
 */
static int64_t send_next(struct qp *qp)
{
	struct requester *req = rc_req(qp);
	struct sq_entry *entry;
	int64_t part = -1;

	if (qp->sq.paused || req->failed ||
	    (qp->state != OHCA_QPS_RTS && qp->state != OHCA_QPS_SQD))
		return -1;
	entry = sq_entry(&qp->sq, qp->sq.wq.next);
	if (qp->sq.wq.next == qp->sq.fetched ? !begin(qp, &part) : !resume(qp, entry))
		return part;
	if (entry->kind == OP_LOCAL) {
		requester_advance(qp, entry, 0);
		completer_reap(qp);
		return 0;
	}
	return entry->kind == OP_READ_ATOMIC ? requester_send_read(qp, entry)
					     : send_burst(qp, entry);
}

/* The retransmission timer runs while something is outstanding; answers only set req->progress. */
static void watch(struct qp *qp)
{
	if (!qp->sq.timer.pos && qp->attr.timeout && !qp_drained(qp))
		completer_watch(qp);
}

bool requester_run(struct qp *qp, uint32_t budget)
{
	const struct sched *sched = qp->hca->sched;
	struct requester *req = rc_req(qp);
	uint32_t seen = qp->sq.wq.pi;
	unsigned int num;
	uint32_t sum = 0;
	int64_t sent = -1;

	if (qp->sq.paused)
		return false;
	if (!wq_update(&qp->sq.wq)) {
		log_debug(qp->hca->name, "QP %u: send queue is not accessible or its index jumped",
			  qp->id);
		qp_fatal(qp);
		return false;
	}
	qp_latency_posted(qp, seen);
	req->running = true;
	/* What receivers have to do besides is a part of the turn. */
	for (num = 0; num < sched->batch && sum + sched->extra < budget; num++) {
		sent = send_next(qp);
		if (sent < 0)
			break;
		sum += sent;
	}
	req->running = false;
	if (qp->state == OHCA_QPS_ERR)
		return false;
	completer_check_failed(qp);
	qp_check_drained(qp);
	if (!qp_drained(qp))
		watch(qp);
	return sent >= 0;
}
