// SPDX-License-Identifier: GPL-2.0
/* The connected transport: its types of QP, and the calls of requester and responder. */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "net/link.h"
#include "qp/qp.h"
#include "qp/srq.h"
#include "transport/completer.h"
#include "transport/rc.h"
#include "transport/tm.h"

static void rc_fini(struct qp *qp)
{
	responder_fini(qp);
}

static void rc_reset(struct qp *qp)
{
	requester_reset(qp);
	responder_reset(qp);
	link_forget(qp);
}

static void rc_query(const struct qp *qp, struct ohca_qp_attr *attr)
{
	attr->sq_psn = htole32(rc_req(qp)->psn);
	attr->rq_psn = htole32(rc_resp(qp)->epsn);
}

static void rc_enter_state(struct qp *qp, enum ohca_qp_state from)
{
	if (qp->state == OHCA_QPS_RTR)
		responder_start(qp);
	else if (qp->state == OHCA_QPS_RTS && from == OHCA_QPS_RTR)
		requester_start(qp);
	else if (qp->state == OHCA_QPS_RTS && from == OHCA_QPS_SQD && qp_drained(qp))
		requester_count_anew(qp);
}

static bool rc_run(struct qp *qp, uint32_t budget)
{
	uint32_t window = budget;
	bool more = false;

	if (rc_resp(qp)->res_num)
		more = responder_run(qp, budget);
	if (qp->remote && qp->type != OHCA_QPT_UC)
		window = requester_window(qp);
	if (wq_exists(&qp->sq.wq) && (qp->state == OHCA_QPS_RTS || qp->state == OHCA_QPS_SQD))
		more |= requester_run(qp, window < budget ? window : budget);
	return more || qp->state == OHCA_QPS_ERR;
}

static void rc_migrated(struct qp *qp)
{
	rc_req(qp)->retry_left = qp->attr.retry_cnt;
}

static void rc_receive(struct qp *qp, const struct pkt *pkt)
{
	if (pkt_is_response(pkt->op))
		requester_rx(qp, pkt);
	else
		responder_rx(qp, pkt);
}

static void rc_resume(struct qp *qp, enum fault_place place)
{
	if (place == FAULT_REQUEST)
		responder_resume(qp);
	else
		qp_schedule(qp);
}

#define RC_OPS                                                                         \
	.query = rc_query, .enter_state = rc_enter_state, .stop_send = requester_stop, \
	.run = rc_run, .receive = rc_receive, .migrated = rc_migrated,                 \
	.timeout = completer_timeout, .resume = rc_resume

/* Messages to an SRQ with tags */

static void tag_fini(struct qp *qp)
{
	rc_fini(qp);
	free(rc_tm(qp));
}

static void tag_reset(struct qp *qp)
{
	tm_qp_reset(qp);
	rc_reset(qp);
}

static const struct qp_ops tag_ops = {
	RC_OPS,
	.fini = tag_fini,
	.reset = tag_reset,
	.complete_send = tm_complete_send,
	.complete_recv = tm_complete_recv,
};

static int rc_init(struct qp *qp)
{
	if (qp->srq && qp->srq->tags) {
		qp->ops = &tag_ops;
		if (tm_qp_init(qp))
			return -ENOMEM;
	}
	return 0;
}

static const struct qp_ops rc_ops = {
	RC_OPS,
	.init = rc_init,
	.fini = rc_fini,
	.reset = rc_reset,
};

const struct qp_type rc_type = {
	.ops = &rc_ops,
	.size = sizeof(struct rc_qp),
	.type = OHCA_QPT_RC,
	.flags = QP_F_ALL | OHCA_QP_F_SRQ,
	.send = true,
	.recv = true,
};

const struct qp_type uc_type = {
	.ops = &rc_ops,
	.size = sizeof(struct rc_qp),
	.type = OHCA_QPT_UC,
	.cap = OHCA_CAP_UC,
	.flags = QP_F_ALL | OHCA_QP_F_SRQ,
	.send = true,
	.recv = true,
};

const struct qp_type xrc_ini_type = {
	.ops = &rc_ops,
	.size = sizeof(struct rc_qp),
	.type = OHCA_QPT_XRC_INI,
	.cap = OHCA_CAP_XRC,
	.flags = QP_F_ALL,
	.send = true,
};

const struct qp_type xrc_tgt_type = {
	.ops = &rc_ops,
	.size = sizeof(struct rc_qp),
	.type = OHCA_QPT_XRC_TGT,
	.cap = OHCA_CAP_XRC,
	.flags = QP_F_ALL,
};
