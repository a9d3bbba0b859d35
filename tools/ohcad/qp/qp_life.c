// SPDX-License-Identifier: GPL-2.0
/* Queue pairs: creation, reset and removal. */

#include <stdlib.h>

#include "fabric/fabric.h"
#include "mem/pd.h"
#include "mem/window.h"
#include "qp/qp.h"
#include "qp/qp_fault.h"
#include "qp/recv.h"
#include "qp/sched.h"

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
	qp->rq.wq.taken = false;
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
	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->attr.counters = counters;
	qp->hca->in_error -= qp->state == OHCA_QPS_ERR;
	qp->state = OHCA_QPS_RESET;
	qp->access = 0;
	qp->mtu_shift = 0;
	qp->dest_qpn = 0;
	qp->peer = NULL;
	qp->peer_slow = NULL;
	qp->hops = NULL;
	qp->egress = false;
	qp->hooked = false;
	qp->remote = false;
	qp->refused = 0;
	qp->mig_notice = false;
	qp->mig_failed = false;
	qp->last_wqe = false;
	qp->pace_at = 0;
	fabric_changed(qp->hca->fabric);
}

struct qp *qp_new(struct hca *hca, const struct qp_type *type, uint8_t flags)
{
	struct qp *qp = calloc(1, type->size);

	if (!qp)
		return NULL;
	qp->hca = hca;
	if (!qp_charge(qp, type->size)) {
		free(qp);
		return NULL;
	}
	qp->port = hca->ports[0];
	qp->ops = type->ops;
	qp->type = type->type;
	qp->flags = flags;
	qp->sq.timer.fn = sched_timer;
	list_init(&qp->run);
	list_init(&qp->mcast);
	list_init(&qp->rq.srq_user);
	qp->counters = counters_of_port(hca, qp->port->num);
	return qp;
}

bool qp_unbind(struct qp *qp, bool leave, uint64_t end)
{
	if (!window_unbind_all(&qp->windows, end))
		return false;
	return !leave || !qp->ops->leave || qp->ops->leave(qp, end);
}

void qp_free(struct qp *qp)
{
	qp_reset(qp);
	qp_unbind(qp, true, UINT64_MAX);
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
	wq_fini_room(qp);
	ring_fini(&qp->sq.wq.ring);
	ring_fini(&qp->rq.wq.ring);
	xlt_free(&qp->xlt, &qp->hca->quotas[QUOTA_PAGES]);
	free(qp->faults);
	free(qp->latency);
	quota_release(&qp->hca->quotas[QUOTA_MEMORY], qp->memory);
	free(qp);
}
