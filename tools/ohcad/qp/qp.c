// SPDX-License-Identifier: GPL-2.0
/* Queue pairs: life, error state, flush. */

#include <endian.h>
#include <stdlib.h>

#include "eth/eth.h"
#include "device/eq.h"
#include "fabric/fabric.h"
#include "base/log.h"
#include "mem/pd.h"
#include "inject/pkt_fault.h"
#include "qp/qp.h"
#include "eth/rss.h"
#include "transport/tm.h"
#include "transport/ud.h"
#include "mem/window.h"
#include "net/wire.h"
#include "qp/recv.h"

/* Work requests flushed at a time. */
#define FLUSH_BATCH 256

/*
 * A QP in error looks for receive work requests, which ring no doorbell: at first and at last so
 * often (ns).
 */
#define ERR_POLL_MIN 1000000ULL
#define ERR_POLL_MAX 256000000ULL

struct qp *qp_get(struct hca *hca, uint32_t qpn)
{
	return table_get(&hca->qps, qpn);
}

bool qp_complete(struct qp *qp, struct wq *wq, const struct ohca_cqe *cqe)
{
	if (cq_push(wq->cq, cqe))
		return true;
	qp_error(qp);
	return false;
}

void qp_error(struct qp *qp)
{
	if (qp->state == OHCA_QPS_ERR || qp->state == OHCA_QPS_RESET)
		return;
	log_debug(qp->hca->name, "QP %u: error state", qp->id);
	qp->state = OHCA_QPS_ERR;
	qp->hca->fabric->gen++;
	if (qp->hca->port.eth_qp == qp)
		qp->hca->port.eth_qp = NULL;
	qp->last_wqe = qp->flags & OHCA_QP_F_SRQ;
	fault_cancel_all(qp);
	qp->req.backoff = ERR_POLL_MIN;
	loop_timer_cancel(qp->hca->loop, &qp->req.timer);
	qp_schedule(qp);
}

void qp_send_error(struct qp *qp)
{
	if (!qp_is(qp, QPT_SQE)) {
		qp_error(qp);
		return;
	}
	if (qp->state != OHCA_QPS_RTS && qp->state != OHCA_QPS_SQD)
		return;
	log_debug(qp->hca->name, "QP %u: send queue error state", qp->id);
	qp->state = OHCA_QPS_SQE;
	requester_stop(qp);
	qp_schedule(qp);
}

void qp_fatal(struct qp *qp)
{
	if (qp->state == OHCA_QPS_ERR)
		return;
	eq_async(qp->hca, OHCA_EVENT_QP_FATAL, qp->id);
	qp_error(qp);
}

/* Complete entry wq->done of the send queue as flushed. */
static bool flush_send(struct qp *qp)
{
	const struct requester *req = &qp->req;
	uint32_t idx = qp->sq.done;
	struct ohca_cqe cqe = {
		.qpn = htole32(qp->id),
		.wqe_idx = htole32(idx),
		.vendor_err = htole32(OHCA_VENDOR_ERR_FLUSH),
		.status = OHCA_WC_WR_FLUSH_ERR,
	};

	if (!req->entries || idx - req->fetched < 1U << 31) {
		const struct ohca_sq_wqe *wqe = ring_entry(&qp->sq.ring, idx);

		if (wqe) {
			cqe.wr_id = __atomic_load_n(&wqe->wr_id, __ATOMIC_RELAXED);
			cqe.opcode = __atomic_load_n(&wqe->opcode, __ATOMIC_RELAXED);
		} else {
			cqe.vendor_err = htole32(OHCA_VENDOR_ERR_WQE_READ);
		}
	} else {
		const struct sq_entry *entry = requester_entry(&qp->req, idx);

		cqe.wr_id = htole64(entry->wr_id);
		cqe.opcode = entry->opcode;
	}
	qp->sq.done++;
	qp_count(qp, OHCA_CNT_REQ_FLUSHED, 1);
	return qp->tm ? tm_complete_send(qp, &cqe) : cq_push(qp->sq.cq, &cqe);
}

static bool flush_recv(struct qp *qp)
{
	uint32_t idx = qp->rq.done;
	const struct ohca_rq_wqe *wqe = ring_entry(&qp->rq.ring, idx);
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
	qp->rq.done++;
	qp_count(qp, OHCA_CNT_RESP_FLUSHED, 1);
	return cq_push(qp->rq.cq, &cqe);
}

static void queue_broken(struct qp *qp, const char *which)
{
	log_debug(qp->hca->name, "QP %u: %s queue is not accessible or its index jumped", qp->id,
		  which);
	eq_async(qp->hca, OHCA_EVENT_QP_FATAL, qp->id);
}

/* Flush at most @room of what is posted to a queue; returns how many it was. */
static unsigned int flush_queue(struct qp *qp, struct wq *wq, unsigned int room)
{
	bool (*flush)(struct qp *qp) = wq == &qp->sq ? flush_send : flush_recv;
	unsigned int num = 0;

	if (!wq_exists(wq))
		return 0;
	if (!wq->broken && !wq_update(wq))
		queue_broken(qp, wq == &qp->sq ? "send" : "receive");
	for (; wq->done != wq->pi && !wq->cq->error && num < room; num++)
		flush(qp);
	wq->next = wq->done;
	return num;
}

/* The same of the send queue alone, in SQE; it goes on where this ends. */
static bool qp_flush_send(struct qp *qp)
{
	bool more = flush_queue(qp, &qp->sq, FLUSH_BATCH) == FLUSH_BATCH;

	qp->req.fetched = qp->sq.done;
	if (qp->sq.broken || qp->sq.cq->error)
		qp_error(qp);
	return more || qp->state == OHCA_QPS_ERR;
}

/* Flush what is posted; returns whether there is more. */
static bool qp_flush(struct qp *qp)
{
	unsigned int num = flush_queue(qp, &qp->sq, FLUSH_BATCH);

	num += flush_queue(qp, &qp->rq, FLUSH_BATCH - num);
	if (num >= FLUSH_BATCH)
		return true;
	recv_flush(qp);
	if (qp->last_wqe)
		eq_async(qp->hca, OHCA_EVENT_LAST_WQE, qp->id);
	qp->last_wqe = false;

	if (num)
		qp->req.backoff = ERR_POLL_MIN;
	else if (qp->req.backoff < ERR_POLL_MAX)
		qp->req.backoff *= 2;
	if (wq_exists(&qp->rq) && !qp->rq.broken && !qp->rq.cq->error)
		loop_timer_arm(qp->hca->loop, &qp->req.timer,
			       loop_now(qp->hca->loop) + qp->req.backoff);
	return false;
}

bool qp_run(struct qp *qp, uint32_t budget)
{
	uint32_t window = budget;
	bool more = false;

	if (qp->state == OHCA_QPS_ERR)
		return qp_flush(qp);
	if (qp->state == OHCA_QPS_SQE)
		return qp_flush_send(qp);
	if (qp->state < OHCA_QPS_RTR)
		return false;
	if (qp->wire && !wire_may_run(qp))
		return false;
	if (qp->type == OHCA_QPT_ETH)
		return eth_run(qp, budget);
	if (qp_is(qp, QPT_DATAGRAM))
		return ud_run(qp, budget);
	if (qp->type == OHCA_QPT_TM)
		return tm_run(qp, budget);

	if (qp->resp.rd_num)
		more = responder_run(qp, budget);
	if (qp->far && qp->type != OHCA_QPT_UC)
		window = wire_window(qp);
	if (wq_exists(&qp->sq) && (qp->state == OHCA_QPS_RTS || qp->state == OHCA_QPS_SQD))
		more |= requester_run(qp, window < budget ? window : budget);
	return more || qp->state == OHCA_QPS_ERR;
}

static void wq_reset(struct wq *wq)
{
	wq->pi = 0;
	wq->next = 0;
	wq->done = 0;
	wq->broken = false;
}

void qp_reset(struct qp *qp)
{
	__le32 counters = qp->attr.counters;

	list_del(&qp->run);
	loop_timer_cancel(qp->hca->loop, &qp->req.timer);
	if (qp->hca->port.eth_qp == qp)
		qp->hca->port.eth_qp = NULL;
	wq_reset(&qp->sq);
	wq_reset(&qp->rq);
	requester_reset(qp);
	if (qp->tm)
		tm_qp_reset(qp);
	responder_reset(qp);
	window_unbind_all(qp);
	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->attr.counters = counters;
	qp->state = OHCA_QPS_RESET;
	qp->access = 0;
	qp->mtu_shift = 0;
	qp->dest_qpn = 0;
	qp->patience = 0;
	qp->dry_since = 0;
	qp->peer = NULL;
	qp->behind = NULL;
	qp->wire = false;
	qp->detour = false;
	qp->far = false;
	if (qp->hca->fabric->faults)
		pkt_fault_forget(qp);
	qp->last_wqe = false;
	qp->hca->fabric->gen++;
}

struct qp *qp_new(struct hca *hca, uint8_t type, uint8_t flags)
{
	struct qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	qp->hca = hca;
	qp->type = type;
	qp->flags = flags;
	qp->req.timer.fn = requester_timer;
	list_init(&qp->run);
	list_init(&qp->mcast);
	list_init(&qp->resp.srq_user);
	qp->counters = counters_get(hca, 0);
	return qp;
}

void qp_free(struct qp *qp)
{
	qp_reset(qp);
	mcast_detach_all(qp);
	if (qp->uar)
		uar_detach(qp->uar, qp);
	if (qp->sq.cq)
		qp->sq.cq->refs--;
	if (qp->rq.cq)
		qp->rq.cq->refs--;
	if (qp->pd)
		qp->pd->refs--;
	if (qp->counters->id)
		qp->counters->refs--;
	if (qp->srq)
		qp->srq->refs--;
	if (qp->xrcd)
		qp->xrcd->refs--;
	if (qp->hca->port.eth_rss == qp)
		qp->hca->port.eth_rss = NULL;
	if (qp->rss)
		rss_free(qp->rss);
	requester_fini(qp);
	responder_fini(qp);
	wq_fini_copies(qp);
	ring_fini(&qp->sq.ring);
	ring_fini(&qp->rq.ring);
	xlt_free(&qp->xlt);
	free(qp->faults);
	free(qp->tm);
	free(qp);
}

void qp_reset_all(struct hca *hca)
{
	uint32_t id = 0;
	struct qp *qp;

	for (; (qp = table_next(&hca->qps, &id)); id++) {
		table_del(&hca->qps, id);
		qp_free(qp);
	}
}
