// SPDX-License-Identifier: GPL-2.0
/* Queue pairs: completions and states. */

#include <endian.h>

#include "base/log.h"
#include "device/eq.h"
#include "fabric/fabric.h"
#include "qp/qp.h"
#include "qp/qp_fault.h"

struct qp *qp_get(struct hca *hca, uint32_t qpn)
{
	return table_get(&hca->qps, qpn);
}

struct qp *qp_of_port(const struct port *port, uint32_t qpn)
{
	struct qp *qp;

	if (qpn <= QPN_GSI)
		qpn = OHCA_SPECIAL_QPN(port->num, qpn);
	else if (qpn < HCA_FIRST_QPN)
		return NULL;
	qp = qp_get(port->hca, qpn);
	return qp && qp->port == port ? qp : NULL;
}

void qp_set_counters(struct qp *qp, struct counters *counters)
{
	if (qp->counters->id)
		qp->counters->refs--;
	qp->counters = counters ? counters : counters_of_port(qp->hca, qp->port->num);
	if (counters)
		counters->refs++;
	qp->attr.counters = htole32(qp->counters->id);
}

void qp_set_port(struct qp *qp, struct port *port)
{
	qp->port = port;
	if (qp->counters->port != port->num)
		qp_set_counters(qp, NULL);
}

uint16_t qp_pkey(const struct qp *qp)
{
	return port_pkey(qp->port, le16toh(qp->attr.pkey_index));
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

	qp->hca->in_error += (to == OHCA_QPS_ERR) - (from == OHCA_QPS_ERR);
	qp->state = to;
	if (from != to && qp->ops->enter_state)
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
	qp->sq.flush_period = 0;
	loop_timer_cancel(qp->hca->loop, &qp->sq.timer);
	qp_schedule(qp);
}

/* Nothing is outstanding any more: the next work request starts from its beginning. */
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
