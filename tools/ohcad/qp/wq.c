// SPDX-License-Identifier: GPL-2.0
/* Work queues: fetch of entries, gather and scatter lists, copying. */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "qp/qp.h"
#include "qp/srq.h"

/*
 * What was copied from guest memory is read from the copy from here on, whatever the compiler
 * would like better.
 */
static inline void copied(void)
{
	__asm__ volatile("" ::: "memory");
}

/* First copy of a WQE: one cache line, or the shortest entry of the queue. */
#define SQ_WQE_FIRST 64
#define RQ_WQE_FIRST 32

/* The shortest copy of a send entry: header, extension and an element, of which a WQE may speak. */
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

int sq_init_entries(struct send_queue *sq)
{
	uint32_t num = 1U << sq->wq.ring.log_size;

	sq->entries = calloc(num, sizeof(*sq->entries));
	sq->mask = num - 1;
	return sq->entries ? 0 : -ENOMEM;
}

int wq_init_copies(struct qp *qp)
{
	size_t send = send_copy_size(qp);
	uint8_t *room = calloc(1, send + recv_copy_size(qp));

	if (!room)
		return -ENOMEM;
	qp->sq.wqe = (void *)room;
	qp->rq.wqe = (void *)(room + send);
	return 0;
}

void wq_fini_copies(struct qp *qp)
{
	free(qp->sq.wqe);
	qp->sq.wqe = NULL;
	qp->rq.wqe = NULL;
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

uint64_t wq_sgl_len(const struct ohca_sge *sge, uint32_t num_sge)
{
	uint64_t sum = 0;

	for (; num_sge; num_sge--, sge++)
		sum += le32toh(sge->length);
	return sum;
}

/**
 * struct span_iter - the parts of a span, one for each element that it touches
 * @addr, @len: the part in the element's region
 * @mkey: the region, NULL for the reserved key
 */
struct span_iter {
	struct qp *qp;
	const struct ohca_sge *sge;
	uint64_t skip, left;
	uint64_t addr, len;
	struct mkey *mkey;
	struct mkey_access who;
};

static void span_start(struct span_iter *it, struct qp *qp, const struct wq_span *span)
{
	it->qp = qp;
	it->sge = span->sge;
	it->skip = span->off;
	it->left = span->len;
	it->who.pdn = span->srq ? span->srq->pdn : qp->pdn;
	it->who.access = span->write ? OHCA_ACCESS_LOCAL_WRITE : 0;
	it->who.privileged = span->srq ? span->srq->privileged : qp->flags & OHCA_QP_F_PRIVILEGED;
}

/* The next part, checked: 0 or OHCA_VENDOR_ERR_*.  Only while @left is not 0. */
static int span_next(struct span_iter *it)
{
	uint64_t len = le32toh(it->sge->length);

	while (it->skip >= len) {
		it->skip -= len;
		it->sge++;
		len = le32toh(it->sge->length);
	}
	it->addr = le64toh(it->sge->addr) + it->skip;
	it->len = len - it->skip;
	if (it->len > it->left)
		it->len = it->left;
	it->left -= it->len;
	it->skip = 0;
	return mkey_check(it->qp->hca, le32toh(it->sge++->lkey), &it->who, it->addr, it->len,
			  &it->mkey);
}

/* A page of the present part is missing: what the list's element has from there on. */
static int span_missing(const struct span_iter *it, struct mkey_missing *missing)
{
	const struct ohca_sge *sge = it->sge - 1;
	uint64_t at = missing->pos - missing->mkey->odp->offset + missing->mkey->iova;

	missing->rest = le32toh(sge->length) - (at - le64toh(sge->addr));
	return MKEY_MISSING;
}

int wq_check_span(struct qp *qp, const struct wq_span *span)
{
	uint64_t len, look = WQ_CHECK_BYTES;
	struct span_iter it;
	int err = 0;

	span_start(&it, qp, span);
	while (it.left && !err) {
		err = span_next(&it);
		if (err || !it.mkey || it.mkey->type != OHCA_MKEY_ODP)
			continue;
		len = it.len < look ? it.len : look;
		look -= len;
		if (mkey_check_pages(it.mkey, it.addr, len, span->write, span->missing))
			err = span_missing(&it, span->missing);
	}
	return err;
}

int64_t wq_resolve_span(struct qp *qp, const struct wq_span *span, struct iovec *iov,
			unsigned int *num)
{
	struct span_iter it;
	int64_t sum = 0;
	int64_t got;
	int err;

	*num = 0;
	span_start(&it, qp, span);
	while (it.left && *num < WQ_MAX_IOV) {
		err = span_next(&it);
		if (err)
			return -err;
		got = mkey_resolve(qp->hca, it.mkey, it.addr, it.len, span->write, iov, num,
				   WQ_MAX_IOV, span->missing);
		if (got < 0)
			return got == -MKEY_MISSING ? -span_missing(&it, span->missing) : got;
		sum += got;
		if ((uint64_t)got < it.len)
			break;
	}
	return sum;
}
