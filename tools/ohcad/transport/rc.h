/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The connected transport: requester and responder of a QP (InfiniBand specification volume 1,
 * chapter 9).
 *
 * All functions run to completion.  requester_run() sends bursts with link_send(), which calls the
 * peer's responder_rx(), which may call requester_rx() with the answer.  requester_rx() completes
 * work requests and changes positions but never sends, so the chain ends there.  A sender has to
 * read all state again after link_send() has returned.
 *
 * An unreliable connection (OHCA_QPT_UC) has no answers: a work request completes when its last
 * packet was sent, and a message with a gap, or one that can't be received, is dropped.
 */

#ifndef OHCAD_RC_H
#define OHCAD_RC_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/pkt.h"
#include "qp/qp.h"

struct tm_qp;

/**
 * struct requester - the send side: state of a connection beside its send queue
 * @cur: packets of work request sq.wq.next that were sent already
 * @psn: next PSN to use
 * @una: oldest PSN that is not acknowledged
 * @sent: end of the PSNs that were sent, once at least
 * @reads: requests of OP_READ_ATOMIC that were sent and are not complete
 * @again_end: responses that are missing before this PSN are not a loss: their request was repeated
 *	because a local page was missing, and there may be answers to both
 * @retry_left: retries until RETRY_EXC_ERR
 * @rnr_left: RNR NAKs until RNR_RETRY_EXC_ERR; not counted if the QP retries forever
 * @limit: with @limited: work request from which on the peer has shown no receives, so that messages that take one
 *	exceed its credits (9.7.7.2)
 * @probe: end of the last burst that has exceeded them; while it is not acknowledged, no other one does
 * @progress: something was acknowledged since the timer was armed
 * @quarters: quarters of the time-out that have passed since then without progress
 * @gap: the loss of a response was detected, or the response was dropped because of a missing page,
 *	and it has not arrived since
 * @running: in requester_run(): no need to schedule the QP
 * @local: the next work request that is begun is a local operation, of which a part was executed
 * @failed: status of work request sq.wq.next, which failed locally and completes after the earlier
 *	ones; 0: none
 * @vendor_err: OHCA_VENDOR_ERR_* for @failed
 */
struct requester {
	uint32_t cur;
	uint32_t psn;
	uint32_t una;
	uint32_t sent;
	uint32_t reads;
	uint32_t again_end;
	uint32_t limit;
	uint32_t probe;
	uint8_t retry_left;
	uint8_t rnr_left;
	bool progress;
	uint8_t quarters;
	bool gap;
	bool running;
	bool local;
	bool limited;
	uint8_t failed;
	uint8_t vendor_err;
};

/**
 * struct resp_result - result of an atomic or ATOMIC_WRITE, kept for duplicates
 * @op: PKT_*
 * @value: the old 8 bytes
 */
struct resp_result {
	uint32_t psn;
	uint8_t op;
	uint64_t value;
};

/**
 * struct resp_res - a responder resource: a response that the responder has to send
 * @op: PKT_*; all but PKT_READ_REQ are executed already
 * @result: PKT_CMP_SWAP, PKT_FETCH_ADD: the 8 bytes to send
 * @off: bytes sent
 * @pdn: protection domain of the request
 * @ack: an acknowledgment of later requests (@ack_psn, @ack_syndrome, @ack_msn) follows the last
 *	response
 * @again: a READ that was answered before, to its end: dropped if its memory is not accessible any
 *	more
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
	bool again;
	uint8_t ack_syndrome;
	uint32_t ack_psn;
	uint32_t ack_msn;
};

/**
 * struct resp_lists - responses and results of requests of OP_READ_ATOMIC; allocated for the first
 *	one
 * @res: responses to send, a ring
 * @results: the last ones, a ring
 * @num_results: number of results so far
 * @qp: the QP
 * @syncing: in hca->syncing while the oldest response waits until memory is written back
 */
struct resp_lists {
	struct resp_res res[HCA_MAX_RD_ATOMIC];
	struct resp_result results[HCA_MAX_RD_ATOMIC];
	uint64_t num_results;
	struct qp *qp;
	struct list syncing;
};

enum responder_nak {
	NAK_NONE,
	NAK_SENT, /* a NAK was sent for the missing packet */
	NAK_FAULT, /* dropped because of a missing page; a NAK follows when it is present */
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
 * @nak: enum responder_nak: a NAK for @epsn was sent, or will be, and the packet has not arrived
 *	since
 * @comm_est: COMM_EST was raised
 * @closing: a request was refused; nothing more is accepted, and the QP enters the error state when
 *	the earlier answers are sent
 * @closing_event: then raise this event; 0: none
 * @va, @rkey: destination of the next bytes of an RDMA WRITE
 * @left: bytes of it that have not arrived
 * @done: bytes received of the message
 * @lists: responses to send, and results, or NULL
 * @res_head: first response
 * @res_num: number of them
 * @pdn: protection domain for remote keys: the QP's, or that of the packet's SRQ
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
};

/**
 * struct rc_qp - a QP of the connected transport
 * @tm: the QP receives from an SRQ of type OHCA_SRQ_TM, and the device has its send queue; else
 *	NULL
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
/* Set the first PSN and the counters, at the move to RTS. */
void requester_start(struct qp *qp);
/* The counts of retries are those of the attributes. */
void requester_count_anew(struct qp *qp);
/*
 * Nothing is outstanding any more: the next work request starts from its beginning, with the next
 * PSN.
 */
void requester_stop(struct qp *qp);
/*
 * Send about @budget bytes.  Returns whether more could be sent at once.  A budget of 0 only reads
 * what was posted, so that an answer finds it.
 */
bool requester_run(struct qp *qp, uint32_t budget);
/* How many bytes the requester may send before it must wait for a remote peer */
uint32_t requester_window(const struct qp *qp);

/* requester_rx.c */

/* Handle an answer of the peer. */
void requester_rx(struct qp *qp, const struct pkt *pkt);

/* responder.c; responder_read.c has responder_run() */

void responder_fini(struct qp *qp);
void responder_reset(struct qp *qp);
void responder_start(struct qp *qp); /* at the move to RTR */
/* Handle a request of the peer. */
void responder_rx(struct qp *qp, const struct pkt *pkt);
/* Send responses, about @budget bytes.  Returns whether there are more. */
bool responder_run(struct qp *qp, uint32_t budget);
/* Memory of the HCA was written back: go on with responses that wait for that. */
void responder_synced(struct hca *hca);
/* The page of FAULT_REQUEST is present: request a retransmission by a NAK. */
void responder_resume(struct qp *qp);

#endif
