// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: work requests of kernel QPs.
 */

#include <linux/log2.h>

#include "ah.h"
#include "doorbell.h"
#include "mr.h"
#include "ohca.h"
#include "ohca_compat.h"
#include "qp.h"
#include "srq.h"
#include "wq.h"
#include "wr.h"

static void ohca_sge_fill(struct ohca_sge *dst, const struct ib_sge *src, int num)
{
	int i;

	for (i = 0; i < num; i++)
		dst[i] = (struct ohca_sge){
			.addr = cpu_to_le64(src[i].addr),
			.length = cpu_to_le32(src[i].length),
			.lkey = cpu_to_le32(src[i].lkey),
		};
}

/**
 * struct ohca_wr_op - how to post one kind of work request
 * @cap: OHCA_CAP_* that it needs
 * @op: enum ohca_wqe_op, 0 if the operation is not supported
 * @max_sge: maximum elements of its gather list; the queue's limit applies as well
 * @inl: its data may be inline
 */
struct ohca_wr_op {
	u64 cap;
	u8 op;
	u8 max_sge;
	bool inl;
};

/* clang-format off */
static const struct ohca_wr_op ohca_wr_ops[] = {
	[IB_WR_SEND] = {0, OHCA_OP_SEND, OHCA_MAX_SGE, true},
	[IB_WR_SEND_WITH_IMM] = {0, OHCA_OP_SEND_IMM, OHCA_MAX_SGE, true},
	[IB_WR_SEND_WITH_INV] = {OHCA_CAP_MEM_MGT, OHCA_OP_SEND_INV, OHCA_MAX_SGE, true},
	[IB_WR_RDMA_WRITE] = {0, OHCA_OP_RDMA_WRITE, OHCA_MAX_SGE, true},
	[IB_WR_RDMA_WRITE_WITH_IMM] = {0, OHCA_OP_RDMA_WRITE_IMM, OHCA_MAX_SGE, true},
	[IB_WR_RDMA_READ] = {0, OHCA_OP_RDMA_READ, OHCA_MAX_SGE, false},
	[IB_WR_ATOMIC_CMP_AND_SWP] = {OHCA_CAP_ATOMIC, OHCA_OP_CMP_SWAP, 1, false},
	[IB_WR_ATOMIC_FETCH_AND_ADD] = {OHCA_CAP_ATOMIC, OHCA_OP_FETCH_ADD, 1, false},
	[IB_WR_MASKED_ATOMIC_CMP_AND_SWP] = {OHCA_CAP_ATOMIC, OHCA_OP_MASKED_CMP_SWAP, 1, false},
	[IB_WR_MASKED_ATOMIC_FETCH_AND_ADD] = {OHCA_CAP_ATOMIC, OHCA_OP_MASKED_FETCH_ADD, 1, false},
#if OHCA_COMPAT_ATOMIC_WRITE
	[IB_WR_ATOMIC_WRITE] = {OHCA_CAP_ATOMIC_WRITE, OHCA_OP_ATOMIC_WRITE, 1, true},
#endif
	[IB_WR_LSO] = {OHCA_CAP_UD_LSO, OHCA_OP_LSO, OHCA_MAX_SGE, false},
	[IB_WR_LOCAL_INV] = {OHCA_CAP_MEM_MGT, OHCA_OP_LOCAL_INV, 0, false},
	[IB_WR_REG_MR] = {OHCA_CAP_MEM_MGT, OHCA_OP_REG_MR, 0, false},
};

/* clang-format on */

static const struct ohca_wr_op *ohca_wr_op(struct ohca_dev *dev, const struct ib_send_wr *wr)
{
	const struct ohca_wr_op *op = &ohca_wr_ops[wr->opcode];

	if ((u32)wr->opcode >= ARRAY_SIZE(ohca_wr_ops) || !op->op || op->cap & ~dev->attr.caps)
		return NULL;
	return op;
}

/* Add an extension to the entry, zeroed; before the list. */
static struct ohca_wqe_ext *ohca_wqe_ext(struct ohca_sq_wqe *wqe)
{
	wqe->flags |= OHCA_WQE_EXT;
	return memset(wqe->sge, 0, OHCA_SQ_WQE_EXT);
}

/* Where the gather list or inline data begin */
static void *ohca_wqe_list(struct ohca_sq_wqe *wqe)
{
	void *list = wqe->sge;

	if (wqe->flags & OHCA_WQE_EXT)
		list += OHCA_SQ_WQE_EXT;
	if (wqe->opcode == OHCA_OP_LSO)
		list += ALIGN(le16_to_cpu(wqe->ud.hdr_len), OHCA_LSO_ALIGN);
	return list;
}

/* Inline data: the addresses of the elements are kernel addresses, and keys are ignored. */
static int ohca_inline_fill(struct ohca_qp *qp, struct ohca_sq_wqe *wqe,
			    const struct ib_send_wr *wr)
{
	u8 *dst = ohca_wqe_list(wqe);
	u32 room = qp->cap.max_inline_data;
	const struct ib_sge *sge;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		sge = &wr->sg_list[i];
		if (sge->length > room)
			return -EINVAL;

		memcpy(dst, (void *)(uintptr_t)sge->addr, sge->length);
		dst += sge->length;
		room -= sge->length;
	}
	wqe->num_sge = cpu_to_le16(qp->cap.max_inline_data - room);
	return 0;
}

static void ohca_wqe_set_remote(struct ohca_sq_wqe *wqe, u64 addr, u32 rkey)
{
	wqe->rdma.raddr = cpu_to_le64(addr);
	wqe->rdma.rkey = cpu_to_le32(rkey);
}

static void ohca_wqe_set_atomic(struct ohca_sq_wqe *wqe, const struct ib_atomic_wr *wr)
{
	ohca_wqe_set_remote(wqe, wr->remote_addr, wr->rkey);
	wqe->rdma.compare_add = cpu_to_le64(wr->compare_add);
	wqe->rdma.swap = cpu_to_le64(wr->swap);
}

static void ohca_wqe_set_masks(struct ohca_sq_wqe *wqe, const struct ib_atomic_wr *wr)
{
	struct ohca_wqe_ext *ext = ohca_wqe_ext(wqe);

	ext->mask.compare = cpu_to_le64(wr->compare_add_mask);
	ext->mask.swap = cpu_to_le64(wr->swap_mask);
}

static int ohca_wqe_set_reg(struct ohca_sq_wqe *wqe, const struct ib_reg_wr *wr)
{
	struct ohca_mr *mr = to_omr(wr->mr);

	if (!mr->list.npages)
		return -EINVAL;

	wqe->reg.iova = cpu_to_le64(wr->mr->iova);
	wqe->reg.length = cpu_to_le64(wr->mr->length);
	wqe->reg.key = cpu_to_le32(wr->key);
	wqe->reg.access = ohca_access(wr->access);
	ohca_xlt_list_wire(&mr->list, ilog2(wr->mr->page_size),
			   wr->mr->iova & (wr->mr->page_size - 1), &ohca_wqe_ext(wqe)->xlt);
	return 0;
}

/* Set the fields of an operation, except for the list. */
static int ohca_wqe_set_op(struct ohca_sq_wqe *wqe, const struct ib_send_wr *wr)
{
	switch (wr->opcode) {
	case IB_WR_SEND_WITH_IMM:
		wqe->imm_data = wr->ex.imm_data;
		return 0;
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
		wqe->inv_key = cpu_to_le32(wr->ex.invalidate_rkey);
		return 0;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		wqe->imm_data = wr->ex.imm_data;
		fallthrough;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_READ:
#if OHCA_COMPAT_ATOMIC_WRITE
	case IB_WR_ATOMIC_WRITE:
#endif
		ohca_wqe_set_remote(wqe, rdma_wr(wr)->remote_addr, rdma_wr(wr)->rkey);
		return 0;
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		ohca_wqe_set_masks(wqe, atomic_wr(wr));
		fallthrough;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		ohca_wqe_set_atomic(wqe, atomic_wr(wr));
		return 0;
	case IB_WR_REG_MR:
		return ohca_wqe_set_reg(wqe, reg_wr(wr));
	default:
		return 0;
	}
}

/* What is cut into datagrams: the headers are in the entry itself, behind the extension. */
static int ohca_wqe_set_lso(struct ohca_qp *qp, struct ohca_sq_wqe *wqe, const struct ib_ud_wr *wr)
{
	if (!(qp->create_flags & IB_QP_CREATE_IPOIB_UD_LSO) || wr->hlen < 0 ||
	    wr->hlen > OHCA_LSO_MAX_HDR || wr->mss < OHCA_LSO_MIN_MSS || wr->mss > U16_MAX)
		return -EINVAL;

	wqe->ud.mss = cpu_to_le16(wr->mss);
	wqe->ud.hdr_len = cpu_to_le16(wr->hlen);
	memcpy(ohca_wqe_ext(wqe) + 1, wr->header, wr->hlen);
	return 0;
}

/* A datagram, or several */
static int ohca_wqe_set_ud(struct ohca_qp *qp, struct ohca_sq_wqe *wqe, const struct ib_ud_wr *wr)
{
	int err;

	switch (wr->wr.opcode) {
	case IB_WR_SEND:
		break;
	case IB_WR_SEND_WITH_IMM:
		wqe->imm_data = wr->wr.ex.imm_data;
		break;
	case IB_WR_LSO:
		err = ohca_wqe_set_lso(qp, wqe, wr);
		if (err)
			return err;
		break;
	default:
		return -EINVAL;
	}

	wqe->ud.dest_qpn = cpu_to_le32(wr->remote_qpn);
	wqe->ud.qkey = cpu_to_le32(wr->remote_qkey);
	wqe->ud.pkey_index = cpu_to_le16(wr->pkey_index);
	ohca_wqe_ext(wqe)->av = to_oah(wr->ah)->av;
	return 0;
}

/*
 * Each management datagram has an address handle of its own, so the handle shows a repetition.  A
 * quiesced device refuses that: see flush.c.
 */
static int ohca_mad_check_repeat(struct ohca_dev *dev, struct ohca_ah *ah)
{
	if (ah->mad_sent && ohca_quiesced(dev))
		return -EIO;
	ah->mad_sent = true;
	return 0;
}

static u8 ohca_wqe_flags(const struct ohca_qp *qp, const struct ib_send_wr *wr)
{
	u8 flags = 0;

	if (wr->send_flags & IB_SEND_SIGNALED)
		flags |= OHCA_WQE_SIGNALED;
	if (wr->send_flags & IB_SEND_SOLICITED)
		flags |= OHCA_WQE_SOLICITED;
	if (wr->send_flags & IB_SEND_FENCE)
		flags |= OHCA_WQE_FENCE;
	if (wr->send_flags & IB_SEND_INLINE)
		flags |= OHCA_WQE_INLINE;
	/* IPoIB leaves it in requests of connections, where it means nothing. */
	if (wr->send_flags & IB_SEND_IP_CSUM && ohca_qp_is_ud(qp))
		flags |= OHCA_WQE_CSUM;
	return flags;
}

static int ohca_send_fill(struct ohca_dev *dev, struct ohca_qp *qp, struct ohca_sq_wqe *wqe,
			  const struct ib_send_wr *wr)
{
	const struct ohca_wr_op *op = ohca_wr_op(dev, wr);
	int err;

	if (!op)
		return -EOPNOTSUPP;

	memset(wqe, 0, OHCA_SQ_WQE_HDR);
	wqe->opcode = op->op;
	wqe->flags = ohca_wqe_flags(qp, wr);
	if (wqe->flags & OHCA_WQE_CSUM &&
	    (ohca_qp_is_mad(qp) || !(dev->attr.caps & OHCA_CAP_UD_CSUM)))
		return -EOPNOTSUPP;

	if (ohca_qp_is_ud(qp))
		err = ohca_wqe_set_ud(qp, wqe, ud_wr(wr));
	else if (wr->opcode == IB_WR_LSO)
		err = -EINVAL;
	else
		err = ohca_wqe_set_op(wqe, wr);
	if (!err && ohca_qp_is_mad(qp))
		err = ohca_mad_check_repeat(dev, to_oah(ud_wr(wr)->ah));
	if (err)
		return err;

	if (wr->send_flags & IB_SEND_INLINE)
		return op->inl ? ohca_inline_fill(qp, wqe, wr) : -EINVAL;

	if (wr->num_sge < 0 || wr->num_sge > min_t(int, op->max_sge, qp->sq.max_sge))
		return -EINVAL;

	wqe->num_sge = cpu_to_le16(wr->num_sge);
	ohca_sge_fill(ohca_wqe_list(wqe), wr->sg_list, wr->num_sge);
	return 0;
}

/* flush.c completes requests that are posted to a quiesced device; the queue is locked. */
static void ohca_posted(struct ohca_dev *dev)
{
	if (unlikely(ohca_quiesced(dev)))
		queue_work(ohca_workqueue, &dev->fence.flush);
}

int ohca_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad_wr)
{
	struct ohca_dev *dev = to_odev(ibqp->device);
	struct ohca_qp *qp = to_oqp(ibqp);
	struct ohca_wq *sq = &qp->sq;
	unsigned long flags;
	int err = 0;
	u32 pi;

	spin_lock_irqsave(&sq->lock, flags);
	for (pi = sq->pi; wr; wr = wr->next, pi++) {
		if (READ_ONCE(qp->state) < IB_QPS_RTS)
			err = -EINVAL;
		else if (ohca_wq_full(sq, pi))
			err = -ENOMEM;
		else
			err = ohca_send_fill(dev, qp, ohca_wq_entry(sq, pi), wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
		*ohca_wq_wr(sq, pi) = (struct ohca_wr){.id = wr->wr_id, .len = OHCA_WR_NO_LEN};
	}
	if (pi != sq->pi) {
		ohca_wq_produce(sq, pi);
		ohca_db_ring_sq(&dev->uar, qp->slot, qp->core.qpn, pi);
		ohca_posted(dev);
	}
	spin_unlock_irqrestore(&sq->lock, flags);

	return err;
}

/* Keep what a completion needs; for the request at @pi of a QP's queue, or of a shared one. */
static int ohca_recv_keep(struct ohca_wq *rq, u32 pi, bool shared, struct ohca_rq_wqe *wqe,
			  const struct ib_recv_wr *wr)
{
	struct ohca_wr kept = {.id = wr->wr_id};
	u32 idx = 0;
	int i, err = 0;

	for (i = 0; i < wr->num_sge; i++)
		kept.len += wr->sg_list[i].length;
	if (shared)
		err = ohca_wq_put_wr(rq, kept, &idx);
	else
		*ohca_wq_wr(rq, pi) = kept;
	wqe->wr_id = cpu_to_le64(idx);
	return err;
}

static int ohca_recv_fill(struct ohca_wq *rq, u32 pi, bool shared, const struct ib_recv_wr *wr)
{
	struct ohca_rq_wqe *wqe = ohca_wq_entry(rq, pi);
	int err;

	if (wr->num_sge < 0 || wr->num_sge > rq->max_sge)
		return -EINVAL;

	err = ohca_recv_keep(rq, pi, shared, wqe, wr);
	if (err)
		return err;
	wqe->num_sge = cpu_to_le32(wr->num_sge);
	wqe->rsvd = 0;
	ohca_sge_fill(wqe->sge, wr->sg_list, wr->num_sge);
	return 0;
}

/* @qp: the queue's QP; NULL for an SRQ */
static int ohca_rq_post(struct ohca_dev *dev, struct ohca_wq *rq, const struct ohca_qp *qp,
			const struct ib_recv_wr *wr, const struct ib_recv_wr **bad_wr)
{
	unsigned long flags;
	int err = 0;
	u32 pi;

	spin_lock_irqsave(&rq->lock, flags);
	for (pi = rq->pi; wr; wr = wr->next, pi++) {
		if (qp && READ_ONCE(qp->state) == IB_QPS_RESET)
			err = -EINVAL;
		else if (ohca_wq_full(rq, pi))
			err = -ENOMEM;
		else
			err = ohca_recv_fill(rq, pi, !qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	if (pi != rq->pi) {
		ohca_wq_produce(rq, pi);
		ohca_posted(dev);
	}
	spin_unlock_irqrestore(&rq->lock, flags);

	return err;
}

int ohca_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr)
{
	struct ohca_qp *qp = to_oqp(ibqp);

	if (ibqp->srq) {
		*bad_wr = wr;
		return -EINVAL;
	}
	return ohca_rq_post(to_odev(ibqp->device), &qp->rq, qp, wr, bad_wr);
}

int ohca_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr)
{
	return ohca_rq_post(to_odev(ibsrq->device), &to_osrq(ibsrq)->wq, NULL, wr, bad_wr);
}

/**
 * ohca_wc_opcode() - convert the opcode of a completion
 * @opcode: of a send work request, or OHCA_CQE_RECV or OHCA_CQE_RECV_RDMA_IMM
 *
 * Return: opcode of ib_core
 */
enum ib_wc_opcode ohca_wc_opcode(u8 opcode)
{
	switch (opcode) {
	case OHCA_OP_RDMA_WRITE:
	case OHCA_OP_RDMA_WRITE_IMM:
		return IB_WC_RDMA_WRITE;
	case OHCA_OP_RDMA_READ:
		return IB_WC_RDMA_READ;
	case OHCA_OP_CMP_SWAP:
		return IB_WC_COMP_SWAP;
	case OHCA_OP_FETCH_ADD:
		return IB_WC_FETCH_ADD;
	case OHCA_OP_MASKED_CMP_SWAP:
		return IB_WC_MASKED_COMP_SWAP;
	case OHCA_OP_MASKED_FETCH_ADD:
		return IB_WC_MASKED_FETCH_ADD;
#if OHCA_COMPAT_ATOMIC_WRITE
	case OHCA_OP_ATOMIC_WRITE:
		return IB_WC_ATOMIC_WRITE;
#endif
	case OHCA_OP_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	case OHCA_OP_REG_MR:
		return IB_WC_REG_MR;
	case OHCA_OP_LSO:
		return IB_WC_LSO;
	case OHCA_CQE_RECV:
		return IB_WC_RECV;
	case OHCA_CQE_RECV_RDMA_IMM:
		return IB_WC_RECV_RDMA_WITH_IMM;
	default:
		return IB_WC_SEND;
	}
}
