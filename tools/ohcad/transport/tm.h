/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tag matching: QPs that receive from an SRQ of type OHCA_SRQ_TM (tm_recv.c), and the work requests
 * of OHCA_QPT_TM (tm_op.c).  tag_list.c has the tags.
 */

#ifndef OHCAD_TM_H
#define OHCAD_TM_H

#include "qp/tag_list.h"
#include "transport/rc.h"

#define TM_HDR (sizeof(struct ohca_tmh) + sizeof(struct ohca_rvh))

/*
 * The device's own send queue of such a QP has an RDMA READ, or the message after it, for each
 * rendezvous under way.
 */
#define TM_SQ_LOG_SIZE 6
#define TM_SQ_LOG_STRIDE 8

/**
 * enum tm_kind - kind of a message
 * @TM_NONE: there is none, or it is not a SEND
 * @TM_NO_TAG: one that is not to be matched
 * @TM_UNEXPECTED: one that no tag matches
 * @TM_EAGER: its data are for a tag
 * @TM_RNDV: it has the address of data for a tag
 * @TM_RNDV_SW: likewise, but software has to read them
 */
enum tm_kind {
	TM_NONE,
	TM_NO_TAG,
	TM_UNEXPECTED,
	TM_EAGER,
	TM_RNDV,
	TM_RNDV_SW,
};

/**
 * struct tm_qp - additional state of a QP that receives from such an SRQ
 * @kind: message under way, whose receive or tag is taken
 * @notified: OHCA_CQE_TAG_MATCH was written for it
 * @handle: of the tag that it matches, which is in rq.wqe
 * @hdr: its headers
 * @rec: record of the send queue
 * @fin: for each entry of the send queue that is an RDMA READ: the message to send at its end
 * @ring: entries of the send queue
 */
struct tm_qp {
	uint8_t kind;
	bool notified;
	uint32_t handle;
	union {
		struct {
			struct ohca_tmh tmh;
			struct ohca_rvh rvh;
		};
		uint8_t bytes[TM_HDR];
	} hdr;
	struct ohca_wq_rec rec;
	uint8_t fin[1 << TM_SQ_LOG_SIZE][TM_HDR];
	uint8_t ring[1 << (TM_SQ_LOG_SIZE + TM_SQ_LOG_STRIDE)] __attribute__((aligned(64)));
};

_Static_assert(OHCA_SQ_WQE_HDR + OHCA_TM_MAX_SGE * sizeof(struct ohca_sge) <=
			       1 << TM_SQ_LOG_STRIDE &&
		       OHCA_SQ_WQE_HDR + TM_HDR <= 1 << TM_SQ_LOG_STRIDE,
	       "they have room");

/* tm_recv.c */

/* @qp receives from an SRQ with tags: create its send queue.  Returns 0 or -ENOMEM. */
int tm_qp_init(struct qp *qp);
void tm_qp_reset(struct qp *qp);

/**
 * struct tm_msg - the first burst of a message
 * @pos: its payload
 * @len: bytes of that
 * @last: it is the whole message
 * @kind: TM_TAKE: enum tm_kind
 * @skip: TM_MATCH: offset of the tag's data
 */
struct tm_msg {
	struct iov_pos pos;
	uint32_t len;
	bool last;
	uint8_t kind;
	uint32_t skip;
};

/**
 * enum tm_result - how to continue with the message
 * @TM_TAKE: take a receive of the SRQ for it, then call tm_taken()
 * @TM_MATCH: a tag matches; its list is in rq.wqe, for @msg->len bytes of it from @msg->skip on
 * @TM_BUSY: there is no room for it now
 * @TM_INVALID: the message is invalid
 * @TM_BROKEN: the CQ is in error, and so is the QP
 */
enum tm_result {
	TM_TAKE,
	TM_MATCH,
	TM_BUSY,
	TM_INVALID,
	TM_BROKEN,
};

enum tm_result tm_begin(struct qp *qp, struct tm_msg *msg);
void tm_taken(struct qp *qp, const struct tm_msg *msg);

/* Whether a SEND uses the list and the rights of a tag */
static inline bool tm_matched(const struct qp *qp)
{
	return rc_tm(qp) && rc_tm(qp)->kind >= TM_EAGER;
}

/* Complete the taken receive or tag; adds the fields of tags to @cqe.  Like recv_complete(). */
bool tm_complete_recv(struct qp *qp, struct ohca_cqe *cqe);
/* A work request of the device's own has ended; @cqe is what software would get. */
bool tm_complete_send(struct qp *qp, struct ohca_cqe *cqe);

/* tm_op.c */

extern const struct qp_type tm_type;

#endif
