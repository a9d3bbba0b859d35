// SPDX-License-Identifier: GPL-2.0
/* Flush: work requests of a QP in error complete as such. */

#include <endian.h>

#include "base/log.h"
#include "device/eq.h"
#include "qp/flush.h"
#include "qp/qp.h"
#include "qp/recv.h"
#include "qp/sched.h"

/* Work requests flushed at a time. */
#define FLUSH_BATCH 256
#define FLUSH_COST 256 /* of each, for sched_charge() */

/*
 * A QP in error checks periodically for receive work requests, which have no doorbell: the first
 * and the longest period (ns).  The longest period of an HCA with many of them is as long as it takes to check
 * one every ERR_POLL_EACH, so that they do not cost more, however many there are.
 */
#define ERR_POLL_MIN 1000000ULL
#define ERR_POLL_MAX 256000000ULL
#define ERR_POLL_EACH 64000ULL

/* Complete entry wq->done of the send queue as flushed. */
static bool flush_send(struct qp *qp)
{
	uint32_t idx = qp->sq.wq.done;
	struct ohca_cqe cqe = {
		.qpn = htole32(qp->id),
		.wqe_idx = htole32(idx),
		.vendor_err = htole32(OHCA_VENDOR_ERR_FLUSH),
		.status = OHCA_WC_WR_FLUSH_ERR,
	};

	if (!qp->sq.entries || idx - qp->sq.fetched < 1U << 31) {
		const struct ohca_sq_wqe *wqe = ring_entry(&qp->sq.wq.ring, idx);

		if (wqe) {
			cqe.wr_id = __atomic_load_n(&wqe->wr_id, __ATOMIC_RELAXED);
			cqe.opcode = __atomic_load_n(&wqe->opcode, __ATOMIC_RELAXED);
		} else {
			cqe.vendor_err = htole32(OHCA_VENDOR_ERR_WQE_READ);
		}
	} else {
		const struct sq_entry *entry = sq_entry(&qp->sq, idx);

		cqe.wr_id = htole64(entry->wr_id);
		cqe.opcode = entry->opcode;
	}
	qp->sq.wq.done++;
	qp_count(qp, OHCA_CNT_REQ_FLUSHED, 1);
	return qp->ops->complete_send ? qp->ops->complete_send(qp, &cqe)
				      : cq_push(qp->sq.wq.cq, &cqe);
}

static bool flush_recv(struct qp *qp)
{
	uint32_t idx = qp->rq.wq.done;
	const struct ohca_rq_wqe *wqe = ring_entry(&qp->rq.wq.ring, idx);
	struct ohca_cqe cqe = {
		.qpn = htole32(qp->id),
		.wqe_idx = htole32(idx),
		.vendor_err = htole32(wqe ? OHCA_VENDOR_ERR_FLUSH : OHCA_VENDOR_ERR_WQE_READ),
		.status = OHCA_WC_WR_FLUSH_ERR,
		.opcode = OHCA_CQE_RECV,
		.flags = OHCA_CQE_F_RQ,
	};

	if (wqe)
		cqe.wr_id = __atomic_load_n(&wqe->wr_id, __ATOMIC_RELAXED);
	qp->rq.wq.done++;
	qp_count(qp, OHCA_CNT_RESP_FLUSHED, 1);
	return cq_push(qp->rq.wq.cq, &cqe);
}

static void queue_broken(struct qp *qp, const char *which)
{
	log_debug(qp->hca->name, "QP %u: %s queue is not accessible or its index jumped", qp->id,
		  which);
	eq_async(qp->hca, OHCA_EVENT_QP_FATAL, qp->id);
}

/* Flush at most @room posted entries of a queue.  Returns their number. */
static unsigned int flush_queue(struct qp *qp, struct wq *wq, unsigned int room)
{
	bool (*flush)(struct qp *qp) = wq == &qp->sq.wq ? flush_send : flush_recv;
	unsigned int num = 0;

	if (!wq_exists(wq))
		return 0;
	if (!wq->broken && !wq_update(wq))
		queue_broken(qp, wq == &qp->sq.wq ? "send" : "receive");
	for (; wq->done != wq->pi && !wq->cq->error && num < room; num++)
		flush(qp);
	wq->next = wq->done;
	sched_charge(qp->hca, num * (uint64_t)FLUSH_COST);
	return num;
}

bool qp_flush_send(struct qp *qp)
{
	bool more = flush_queue(qp, &qp->sq.wq, FLUSH_BATCH) == FLUSH_BATCH;

	qp->sq.fetched = qp->sq.wq.done;
	if (qp->sq.wq.broken || qp->sq.wq.cq->error)
		qp_error(qp);
	return more || qp->state == OHCA_QPS_ERR;
}

static uint64_t next_period(const struct qp *qp)
{
	uint64_t max = qp->hca->in_error * ERR_POLL_EACH;
	uint64_t next = 2 * qp->sq.flush_period;

	max = max > ERR_POLL_MAX ? max : ERR_POLL_MAX;
	return next < max ? next : max;
}

bool qp_flush(struct qp *qp)
{
	unsigned int num = flush_queue(qp, &qp->sq.wq, FLUSH_BATCH);

	num += flush_queue(qp, &qp->rq.wq, FLUSH_BATCH - num);
	if (num >= FLUSH_BATCH)
		return true;
	recv_flush(qp);
	if (qp->last_wqe)
		eq_async(qp->hca, OHCA_EVENT_LAST_WQE, qp->id);
	qp->last_wqe = false;

	if (num || !qp->sq.flush_period)
		qp->sq.flush_period = ERR_POLL_MIN;
	else
		qp->sq.flush_period = next_period(qp);
	if (wq_exists(&qp->rq.wq) && !qp->rq.wq.broken && !qp->rq.wq.cq->error)
		loop_timer_arm(qp->hca->loop, &qp->sq.timer,
			       loop_now(qp->hca->loop) + qp->sq.flush_period);
	return false;
}
