/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The connected transport: requester and responder of a QP (InfiniBand specification volume 1,
 * chapter 9).
 *
 * Everything runs to completion.  requester_run() sends bursts with link_send(), which calls the
 * peer's responder_rx(), which may call back into requester_rx() with the answer.  requester_rx()
 * completes work requests and moves positions but never sends, so the chain ends there; whoever
 * sends looks at all state anew after link_send() has returned.
 *
 * An unreliable connection (OHCA_QPT_UC) has no answers: a work request completes when its last
 * packet was sent, and a message with a gap, or one that can't be taken, is dropped.
 */

#ifndef OHCAD_RC_H
#define OHCAD_RC_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/pkt.h"
#include "qp/qp.h"

struct tm_qp;

/**
 * struct requester - the send side: what a connection keeps beside its send queue
 * @cur: packets of work request sq.wq.next that were sent already
 * @psn: next PSN to give out
 * @una: oldest PSN that is not acknowledged
 * @reads: requests of OP_READ_ATOMIC that were sent and are not complete
 * @again_end: responses that are lost before that are no loss: what was asked for was asked for
 *	again, for want of a page here, and answers may have come of both
 * @retry_left: retries until RETRY_EXC_ERR
 * @rnr_left: RNR NAKs until RNR_RETRY_EXC_ERR; not counted if the QP retries forever
 * @progress: something was acknowledged since the timer was armed
 * @gap: the loss of a response was noticed, or it was dropped for want of a page, and the response
 *	has not come since
 * @running: in requester_run(): no need to schedule the QP
 * @failed: status of work request sq.wq.next, which failed here and completes after the earlier
 *	ones; 0: none
 * @vendor_err: OHCA_VENDOR_ERR_* that belongs to @failed
 */
struct requester {
	uint32_t cur;
	uint32_t psn;
	uint32_t una;
	uint32_t reads;
	uint32_t again_end;
	uint8_t retry_left;
	uint8_t rnr_left;
	bool progress;
	bool gap;
	bool running;
	uint8_t failed;
	uint8_t vendor_err;
};

/**
 * struct resp_result - what came of an atomic, or that an ATOMIC_WRITE was done, for a duplicate
 * @op: PKT_*
 * @value: the 8 bytes before
 */
struct resp_result {
	uint32_t psn;
	uint8_t op;
	uint64_t value;
};

/**
 * struct resp_res - a responder resource: a response that the responder has to give
 * @op: PKT_*; all but PKT_READ_REQ are done already
 * @result: PKT_CMP_SWAP, PKT_FETCH_ADD: the 8 bytes to send
 * @off: bytes answered
 * @pdn: protection domain of the request
 * @ack: an acknowledgment of later requests (@ack_psn, @ack_syndrome, @ack_msn) follows the last
 *	response
 */
struct resp_res {
	uint8_t op;
	uint64_t result;
	uint64_t va;
	uint32_t rkey;
	uint32_t len;
	uint32_t off;
	uint32_t psn;
	uint32_t npsn;
	uint32_t msn;
	uint32_t pdn;
	bool ack;
	uint8_t ack_syndrome;
	uint32_t ack_psn;
	uint32_t ack_msn;
};

/**
 * struct resp_lists - what the responder keeps of requests of OP_READ_ATOMIC; there is none before the first
 * @res: responses to give, a ring
 * @results: the last ones, a ring
 */
struct resp_lists {
	struct resp_res res[HCA_MAX_RD_ATOMIC];
	struct resp_result results[HCA_MAX_RD_ATOMIC];
};

enum responder_nak {
	NAK_NONE,
	NAK_SENT, /* what is missing was reported */
	NAK_FAULT, /* it was dropped for want of a page; reported when that is there */
};

enum responder_op {
	RESP_NONE, /* between messages */
	RESP_SEND,
	RESP_WRITE,
};

/**
 * struct responder - the receive side
 * @epsn: expected PSN
 * @msn: messages completed, 24 bits
 * @op: message under way
 * @nak: enum responder_nak: @epsn was asked for, or will be, and has not come since
 * @comm_est: COMM_EST was reported
 * @closing: refused a request; nothing more is accepted, and the QP is in error once the answers
 *	before are out
 * @closing_event: then raise this one; 0: none
 * @va, @rkey: where the next bytes of an RDMA WRITE go
 * @left: bytes that are to come of it
 * @done: bytes received of the message
 * @lists: responses to give, and results, or NULL
 * @res_head: first response
 * @res_num: number of them
 * @num_results: so many results there have been
 * @pdn: protection domain that remote keys must be of: the QP's, or that of the packet's SRQ
 */
struct responder {
	uint32_t epsn;
	uint32_t msn;
	uint8_t op;
	uint8_t nak;
	bool comm_est;
	bool closing;
	uint8_t closing_event;
	uint8_t res_head;
	uint8_t res_num;
	uint64_t va;
	uint32_t rkey;
	uint32_t left;
	uint32_t done;
	uint32_t pdn;
	struct resp_lists *lists;
	uint64_t num_results;
};

/**
 * struct rc_qp - a QP of the connected transport
 * @tm: it receives from an SRQ of type OHCA_SRQ_TM, and its send queue is the device's; else NULL
 */
struct rc_qp {
	struct qp qp;
	struct requester req;
	struct responder resp;
	struct tm_qp *tm;
};

_Static_assert(sizeof(struct rc_qp) <= 1024, "there may be many of them");

static inline struct rc_qp *rc_qp(const struct qp *qp)
{
	return list_entry(qp, struct rc_qp, qp);
}

static inline struct requester *rc_req(const struct qp *qp)
{
	return &rc_qp(qp)->req;
}

static inline struct responder *rc_resp(const struct qp *qp)
{
	return &rc_qp(qp)->resp;
}

static inline struct tm_qp *rc_tm(const struct qp *qp)
{
	return rc_qp(qp)->tm;
}

/* The PSN of the next packet to send. */
static inline uint32_t requester_next_psn(const struct qp *qp)
{
	const struct requester *req = rc_req(qp);
	uint32_t next = qp->sq.wq.next;

	return next == qp->sq.fetched ? req->psn : psn_add(sq_entry(&qp->sq, next)->psn, req->cur);
}

extern const struct qp_type rc_type, uc_type, xrc_ini_type, xrc_tgt_type;

/* requester.c: sending, and the fetch of work requests */

void requester_reset(struct qp *qp); /* as after creation */
/* The first PSN, and the counters, at the move to RTS. */
void requester_start(struct qp *qp);
/* Nothing is outstanding any more: the next work request starts anew, with the next PSN. */
void requester_stop(struct qp *qp);
/*
 * Send about @budget bytes; returns whether more could be sent right now.  With a budget of 0 it only
 * takes note of what was posted, which an answer then finds.
 */
bool requester_run(struct qp *qp, uint32_t budget);
/* How many bytes may the requester send before it must wait for its peer, who is far? */
uint32_t requester_window(const struct qp *qp);

/* requester_rx.c */

/* An answer from the peer. */
void requester_rx(struct qp *qp, const struct pkt *pkt);

/* responder.c; responder_read.c has responder_run() */

void responder_fini(struct qp *qp);
void responder_reset(struct qp *qp);
void responder_start(struct qp *qp); /* at the move to RTR */
/* A request from the peer. */
void responder_rx(struct qp *qp, const struct pkt *pkt);
/* Give responses, about @budget bytes; returns whether there are more. */
bool responder_run(struct qp *qp, uint32_t budget);
/* The page of FAULT_REQUEST is there: ask for the request. */
void responder_resume(struct qp *qp);

#endif
