/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the responder share: responder.c takes requests, responder_ack.c acknowledges or
 * refuses them, responder_read.c gives the responses that are more than an acknowledgment,
 * responder_atomic.c executes what is one step.
 */

#ifndef OHCAD_RESPONDER_H
#define OHCAD_RESPONDER_H

#include "transport/rc.h"

/* The @i-th response to give from the oldest on, or the place of a new one. */
static inline struct resp_res *responder_res(struct responder *resp, uint32_t i)
{
	return &resp->lists->res[(resp->res_head + i) % HCA_MAX_RD_ATOMIC];
}

/* Queue a response; it is filled but for @result. */
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
	return res;
}

/* The region of @pdn that the peer may access: 0 or OHCA_VENDOR_ERR_*. */
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

/* responder_ack.c */

/* Acknowledge @psn, after the responses to requests that came before. */
void responder_ack(struct qp *qp, uint32_t psn, uint8_t syndrome);
/*
 * Refuse what came with the expected PSN, and stop: with @event if it is not 0.  An unreliable
 * connection only drops the message.
 */
void responder_refuse(struct qp *qp, uint8_t syndrome, enum ohca_event event);
/* Refuse what came with the expected PSN, and stop. */
void responder_refuse_invalid(struct qp *qp);
/* The peer asked for memory that it may not have, or that is not there (OHCA_VENDOR_ERR_DMA). */
void responder_refuse_access(struct qp *qp, int vendor_err);
/*
 * Memory that a request needs is not accessible: refuse it as responder_refuse_access() does; with
 * MKEY_MISSING drop it, and ask for it when the page of @missing is there.
 */
void responder_no_memory(struct qp *qp, int err, const struct mkey_missing *missing);
/*
 * What came with the expected PSN needs the page of @missing: it is dropped.  Returns 0, or
 * OHCA_VENDOR_ERR_DMA: it won't get that.  An unreliable connection drops the message.
 */
int responder_drop(struct qp *qp, const struct mkey_missing *missing);
/* All answers before a refusal are out: the QP is in error. */
void responder_close(struct qp *qp);
/* The first packet in RTR was accepted: OHCA_EVENT_COMM_EST. */
void responder_comm_est(struct qp *qp);

/* @npsn packets were accepted: move on. */
static inline void responder_advance(struct qp *qp, uint32_t npsn)
{
	struct responder *resp = rc_resp(qp);

	resp->epsn = psn_add(resp->epsn, npsn);
	if (qp->state == OHCA_QPS_RTR && !resp->comm_est)
		responder_comm_est(qp);
}

/* responder_read.c */

/* One of pkt_is_read_atomic() with the expected PSN. */
void responder_read(struct qp *qp, const struct pkt *pkt);
/*
 * One that was seen before: an RDMA READ is executed anew, from its first PSN on; what changed
 * memory is not.
 */
void responder_read_again(struct qp *qp, const struct pkt *pkt);
/* responder_atomic.c */

/*
 * Atomics, ATOMIC_WRITE and FLUSH: with the expected PSN, and seen before.  Returns the response to
 * give, NULL if there is none: it was refused or dropped.
 */
struct resp_res *responder_atomic(struct qp *qp, const struct pkt *pkt);
struct resp_res *responder_atomic_again(struct qp *qp, const struct pkt *pkt);

#endif
