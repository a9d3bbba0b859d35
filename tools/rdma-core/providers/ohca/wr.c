// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The extended interface of send queues: work requests are built in the ring itself, between
 * ibv_wr_start() and ibv_wr_complete(), which posts all of them at once.
 */

#include <errno.h>
#include <string.h>

#include "ohca.h"
#include "wq.h"

/*
 * Begin a work request; its part of the header is still zero.  @ignored: IBV_SEND_* without effect
 */
static inline struct ohca_sq_wqe *ohca_wr_begin(struct ibv_qp_ex *ex, uint8_t op,
						unsigned int ignored)
{
	struct ohca_qp *qp = to_oqp(&ex->qp_base);
	struct ohca_wq *sq = &qp->sq;
	struct ohca_sq_wqe *wqe;

	if (unlikely(qp->wr_err))
		return NULL;
	if (unlikely(ohca_wq_full(sq, qp->wr_pi))) {
		qp->wr_err = ENOMEM;
		return NULL;
	}
	if (unlikely(ex->wr_flags & ~sq->send_flags)) {
		qp->wr_err = EINVAL;
		return NULL;
	}
	wqe = ohca_wqe_at(sq, qp->wr_pi++);
	qp->wqe = wqe;
	wqe->opcode = op;
	wqe->flags = ohca_wqe_flags(ex->wr_flags & ~ignored) | sq->flags;
	wqe->num_sge = 0;
	wqe->imm_data = 0;
	wqe->wr_id = htole64(ex->wr_id);
	return wqe;
}

static inline void ohca_wr_plain(struct ibv_qp_ex *ex, uint8_t op, uint32_t rkey, uint64_t raddr,
				 uint64_t compare_add, uint64_t swap, __be32 imm_data)
{
	struct ohca_sq_wqe *wqe = ohca_wr_begin(ex, op, IBV_SEND_INLINE);

	if (unlikely(!wqe))
		return;
	ohca_write_rdma(wqe, raddr, rkey, compare_add, swap);
	wqe->imm_data = imm_data;
}

static inline void ohca_wr_inv(struct ibv_qp_ex *ex, uint8_t op, unsigned int ignored, uint32_t key)
{
	struct ohca_sq_wqe *wqe = ohca_wr_begin(ex, op, ignored);

	if (unlikely(!wqe))
		return;
	ohca_write_rdma(wqe, 0, 0, 0, 0);
	wqe->inv_key = htole32(key);
}

static void ohca_wr_send(struct ibv_qp_ex *ex)
{
	ohca_wr_plain(ex, OHCA_OP_SEND, 0, 0, 0, 0, 0);
}

static void ohca_wr_send_imm(struct ibv_qp_ex *ex, __be32 imm_data)
{
	ohca_wr_plain(ex, OHCA_OP_SEND_IMM, 0, 0, 0, 0, imm_data);
}

static void ohca_wr_send_inv(struct ibv_qp_ex *ex, uint32_t key)
{
	ohca_wr_inv(ex, OHCA_OP_SEND_INV, IBV_SEND_INLINE, key);
}

static void ohca_wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t raddr)
{
	ohca_wr_plain(ex, OHCA_OP_RDMA_WRITE, rkey, raddr, 0, 0, 0);
}

static void ohca_wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t raddr,
				   __be32 imm_data)
{
	ohca_wr_plain(ex, OHCA_OP_RDMA_WRITE_IMM, rkey, raddr, 0, 0, imm_data);
}

static void ohca_wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t raddr)
{
	ohca_wr_plain(ex, OHCA_OP_RDMA_READ, rkey, raddr, 0, 0, 0);
}

static void ohca_wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t raddr,
				   uint64_t compare, uint64_t swap)
{
	ohca_wr_plain(ex, OHCA_OP_CMP_SWAP, rkey, raddr, compare, swap, 0);
}

static void ohca_wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t raddr,
				     uint64_t add)
{
	ohca_wr_plain(ex, OHCA_OP_FETCH_ADD, rkey, raddr, add, 0, 0);
}

static void ohca_wr_atomic_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t raddr,
				 const void *data)
{
	struct ohca_sq_wqe *wqe = ohca_wr_begin(ex, OHCA_OP_ATOMIC_WRITE, IBV_SEND_INLINE);

	if (unlikely(!wqe))
		return;
	ohca_write_rdma(wqe, raddr, rkey, 0, 0);
	wqe->flags |= OHCA_WQE_INLINE;
	wqe->num_sge = htole16(8);
	memcpy(wqe->sge, data, 8);
}

#ifndef OHCA_NO_FLUSH
static void ohca_wr_flush(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t raddr, size_t len,
			  uint8_t type, uint8_t level)
{
	struct ohca_sq_wqe *wqe = ohca_wr_begin(ex, OHCA_OP_FLUSH, OHCA_SEND_DATA_FLAGS);

	static_assert((int)IBV_FLUSH_GLOBAL == OHCA_FLUSH_GLOBAL &&
			      (int)IBV_FLUSH_PERSISTENT == OHCA_FLUSH_PERSISTENT &&
			      (int)IBV_FLUSH_RANGE == OHCA_FLUSH_RANGE &&
			      (int)IBV_FLUSH_MR == OHCA_FLUSH_MR,
		      "flush");
	if (unlikely(!wqe))
		return;
	memset(wqe->rsvd, 0, sizeof(wqe->rsvd));
	wqe->flush.raddr = htole64(raddr);
	wqe->flush.length = htole64(len);
	wqe->flush.rkey = htole32(rkey);
	wqe->flush.placement = type;
	wqe->flush.level = level;
}
#endif

static void ohca_wr_local_inv(struct ibv_qp_ex *ex, uint32_t key)
{
	ohca_wr_inv(ex, OHCA_OP_LOCAL_INV, OHCA_SEND_DATA_FLAGS, key);
}

/* The window will have another key, unless nothing is posted.  Returns 0 or EBUSY. */
static int ohca_wr_list_mw(struct ohca_qp *qp, struct ohca_mw *mw)
{
	struct ohca_qp *section = NULL;

	if (!atomic_compare_exchange_strong_explicit(&mw->section, &section, qp,
						     memory_order_acquire, memory_order_relaxed))
		return section == qp ? 0 : EBUSY;
	mw->old_rkey = mw->mw.rkey;
	mw->next = qp->wr_mws;
	qp->wr_mws = mw;
	return 0;
}

/* End the section.  @posted: the windows keep their new keys */
static inline void ohca_wr_end(struct ohca_qp *qp, bool posted)
{
	struct ohca_mw *mw;

	while (unlikely(qp->wr_mws)) {
		mw = qp->wr_mws;
		qp->wr_mws = mw->next;
		if (!posted)
			mw->mw.rkey = mw->old_rkey;
		atomic_store_explicit(&mw->section, NULL, memory_order_release);
	}
	ohca_unlock(&qp->sq.lock);
}

static void ohca_wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey,
			    const struct ibv_mw_bind_info *info)
{
	struct ohca_sq_wqe *wqe = ohca_wr_begin(ex, OHCA_OP_BIND_MW, OHCA_SEND_DATA_FLAGS);
	struct ohca_qp *qp = to_oqp(&ex->qp_base);

	if (unlikely(!wqe))
		return;
	ohca_write_rdma(wqe, 0, 0, 0, 0);
	qp->wr_err = ohca_wr_list_mw(qp, to_omw(mw));
	if (likely(!qp->wr_err))
		qp->wr_err = ohca_write_bind(wqe, mw, rkey, info);
}

static void ohca_wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t qpn,
				uint32_t qkey)
{
	struct ohca_qp *qp = to_oqp(&ex->qp_base);

	if (likely(!qp->wr_err))
		ohca_write_ud(qp->wqe, ah, qpn, qkey);
}

static void ohca_wr_set_xrc_srqn(struct ibv_qp_ex *ex, uint32_t srqn)
{
	struct ohca_qp *qp = to_oqp(&ex->qp_base);

	if (likely(!qp->wr_err))
		qp->wqe->rdma.srqn = htole32(srqn);
}

static void ohca_wr_set_sge_list(struct ibv_qp_ex *ex, size_t num, const struct ibv_sge *list)
{
	struct ohca_qp *qp = to_oqp(&ex->qp_base);

	if (unlikely(qp->wr_err))
		return;
	if (unlikely(num > qp->sq.max_sge)) {
		qp->wr_err = EINVAL;
		return;
	}
	qp->wqe->num_sge = htole16(num);
	ohca_write_sges(ohca_wqe_list(&qp->sq, qp->wqe), list, num);
}

static void ohca_wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};

	ohca_wr_set_sge_list(ex, 1, &sge);
}

static void ohca_wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t num,
					 const struct ibv_data_buf *list)
{
	struct ohca_qp *qp = to_oqp(&ex->qp_base);
	size_t total = 0, i;
	uint8_t *dst;

	if (unlikely(qp->wr_err))
		return;
	dst = ohca_wqe_list(&qp->sq, qp->wqe);
	for (i = 0; i < num; i++) {
		if (unlikely(list[i].length > qp->sq.max_inline - total)) {
			qp->wr_err = EINVAL;
			return;
		}
		if (list[i].length)
			memcpy(dst + total, list[i].addr, list[i].length);
		total += list[i].length;
	}
	qp->wqe->flags |= OHCA_WQE_INLINE;
	qp->wqe->num_sge = htole16(total);
}

static void ohca_wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct ibv_data_buf buf = {.addr = addr, .length = length};

	ohca_wr_set_inline_data_list(ex, 1, &buf);
}

static void ohca_wr_start(struct ibv_qp_ex *ex)
{
	struct ohca_qp *qp = to_oqp(&ex->qp_base);

	ohca_lock_across(&qp->sq.lock);
	qp->wr_pi = qp->sq.pi;
	qp->wr_err = qp->sq.ready ? 0 : EINVAL;
}

static int ohca_wr_complete(struct ibv_qp_ex *ex)
{
	struct ohca_qp *qp = to_oqp(&ex->qp_base);
	int ret = qp->wr_err;

	if (likely(!ret && qp->wr_pi != qp->sq.pi)) {
		qp->sq.pi = qp->wr_pi;
		ohca_ring_sq(to_octx(ex->qp_base.context), qp);
	}
	ohca_wr_end(qp, !ret);
	return ohca_errno(ret);
}

static void ohca_wr_abort(struct ibv_qp_ex *ex)
{
	ohca_wr_end(to_oqp(&ex->qp_base), false);
}

uint64_t ohca_send_ops_flags(uint32_t ops)
{
	static_assert((int)IBV_QP_EX_WITH_SEND == 1 << IBV_WR_SEND &&
			      (int)IBV_QP_EX_WITH_SEND_WITH_INV == 1 << IBV_WR_SEND_WITH_INV &&
			      (int)IBV_QP_EX_WITH_ATOMIC_WRITE == 1 << IBV_WR_ATOMIC_WRITE >> 3,
		      "operations");
#ifndef OHCA_NO_FLUSH
	static_assert((int)IBV_QP_EX_WITH_FLUSH == 1 << IBV_WR_FLUSH >> 3, "operations");
#endif
	return (ops & 0x7ff) | (ops & (OHCA_OPS_FLUSH | 1U << IBV_WR_ATOMIC_WRITE)) >> 3;
}

void ohca_qp_fill_ops(struct ohca_qp *qp, uint64_t flags)
{
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	qp->vqp.comp_mask |= VERBS_QP_EX;
	ex->wr_start = ohca_wr_start;
	ex->wr_complete = ohca_wr_complete;
	ex->wr_abort = ohca_wr_abort;
	ex->wr_set_sge = ohca_wr_set_sge;
	ex->wr_set_sge_list = ohca_wr_set_sge_list;
	ex->wr_set_inline_data = ohca_wr_set_inline_data;
	ex->wr_set_inline_data_list = ohca_wr_set_inline_data_list;
	if (qp->sq.kind == OHCA_SQ_UD)
		ex->wr_set_ud_addr = ohca_wr_set_ud_addr;
	if (qp->sq.kind == OHCA_SQ_XRC)
		ex->wr_set_xrc_srqn = ohca_wr_set_xrc_srqn;

	if (flags & IBV_QP_EX_WITH_SEND)
		ex->wr_send = ohca_wr_send;
	if (flags & IBV_QP_EX_WITH_SEND_WITH_IMM)
		ex->wr_send_imm = ohca_wr_send_imm;
	if (flags & IBV_QP_EX_WITH_SEND_WITH_INV)
		ex->wr_send_inv = ohca_wr_send_inv;
	if (flags & IBV_QP_EX_WITH_RDMA_WRITE)
		ex->wr_rdma_write = ohca_wr_rdma_write;
	if (flags & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		ex->wr_rdma_write_imm = ohca_wr_rdma_write_imm;
	if (flags & IBV_QP_EX_WITH_RDMA_READ)
		ex->wr_rdma_read = ohca_wr_rdma_read;
	if (flags & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		ex->wr_atomic_cmp_swp = ohca_wr_atomic_cmp_swp;
	if (flags & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		ex->wr_atomic_fetch_add = ohca_wr_atomic_fetch_add;
	if (flags & IBV_QP_EX_WITH_ATOMIC_WRITE)
		ex->wr_atomic_write = ohca_wr_atomic_write;
#ifndef OHCA_NO_FLUSH
	if (flags & IBV_QP_EX_WITH_FLUSH)
		ex->wr_flush = ohca_wr_flush;
#endif
	if (flags & IBV_QP_EX_WITH_LOCAL_INV)
		ex->wr_local_inv = ohca_wr_local_inv;
	if (flags & IBV_QP_EX_WITH_BIND_MW)
		ex->wr_bind_mw = ohca_wr_bind_mw;
}
