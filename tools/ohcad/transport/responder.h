/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of the responder's parts: responder.c handles requests, responder_ack.c acknowledges or
 * refuses them, responder_read.c sends responses other than acknowledgments, responder_atomic.c
 * executes requests of one step.
 */

#ifndef OHCAD_RESPONDER_H
#define OHCAD_RESPONDER_H

#include "transport/rc.h"

/* The @i-th response to send from the oldest on, or the place of a new one */
static inline struct resp_res *responder_res(struct responder *resp, uint32_t i)
{
	return &resp->lists->res[(resp->res_head + i) % HCA_MAX_RD_ATOMIC];
}

/* Queue a response; all fields but @result are filled in, as for a new request. */
static inline struct resp_res *responder_push(struct qp *qp, const struct pkt *pkt, uint32_t npsn)
{
	struct responder *resp = rc_resp(qp);
	struct resp_res *res = responder_res(resp, resp->res_num++);

	res->op = pkt->op;
	res->va = pkt->va;
	res->rkey = pkt->rkey;
	res->len = pkt->op == PKT_READ_REQ ? pkt->dma_len : 0;
	res->off = 0;
	res->psn = pkt->psn;
	res->npsn = npsn;
	res->msn = resp->msn;
	res->pdn = resp->pdn;
	res->ack = false;
	res->again = false;
	return res;
}

/* Check that the peer may access the region of @pdn.  Returns 0 or OHCA_VENDOR_ERR_*. */
static inline int responder_check_pd(struct qp *qp, uint32_t pdn, uint32_t rkey, uint8_t access,
				     uint64_t va, uint64_t len, struct mkey **mkey)
{
	struct mkey_access who = {.pdn = pdn, .access = access, .qpn = qp->id};

	return mkey_check(qp->hca, rkey, &who, va, len, mkey);
}

/* The same in the protection domain of the present request. */
static inline int responder_check(struct qp *qp, uint32_t rkey, uint8_t access, uint64_t va,
				  uint64_t len, struct mkey **mkey)
{
	return responder_check_pd(qp, rc_resp(qp)->pdn, rkey, access, va, len, mkey);
}

#define RESPONDER_FEW 16 /* receives: below that, it is worth to look for more */

/*
 * The syndrome of an acknowledgment: with the receives that requests may still take, if they are the QP's own (9.7.7.2).
 * A peer that has its answer before it sends the next burst needs none.
 */
static inline uint8_t responder_credits(struct qp *qp)
{
	if (__builtin_expect(!qp->remote, 1) || qp->rq.srq || !wq_exists(&qp->rq.wq) ||
	    qp->type != OHCA_QPT_RC)
		return AETH_ACK_NO_CREDITS;
	return AETH_ACK | aeth_credit_code(wq_posted(&qp->rq.wq, RESPONDER_FEW));
}

/* responder_ack.c */

/* Acknowledge @psn, after the responses to requests that came before. */
void responder_ack(struct qp *qp, uint32_t psn, uint8_t syndrome);
/*
 * Refuse the request with the expected PSN, and stop: with @event if it is not 0.  An unreliable
 * connection only drops the message.
 */
void responder_refuse(struct qp *qp, uint8_t syndrome, enum ohca_event event);
/*
 * The key that the message with the expected PSN invalidates can't be invalidated: stop, and don't
 * answer it (an error of class J, 9.9.3).
 */
void responder_fail_invalidate(struct qp *qp);
/* Refuse the request with the expected PSN as invalid, and stop. */
void responder_refuse_invalid(struct qp *qp);
/* The peer has no right to the memory, or there is none (OHCA_VENDOR_ERR_DMA). */
void responder_refuse_access(struct qp *qp, int vendor_err);
/*
 * Memory that a request needs is not accessible: refuse it as responder_refuse_access() does.  With
 * MKEY_MISSING drop it, and request it again when the page of @missing is present.
 */
void responder_no_memory(struct qp *qp, int err, const struct mkey_missing *missing);
/*
 * The request with the expected PSN needs the page of @missing: it is dropped.  Returns 0, or
 * OHCA_VENDOR_ERR_DMA if the page was refused.  An unreliable connection drops the message.
 */
int responder_drop(struct qp *qp, const struct mkey_missing *missing);
/* All answers before a refusal are sent: the QP enters the error state. */
void responder_close(struct qp *qp);
/* The first packet in RTR was accepted: raise OHCA_EVENT_COMM_EST. */
void responder_comm_est(struct qp *qp);

/* @npsn packets were accepted: advance the expected PSN. */
static inline void responder_advance(struct qp *qp, uint32_t npsn)
{
	struct responder *resp = rc_resp(qp);

	resp->epsn = psn_add(resp->epsn, npsn);
	if (qp->state == OHCA_QPS_RTR && !resp->comm_est)
		responder_comm_est(qp);
}

/* responder_read.c */

/* Handle a request of pkt_is_read_atomic() with the expected PSN. */
void responder_read(struct qp *qp, const struct pkt *pkt);
/*
 * Handle a duplicate: an RDMA READ is executed again, from its first PSN on; operations that change
 * memory are not.
 */
void responder_read_again(struct qp *qp, const struct pkt *pkt);
/* responder_atomic.c */

/*
 * Atomics, ATOMIC_WRITE and FLUSH with the expected PSN.  Returns the response to send, or NULL if the
 * request was refused or dropped.
 */
struct resp_res *responder_atomic(struct qp *qp, const struct pkt *pkt);
/* The result that a duplicate of them is answered with, or NULL.  There are lists. */
const struct resp_result *responder_result(const struct responder *resp, const struct pkt *pkt);

#endif
