/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work queues: producer index, fetch of entries.
 *
 * Entries are guest memory that may change at any time: each is copied once, and only the copy is
 * used.
 */

#ifndef OHCAD_WQ_H
#define OHCAD_WQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/iov.h"
#include "mem/sge.h"
#include "packet/pkt.h"
#include "device/ring.h"

struct cq;
struct qp;
struct srq;

/**
 * struct wq - a send or receive queue
 * @ring: entries
 * @rec: the record
 * @cq: CQ of its completions, or NULL
 * @pi: producer index when the record was read last
 * @next: next entry to send or use
 * @done: entries completed (CQE written or not needed)
 * @broken: the record is not accessible or jumped: it is not read any more
 * @taken: @wqe was taken from @srq, and has not completed
 */
struct wq {
	struct ring ring;
	struct ring_rec rec;
	struct cq *cq;
	uint32_t pi, next, done;
	uint8_t max_sge;
	bool broken : 1;
	bool taken : 1;
	uint16_t max_inline;
};

/* Some QPs have no send queue or no receive queue (of their own). */
static inline bool wq_exists(const struct wq *wq)
{
	return wq->ring.chunks;
}

/*
 * Read the producer index.  False: the queue is broken (the caller stops the QP with qp_fatal()).
 */
static inline bool wq_update(struct wq *wq)
{
	const struct ohca_wq_rec *rec = rec_ptr(&wq->rec, &wq->ring);
	uint32_t pi;

	if (wq->broken || !rec)
		goto broken;
	pi = le32toh(__atomic_load_n(&rec->pi, __ATOMIC_ACQUIRE));
	if (pi - wq->done > 1U << wq->ring.log_size || pi - wq->done < wq->pi - wq->done)
		goto broken;
	wq->pi = pi;
	return true;
broken:
	wq->broken = true;
	return false;
}

/*
 * How many entries are posted, at least: with few that are known, the record is looked at, but nothing comes of it if
 * that is wrong.
 */
static inline uint32_t wq_posted(struct wq *wq, uint32_t few)
{
	const struct ohca_wq_rec *rec;
	uint32_t pi;

	if (wq->pi - wq->done >= few || wq->broken)
		return wq->pi - wq->done;
	rec = rec_ptr(&wq->rec, &wq->ring);
	pi = rec ? le32toh(__atomic_load_n(&rec->pi, __ATOMIC_ACQUIRE)) : wq->pi;
	return pi - wq->done <= 1U << wq->ring.log_size ? pi - wq->done : 0;
}

/*
 * Allocate what a QP has for its work requests: room for a copy of one of each queue, and of a requester the entries of its
 * send queue.  Returns 0 or -ENOMEM.
 */
int wq_init_room(struct qp *qp);
void wq_fini_room(struct qp *qp);

/*
 * Copy the used part of entry @idx: of the send queue to qp->sq.wqe (unless it is there), of a
 * receive queue @wq to qp->rq.wqe.  Elements beyond the queue's maximum are not copied.  Returns
 * false if there is no memory.
 */
bool wq_load_send(struct qp *qp, uint32_t idx);
bool wq_load_recv(struct qp *qp, struct wq *wq, uint32_t idx);

/* Room of the header of OHCA_OP_LSO, which stands behind the extension. */
static inline uint32_t sq_wqe_lso(const struct ohca_sq_wqe *wqe)
{
	if (wqe->opcode != OHCA_OP_LSO)
		return 0;
	return (le16toh(wqe->ud.hdr_len) + OHCA_LSO_ALIGN - 1) & ~(OHCA_LSO_ALIGN - 1U);
}

/* Is that not too long, and are its data no inline data? */
static inline bool sq_wqe_lso_fits(const struct ohca_sq_wqe *wqe)
{
	return wqe->opcode != OHCA_OP_LSO ||
	       (le16toh(wqe->ud.hdr_len) <= OHCA_LSO_MAX_HDR && !(wqe->flags & OHCA_WQE_INLINE));
}

/* Bytes of a send entry before its list or inline data. */
static inline uint32_t sq_wqe_hdr(const struct ohca_sq_wqe *wqe)
{
	if (!(wqe->flags & OHCA_WQE_EXT))
		return OHCA_SQ_WQE_HDR;
	return OHCA_SQ_WQE_HDR + OHCA_SQ_WQE_EXT + sq_wqe_lso(wqe);
}

/* Its extension, if it has one. */
static inline const struct ohca_wqe_ext *sq_wqe_ext(const struct ohca_sq_wqe *wqe)
{
	return (const void *)((const uint8_t *)wqe + OHCA_SQ_WQE_HDR);
}

/* Its header of OHCA_OP_LSO. */
static inline const uint8_t *sq_wqe_lso_hdr(const struct ohca_sq_wqe *wqe)
{
	return (const uint8_t *)(sq_wqe_ext(wqe) + 1);
}

/* Its inline data. */
static inline const uint8_t *sq_wqe_data(const struct ohca_sq_wqe *wqe)
{
	return (const uint8_t *)wqe + sq_wqe_hdr(wqe);
}

/* Its list. */
static inline const struct ohca_sge *sq_wqe_sgl(const struct ohca_sq_wqe *wqe)
{
	return (const void *)sq_wqe_data(wqe);
}

/*
 * Whether the current send entry has no more elements or inline bytes than the queue's maximum, and
 * than its stride has room for.  The excess was not copied.
 */
static inline bool sq_wqe_fits(const struct wq *sq, const struct ohca_sq_wqe *wqe)
{
	uint32_t num = le16toh(wqe->num_sge);
	bool inl = wqe->flags & OHCA_WQE_INLINE;

	return num <= (inl ? sq->max_inline : sq->max_sge) && sq_wqe_lso_fits(wqe) &&
	       sq_wqe_hdr(wqe) + num * (inl ? 1 : sizeof(struct ohca_sge)) <=
		       1U << sq->ring.log_stride;
}

#endif
