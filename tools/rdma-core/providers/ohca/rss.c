// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receive-side scaling: receive work queues, tables of them, and QPs that spread frames over a table.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <util/util.h>

#include "ohca.h"
#include "ohca_abi.h"
#include "wq.h"

static_assert((int)OHCA_RSS_TOEPLITZ == IBV_RX_HASH_FUNC_TOEPLITZ, "hash");
static_assert((int)OHCA_RSS_SRC_IPV4 == IBV_RX_HASH_SRC_IPV4 &&
		      (int)OHCA_RSS_DST_IPV4 == IBV_RX_HASH_DST_IPV4 &&
		      (int)OHCA_RSS_SRC_IPV6 == IBV_RX_HASH_SRC_IPV6 &&
		      (int)OHCA_RSS_DST_IPV6 == IBV_RX_HASH_DST_IPV6 &&
		      (int)OHCA_RSS_SRC_PORT_TCP == IBV_RX_HASH_SRC_PORT_TCP &&
		      (int)OHCA_RSS_DST_PORT_TCP == IBV_RX_HASH_DST_PORT_TCP &&
		      (int)OHCA_RSS_SRC_PORT_UDP == IBV_RX_HASH_SRC_PORT_UDP &&
		      (int)OHCA_RSS_DST_PORT_UDP == IBV_RX_HASH_DST_PORT_UDP,
	      "fields");

/* Receive work queues */

static int ohca_check_wq_attr(struct ibv_context *ctx, const struct ibv_wq_init_attr *attr)
{
	if (!ohca_has(ctx, OHCA_CAP_RSS) ||
	    !check_comp_mask(attr->comp_mask, IBV_WQ_INIT_ATTR_FLAGS))
		return EOPNOTSUPP;
	if (attr->comp_mask & IBV_WQ_INIT_ATTR_FLAGS && attr->create_flags)
		return EOPNOTSUPP;
	if (attr->wq_type != IBV_WQT_RQ || !attr->pd || !attr->cq)
		return EINVAL;
	return 0;
}

/* Create the WQ in the kernel, and add it to the table. */
static int ohca_add_wq(struct ohca_context *ctx, struct ibv_wq_init_attr *attr,
		       const struct ohca_srq_geometry *geo, struct ohca_rwq *rwq)
{
	struct ib_uverbs_ex_create_wq_resp resp = {};
	struct ohca_cmd_create_wq cmd = {};
	int ret;

	cmd.ring_offset = geo->ring_offset;
	cmd.buf_addr = (uintptr_t)rwq->qp.buf.addr;
	cmd.buf_size = rwq->qp.buf.size;
	cmd.rec_offset = geo->rec_offset;
	cmd.log_size = geo->log_size;
	cmd.log_stride = geo->log_stride;

	pthread_mutex_lock(&ctx->qps.mutex);
	ret = ibv_cmd_create_wq(&ctx->vctx.context, attr, &rwq->wq, &cmd.ibv_cmd, sizeof(cmd),
				&resp, sizeof(resp));
	if (ret)
		goto out;
	rwq->qp.qpn = rwq->wq.wq_num;
	ret = ohca_qp_insert(ctx, &rwq->qp);
	if (ret)
		ibv_cmd_destroy_wq(&rwq->wq);
out:
	pthread_mutex_unlock(&ctx->qps.mutex);
	return ret;
}

struct ibv_wq *ohca_create_wq(struct ibv_context *ibctx, struct ibv_wq_init_attr *attr)
{
	struct ohca_context *ctx = to_octx(ibctx);
	struct ibv_wq_init_attr cmd_attr = *attr;
	struct ohca_srq_geometry geo;
	struct ohca_rwq *rwq;
	struct ohca_qp *qp;
	int ret;

	ret = ohca_check_wq_attr(ibctx, attr);
	if (!ret)
		ret = ohca_rq_geometry(&ctx->limits, ctx->limits.max_qp_wr, &cmd_attr.max_wr,
				       &cmd_attr.max_sge, &geo);
	if (ret)
		goto err;
	ret = posix_memalign((void **)&rwq, OHCA_LINE, sizeof(*rwq));
	if (ret)
		goto err;
	memset(rwq, 0, sizeof(*rwq));
	qp = &rwq->qp;
	qp->pd = to_opd(attr->pd);
	qp->vqp.qp.recv_cq = attr->cq;
	ret = ohca_buf_alloc(&qp->buf, geo.size, qp->pd, OHCA_RES_RWQ);
	if (ret)
		goto err_free;
	ohca_wq_init(&qp->rq, qp->buf.addr + geo.ring_offset, qp->buf.addr + geo.rec_offset,
		     geo.log_size, geo.log_stride, ctx->unlocked || qp->pd->td);
	qp->rq.max_sge = cmd_attr.max_sge;

	cmd_attr.create_flags = 0;
	ret = ohca_add_wq(ctx, &cmd_attr, &geo, rwq);
	if (ret)
		goto err_buf;
	rwq->wq.post_recv = ohca_post_wq_recv;
	ohca_pd_get(qp->pd);
	attr->max_wr = cmd_attr.max_wr;
	attr->max_sge = cmd_attr.max_sge;
	return &rwq->wq;

err_buf:
	ohca_buf_free(&qp->buf);
err_free:
	free(rwq);
err:
	errno = ret;
	return NULL;
}

int ohca_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr)
{
	struct ohca_qp *qp = &to_orwq(wq)->qp;
	struct ibv_modify_wq cmd;
	int ret;

	ret = ibv_cmd_modify_wq(wq, attr, &cmd, sizeof(cmd));
	if (ret || !(attr->attr_mask & IBV_WQ_ATTR_STATE))
		return ret;

	if (attr->wq_state == IBV_WQS_RESET) {
		ohca_cqs_lock(qp);
		ohca_cqs_purge(qp);
		ohca_wq_reset(&qp->rq);
		ohca_cqs_unlock(qp);
	} else {
		ohca_wq_set_ready(&qp->rq, true);
	}
	return 0;
}

int ohca_destroy_wq(struct ibv_wq *wq)
{
	struct ohca_context *ctx = to_octx(wq->context);
	struct ohca_rwq *rwq = to_orwq(wq);
	struct ohca_qp *qp = &rwq->qp;
	int ret;

	/* See ohca_destroy_qp(). */
	ret = ibv_cmd_destroy_wq(wq);
	if (ret)
		return ret;
	ohca_qp_remove(ctx, qp);

	ohca_buf_free(&qp->buf);
	ohca_pd_put(qp->pd);
	free(rwq);
	return 0;
}

/* Indirection tables */

struct ibv_rwq_ind_table *ohca_create_rwq_ind_table(struct ibv_context *ctx,
						    struct ibv_rwq_ind_table_init_attr *attr)
{
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp = {};
	struct ibv_rwq_ind_table *tbl;
	int ret;

	ret = ohca_has(ctx, OHCA_CAP_RSS) && !attr->comp_mask ? 0 : EOPNOTSUPP;
	if (!ret && attr->log_ind_tbl_size > IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE)
		ret = EINVAL; /* check before that many handles are read */
	if (ret)
		goto err;
	tbl = calloc(1, sizeof(*tbl));
	if (!tbl)
		return NULL;
	ret = ibv_cmd_create_rwq_ind_table(ctx, attr, tbl, &resp, sizeof(resp));
	if (!ret)
		return tbl;
	free(tbl);
err:
	errno = ret;
	return NULL;
}

int ohca_destroy_rwq_ind_table(struct ibv_rwq_ind_table *tbl)
{
	int ret;

	ret = ibv_cmd_destroy_rwq_ind_table(tbl);
	if (!ret)
		free(tbl);
	return ret;
}

/* QPs that spread frames */

static int ohca_check_rss_attr(struct ibv_context *ctx, const struct ibv_qp_init_attr_ex *attr)
{
	if (!ohca_has(ctx, OHCA_CAP_RSS) ||
	    !check_comp_mask(attr->comp_mask, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
						      IBV_QP_INIT_ATTR_IND_TABLE |
						      IBV_QP_INIT_ATTR_RX_HASH))
		return EOPNOTSUPP;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && attr->create_flags)
		return EOPNOTSUPP;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) ||
	    !(attr->comp_mask & IBV_QP_INIT_ATTR_RX_HASH) || attr->send_cq ||
	    attr->cap.max_send_wr || attr->rx_hash_conf.rx_hash_key_len != OHCA_RSS_KEY_LEN)
		return EINVAL;
	return attr->rx_hash_conf.rx_hash_fields_mask > UINT32_MAX ? EOPNOTSUPP : 0;
}

struct ibv_qp *ohca_create_rss(struct ohca_context *ctx, struct ibv_qp_init_attr_ex *attr)
{
	const struct ibv_rx_hash_conf *conf = &attr->rx_hash_conf;
	struct ohca_cmd_create_rss_resp resp = {};
	struct ohca_cmd_create_rss cmd = {};
	struct ohca_qp *qp;
	int ret;

	ret = ohca_check_rss_attr(&ctx->vctx.context, attr);
	if (ret)
		goto err;
	qp = ohca_alloc_qp();
	if (!qp)
		return NULL;
	cmd.fields = conf->rx_hash_fields_mask;
	cmd.function = conf->rx_hash_function;
	cmd.key_len = conf->rx_hash_key_len;
	memcpy(cmd.key, conf->rx_hash_key, sizeof(cmd.key));
	ret = ibv_cmd_create_qp_ex2(&ctx->vctx.context, &qp->vqp, attr, &cmd.ibv_cmd, sizeof(cmd),
				    &resp.ibv_resp, sizeof(resp));
	if (ret)
		goto err_free;
	qp->qpn = resp.drv_payload.qpn;
	ohca_qp_replace(ctx, qp);
	qp->pd = to_opd(attr->pd);
	ohca_pd_get(qp->pd);
	return &qp->vqp.qp;

err_free:
	free(qp);
err:
	errno = ret;
	return NULL;
}
