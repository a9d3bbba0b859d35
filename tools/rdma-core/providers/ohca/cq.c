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
#include "tag.h"

/* The numbers of completion statuses are those of libibverbs. */
static_assert((int)OHCA_WC_SUCCESS == IBV_WC_SUCCESS, "status");
static_assert((int)OHCA_WC_WR_FLUSH_ERR == IBV_WC_WR_FLUSH_ERR, "status");
static_assert((int)OHCA_WC_RNR_RETRY_EXC_ERR == IBV_WC_RNR_RETRY_EXC_ERR, "status");
static_assert((int)OHCA_WC_GENERAL_ERR == IBV_WC_GENERAL_ERR, "status");
static_assert((int)OHCA_WC_TM_ERR == IBV_WC_TM_ERR, "status");
static_assert((int)OHCA_WC_TM_RNDV_INCOMPLETE == IBV_WC_TM_RNDV_INCOMPLETE, "status");

static const uint8_t ohca_wc_opcode[256] = {
	[OHCA_OP_SEND] = IBV_WC_SEND,
	[OHCA_OP_SEND_IMM] = IBV_WC_SEND,
	[OHCA_OP_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
	[OHCA_OP_RDMA_WRITE_IMM] = IBV_WC_RDMA_WRITE,
	[OHCA_OP_SEND_INV] = IBV_WC_SEND,
	[OHCA_OP_RDMA_READ] = IBV_WC_RDMA_READ,
	[OHCA_OP_CMP_SWAP] = IBV_WC_COMP_SWAP,
	[OHCA_OP_FETCH_ADD] = IBV_WC_FETCH_ADD,
	[OHCA_OP_ATOMIC_WRITE] = IBV_WC_ATOMIC_WRITE,
#ifndef OHCA_NO_FLUSH
	[OHCA_OP_FLUSH] = IBV_WC_FLUSH,
#endif
	[OHCA_OP_LOCAL_INV] = IBV_WC_LOCAL_INV,
	[OHCA_OP_BIND_MW] = IBV_WC_BIND_MW,
	[OHCA_OP_TAG_ADD] = IBV_WC_TM_ADD,
	[OHCA_OP_TAG_DEL] = IBV_WC_TM_DEL,
	[OHCA_OP_TAG_SYNC] = IBV_WC_TM_SYNC,
	[OHCA_CQE_RECV] = IBV_WC_RECV,
	[OHCA_CQE_RECV_RDMA_IMM] = IBV_WC_RECV_RDMA_WITH_IMM,
	[OHCA_CQE_RECV_NO_TAG] = IBV_WC_TM_NO_TAG,
	[OHCA_CQE_RECV_UNEXPECTED] = IBV_WC_TM_RECV,
	[OHCA_CQE_TAG_MATCH] = IBV_WC_TM_RECV,
	[OHCA_CQE_TAG_DATA] = IBV_WC_TM_RECV,
	[OHCA_CQE_TAG_RECV] = IBV_WC_TM_RECV,
};

enum ibv_wc_opcode ohca_cqe_opcode(const struct ohca_cqe *cqe)
{
	return ohca_wc_opcode[cqe->opcode];
}

/* Create the CQ in the kernel, with the buffer and lock that @cq already has. */
static int ohca_cmd_create_cq(struct ibv_context *ctx, struct ibv_cq_init_attr_ex *attr,
			      const struct ohca_cq_geometry *geo, struct ohca_cq *cq)
{
	struct ohca_cmd_create_cq_resp resp = {};
	struct ohca_cmd_create_cq cmd = {};

	cmd.buf_addr = (uintptr_t)cq->buf.addr;
	cmd.buf_size = cq->buf.size;
	cmd.rec_offset = geo->rec_offset;
	cmd.log_size = geo->log_size;
	return ibv_cmd_create_cq_ex(ctx, attr, &cq->vcq, &cmd.ibv_cmd, sizeof(cmd), &resp.ibv_resp,
				    sizeof(resp), 0);
}

/* Create a CQ of attr->cqe entries; everything in @attr is supported. */
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
	ret = ohca_buf_alloc(&cq->buf, geo.size, parent, OHCA_RES_CQ);
	if (ret)
		goto err_free;
	ohca_lock_init(&cq->lock, unlocked);
	ohca_lock_init(&cq->arm_lock, unlocked);
	cq->ring.cqe = cq->buf.addr;
	cq->ring.mask = (1U << geo.log_size) - 1;
	cq->ring.log_size = geo.log_size;
	cq->rec = cq->buf.addr + geo.rec_offset;
	cq->parent = parent;

	attr->cqe = 1U << geo.log_size;
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

/* Whether the device and this library support everything in @attr */
static bool ohca_cq_attr_known(struct ibv_context *ctx, const struct ibv_cq_init_attr_ex *attr)
{
	uint64_t wc_flags = OHCA_CQ_WC_FLAGS;

	if (ohca_has(ctx, OHCA_CAP_TIMESTAMP))
		wc_flags |= IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	if (ohca_has(ctx, OHCA_CAP_TM))
		wc_flags |= IBV_WC_EX_WITH_TM_INFO;
	return check_comp_mask(attr->comp_mask,
			       IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD) &&
	       check_comp_mask(attr->wc_flags, wc_flags) &&
	       (!(attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) ||
		check_comp_mask(attr->flags, IBV_CREATE_CQ_ATTR_SINGLE_THREADED |
						     IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN));
}

struct ibv_cq_ex *ohca_create_cq_ex(struct ibv_context *ctx, struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_init_attr_ex cmd = *attr;
	bool unlocked = to_octx(ctx)->unlocked;
	struct ohca_pd *parent = NULL;
	struct ohca_cq *cq;

	if (!ohca_cq_attr_known(ctx, attr)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	    attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
		unlocked = true;
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
	cmd.comp_mask &= IBV_CQ_INIT_ATTR_MASK_FLAGS;
	cq = ohca_new_cq(ctx, &cmd, parent, unlocked);
	if (!cq)
		return NULL;
	ohca_cq_fill_ops(cq, attr->wc_flags);
	return &cq->vcq.cq_ex;
}

int ohca_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct ohca_limits *limits = &to_octx(ibcq->context)->limits;
	struct ib_uverbs_resize_cq_resp resp;
	struct ohca_cmd_resize_cq cmd = {};
	struct ohca_cq *cq = to_ocq(ibcq);
	struct ohca_cq_geometry geo;
	struct ohca_cq_ring ring;
	struct ohca_cq_rec *rec;
	struct ohca_buf buf;
	int ret;

	if (!ohca_has(ibcq->context, OHCA_CAP_CQ_RESIZE))
		return ohca_errno(EOPNOTSUPP);
	ret = cqe < 1 ? EINVAL : ohca_cq_geometry(limits, cqe, &geo);
	if (ret)
		return ohca_errno(ret);
	ret = ohca_buf_alloc(&buf, geo.size, cq->parent, OHCA_RES_CQ);
	if (ret)
		return ohca_errno(ret);
	rec = buf.addr + geo.rec_offset;
	cmd.buf_addr = (uintptr_t)buf.addr;
	cmd.buf_size = buf.size;
	cmd.rec_offset = geo.rec_offset;
	cmd.log_size = geo.log_size;

	ohca_lock(&cq->lock);
	ohca_lock(&cq->arm_lock);
	ring = (struct ohca_cq_ring){
		.cqe = buf.addr,
		.ci = cq->ring.ci,
		.mask = (1U << geo.log_size) - 1,
		.log_size = geo.log_size,
	};
	*rec = *cq->rec;
	ret = ibv_cmd_resize_cq(ibcq, 1U << geo.log_size, &cmd.ibv_cmd, sizeof(cmd), &resp,
				sizeof(resp));
	if (!ret) {
		struct ohca_buf old = cq->buf;

		cq->ring = ring;
		cq->rec = rec;
		cq->buf = buf;
		buf = old;
	}
	ohca_unlock(&cq->arm_lock);
	ohca_unlock(&cq->lock);
	ohca_buf_free(&buf);
	return ohca_errno(ret);
}

int ohca_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd;

	if (!ohca_has(cq->context, OHCA_CAP_CQ_MODER))
		return ohca_errno(EOPNOTSUPP);
	return ibv_cmd_modify_cq(cq, attr, &cmd, sizeof(cmd));
}

int ohca_destroy_cq(struct ibv_cq *ibcq)
{
	struct ohca_cq *cq = to_ocq(ibcq);
	int ret;

	ret = ibv_cmd_destroy_cq(ibcq);
	if (ret)
		return ret;
	ohca_buf_free(&cq->buf);
	if (cq->parent)
		ohca_pd_put(cq->parent);
	free(cq);
	return 0;
}

/* Free the entries of the SRQ that the device took before completion @cqe. */
static void ohca_retire_srq(struct ohca_cq *cq, const struct ohca_cqe *cqe)
{
	uint32_t srqn = le32toh(cqe->srqn);
	struct ohca_srq *srq = cq->last_srq;

	if (unlikely(!srq || srq->srqn != srqn)) {
		srq = ohca_table_find(&to_octx(cq->vcq.cq.context)->srqs, srqn);
		if (unlikely(!srq))
			return;
		cq->last_srq = srq;
	}
	ohca_srq_taken(srq, le32toh(cqe->wqe_idx));
	if (unlikely(ohca_cqe_tm_flags(cqe) & IBV_WC_TM_MATCH))
		ohca_tag_matched(srq, le32toh(cqe->tag_handle));
}

/* Free entry @cqe and all before it in its work queue. */
static inline void ohca_retire(struct ohca_cq *cq, const struct ohca_cqe *cqe)
{
	uint32_t qpn = le32toh(cqe->qpn);
	struct ohca_qp *qp = cq->last_qp;
	struct ohca_wq *wq;

	if (unlikely(cqe->flags & OHCA_CQE_F_SRQ)) {
		ohca_retire_srq(cq, cqe);
		return;
	}
	if (unlikely(!qp || qp->qpn != qpn)) {
		qp = ohca_table_find(&to_octx(cq->vcq.cq.context)->qps, qpn);
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

/*
 * Fill in the fields of completions of datagrams, of those that invalidated a key, and of those of
 * an SRQ with tags.
 */
static void ohca_wc_more(struct ibv_wc *wc, const struct ohca_cqe *cqe)
{
	wc->wc_flags = ohca_cqe_wc_flags(cqe);
	if (cqe->flags & OHCA_CQE_F_INV)
		wc->invalidated_rkey = le32toh(cqe->inv_key);
	if (wc->opcode >= IBV_WC_TM_ADD)
		return;
	wc->src_qp = le32toh(cqe->src_qpn);
	wc->pkey_index = le16toh(cqe->pkey_index);
	wc->sl = cqe->sl;
	if (ohca_cqe_is_ib(cqe)) {
		wc->slid = le16toh(cqe->ib.slid);
		wc->dlid_path_bits = cqe->ib.dlid_path_bits;
	}
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
		/* Of the receives without tags, only those of datagrams have a net_type. */
		if (unlikely(cqe->net_type | (cqe->flags & OHCA_CQE_F_INV) ||
			     wc->opcode >= IBV_WC_TM_ADD))
			ohca_wc_more(wc, cqe);
	}
	if (n)
		ohca_rec_store(&cq->rec->ci, cq->ring.ci);
	ohca_unlock(&cq->lock);
	return n;
}

int ohca_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct ohca_cq *cq = to_ocq(ibcq);

	ohca_lock(&cq->arm_lock);
	if (solicited_only)
		ohca_rec_store(&cq->rec->arm_solicited, ++cq->arm_solicited);
	else
		ohca_rec_store(&cq->rec->arm_next, ++cq->arm_next);
	/* The application then polls the queue once more: see struct ohca_cq_rec. */
	ohca_full_barrier();
	ohca_unlock(&cq->arm_lock);
	return 0;
}

/* Whether this thread is between ibv_start_poll() and ibv_end_poll() */
static bool ohca_cq_is_polled_here(struct ohca_cq *cq)
{
	return atomic_load_explicit(&cq->poller, memory_order_relaxed) == pthread_self();
}

void ohca_cq_lock(struct ohca_cq *cq)
{
	if (cq && !ohca_cq_is_polled_here(cq))
		ohca_lock(&cq->lock);
}

bool ohca_cq_trylock(struct ohca_cq *cq)
{
	return !cq || ohca_cq_is_polled_here(cq) || ohca_trylock(&cq->lock);
}

void ohca_cq_unlock(struct ohca_cq *cq)
{
	if (cq && !ohca_cq_is_polled_here(cq))
		ohca_unlock(&cq->lock);
}

/* The QP's CQs; NULL for one that it does not have, or that is the other one */
static void ohca_cqs(struct ohca_qp *qp, struct ohca_cq *cqs[2])
{
	cqs[0] = qp->vqp.qp.send_cq ? to_ocq(qp->vqp.qp.send_cq) : NULL;
	cqs[1] = qp->vqp.qp.recv_cq ? to_ocq(qp->vqp.qp.recv_cq) : NULL;
	if (cqs[0] == cqs[1])
		cqs[0] = NULL;
}

void ohca_cqs_lock(struct ohca_qp *qp)
{
	struct ohca_cq *cqs[2];
	int i;

	ohca_cqs(qp, cqs);
	for (i = 0;; i = !i) {
		ohca_cq_lock(cqs[i]);
		if (ohca_cq_trylock(cqs[!i]))
			return;
		ohca_cq_unlock(cqs[i]);
	}
}

bool ohca_cqs_trylock(struct ohca_qp *qp)
{
	struct ohca_cq *cqs[2];

	ohca_cqs(qp, cqs);
	if (!ohca_cq_trylock(cqs[0]))
		return false;
	if (ohca_cq_trylock(cqs[1]))
		return true;
	ohca_cq_unlock(cqs[0]);
	return false;
}

void ohca_cqs_unlock(struct ohca_qp *qp)
{
	struct ohca_cq *cqs[2];

	ohca_cqs(qp, cqs);
	ohca_cq_unlock(cqs[0]);
	ohca_cq_unlock(cqs[1]);
}

static void ohca_cq_purge(struct ohca_cq *cq, uint32_t qpn, uint32_t srqn)
{
	uint32_t ci = cq->ring.ci;

	ohca_ring_purge(&cq->ring, qpn, srqn);
	/* The present completion is still read until ibv_end_poll(), which stores the index. */
	if (cq->ring.ci != ci && !atomic_load_explicit(&cq->poller, memory_order_relaxed))
		ohca_rec_store(&cq->rec->ci, cq->ring.ci);
}

/* Use the information on an SRQ in completions of a QP, before they are removed. */
static void ohca_cq_retire_all(struct ohca_cq *cq, uint32_t qpn, uint32_t srqn)
{
	const struct ohca_cqe *cqe;
	uint32_t i;

	for (i = 0; i <= cq->ring.mask; i++) {
		cqe = ohca_cqe_at(&cq->ring, cq->ring.ci + i);
		if (!cqe)
			break;
		if (cqe->flags & OHCA_CQE_F_SRQ && ohca_cqe_of(cqe, qpn, srqn))
			ohca_retire_srq(cq, cqe);
	}
}

void ohca_cqs_purge(struct ohca_qp *qp)
{
	struct ibv_srq *srq = qp->vqp.qp.srq;
	uint32_t srqn = srq ? to_osrq(srq)->srqn : OHCA_NO_SRQ;
	struct ohca_cq *cqs[2];
	int i;

	/* Completions for an SRQ with tags report the state of the tags, so they are kept. */
	if (!qp->buf.addr)
		return;
	ohca_cqs(qp, cqs);
	for (i = 0; i < 2; i++) {
		if (!cqs[i])
			continue;
		if (srq) {
			ohca_cq_retire_all(cqs[i], qp->qpn, srqn);
			if (cqs[i]->last_srq == to_osrq(srq))
				cqs[i]->last_srq = NULL;
		}
		ohca_cq_purge(cqs[i], qp->qpn, srqn);
		if (cqs[i]->last_qp == qp)
			cqs[i]->last_qp = NULL;
	}
}

void ohca_cq_purge_srq(struct ohca_cq *cq, struct ohca_srq *srq)
{
	ohca_cq_purge(cq, OHCA_ANY_QP, srq->srqn);
	if (cq->last_srq == srq)
		cq->last_srq = NULL;
}
