// SPDX-License-Identifier: GPL-2.0
/* Work queues: fetch of entries. */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "qp/qp.h"

_Static_assert(SGE_MAX_LEN >= PKT_MAX_LEN, "a burst is resolved at once");

/* Keeps the compiler from reading guest memory again in place of the copy. */
static inline void copied(void)
{
	__asm__ volatile("" ::: "memory");
}

/* First copy of a WQE: one cache line, or the shortest entry of the queue. */
#define SQ_WQE_FIRST 64
#define RQ_WQE_FIRST 32

/* The shortest copy of a send entry: header, extension and one element */
#define SQ_WQE_ROOM 128

static size_t send_copy_size(const struct qp *qp)
{
	size_t stride = 1U << qp->sq.wq.ring.log_stride;

	if (!wq_exists(&qp->sq.wq))
		return 0;
	if (stride < SQ_WQE_ROOM)
		return SQ_WQE_ROOM;
	return stride < SQ_WQE_USED ? stride : SQ_WQE_USED;
}

static size_t recv_copy_size(const struct qp *qp)
{
	size_t used = OHCA_RQ_WQE_HDR + qp->rq.wq.max_sge * sizeof(struct ohca_sge);

	if (qp->srq || qp->type == OHCA_QPT_XRC_TGT)
		return RQ_WQE_USED;
	if (!wq_exists(&qp->rq.wq))
		return 0;
	return used < RQ_WQE_FIRST ? RQ_WQE_FIRST : used;
}

int wq_init_room(struct qp *qp)
{
	bool has_entries = qp_is(qp, QPT_REQUESTER);
	size_t num = has_entries ? 1U << qp->sq.wq.ring.log_size : 0;
	size_t entries = num * sizeof(*qp->sq.entries);
	size_t send = send_copy_size(qp), all = entries + send + recv_copy_size(qp);
	uint8_t *room = qp_charge(qp, all) ? calloc(1, all) : NULL;

	if (!room)
		return -ENOMEM;
	if (has_entries) {
		qp->sq.entries = (void *)room;
		qp->sq.mask = num - 1;
	}
	qp->sq.wqe = (void *)(room + entries);
	qp->rq.wqe = (void *)(room + entries + send);
	return 0;
}

void wq_fini_room(struct qp *qp)
{
	free(qp->sq.entries ? (void *)qp->sq.entries : qp->sq.wqe);
}

bool wq_load_send(struct qp *qp, uint32_t idx)
{
	struct send_queue *sq = &qp->sq;
	const uint8_t *src;
	uint32_t num, used;
	uint8_t *copy;

	if (sq->wqe_valid && sq->wqe_idx == idx)
		return true;
	sq->wqe_valid = false;
	src = ring_entry(&sq->wq.ring, idx);
	if (!src)
		return false;
	copy = (uint8_t *)sq->wqe;
	memcpy(copy, src, SQ_WQE_FIRST);
	copied();
	used = sq_wqe_hdr(sq->wqe);
	num = le16toh(sq->wqe->num_sge);
	sq->wqe_fits = sq_wqe_fits(&sq->wq, sq->wqe);
	if (sq->wqe_fits)
		used += sq->wqe->flags & OHCA_WQE_INLINE ? num : num * sizeof(struct ohca_sge);
	else
		used = SQ_WQE_FIRST;
	if (used > SQ_WQE_FIRST) {
		memcpy(copy + SQ_WQE_FIRST, src + SQ_WQE_FIRST, used - SQ_WQE_FIRST);
		copied();
	}
	sq->wqe_idx = idx;
	sq->wqe_valid = true;
	return true;
}

bool wq_load_recv(struct qp *qp, struct wq *wq, uint32_t idx)
{
	const uint8_t *src = ring_entry(&wq->ring, idx);
	uint8_t *copy = (uint8_t *)qp->rq.wqe;
	uint32_t num, used;

	if (!src)
		return false;
	memcpy(copy, src, RQ_WQE_FIRST);
	copied();
	num = le32toh(qp->rq.wqe->num_sge);
	used = OHCA_RQ_WQE_HDR + (num <= wq->max_sge ? num * sizeof(struct ohca_sge) : 0);
	if (used > RQ_WQE_FIRST) {
		memcpy(copy + RQ_WQE_FIRST, src + RQ_WQE_FIRST, used - RQ_WQE_FIRST);
		copied();
	}
	return true;
}
