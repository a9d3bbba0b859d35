// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: work requests of kernel QPs.
 */

#include "verbs.h"

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

/* Inline data: the addresses of the elements are kernel addresses, keys don't matter. */
static int ohca_inline_fill(struct ohca_qp *qp, struct ohca_sq_wqe *wqe,
			    const struct ib_send_wr *wr)
{
	u8 *dst = (u8 *)wqe->sge;
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

static int ohca_wqe_opcode(struct ohca_sq_wqe *wqe, const struct ib_send_wr *wr)
{
	switch (wr->opcode) {
	case IB_WR_SEND:
		wqe->opcode = OHCA_OP_SEND;
		return 0;
	case IB_WR_SEND_WITH_IMM:
		wqe->opcode = OHCA_OP_SEND_IMM;
		wqe->imm_data = wr->ex.imm_data;
		return 0;
	case IB_WR_RDMA_WRITE:
		wqe->opcode = OHCA_OP_RDMA_WRITE;
		break;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		wqe->opcode = OHCA_OP_RDMA_WRITE_IMM;
		wqe->imm_data = wr->ex.imm_data;
		break;
	case IB_WR_RDMA_READ:
		wqe->opcode = OHCA_OP_RDMA_READ;
		break;
	default:
		return -EOPNOTSUPP;
	}
	wqe->rdma.raddr = cpu_to_le64(rdma_wr(wr)->remote_addr);
	wqe->rdma.rkey = cpu_to_le32(rdma_wr(wr)->rkey);
	return 0;
}

static u8 ohca_wqe_flags(const struct ib_send_wr *wr)
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
	return flags;
}

static int ohca_send_fill(struct ohca_qp *qp, struct ohca_sq_wqe *wqe, const struct ib_send_wr *wr)
{
	int err;

	memset(wqe, 0, OHCA_SQ_WQE_HDR);
	wqe->flags = ohca_wqe_flags(wr);
	wqe->wr_id = cpu_to_le64(wr->wr_id);
	err = ohca_wqe_opcode(wqe, wr);
	if (err)
		return err;

	if (wr->send_flags & IB_SEND_INLINE) {
		if (wr->opcode == IB_WR_RDMA_READ)
			return -EINVAL;
		return ohca_inline_fill(qp, wqe, wr);
	}

	if (wr->num_sge < 0 || wr->num_sge > qp->sq.max_sge)
		return -EINVAL;

	wqe->num_sge = cpu_to_le16(wr->num_sge);
	ohca_sge_fill(wqe->sge, wr->sg_list, wr->num_sge);
	return 0;
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
			err = ohca_send_fill(qp, ohca_wq_entry(sq, pi), wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	if (pi != sq->pi) {
		ohca_wq_produce(sq, pi);
		ohca_uar_ring_sq(&dev->uar, qp->slot, ibqp->qp_num, pi);
	}
	spin_unlock_irqrestore(&sq->lock, flags);

	return err;
}

static int ohca_recv_fill(struct ohca_wq *rq, struct ohca_rq_wqe *wqe, const struct ib_recv_wr *wr)
{
	if (wr->num_sge < 0 || wr->num_sge > rq->max_sge)
		return -EINVAL;

	wqe->wr_id = cpu_to_le64(wr->wr_id);
	wqe->num_sge = cpu_to_le32(wr->num_sge);
	wqe->rsvd = 0;
	ohca_sge_fill(wqe->sge, wr->sg_list, wr->num_sge);
	return 0;
}

int ohca_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr)
{
	struct ohca_qp *qp = to_oqp(ibqp);
	struct ohca_wq *rq = &qp->rq;
	unsigned long flags;
	int err = 0;
	u32 pi;

	spin_lock_irqsave(&rq->lock, flags);
	for (pi = rq->pi; wr; wr = wr->next, pi++) {
		if (READ_ONCE(qp->state) == IB_QPS_RESET)
			err = -EINVAL;
		else if (ohca_wq_full(rq, pi))
			err = -ENOMEM;
		else
			err = ohca_recv_fill(rq, ohca_wq_entry(rq, pi), wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	if (pi != rq->pi)
		ohca_wq_produce(rq, pi);
	spin_unlock_irqrestore(&rq->lock, flags);

	return err;
}
