// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/cmd_ioctl.h>
#include <util/util.h>

#include "ohca.h"
#include "ohca_abi.h"
#include "wq.h"

static int ohca_check_srq_attr(struct ibv_context *ctx, const struct ibv_srq_init_attr_ex *attr)
{
	uint32_t mask = attr->comp_mask;
	enum ibv_srq_type type = mask & IBV_SRQ_INIT_ATTR_TYPE ? attr->srq_type : IBV_SRQT_BASIC;
	bool xrc = type == IBV_SRQT_XRC, tm = type == IBV_SRQT_TM;

	if (!check_comp_mask(mask, IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
					   IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ |
					   IBV_SRQ_INIT_ATTR_TM))
		return EOPNOTSUPP;
	if (type != IBV_SRQT_BASIC && !xrc && !tm)
		return EOPNOTSUPP;
	if (!ohca_has(ctx, xrc ? OHCA_CAP_XRC : tm ? OHCA_CAP_TM : OHCA_CAP_SRQ))
		return EOPNOTSUPP;
	if (!(mask & IBV_SRQ_INIT_ATTR_PD) || ((xrc || tm) && !(mask & IBV_SRQ_INIT_ATTR_CQ)) ||
	    (xrc && !(mask & IBV_SRQ_INIT_ATTR_XRCD)) || (tm && !(mask & IBV_SRQ_INIT_ATTR_TM)))
		return EINVAL;
	return 0;
}

/*
 * The CQ with the completions of an SRQ, or NULL: when the last QP of a basic SRQ was destroyed,
 * its CQs dropped their pointers to the SRQ.
 */
static struct ohca_cq *ohca_srq_cq(struct ohca_srq *srq)
{
	return srq->vsrq.srq_type == IBV_SRQT_BASIC ? NULL : to_ocq(srq->vsrq.cq);
}

/*
 * Remove an SRQ that the kernel has destroyed from the table, whose mutex the caller holds, and its
 * completions from its CQ, which is locked.  Nothing is left to do if another SRQ has got the
 * number meanwhile.
 */
static void ohca_remove_srq(struct ohca_context *ctx, struct ohca_srq *srq, struct ohca_cq *cq)
{
	if (ohca_table_find(&ctx->srqs, srq->srqn) != srq)
		return;
	if (cq)
		ohca_cq_purge_srq(cq, srq);
	ohca_table_del(&ctx->srqs, srq->srqn);
}

/* Add a new SRQ to the table, whose mutex the caller holds; others may have it meanwhile. */
static int ohca_insert_srq(struct ohca_context *ctx, struct ohca_srq *srq)
{
	struct ohca_srq *last;
	struct ohca_cq *cq;

	while ((last = ohca_table_find(&ctx->srqs, srq->srqn))) {
		cq = ohca_srq_cq(last);
		if (ohca_cq_trylock(cq)) {
			ohca_remove_srq(ctx, last, cq);
			ohca_cq_unlock(cq);
			break;
		}
		pthread_mutex_unlock(&ctx->srqs.mutex);
		sched_yield();
		pthread_mutex_lock(&ctx->srqs.mutex);
	}
	return ohca_table_add(&ctx->srqs, srq->srqn, srq);
}

/* Create the SRQ in the kernel, and add it to the table, whose mutex the caller holds. */
static int ohca_cmd_create_srq(struct ohca_context *ctx, struct ibv_srq_init_attr_ex *attr,
			       const struct ohca_srq_geometry *geo, struct ohca_srq *srq)
{
	struct ohca_cmd_create_srq_resp resp = {};
	struct ohca_cmd_create_srq cmd = {};
	int ret;

	cmd.ring_offset = geo->ring_offset;
	cmd.buf_addr = (uintptr_t)srq->buf.addr;
	cmd.buf_size = srq->buf.size;
	cmd.rec_offset = geo->rec_offset;
	cmd.log_size = geo->log_size;
	cmd.log_stride = geo->log_stride;
	ret = ibv_cmd_create_srq_ex(&ctx->vctx.context, &srq->vsrq, attr, &cmd.ibv_cmd, sizeof(cmd),
				    &resp.ibv_resp, sizeof(resp));
	if (ret)
		return ret;
	srq->srqn = resp.drv_payload.srqn;
	ret = ohca_insert_srq(ctx, srq);
	if (ret)
		ibv_cmd_destroy_srq(&srq->vsrq.srq);
	return ret;
}

struct ibv_srq *ohca_create_srq_ex(struct ibv_context *ibctx, struct ibv_srq_init_attr_ex *attr)
{
	struct ohca_context *ctx = to_octx(ibctx);
	struct ibv_srq_init_attr_ex cmd_attr = *attr;
	struct ohca_srq_geometry geo;
	struct ohca_srq *srq;
	int ret;

	ret = ohca_check_srq_attr(ibctx, attr);
	if (ret)
		goto err;
	ret = ohca_srq_geometry(&ctx->limits, &cmd_attr.attr.max_wr, &cmd_attr.attr.max_sge, &geo);
	if (ret)
		goto err;
	ret = posix_memalign((void **)&srq, OHCA_LINE, sizeof(*srq));
	if (ret)
		goto err;
	memset(srq, 0, sizeof(*srq));
	srq->pd = to_opd(attr->pd);
	ret = ohca_buf_alloc(&srq->buf, geo.size, srq->pd, OHCA_RES_SRQ);
	if (ret)
		goto err_free;
	ohca_wq_init(&srq->wq, srq->buf.addr + geo.ring_offset, srq->buf.addr + geo.rec_offset,
		     geo.log_size, geo.log_stride, ctx->unlocked || srq->pd->td);
	srq->wq.max_sge = cmd_attr.attr.max_sge;
	srq->wq.ready = true;

	pthread_mutex_lock(&ctx->srqs.mutex);
	ret = ohca_cmd_create_srq(ctx, &cmd_attr, &geo, srq);
	pthread_mutex_unlock(&ctx->srqs.mutex);
	if (ret)
		goto err_buf;
	srq->vsrq.srq.srq_context = attr->srq_context;
	srq->vsrq.srq.pd = attr->pd;
	ohca_pd_get(srq->pd);
	if (srq->vsrq.srq_type == IBV_SRQT_TM) {
		ret = ohca_tm_init(srq, attr);
		if (ret) {
			ohca_destroy_srq(&srq->vsrq.srq);
			goto err;
		}
	}
	attr->attr.max_wr = cmd_attr.attr.max_wr;
	attr->attr.max_sge = cmd_attr.attr.max_sge;
	return &srq->vsrq.srq;

err_buf:
	ohca_buf_free(&srq->buf);
err_free:
	free(srq);
err:
	errno = ret;
	return NULL;
}

struct ibv_srq *ohca_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex ex = {
		.srq_context = attr->srq_context,
		.attr = attr->attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_srq *srq;

	srq = ohca_create_srq_ex(pd->context, &ex);
	if (srq)
		attr->attr = ex.attr;
	return srq;
}

/* Move an SRQ to a ring of at least attr->max_wr entries, and arm its limit if @mask has that. */
static int ohca_resize_srq(struct ohca_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct ohca_limits *limits = &to_octx(srq->vsrq.srq.context)->limits;
	uint32_t max_wr = attr->max_wr, max_sge = srq->wq.max_sge;
	struct ohca_cmd_modify_srq cmd = {};
	struct ibv_srq_attr cmd_attr = *attr;
	struct ohca_srq_geometry geo;
	struct ohca_wq_rec *rec;
	struct ohca_buf buf;
	int ret;

	ret = ohca_srq_geometry(limits, &max_wr, &max_sge, &geo);
	if (ret)
		return ohca_errno(ret);
	ret = ohca_buf_alloc(&buf, geo.size, srq->pd, OHCA_RES_SRQ);
	if (ret)
		return ohca_errno(ret);
	rec = buf.addr + geo.rec_offset;
	cmd.ring_offset = geo.ring_offset;
	cmd.buf_addr = (uintptr_t)buf.addr;
	cmd.buf_size = buf.size;
	cmd.rec_offset = geo.rec_offset;
	cmd.log_size = geo.log_size;
	cmd_attr.max_wr = max_wr;

	ohca_lock(&srq->wq.lock);
	*rec = *srq->wq.rec;
	ret = ibv_cmd_modify_srq(&srq->vsrq.srq, &cmd_attr, mask, &cmd.ibv_cmd, sizeof(cmd));
	if (!ret) {
		struct ohca_buf old = srq->buf;

		srq->wq.ring = buf.addr + geo.ring_offset;
		srq->wq.rec = rec;
		srq->wq.mask = (1U << geo.log_size) - 1;
		srq->buf = buf;
		buf = old;
		attr->max_wr = max_wr;
	}
	ohca_unlock(&srq->wq.lock);
	ohca_buf_free(&buf);
	return ohca_errno(ret);
}

int ohca_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	struct ohca_cmd_modify_srq cmd = {};

	if (mask & IBV_SRQ_MAX_WR)
		return ohca_resize_srq(to_osrq(ibsrq), attr, mask);
	return ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd.ibv_cmd, sizeof(cmd));
}

int ohca_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd;

	return ibv_cmd_query_srq(srq, attr, &cmd, sizeof(cmd));
}

int ohca_get_srq_num(struct ibv_srq *srq, uint32_t *srqn)
{
	*srqn = to_osrq(srq)->srqn;
	return 0;
}

int ohca_destroy_srq(struct ibv_srq *ibsrq)
{
	struct ohca_context *ctx = to_octx(ibsrq->context);
	struct ohca_srq *srq = to_osrq(ibsrq);
	struct ohca_cq *cq = ohca_srq_cq(srq);
	int ret;

	ret = ohca_tm_fini(srq);
	if (ret)
		return ret;
	/* See ohca_destroy_qp(). */
	ret = ibv_cmd_destroy_srq(ibsrq);
	if (ret)
		return ret;
	ohca_cq_lock(cq);
	pthread_mutex_lock(&ctx->srqs.mutex);
	ohca_remove_srq(ctx, srq, cq);
	pthread_mutex_unlock(&ctx->srqs.mutex);
	ohca_cq_unlock(cq);

	ohca_buf_free(&srq->buf);
	ohca_pd_put(srq->pd);
	free(srq);
	return 0;
}
