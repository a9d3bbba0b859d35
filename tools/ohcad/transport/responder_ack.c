// SPDX-License-Identifier: GPL-2.0
/* Responder: acknowledgments and refusals (InfiniBand specification, 9.7.5 and 9.9.3). */

#include "base/log.h"
#include "device/eq.h"
#include "net/link.h"
#include "transport/responder.h"

void responder_ack(struct qp *qp, uint32_t psn, uint8_t syndrome)
{
	struct responder *resp = rc_resp(qp);

	if (qp->type == OHCA_QPT_UC)
		return;
	if (resp->res_num) {
		struct resp_res *res = responder_res(resp, resp->res_num - 1);

		/* The answer to a duplicate: what it says, the NAK of a later request says, too. */
		if (res->ack && psn_diff(psn, res->ack_psn) < 0)
			return;
		res->ack = true;
		res->ack_psn = psn;
		res->ack_syndrome = syndrome;
		res->ack_msn = resp->msn;
	} else {
		struct pkt pkt = {
			.op = PKT_ACK,
			.syndrome = syndrome,
			.psn = psn,
			.npsn = 1,
			.msn = resp->msn,
		};

		link_send(qp, &pkt);
	}
}

void responder_close(struct qp *qp)
{
	if (rc_resp(qp)->closing_event)
		eq_async(qp->hca, rc_resp(qp)->closing_event, qp->id);
	qp_error(qp);
}

/* Accept nothing more, and enter the error state when the answers before are sent. */
static void begin_close(struct qp *qp, enum ohca_event event)
{
	rc_resp(qp)->closing = true;
	rc_resp(qp)->closing_event = event;
}

static void end_close(struct qp *qp)
{
	if (!rc_resp(qp)->res_num)
		responder_close(qp);
}

void responder_refuse(struct qp *qp, uint8_t syndrome, enum ohca_event event)
{
	if (syndrome == AETH_NAK_INV_REQ)
		qp_count(qp, OHCA_CNT_RESP_INVALID, 1);
	else if (event == OHCA_EVENT_QP_ACCESS_ERR)
		qp_count(qp, OHCA_CNT_RESP_ACCESS_ERRORS, 1);
	if (qp->type == OHCA_QPT_UC && event != OHCA_EVENT_QP_FATAL) {
		rc_resp(qp)->op = RESP_NONE;
		return;
	}
	log_debug(qp->hca->name, "QP %u: request refused, syndrome %#x", qp->id, syndrome);
	begin_close(qp, event);
	responder_ack(qp, rc_resp(qp)->epsn, syndrome);
	end_close(qp);
}

void responder_fail_invalidate(struct qp *qp)
{
	qp_count(qp, OHCA_CNT_RESP_ACCESS_ERRORS, 1);
	begin_close(qp, OHCA_EVENT_QP_ACCESS_ERR);
	end_close(qp);
}

void responder_refuse_invalid(struct qp *qp)
{
	responder_refuse(qp, AETH_NAK_INV_REQ, OHCA_EVENT_QP_REQ_ERR);
}

void responder_refuse_access(struct qp *qp, int vendor_err)
{
	responder_refuse(qp,
			 vendor_err == OHCA_VENDOR_ERR_DMA ? AETH_NAK_REM_OP : AETH_NAK_REM_ACCESS,
			 OHCA_EVENT_QP_ACCESS_ERR);
}

int responder_drop(struct qp *qp, const struct mkey_missing *missing)
{
	struct responder *resp = rc_resp(qp);
	int err;

	if (qp->type == OHCA_QPT_UC) {
		qp_count(qp, OHCA_CNT_OUT_OF_BUFFER, 1);
		resp->op = RESP_NONE;
		return 0;
	}
	err = qp_fault_wait(qp, FAULT_REQUEST, missing);
	if (!err)
		resp->nak = NAK_FAULT;
	return err;
}

void responder_no_memory(struct qp *qp, int err, const struct mkey_missing *missing)
{
	if (err == MKEY_MISSING)
		err = responder_drop(qp, missing);
	if (err)
		responder_refuse_access(qp, err);
}

void responder_resume(struct qp *qp)
{
	/* A refusal that is queued stays the last answer. */
	if (rc_resp(qp)->nak == NAK_FAULT && !rc_resp(qp)->closing)
		responder_ack(qp, rc_resp(qp)->epsn, AETH_NAK_PSN_SEQ);
}

void responder_comm_est(struct qp *qp)
{
	rc_resp(qp)->comm_est = true;
	eq_async(qp->hca, OHCA_EVENT_COMM_EST, qp->id);
}
