// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues.
 */

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include <util/compiler.h>
#include <util/util.h>

#include "doorbell.h"
#include "ohca.h"
#include "ohca_abi.h"

/* The specification numbers the status of a completion as libibverbs does. */
static_assert((int)OHCA_WC_SUCCESS == IBV_WC_SUCCESS, "status");
static_assert((int)OHCA_WC_WR_FLUSH_ERR == IBV_WC_WR_FLUSH_ERR, "status");
static_assert((int)OHCA_WC_RNR_RETRY_EXC_ERR == IBV_WC_RNR_RETRY_EXC_ERR, "status");
static_assert((int)OHCA_WC_GENERAL_ERR == IBV_WC_GENERAL_ERR, "status");
static_assert((int)OHCA_CQE_RECV == IBV_WC_RECV, "opcode");
static_assert((int)OHCA_CQE_RECV_RDMA_IMM == IBV_WC_RECV_RDMA_WITH_IMM, "opcode");
static_assert((int)OHCA_CQE_F_IMM == IBV_WC_WITH_IMM, "flag");

static const uint8_t ohca_wc_opcode[8] = {
	[OHCA_OP_SEND] = IBV_WC_SEND,
	[OHCA_OP_SEND_IMM] = IBV_WC_SEND,
	[OHCA_OP_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
	[OHCA_OP_RDMA_WRITE_IMM] = IBV_WC_RDMA_WRITE,
	[OHCA_OP_RDMA_READ] = IBV_WC_RDMA_READ,
};

enum ibv_wc_opcode ohca_cqe_opcode(const struct ohca_cqe *cqe)
{
	return cqe->opcode & 0x80 ? cqe->opcode : ohca_wc_opcode[cqe->opcode & 7];
}

/* Create in the kernel, with the buffer and lock that @cq already has. */
static int ohca_cmd_create_cq(struct ibv_context *ctx, struct ibv_cq_init_attr_ex *attr,
			      const struct ohca_cq_geometry *geo, struct ohca_cq *cq)
{
	struct ohca_cmd_create_cq_resp resp = {};
	struct ohca_cmd_create_cq cmd = {};
	int ret;

	cmd.buf_addr = (uintptr_t)cq->buf.addr;
	cmd.buf_size = cq->buf.size;
	cmd.rec_offset = geo->rec_offset;
	cmd.log_size = geo->log_size;
	ret = ibv_cmd_create_cq_ex(ctx, attr, &cq->vcq, &cmd.ibv_cmd, sizeof(cmd), &resp.ibv_resp,
				   sizeof(resp), 0);
	if (ret)
		return ret;
	if (resp.drv_payload.comp_mask) {
		ibv_cmd_destroy_cq(&cq->vcq.cq);
		return EOPNOTSUPP;
	}
	return 0;
}

/* Make a CQ of attr->cqe entries; everything in @attr is supported. */
static struct ohca_cq *ohca_new_cq(struct ibv_context *ctx, struct ibv_cq_init_attr_ex *attr,
				   struct ohca_pd *parent, bool unlocked)
{
	struct ohca_cq_geometry geo;
	struct ohca_cq *cq;
	int ret;

	ret = ohca_cq_geometry(&to_octx(ctx)->limits, attr->cqe, &geo);
	if (ret)
		goto err;
	cq = calloc(1, sizeof(*cq));
	if (!cq) {
		ret = ENOMEM;
		goto err;
	}
	ret = ohca_buf_alloc(&cq->buf, geo.size);
	if (ret)
		goto err_free;
	ohca_lock_init(&cq->lock, unlocked);
	cq->ring.cqe = cq->buf.addr;
	cq->ring.mask = (1U << geo.log_size) - 1;
	cq->ring.log_size = geo.log_size;
	cq->rec = cq->buf.addr + geo.rec_offset;
	cq->parent = parent;

	attr->cqe = ohca_min(1U << geo.log_size, to_octx(ctx)->limits.max_cqe);
	ret = ohca_cmd_create_cq(ctx, attr, &geo, cq);
	if (ret)
		goto err_buf;
	if (parent)
		ohca_pd_get(parent);
	return cq;

err_buf:
	ohca_buf_free(&cq->buf);
err_free:
	free(cq);
err:
	errno = ret;
	return NULL;
}

struct ibv_cq *ohca_create_cq(struct ibv_context *ctx, int cqe, struct ibv_comp_channel *channel,
			      int comp_vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe,
		.channel = channel,
		.comp_vector = comp_vector,
	};
	struct ohca_cq *cq;

	if (cqe < 1) {
		errno = EINVAL;
		return NULL;
	}
	cq = ohca_new_cq(ctx, &attr, NULL, to_octx(ctx)->unlocked);
	return cq ? &cq->vcq.cq : NULL;
}

struct ibv_cq_ex *ohca_create_cq_ex(struct ibv_context *ctx, struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_init_attr_ex cmd = *attr;
	bool unlocked = to_octx(ctx)->unlocked;
	struct ohca_pd *parent = NULL;
	struct ohca_cq *cq;

	if (!check_comp_mask(attr->comp_mask,
			     IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD) ||
	    !check_comp_mask(attr->wc_flags, OHCA_CQ_WC_FLAGS)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) {
		if (attr->flags & ~IBV_CREATE_CQ_ATTR_SINGLE_THREADED) {
			errno = EOPNOTSUPP;
			return NULL;
		}
		if (attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
			unlocked = true;
	}
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) {
		parent = to_opd(attr->parent_domain);
		if (!parent->real) {
			errno = EINVAL;
			return NULL;
		}
		if (parent->td)
			unlocked = true;
	}
	if (attr->cqe > INT_MAX) {
		errno = EINVAL;
		return NULL;
	}
	cmd.comp_mask = 0;
	cq = ohca_new_cq(ctx, &cmd, parent, unlocked);
	if (!cq)
		return NULL;
	ohca_cq_fill_ops(cq, attr->wc_flags);
	return &cq->vcq.cq_ex;
}

int ohca_destroy_cq(struct ibv_cq *ibcq)
{
	struct ohca_cq *cq = to_ocq(ibcq);
	int ret;

	ret = ibv_cmd_destroy_cq(ibcq);
	if (ret)
		return ret;
	if (cq->parent)
		ohca_pd_put(cq->parent);
	ohca_buf_free(&cq->buf);
	free(cq);
	return 0;
}

/* Entry @cqe and all before it in its work queue are done. */
static inline void ohca_retire(struct ohca_cq *cq, const struct ohca_cqe *cqe)
{
	uint32_t qpn = le32toh(cqe->qpn);
	struct ohca_qp *qp = cq->last_qp;
	struct ohca_wq *wq;

	if (unlikely(!qp || qp->qpn != qpn)) {
		qp = ohca_qp_find(&to_octx(cq->vcq.cq.context)->qps, qpn);
		if (unlikely(!qp))
			return;
		cq->last_qp = qp;
	}
	wq = cqe->flags & OHCA_CQE_F_RQ ? &qp->rq : &qp->sq;
	atomic_store_explicit(&wq->tail, le32toh(cqe->wqe_idx) + 1, memory_order_release);
}

const struct ohca_cqe *ohca_cq_take(struct ohca_cq *cq)
{
	const struct ohca_cqe *cqe = ohca_cqe_at(&cq->ring, cq->ring.ci);

	if (!cqe)
		return NULL;
	cq->ring.ci++;
	ohca_retire(cq, cqe);
	return cqe;
}

int ohca_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct ohca_cq *cq = to_ocq(ibcq);
	const struct ohca_cqe *cqe;
	int n;

	ohca_lock(&cq->lock);
	for (n = 0; n < num_entries; n++, wc++) {
		cqe = ohca_cq_take(cq);
		if (!cqe)
			break;
		wc->wr_id = le64toh(cqe->wr_id);
		wc->status = cqe->status;
		wc->opcode = ohca_cqe_opcode(cqe);
		wc->vendor_err = le32toh(cqe->vendor_err);
		wc->byte_len = le32toh(cqe->byte_len);
		wc->imm_data = cqe->imm_data;
		wc->qp_num = le32toh(cqe->qpn);
		wc->src_qp = 0;
		wc->wc_flags = cqe->flags & OHCA_CQE_F_IMM;
		wc->pkey_index = 0;
		wc->slid = 0;
		wc->sl = 0;
		wc->dlid_path_bits = 0;
	}
	if (n)
		ohca_rec_store(&cq->rec->ci, cq->ring.ci);
	ohca_unlock(&cq->lock);
	return n;
}

int ohca_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct ohca_cq *cq = to_ocq(ibcq);

	ohca_lock(&cq->lock);
	if (solicited_only)
		ohca_rec_store(&cq->rec->arm_solicited, ++cq->arm_solicited);
	else
		ohca_rec_store(&cq->rec->arm_next, ++cq->arm_next);
	/* The application looks at the queue once more now: see struct ohca_cq_rec. */
	ohca_full_barrier();
	ohca_unlock(&cq->lock);
	return 0;
}

void ohca_cq_lock_pair(struct ohca_cq *a, struct ohca_cq *b)
{
	if (a == b) {
		ohca_lock(&a->lock);
	} else if (a < b) {
		ohca_lock(&a->lock);
		ohca_lock(&b->lock);
	} else {
		ohca_lock(&b->lock);
		ohca_lock(&a->lock);
	}
}

void ohca_cq_unlock_pair(struct ohca_cq *a, struct ohca_cq *b)
{
	ohca_unlock(&a->lock);
	if (a != b)
		ohca_unlock(&b->lock);
}

void ohca_cq_purge(struct ohca_cq *cq, struct ohca_qp *qp)
{
	uint32_t ci = cq->ring.ci;

	ohca_ring_purge(&cq->ring, qp->qpn);
	if (cq->ring.ci != ci)
		ohca_rec_store(&cq->rec->ci, cq->ring.ci);
	if (cq->last_qp == qp)
		cq->last_qp = NULL;
}
