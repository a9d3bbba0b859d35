// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <util/util.h>

#include "doorbell.h"
#include "ohca.h"
#include "ohca_abi.h"

static_assert(sizeof(struct ohca_qp_cap) == sizeof(struct ibv_qp_cap), "capacity");
static_assert(offsetof(struct ohca_qp_cap, max_send_wr) == offsetof(struct ibv_qp_cap, max_send_wr),
	      "capacity");
static_assert(offsetof(struct ohca_qp_cap, max_recv_wr) == offsetof(struct ibv_qp_cap, max_recv_wr),
	      "capacity");
static_assert(offsetof(struct ohca_qp_cap, max_send_sge) ==
		      offsetof(struct ibv_qp_cap, max_send_sge),
	      "capacity");
static_assert(offsetof(struct ohca_qp_cap, max_recv_sge) ==
		      offsetof(struct ibv_qp_cap, max_recv_sge),
	      "capacity");
static_assert(offsetof(struct ohca_qp_cap, max_inline_data) ==
		      offsetof(struct ibv_qp_cap, max_inline_data),
	      "capacity");

static void ohca_init_wq(struct ohca_wq *wq, void *ring, struct ohca_wq_rec *rec, uint8_t log_size,
			 uint8_t log_stride, bool unlocked)
{
	ohca_lock_init(&wq->lock, unlocked);
	wq->ring = ring;
	wq->rec = rec;
	wq->mask = (1U << log_size) - 1;
	wq->log_stride = log_stride;
}

/* Forget all work requests, as the device did when the QP went to RESET. */
static void ohca_reset_wq(struct ohca_wq *wq)
{
	ohca_lock(&wq->lock);
	wq->ready = false;
	wq->pi = 0;
	wq->seen = 0;
	atomic_store_explicit(&wq->tail, 0, memory_order_relaxed);
	ohca_rec_store(&wq->rec->pi, 0);
	ohca_unlock(&wq->lock);
}

static void ohca_set_ready(struct ohca_wq *wq, bool ready)
{
	ohca_lock(&wq->lock);
	wq->ready = ready;
	ohca_unlock(&wq->lock);
}

/* Create in the kernel and make known.  The caller holds the table's mutex. */
static int ohca_cmd_create_qp(struct ohca_context *ctx, struct ibv_qp_init_attr_ex *attr,
			      const struct ohca_qp_geometry *geo, struct ohca_qp *qp)
{
	struct ohca_cmd_create_qp_resp resp = {};
	struct ohca_cmd_create_qp cmd = {};
	int ret;

	cmd.slot = qp->slot;
	cmd.buf_addr = (uintptr_t)qp->buf.addr;
	cmd.buf_size = qp->buf.size;
	cmd.sq_offset = geo->sq_offset;
	cmd.rq_offset = geo->rq_offset;
	cmd.sq_rec_offset = geo->sq_rec_offset;
	cmd.rq_rec_offset = geo->rq_rec_offset;
	cmd.sq_log_size = geo->sq_log_size;
	cmd.sq_log_stride = geo->sq_log_stride;
	cmd.rq_log_size = geo->rq_log_size;
	cmd.rq_log_stride = geo->rq_log_stride;
	ret = ibv_cmd_create_qp_ex(&ctx->vctx.context, &qp->vqp, attr, &cmd.ibv_cmd, sizeof(cmd),
				   &resp.ibv_resp, sizeof(resp));
	if (ret)
		return ret;
	qp->qpn = resp.drv_payload.qpn;
	ret = resp.comp_mask ? EOPNOTSUPP : ohca_qp_table_add(&ctx->qps, qp);
	if (ret)
		ibv_cmd_destroy_qp(&qp->vqp.qp);
	return ret;
}

static int ohca_check_qp_attr(const struct ibv_qp_init_attr_ex *attr)
{
	if (!check_comp_mask(attr->comp_mask,
			     IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS) ||
	    (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && attr->create_flags))
		return EOPNOTSUPP;
	if (attr->qp_type != IBV_QPT_RC || attr->srq)
		return EOPNOTSUPP;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->send_cq || !attr->recv_cq)
		return EINVAL;
	return 0;
}

struct ibv_qp *ohca_create_qp_ex(struct ibv_context *ibctx, struct ibv_qp_init_attr_ex *attr)
{
	struct ohca_context *ctx = to_octx(ibctx);
	struct ibv_qp_init_attr_ex cmd_attr = *attr;
	struct ohca_qp_geometry geo;
	struct ohca_qp_cap cap;
	struct ohca_qp *qp;
	bool unlocked;
	int ret;

	ret = ohca_check_qp_attr(attr);
	if (ret)
		goto err;
	memcpy(&cap, &attr->cap, sizeof(cap));
	ret = ohca_qp_geometry(&ctx->limits, &cap, &geo);
	if (ret)
		goto err;
	ret = posix_memalign((void **)&qp, OHCA_LINE, sizeof(*qp));
	if (ret)
		goto err;
	memset(qp, 0, sizeof(*qp));
	ret = ohca_buf_alloc(&qp->buf, geo.size);
	if (ret)
		goto err_free;

	qp->pd = to_opd(attr->pd);
	qp->cap = cap;
	unlocked = ctx->unlocked || qp->pd->td;
	ohca_init_wq(&qp->sq, qp->buf.addr + geo.sq_offset, qp->buf.addr + geo.sq_rec_offset,
		     geo.sq_log_size, geo.sq_log_stride, unlocked);
	ohca_init_wq(&qp->rq, qp->buf.addr + geo.rq_offset, qp->buf.addr + geo.rq_rec_offset,
		     geo.rq_log_size, geo.rq_log_stride, unlocked);
	qp->sq.sig_all = attr->sq_sig_all;
	qp->sq.max_sge = cap.max_send_sge;
	qp->sq.max_inline = cap.max_inline_data;
	qp->rq.max_sge = cap.max_recv_sge;

	cmd_attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	memcpy(&cmd_attr.cap, &cap, sizeof(cap));
	pthread_mutex_lock(&ctx->qps.mutex);
	qp->slot = ohca_slot_get(&ctx->slots);
	ret = ohca_cmd_create_qp(ctx, &cmd_attr, &geo, qp);
	if (ret)
		ohca_slot_put(&ctx->slots, qp->slot);
	pthread_mutex_unlock(&ctx->qps.mutex);
	if (ret)
		goto err_buf;
	ohca_pd_get(qp->pd);
	memcpy(&attr->cap, &cap, sizeof(cap));
	return &qp->vqp.qp;

err_buf:
	ohca_buf_free(&qp->buf);
err_free:
	free(qp);
err:
	errno = ret;
	return NULL;
}

struct ibv_qp *ohca_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *qp;

	qp = ohca_create_qp_ex(pd->context, &ex);
	if (qp)
		attr->cap = ex.cap;
	return qp;
}

int ohca_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct ohca_cq *send_cq = to_ocq(ibqp->send_cq);
	struct ohca_cq *recv_cq = to_ocq(ibqp->recv_cq);
	struct ohca_qp *qp = to_oqp(ibqp);
	struct ibv_modify_qp cmd = {};
	int ret;

	ret = ibv_cmd_modify_qp(ibqp, attr, mask, &cmd, sizeof(cmd));
	if (ret || !(mask & IBV_QP_STATE))
		return ret;

	if (attr->qp_state == IBV_QPS_RESET) {
		ohca_cq_lock_pair(send_cq, recv_cq);
		ohca_cq_purge(recv_cq, qp);
		if (send_cq != recv_cq)
			ohca_cq_purge(send_cq, qp);
		ohca_reset_wq(&qp->sq);
		ohca_reset_wq(&qp->rq);
		ohca_cq_unlock_pair(send_cq, recv_cq);
	} else {
		ohca_set_ready(&qp->sq, attr->qp_state >= IBV_QPS_RTS);
		ohca_set_ready(&qp->rq, true);
	}
	return 0;
}

int ohca_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		  struct ibv_qp_init_attr *init_attr)
{
	struct ohca_qp *qp = to_oqp(ibqp);
	struct ibv_query_qp cmd;
	int ret;

	ret = ibv_cmd_query_qp(ibqp, attr, mask, init_attr, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	memcpy(&init_attr->cap, &qp->cap, sizeof(qp->cap));
	attr->cap = init_attr->cap;
	return 0;
}

int ohca_destroy_qp(struct ibv_qp *ibqp)
{
	struct ohca_context *ctx = to_octx(ibqp->context);
	struct ohca_cq *send_cq = to_ocq(ibqp->send_cq);
	struct ohca_cq *recv_cq = to_ocq(ibqp->recv_cq);
	struct ohca_qp *qp = to_oqp(ibqp);
	int ret;

	pthread_mutex_lock(&ctx->qps.mutex);
	ret = ibv_cmd_destroy_qp(ibqp);
	if (ret) {
		pthread_mutex_unlock(&ctx->qps.mutex);
		return ret;
	}
	ohca_cq_lock_pair(send_cq, recv_cq);
	ohca_cq_purge(recv_cq, qp);
	if (send_cq != recv_cq)
		ohca_cq_purge(send_cq, qp);
	ohca_qp_table_del(&ctx->qps, qp->qpn);
	ohca_cq_unlock_pair(send_cq, recv_cq);
	ohca_slot_put(&ctx->slots, qp->slot);
	pthread_mutex_unlock(&ctx->qps.mutex);

	ohca_pd_put(qp->pd);
	ohca_buf_free(&qp->buf);
	free(qp);
	return 0;
}
