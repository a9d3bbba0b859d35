// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Work requests: from the application's lists into the rings of a queue pair.
 */

#include <errno.h>
#include <string.h>

#include <util/compiler.h>
#include <util/mmio.h>
#include <util/udma_barrier.h>

#include "doorbell.h"
#include "ohca.h"

#define OHCA_SEND_FLAGS (IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE)

#define OP_RDMA 0x40 /* has a remote address */
#define OP_IMM 0x80 /* has immediate data */
#define OP_MASK 0x3f /* enum ohca_wqe_op */

static const uint8_t ohca_send_op[] = {
	[IBV_WR_RDMA_WRITE] = OHCA_OP_RDMA_WRITE | OP_RDMA,
	[IBV_WR_RDMA_WRITE_WITH_IMM] = OHCA_OP_RDMA_WRITE_IMM | OP_RDMA | OP_IMM,
	[IBV_WR_SEND] = OHCA_OP_SEND,
	[IBV_WR_SEND_WITH_IMM] = OHCA_OP_SEND_IMM | OP_IMM,
	[IBV_WR_RDMA_READ] = OHCA_OP_RDMA_READ | OP_RDMA,
};

/* Whether there is no room for entry @pi. */
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

static inline void ohca_write_sges(struct ohca_sge *dst, const struct ibv_sge *src, int num)
{
	int i;

	for (i = 0; i < num; i++) {
		dst[i].addr = htole64(src[i].addr);
		dst[i].length = htole32(src[i].length);
		dst[i].lkey = htole32(src[i].lkey);
	}
}

/* Gather inline data into the entry.  Return: its bytes, or -1 if they are too many. */
static int ohca_write_inline(struct ohca_wq *sq, uint8_t *dst, const struct ibv_sge *src, int num)
{
	uint32_t total = 0;
	int i;

	for (i = 0; i < num; i++) {
		if (src[i].length > sq->max_inline - total)
			return -1;
		memcpy(dst + total, (void *)(uintptr_t)src[i].addr, src[i].length);
		total += src[i].length;
	}
	return total;
}

static inline int ohca_write_send(struct ohca_wq *sq, uint32_t pi, const struct ibv_send_wr *wr)
{
	struct ohca_sq_wqe *wqe = ohca_wqe_at(sq, pi);
	unsigned int flags = wr->send_flags;
	int num = wr->num_sge;
	uint8_t op;

	if (unlikely(wr->opcode >= sizeof(ohca_send_op) || flags & ~OHCA_SEND_FLAGS ||
		     (unsigned int)num > sq->max_sge))
		return EINVAL;
	op = ohca_send_op[wr->opcode];

	if (flags & IBV_SEND_INLINE) {
		if (unlikely(wr->opcode == IBV_WR_RDMA_READ))
			return EINVAL;
		num = ohca_write_inline(sq, (uint8_t *)wqe->sge, wr->sg_list, num);
		if (unlikely(num < 0))
			return EINVAL;
	} else {
		ohca_write_sges(wqe->sge, wr->sg_list, num);
	}

	static_assert(IBV_SEND_SIGNALED == OHCA_WQE_SIGNALED << 1 &&
			      IBV_SEND_SOLICITED == OHCA_WQE_SOLICITED << 1 &&
			      IBV_SEND_FENCE << 2 == OHCA_WQE_FENCE &&
			      IBV_SEND_INLINE == OHCA_WQE_INLINE,
		      "flags");
	wqe->opcode = op & OP_MASK;
	wqe->flags = (flags & (IBV_SEND_SIGNALED | IBV_SEND_SOLICITED)) >> 1 |
		     (flags & IBV_SEND_FENCE) << 2 | (flags & IBV_SEND_INLINE) | sq->sig_all;
	wqe->num_sge = htole16(num);
	wqe->imm_data = op & OP_IMM ? wr->imm_data : 0;
	wqe->wr_id = htole64(wr->wr_id);
	/* The rest of the header, never written, is zero since the ring was made. */
	wqe->rdma.raddr = op & OP_RDMA ? htole64(wr->wr.rdma.remote_addr) : 0;
	wqe->rdma.rkey = op & OP_RDMA ? htole32(wr->wr.rdma.rkey) : 0;
	return 0;
}

/* Publish the send queue's producer index. */
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

int ohca_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct ohca_qp *qp = to_oqp(ibqp);
	struct ohca_wq *sq = &qp->sq;
	uint32_t pi;
	int ret = 0;

	ohca_lock(&sq->lock);
	pi = sq->pi;
	if (unlikely(!sq->ready))
		ret = EINVAL;
	while (!ret && wr) {
		if (unlikely(ohca_wq_full(sq, pi)))
			ret = ENOMEM;
		else
			ret = ohca_write_send(sq, pi, wr);
		if (unlikely(ret))
			break;
		pi++;
		wr = wr->next;
	}
	if (likely(pi != sq->pi)) {
		sq->pi = pi;
		ohca_ring_sq(to_octx(ibqp->context), qp);
	}
	ohca_unlock(&sq->lock);
	if (unlikely(ret))
		*bad_wr = wr;
	return ret;
}

static inline int ohca_write_recv(struct ohca_wq *rq, uint32_t pi, const struct ibv_recv_wr *wr)
{
	struct ohca_rq_wqe *wqe = ohca_wqe_at(rq, pi);

	if (unlikely((unsigned int)wr->num_sge > rq->max_sge))
		return EINVAL;
	wqe->wr_id = htole64(wr->wr_id);
	wqe->num_sge = htole32(wr->num_sge);
	ohca_write_sges(wqe->sge, wr->sg_list, wr->num_sge);
	return 0;
}

int ohca_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct ohca_wq *rq = &to_oqp(ibqp)->rq;
	uint32_t pi;
	int ret = 0;

	ohca_lock(&rq->lock);
	pi = rq->pi;
	if (unlikely(!rq->ready))
		ret = EINVAL;
	while (!ret && wr) {
		if (unlikely(ohca_wq_full(rq, pi)))
			ret = ENOMEM;
		else
			ret = ohca_write_recv(rq, pi, wr);
		if (unlikely(ret))
			break;
		pi++;
		wr = wr->next;
	}
	if (likely(pi != rq->pi)) {
		rq->pi = pi;
		udma_to_device_barrier();
		ohca_rec_store(&rq->rec->pi, pi);
	}
	ohca_unlock(&rq->lock);
	if (unlikely(ret))
		*bad_wr = wr;
	return ret;
}
