// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Work requests: from the application's lists into the rings of work queues.
 */

#include <errno.h>
#include <string.h>

#include <infiniband/cmd_ioctl.h>

#include "ohca.h"
#include "ohca_abi.h"
#include "wq.h"

#define OP_RDMA 0x80 /* has a remote address */
#define OP_IMM 0x40 /* has immediate data */
#define OP_MORE 0x20 /* has other fields: ohca_write_more() */
#define OP_READ 0x10 /* returns data, so it can't have inline data */
#define OP_MASK 0x0f /* enum ohca_wqe_op */

static const uint8_t ohca_send_op[] = {
	[IBV_WR_RDMA_WRITE] = OHCA_OP_RDMA_WRITE | OP_RDMA,
	[IBV_WR_RDMA_WRITE_WITH_IMM] = OHCA_OP_RDMA_WRITE_IMM | OP_RDMA | OP_IMM,
	[IBV_WR_SEND] = OHCA_OP_SEND,
	[IBV_WR_SEND_WITH_IMM] = OHCA_OP_SEND_IMM | OP_IMM,
	[IBV_WR_RDMA_READ] = OHCA_OP_RDMA_READ | OP_RDMA | OP_READ,
	[IBV_WR_ATOMIC_CMP_AND_SWP] = OHCA_OP_CMP_SWAP | OP_MORE | OP_READ,
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = OHCA_OP_FETCH_ADD | OP_MORE | OP_READ,
	[IBV_WR_LOCAL_INV] = OHCA_OP_LOCAL_INV | OP_MORE,
	[IBV_WR_BIND_MW] = OHCA_OP_BIND_MW | OP_MORE,
	[IBV_WR_SEND_WITH_INV] = OHCA_OP_SEND_INV | OP_MORE,
	[IBV_WR_ATOMIC_WRITE] = OHCA_OP_ATOMIC_WRITE | OP_RDMA,
};

/* Copy inline data into the entry.  Returns the number of bytes, or -1 if they are too many. */
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

/* Write the fields that depend on operation or transport.  Returns 0, EINVAL, or EBUSY. */
static int ohca_write_more(struct ohca_wq *sq, struct ohca_sq_wqe *wqe,
			   const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ohca_write_rdma(wqe, wr->wr.atomic.remote_addr, wr->wr.atomic.rkey,
				wr->wr.atomic.compare_add, wr->wr.atomic.swap);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ohca_write_rdma(wqe, wr->wr.atomic.remote_addr, wr->wr.atomic.rkey,
				wr->wr.atomic.compare_add, 0);
		break;
	case IBV_WR_LOCAL_INV:
		wqe->inv_key = htole32(wr->invalidate_rkey);
		return wr->num_sge ? EINVAL : 0;
	case IBV_WR_SEND_WITH_INV:
		wqe->inv_key = htole32(wr->invalidate_rkey);
		break;
	case IBV_WR_BIND_MW:
		if (wr->num_sge)
			return EINVAL;
		if (atomic_load_explicit(&to_omw(wr->bind_mw.mw)->section, memory_order_acquire))
			return EBUSY;
		return ohca_write_bind(wqe, wr->bind_mw.mw, wr->bind_mw.rkey,
				       &wr->bind_mw.bind_info);
	default:
		break;
	}
	if (sq->kind == OHCA_SQ_XRC)
		wqe->rdma.srqn = htole32(wr->qp_type.xrc.remote_srqn);
	else if (sq->kind == OHCA_SQ_UD)
		ohca_write_ud(wqe, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	return 0;
}

static inline int ohca_write_send(struct ohca_wq *sq, uint32_t pi, const struct ibv_send_wr *wr)
{
	struct ohca_sq_wqe *wqe = ohca_wqe_at(sq, pi);
	unsigned int flags = wr->send_flags;
	struct ohca_sge *list = wqe->sge;
	int num = wr->num_sge, ret;
	uint8_t op;

	if (unlikely((unsigned int)wr->opcode >= sizeof(ohca_send_op) ||
		     !(sq->ops >> wr->opcode & 1) || flags & ~sq->send_flags ||
		     (unsigned int)num > sq->max_sge))
		return EINVAL;
	op = ohca_send_op[wr->opcode];

	wqe->imm_data = op & OP_IMM ? wr->imm_data : 0;
	ohca_write_rdma(wqe, op & OP_RDMA ? wr->wr.rdma.remote_addr : 0,
			op & OP_RDMA ? wr->wr.rdma.rkey : 0, 0, 0);
	if (unlikely(op & OP_MORE || sq->kind)) {
		ret = ohca_write_more(sq, wqe, wr);
		if (unlikely(ret))
			return ret;
		list = ohca_wqe_list(sq, wqe);
		if (wr->opcode == IBV_WR_LOCAL_INV || wr->opcode == IBV_WR_BIND_MW)
			flags &= ~OHCA_SEND_DATA_FLAGS;
	}

	if (flags & IBV_SEND_INLINE) {
		if (unlikely(op & OP_READ))
			return EINVAL;
		num = ohca_write_inline(sq, (uint8_t *)list, wr->sg_list, num);
		if (unlikely(num < 0))
			return EINVAL;
	} else {
		ohca_write_sges(list, wr->sg_list, num);
	}
	wqe->opcode = op & OP_MASK;
	wqe->flags = ohca_wqe_flags(flags) | sq->flags;
	wqe->num_sge = htole16(num);
	wqe->wr_id = htole64(wr->wr_id);
	return 0;
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
	if (unlikely(ret)) {
		*bad_wr = wr;
		errno = ret;
	}
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

static inline int ohca_post_wq(struct ohca_wq *rq, struct ibv_recv_wr *wr,
			       struct ibv_recv_wr **bad_wr)
{
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
	if (unlikely(ret)) {
		*bad_wr = wr;
		errno = ret;
	}
	return ret;
}

void ohca_srq_sync(struct ohca_srq *srq)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_SRQ, OHCA_METHOD_SRQ_QUERY, 2);
	uint32_t taken;

	fill_attr_in_obj(cmd, OHCA_ATTR_QUERY_SRQ_HANDLE, srq->vsrq.srq.handle);
	fill_attr_out(cmd, OHCA_ATTR_QUERY_SRQ_RESP_TAKEN, &taken, sizeof(taken));
	if (!execute_ioctl(srq->vsrq.srq.context, cmd))
		ohca_srq_taken(srq, taken);
}

int ohca_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return ohca_post_wq(&to_oqp(qp)->rq, wr, bad_wr);
}

int ohca_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct ohca_srq *srq = to_osrq(ibsrq);
	int ret = ohca_post_wq(&srq->wq, wr, bad_wr);

	if (likely(ret != ENOMEM) || srq->vsrq.srq_type != IBV_SRQT_XRC)
		return ret;
	/* Free entries that a target of another process took and will not complete. */
	ohca_srq_sync(srq);
	return ohca_post_wq(&srq->wq, *bad_wr, bad_wr);
}

int ohca_post_wq_recv(struct ibv_wq *wq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return ohca_post_wq(&to_orwq(wq)->qp.rq, wr, bad_wr);
}
