// SPDX-License-Identifier: GPL-2.0
/* Queue pairs: life, error states, runs. */

#include <endian.h>
#include <stdlib.h>

#include "base/log.h"
#include "device/eq.h"
#include "fabric/fabric.h"
#include "fabric/uplink.h"
#include "mem/pd.h"
#include "mem/window.h"
#include "qp/flush.h"
#include "qp/qp.h"
#include "qp/qp_fault.h"
#include "qp/recv.h"

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

void qp_enter_state(struct qp *qp, enum ohca_qp_state to)
{
	enum ohca_qp_state from = qp->state;

	qp->state = to;
	if (qp->ops->enter_state)
		qp->ops->enter_state(qp, from);
}

void qp_error(struct qp *qp)
{
	if (qp->state == OHCA_QPS_ERR || qp->state == OHCA_QPS_RESET)
		return;
	log_debug(qp->hca->name, "QP %u: error state", qp->id);
	qp_enter_state(qp, OHCA_QPS_ERR);
	fabric_changed(qp->hca->fabric);
	qp->last_wqe = qp->flags & OHCA_QP_F_SRQ;
	qp_fault_cancel_all(qp);
	qp_flush_start(qp);
}

/* Nothing is outstanding any more: the next work request starts anew. */
static void stop_send(struct qp *qp)
{
	qp->sq.wq.next = qp->sq.wq.done;
	qp->sq.fetched = qp->sq.wq.done;
	qp->sq.paused = 0;
	qp->sq.wqe_valid = false;
	qp_fault_cancel(qp, FAULT_REQUESTER);
	if (qp->ops->stop_send)
		qp->ops->stop_send(qp);
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
	stop_send(qp);
	qp_schedule(qp);
}

void qp_fatal(struct qp *qp)
{
	if (qp->state == OHCA_QPS_ERR)
		return;
	eq_async(qp->hca, OHCA_EVENT_QP_FATAL, qp->id);
	qp_error(qp);
}

void qp_check_drained(struct qp *qp)
{
	if (qp->state != OHCA_QPS_SQD || qp->sq.drained || !qp_drained(qp))
		return;
	qp->sq.drained = true;
	if (qp->attr.en_sqd_async_notify)
		eq_async(qp->hca, OHCA_EVENT_SQ_DRAINED, qp->id);
}

static void on_timer(struct timer *timer)
{
	struct qp *qp = list_entry(timer, struct qp, sq.timer);
	if (!qp->hca->ready)
		return;
	if (qp->state == OHCA_QPS_ERR) {
		qp_schedule(qp);
		return;
	}
	if (qp->state != OHCA_QPS_RTS && qp->state != OHCA_QPS_SQD)
		return;
	if (qp->sq.paused & SQ_WAIT_RECEIVER) {
		qp->sq.paused &= ~SQ_WAIT_RECEIVER;
		qp_schedule(qp);
		return;
	}
	if (qp->ops->timeout)
		qp->ops->timeout(qp);
}

/* The uplinks are congested: the QP is scheduled when they are not any more. */
static bool is_parked(struct qp *qp)
{
	struct uplinks *uplinks = qp->hca->fabric->uplinks;

	if (!uplinks || !uplinks->congested)
		return false;
	list_del(&qp->run);
	list_add_tail(&uplinks->parked, &qp->run);
	return true;
}

bool qp_run(struct qp *qp, uint32_t budget)
{
	if (qp->state == OHCA_QPS_ERR)
		return qp_flush(qp);
	if (qp->state == OHCA_QPS_SQE)
		return qp_flush_send(qp);
	if (qp->state < OHCA_QPS_RTR || (qp->egress && is_parked(qp)))
		return false;
	return qp->ops->run(qp, budget);
}

static void wq_reset(struct wq *wq)
{
	wq->pi = 0;
	wq->next = 0;
	wq->done = 0;
	wq->broken = false;
}

static void send_reset(struct qp *qp)
{
	wq_reset(&qp->sq.wq);
	qp->sq.fetched = 0;
	qp->sq.paused = 0;
	qp->sq.drained = false;
	qp->sq.wqe_valid = false;
	loop_timer_cancel(qp->hca->loop, &qp->sq.timer);
}

static void recv_reset(struct qp *qp)
{
	wq_reset(&qp->rq.wq);
	qp->rq.taken = false;
	recv_use_srq(qp, qp->srq);
}

void qp_reset(struct qp *qp)
{
	__le32 counters = qp->attr.counters;

	list_del(&qp->run);
	if (qp->ops->reset)
		qp->ops->reset(qp);
	qp_fault_cancel_all(qp);
	send_reset(qp);
	recv_reset(qp);
	window_unbind_all(&qp->windows);
	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->attr.counters = counters;
	qp->state = OHCA_QPS_RESET;
	qp->access = 0;
	qp->mtu_shift = 0;
	qp->dest_qpn = 0;
	qp->peer = NULL;
	qp->peer_hooked = NULL;
	qp->egress = false;
	qp->hooked = false;
	qp->remote = false;
	qp->last_wqe = false;
	fabric_changed(qp->hca->fabric);
}

struct qp *qp_new(struct hca *hca, const struct qp_type *type, uint8_t flags)
{
	struct qp *qp = calloc(1, type->size);

	if (!qp)
		return NULL;
	qp->hca = hca;
	qp->ops = type->ops;
	qp->type = type->type;
	qp->flags = flags;
	qp->sq.timer.fn = on_timer;
	list_init(&qp->run);
	list_init(&qp->mcast);
	list_init(&qp->rq.srq_user);
	qp->counters = counters_get(hca, 0);
	return qp;
}

void qp_free(struct qp *qp)
{
	qp_reset(qp);
	if (qp->ops->fini)
		qp->ops->fini(qp);
	if (qp->uar)
		uar_detach(qp->uar, qp);
	if (qp->sq.wq.cq)
		qp->sq.wq.cq->refs--;
	if (qp->rq.wq.cq)
		qp->rq.wq.cq->refs--;
	if (qp->pd)
		qp->pd->refs--;
	if (qp->counters->id)
		qp->counters->refs--;
	if (qp->srq)
		qp->srq->refs--;
	if (qp->xrcd)
		qp->xrcd->refs--;
	free(qp->sq.entries);
	wq_fini_copies(qp);
	ring_fini(&qp->sq.wq.ring);
	ring_fini(&qp->rq.wq.ring);
	xlt_free(&qp->xlt);
	free(qp->faults);
	free(qp);
}
