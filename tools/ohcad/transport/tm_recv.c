// SPDX-License-Identifier: GPL-2.0
/*
 * Messages to an SRQ with tags.
 *
 * When the first packet of a message arrives, the device finds out what kind of message it is and
 * which tag it matches.  The tag is then removed from the list, and the QP uses its scatter list as
 * if it were a receive that was taken.
 *
 * The QP's requester reads the data of a rendezvous.  Its send queue is in the device's own memory.
 * It has an RDMA READ for each rendezvous, and when that has completed, in its place, the message
 * that reports this to the peer.  The number of rendezvous is limited by the entries of the queue;
 * a further one gets an RNR NAK.
 */

#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "qp/recv.h"
#include "qp/sched.h"
#include "transport/rc.h"
#include "transport/tm.h"

int tm_qp_init(struct qp *qp)
{
	struct tm_qp *tm = qp_charge(qp, sizeof(*tm)) ? aligned_alloc(64, sizeof(*tm)) : NULL;

	if (!tm)
		return -ENOMEM;
	/* Entries are written before they are read. */
	memset(tm, 0, offsetof(struct tm_qp, fin));
	rc_qp(qp)->tm = tm;
	qp->sq.wq.max_sge = OHCA_TM_MAX_SGE;
	qp->sq.wq.max_inline = TM_HDR;
	qp->sq.wq.cq = qp->srq->wq.cq;
	qp->sq.wq.cq->refs++;
	if (ring_init_own(&qp->sq.wq.ring, tm->ring, TM_SQ_LOG_SIZE, TM_SQ_LOG_STRIDE))
		return -ENOMEM;
	qp->sq.wq.rec = (struct ring_rec){.gen = qp->sq.wq.ring.map->gen, .ptr = &tm->rec};
	return 0;
}

void tm_qp_reset(struct qp *qp)
{
	struct tm_qp *tm = rc_tm(qp);

	/* There was no memory for it. */
	if (!tm)
		return;
	if (tm->kind == TM_UNEXPECTED && qp->rq.wq.taken)
		tag_list_count(qp->srq->tags, -1);
	tm->kind = TM_NONE;
	tm->rec.pi = 0;
}

/* Copy the headers, as far as they have arrived.  Returns the number of bytes. */
static uint32_t read_headers(struct tm_qp *tm, const struct tm_msg *msg)
{
	struct iovec dst = {
		.iov_base = tm->hdr.bytes,
		.iov_len = msg->len < TM_HDR ? msg->len : TM_HDR,
	};
	struct iov_pos pos = msg->pos;

	memset(tm->hdr.bytes, 0, TM_HDR);
	if (dst.iov_len)
		iov_copy_slow(&dst, 1, &pos, false);
	return dst.iov_len;
}

static bool is_good(const struct tm_qp *tm, const struct tm_msg *msg, uint32_t len)
{
	switch (tm->hdr.tmh.opcode) {
	case OHCA_TMH_NO_TAG:
	case OHCA_TMH_FIN:
		return true;
	case OHCA_TMH_EAGER:
		return len >= sizeof(struct ohca_tmh);
	case OHCA_TMH_RNDV:
		return len == TM_HDR && msg->last && msg->len <= OHCA_TM_MAX_RNDV;
	default:
		return false;
	}
}

/* The message takes the tag, whose place is free for another. */
static void take_tag(struct qp *qp, struct tag *tag)
{
	qp->rq.wqe->wr_id = htole64(tag->wr_id);
	qp->rq.wqe->num_sge = htole32(tag->num_sge);
	memcpy(qp->rq.wqe->sge, tag->sge, tag->num_sge * sizeof(tag->sge[0]));
	qp->rq.wq.taken = true;
	rc_tm(qp)->handle = tag->handle;
	tag_list_del(qp->srq->tags, tag);
}

/* Whether the device or software reads the data */
static enum tm_kind rndv_kind(const struct tm_qp *tm, uint64_t room)
{
	uint32_t len = be32toh(tm->hdr.rvh.len);

	return len <= room && len <= HCA_MAX_MSG ? TM_RNDV : TM_RNDV_SW;
}

/* Fill in the fields of a completion for the tag that a message has matched. */
static void fill_match(const struct tm_qp *tm, struct ohca_cqe *cqe)
{
	uint64_t tag = be64toh(tm->hdr.tmh.tag);

	cqe->tag_handle = htole32(tm->handle);
	cqe->tag.app_ctx = htole32(be32toh(tm->hdr.tmh.app_ctx));
	cqe->tag.low = htole32(tag);
	cqe->tag.high = htole32(tag >> 32);
}

/* Fill in the fields that all completions of the SRQ have. */
static void fill_srq(const struct qp *qp, struct ohca_cqe *cqe)
{
	const struct srq *srq = qp->srq;

	cqe->qpn = htole32(qp->id);
	cqe->srqn = htole32(srq->id);
	cqe->wqe_idx = htole32(srq->wq.done);
	cqe->flags |= OHCA_CQE_F_RQ | OHCA_CQE_F_SRQ;
	if (srq->tags->waiting)
		cqe->flags |= OHCA_CQE_F_TAG_SYNC;
}

/* The message continues: its end will be reported later. */
static bool notify_match(struct qp *qp)
{
	struct ohca_cqe cqe = {.wr_id = qp->rq.wqe->wr_id, .opcode = OHCA_CQE_TAG_MATCH};

	fill_match(rc_tm(qp), &cqe);
	fill_srq(qp, &cqe);
	rc_tm(qp)->notified = true;
	return qp_complete(qp, &qp->srq->wq, &cqe);
}

/*
 * The kind of the message and its destination are known: place its data, or some headers, or
 * nothing.
 */
static enum tm_result go_on(struct qp *qp, struct tm_msg *msg)
{
	struct tm_qp *tm = rc_tm(qp);

	msg->kind = tm->kind;
	if (!tm_matched(qp))
		return TM_TAKE;
	if (msg->len < (tm->kind == TM_EAGER ? sizeof(struct ohca_tmh) : TM_HDR))
		return TM_INVALID;
	if (tm->kind != TM_EAGER) {
		msg->len = tm->kind == TM_RNDV ? 0 : TM_HDR;
		return TM_MATCH;
	}
	msg->skip = sizeof(struct ohca_tmh);
	msg->len -= sizeof(struct ohca_tmh);
	return msg->last || tm->notified || notify_match(qp) ? TM_MATCH : TM_BROKEN;
}

/* The search for a tag is a part of the turn in which the message comes: it costs what it reads. */
static struct tag *find_tag(const struct qp *qp)
{
	uint64_t value = be64toh(rc_tm(qp)->hdr.tmh.tag);
	uint32_t compared;
	struct tag *tag = tag_list_find(qp->srq->tags, value, &compared);

	sched_charge(qp->hca, compared * 2 * sizeof(value));
	return tag;
}

enum tm_result tm_begin(struct qp *qp, struct tm_msg *msg)
{
	struct tm_qp *tm = rc_tm(qp);
	uint8_t opcode;
	struct tag *tag;

	/* It arrived before, and was dropped because a page was missing. */
	if (tm->kind != TM_NONE)
		return go_on(qp, msg);
	if (!is_good(tm, msg, read_headers(tm, msg)))
		return TM_INVALID;
	opcode = tm->hdr.tmh.opcode;
	msg->kind = TM_NO_TAG;
	if (opcode == OHCA_TMH_NO_TAG || opcode == OHCA_TMH_FIN)
		return TM_TAKE;
	msg->kind = TM_UNEXPECTED;
	tag = find_tag(qp);
	if (!tag)
		return TM_TAKE;
	if (opcode == OHCA_TMH_RNDV && qp->sq.wq.pi - qp->sq.wq.done > qp->sq.mask)
		return TM_BUSY;

	take_tag(qp, tag);
	tm->notified = false;
	tm->kind = TM_EAGER;
	if (opcode == OHCA_TMH_RNDV)
		tm->kind = rndv_kind(tm, sge_len(tag->sge, tag->num_sge));
	return go_on(qp, msg);
}

void tm_taken(struct qp *qp, const struct tm_msg *msg)
{
	if (msg->kind == TM_UNEXPECTED && rc_tm(qp)->kind == TM_NONE)
		tag_list_count(qp->srq->tags, 1);
	rc_tm(qp)->kind = msg->kind;
}

/* Returns the entry at the end of the send queue, which has room. */
static struct ohca_sq_wqe *new_entry(struct qp *qp)
{
	struct ohca_sq_wqe *wqe;

	wqe = (void *)&rc_tm(qp)->ring[(qp->sq.wq.pi & qp->sq.mask) << TM_SQ_LOG_STRIDE];
	memset(wqe, 0, sizeof(*wqe));
	return wqe;
}

/* Post the entry, which is filled in. */
static void post(struct qp *qp)
{
	qp->sq.wq.pi++;
	rc_tm(qp)->rec.pi = htole32(qp->sq.wq.pi);
	qp_schedule(qp);
}

/* Copy elements of @from, or parts of them, for @len bytes.  Returns their number. */
static uint16_t cut_list(struct ohca_sge *to, const struct ohca_sge *from, uint32_t len)
{
	uint16_t num = 0;

	for (; len; from++) {
		uint32_t part = le32toh(from->length) < len ? le32toh(from->length) : len;

		to[num] = *from;
		to[num++].length = htole32(part);
		len -= part;
	}
	return num;
}

static void post_read(struct qp *qp)
{
	struct ohca_sq_wqe *wqe = new_entry(qp);
	const struct ohca_rq_wqe *rqe = qp->rq.wqe;
	uint8_t *fin = rc_tm(qp)->fin[qp->sq.wq.pi & qp->sq.mask];
	struct tm_qp *tm = rc_tm(qp);

	wqe->opcode = OHCA_OP_RDMA_READ;
	wqe->flags = OHCA_WQE_SIGNALED;
	wqe->wr_id = rqe->wr_id;
	wqe->num_sge = htole16(cut_list(wqe->sge, rqe->sge, be32toh(tm->hdr.rvh.len)));
	wqe->rdma.raddr = htole64(be64toh(tm->hdr.rvh.va));
	wqe->rdma.rkey = htole32(be32toh(tm->hdr.rvh.rkey));
	tm->hdr.tmh.opcode = OHCA_TMH_FIN;
	memcpy(fin, tm->hdr.bytes, TM_HDR);
	post(qp);
}

/* The RDMA READ of entry @idx has completed, and its place is free. */
static void post_fin(struct qp *qp, uint32_t idx)
{
	struct ohca_sq_wqe *wqe = new_entry(qp);

	wqe->opcode = OHCA_OP_SEND;
	wqe->flags = OHCA_WQE_INLINE;
	wqe->num_sge = htole16(TM_HDR);
	memcpy(wqe->sge, rc_tm(qp)->fin[idx & qp->sq.mask], TM_HDR);
	post(qp);
}

bool tm_complete_recv(struct qp *qp, struct ohca_cqe *cqe)
{
	struct tm_qp *tm = rc_tm(qp);
	enum tm_kind kind = tm->kind;

	tm->kind = TM_NONE;
	switch (kind) {
	case TM_NONE:
		break;
	case TM_NO_TAG:
		cqe->opcode = OHCA_CQE_RECV_NO_TAG;
		break;
	case TM_UNEXPECTED:
		cqe->opcode = OHCA_CQE_RECV_UNEXPECTED;
		if (cqe->status)
			tag_list_count(qp->srq->tags, -1);
		break;
	default:
		cqe->opcode = OHCA_CQE_TAG_RECV;
		if (tm->notified)
			cqe->opcode = OHCA_CQE_TAG_DATA;
		else
			fill_match(tm, cqe);
		if (cqe->status)
			break;
		if (kind == TM_RNDV)
			cqe->opcode = OHCA_CQE_TAG_MATCH;
		else if (kind == TM_RNDV_SW)
			cqe->status = OHCA_WC_TM_RNDV_INCOMPLETE;
	}
	fill_srq(qp, cqe);
	if (!qp_complete(qp, &qp->srq->wq, cqe))
		return false;
	if (cqe->opcode == OHCA_CQE_TAG_MATCH)
		post_read(qp);
	return true;
}

bool tm_complete_send(struct qp *qp, struct ohca_cqe *cqe)
{
	if (cqe->opcode != OHCA_OP_RDMA_READ)
		return true;
	if (!cqe->status)
		post_fin(qp, le32toh(cqe->wqe_idx));
	cqe->opcode = OHCA_CQE_TAG_DATA;
	fill_srq(qp, cqe);
	return qp_complete(qp, &qp->srq->wq, cqe);
}
