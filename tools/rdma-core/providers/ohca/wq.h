/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Work queues: room, entries and their parts, and the doorbell of a send queue.
 */

#ifndef OHCA_WQ_H
#define OHCA_WQ_H

#include <string.h>

#include <util/compiler.h>
#include <util/mmio.h>
#include <util/udma_barrier.h>

#include "doorbell.h"
#include "ohca.h"

#define OHCA_SEND_FLAGS (IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE)
/* flags about data, which are ignored for operations without data */
#define OHCA_SEND_DATA_FLAGS (IBV_SEND_SOLICITED | IBV_SEND_INLINE)

/**
 * ohca_wq_init - initialize a work queue
 * @wq: zeroed
 * @ring: its entries
 * @rec: its record
 * @log_size: log2 of their number
 * @log_stride: log2 of their bytes
 * @unlocked: the application serializes access
 */
void ohca_wq_init(struct ohca_wq *wq, void *ring, struct ohca_wq_rec *rec, uint8_t log_size,
		  uint8_t log_stride, bool unlocked);

/**
 * ohca_wq_reset - drop all work requests, as the device did when the QP went to RESET
 */
void ohca_wq_reset(struct ohca_wq *wq);

/**
 * ohca_wq_set_ready - allow or forbid posting; does nothing if the queue does not exist
 */
void ohca_wq_set_ready(struct ohca_wq *wq, bool ready);

/**
 * ohca_wq_full - whether entry @pi is in use
 * @wq: the queue, locked
 */
static inline bool ohca_wq_full(struct ohca_wq *wq, uint32_t pi)
{
	if (likely(!ohca_ring_full(pi, wq->seen, wq->mask)))
		return false;
	wq->seen = atomic_load_explicit(&wq->tail, memory_order_acquire);
	return ohca_ring_full(pi, wq->seen, wq->mask);
}

static inline void *ohca_wqe_at(const struct ohca_wq *wq, uint32_t pi)
{
	return wq->ring + ((size_t)(pi & wq->mask) << wq->log_stride);
}

/**
 * ohca_wqe_list - start of the gather list or the inline data of a send queue's entry
 */
static inline void *ohca_wqe_list(const struct ohca_wq *sq, struct ohca_sq_wqe *wqe)
{
	return (uint8_t *)wqe->sge + (sq->kind == OHCA_SQ_UD ? OHCA_SQ_WQE_EXT : 0);
}

/**
 * ohca_wqe_flags - OHCA_WQE_* for the IBV_SEND_* that work requests have, OHCA_SEND_FLAGS and
 *	IBV_SEND_IP_CSUM
 */
static inline uint8_t ohca_wqe_flags(unsigned int flags)
{
	static_assert(IBV_SEND_SIGNALED == OHCA_WQE_SIGNALED << 1 &&
			      IBV_SEND_SOLICITED == OHCA_WQE_SOLICITED << 1 &&
			      IBV_SEND_FENCE << 2 == OHCA_WQE_FENCE &&
			      IBV_SEND_INLINE == OHCA_WQE_INLINE &&
			      IBV_SEND_IP_CSUM == OHCA_WQE_CSUM,
		      "flags");
	return (flags & (IBV_SEND_SIGNALED | IBV_SEND_SOLICITED)) >> 1 |
	       (flags & IBV_SEND_FENCE) << 2 | (flags & (IBV_SEND_INLINE | IBV_SEND_IP_CSUM));
}

static inline void ohca_write_sges(struct ohca_sge *dst, const struct ibv_sge *src, size_t num)
{
	size_t i;

	for (i = 0; i < num; i++) {
		dst[i].addr = htole64(src[i].addr);
		dst[i].length = htole32(src[i].length);
		dst[i].lkey = htole32(src[i].lkey);
	}
}

/**
 * ohca_write_rdma - write the part of an entry's header that depends on the operation
 * @wqe: the entry
 * @raddr: remote address
 * @rkey: remote key
 * @compare_add: operand of an atomic operation
 * @swap: operand of an atomic operation
 */
static inline void ohca_write_rdma(struct ohca_sq_wqe *wqe, uint64_t raddr, uint32_t rkey,
				   uint64_t compare_add, uint64_t swap)
{
	wqe->rdma.raddr = htole64(raddr);
	wqe->rdma.rkey = htole32(rkey);
	wqe->rdma.srqn = 0;
	wqe->rdma.compare_add = htole64(compare_add);
	wqe->rdma.swap = htole64(swap);
}

/**
 * ohca_write_ud - write the destination of a datagram; that part of the header is still zero
 */
static inline void ohca_write_ud(struct ohca_sq_wqe *wqe, struct ibv_ah *ah, uint32_t qpn,
				 uint32_t qkey)
{
	struct ohca_wqe_ext *ext = (struct ohca_wqe_ext *)wqe->sge;

	wqe->ud.dest_qpn = htole32(qpn);
	wqe->ud.qkey = htole32(qkey);
	ext->av = to_oah(ah)->av;
}

/**
 * ohca_write_bind - write an entry that binds a window; that part of the header is still zero
 * @wqe: the entry
 * @mw: the window; its key is the new one then
 * @new_rkey: the low 8 bits of its new key; the others stay
 * @info: what to bind it to
 *
 * Return: 0, or EINVAL for rights that a window can't have.  The right to local writes is ignored.
 */
static inline int ohca_write_bind(struct ohca_sq_wqe *wqe, struct ibv_mw *mw, uint32_t new_rkey,
				  const struct ibv_mw_bind_info *info)
{
	static_assert((int)IBV_ACCESS_REMOTE_WRITE == OHCA_ACCESS_REMOTE_WRITE &&
			      (int)IBV_ACCESS_REMOTE_READ == OHCA_ACCESS_REMOTE_READ &&
			      (int)IBV_ACCESS_REMOTE_ATOMIC == OHCA_ACCESS_REMOTE_ATOMIC &&
			      (int)IBV_ACCESS_ZERO_BASED == OHCA_ACCESS_ZERO_BASED,
		      "access");
	if (info->mw_access_flags &
	    ~(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
	      IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED))
		return EINVAL;
	wqe->bind.addr = htole64(info->addr);
	wqe->bind.length = htole64(info->length);
	wqe->bind.lkey = htole32(info->mr ? info->mr->lkey : 0);
	wqe->bind.rkey = htole32(mw->rkey);
	mw->rkey = (mw->rkey & ~0xffU) | (new_rkey & 0xff);
	wqe->bind.new_rkey = htole32(mw->rkey);
	wqe->bind.access = info->mw_access_flags & ~IBV_ACCESS_LOCAL_WRITE;
	return 0;
}

/**
 * ohca_ring_sq - publish the send queue's producer index
 * @ctx: the context
 * @qp: the QP, its send queue locked
 */
static inline void ohca_ring_sq(struct ohca_context *ctx, struct ohca_qp *qp)
{
	struct ohca_wq *sq = &qp->sq;

	udma_to_device_barrier();
	if (likely(ctx->shadow)) {
		if (unlikely(ohca_shadow_ring(ctx->shadow, qp->slot, sq->rec, sq->pi)))
			mmio_write32_le(ctx->uar + OHCA_UAR_WAKE, htole32(1));
		return;
	}
	ohca_rec_store(&sq->rec->pi, sq->pi);
	udma_to_device_barrier();
	mmio_write64_le(ctx->uar + OHCA_UAR_SQ_DB, htole64(ohca_sq_db(qp->qpn, sq->pi)));
}

#endif /* OHCA_WQ_H */
