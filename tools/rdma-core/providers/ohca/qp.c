// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ccan/array_size.h>
#include <util/util.h>

#include "ohca.h"
#include "ohca_abi.h"
#include "wq.h"

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

#define OHCA_OPS_SEND (1U << IBV_WR_SEND | 1U << IBV_WR_SEND_WITH_IMM)
#define OHCA_OPS_WRITE (1U << IBV_WR_RDMA_WRITE | 1U << IBV_WR_RDMA_WRITE_WITH_IMM)
#define OHCA_OPS_ATOMIC (1U << IBV_WR_ATOMIC_CMP_AND_SWP | 1U << IBV_WR_ATOMIC_FETCH_AND_ADD)
#define OHCA_OPS_LOCAL (1U << IBV_WR_LOCAL_INV | 1U << IBV_WR_BIND_MW)
#define OHCA_OPS_UC (OHCA_OPS_SEND | OHCA_OPS_WRITE | OHCA_OPS_LOCAL)
#define OHCA_OPS_XRC \
	(OHCA_OPS_UC | OHCA_OPS_ATOMIC | 1U << IBV_WR_SEND_WITH_INV | 1U << IBV_WR_RDMA_READ)
#define OHCA_OPS_RC (OHCA_OPS_XRC | 1U << IBV_WR_ATOMIC_WRITE | OHCA_OPS_FLUSH)

/**
 * struct ohca_qp_type - properties of a type of QP
 * @caps: OHCA_CAP_* that it needs
 * @kind: of its send queue
 * @no_rq: it never has a receive queue
 * @ops: bit n: enum ibv_wr_opcode n, if the device has it; 0: the type is not supported
 */
struct ohca_qp_type {
	uint64_t caps;
	enum ohca_sq_kind kind;
	bool no_rq;
	uint32_t ops;
};

static const struct ohca_qp_type ohca_qp_types[] = {
	[IBV_QPT_RC] = {0, OHCA_SQ_PLAIN, false, OHCA_OPS_RC},
	[IBV_QPT_UC] = {OHCA_CAP_UC, OHCA_SQ_PLAIN, false, OHCA_OPS_UC},
	[IBV_QPT_UD] = {OHCA_CAP_UD, OHCA_SQ_UD, false, OHCA_OPS_SEND},
	[IBV_QPT_RAW_PACKET] = {OHCA_CAP_RAW, OHCA_SQ_PLAIN, false, 1U << IBV_WR_SEND},
	[IBV_QPT_XRC_SEND] = {OHCA_CAP_XRC, OHCA_SQ_XRC, true, OHCA_OPS_XRC},
};

/* This type posts operations on tags, which are not work requests of a QP: see tm.c. */
static const struct ohca_qp_type ohca_qp_type_tm = {OHCA_CAP_TM, OHCA_SQ_PLAIN, true, 0};

static const struct {
	uint64_t cap;
	uint32_t ops;
} ohca_op_caps[] = {
	{OHCA_CAP_ATOMIC, OHCA_OPS_ATOMIC},
	{OHCA_CAP_ATOMIC_WRITE, 1U << IBV_WR_ATOMIC_WRITE},
	{OHCA_CAP_FLUSH, OHCA_OPS_FLUSH},
	{OHCA_CAP_MEM_MGT, 1U << IBV_WR_LOCAL_INV | 1U << IBV_WR_SEND_WITH_INV},
	{OHCA_CAP_MW, 1U << IBV_WR_BIND_MW},
};

/* The type of QP, or NULL if it is not supported */
static const struct ohca_qp_type *ohca_qp_type(struct ibv_context *ctx, enum ibv_qp_type type)
{
	if (type >= ARRAY_SIZE(ohca_qp_types) || !ohca_qp_types[type].ops ||
	    !ohca_has(ctx, ohca_qp_types[type].caps))
		return NULL;
	return &ohca_qp_types[type];
}

static uint32_t ohca_qp_ops(struct ibv_context *ctx, const struct ohca_qp_type *type)
{
	uint32_t ops = type->ops;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ohca_op_caps); i++)
		if (!ohca_has(ctx, ohca_op_caps[i].cap))
			ops &= ~ohca_op_caps[i].ops;
	return ops;
}

/* IBV_SEND_*: checksums are those of IP over InfiniBand. */
static uint32_t ohca_qp_send_flags(struct ibv_context *ctx, const struct ohca_qp_type *type)
{
	if (type->kind != OHCA_SQ_UD || !ohca_has(ctx, OHCA_CAP_UD_CSUM))
		return OHCA_SEND_FLAGS;
	return OHCA_SEND_FLAGS | IBV_SEND_IP_CSUM;
}

struct ohca_qp *ohca_alloc_qp(void)
{
	struct ohca_qp *qp;
	int ret;

	ret = posix_memalign((void **)&qp, OHCA_LINE, sizeof(*qp));
	if (ret) {
		errno = ret;
		return NULL;
	}
	memset(qp, 0, sizeof(*qp));
	return qp;
}

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
	ret = ibv_cmd_create_qp_ex2(&ctx->vctx.context, &qp->vqp, attr, &cmd.ibv_cmd, sizeof(cmd),
				    &resp.ibv_resp, sizeof(resp));
	if (!ret)
		qp->qpn = resp.drv_payload.qpn;
	return ret;
}

/* Remove an earlier QP with this number from the table, whose mutex the caller holds. */
static void ohca_remove_last_qp(struct ohca_context *ctx, uint32_t qpn)
{
	struct ohca_qp *last;

	while ((last = ohca_table_find(&ctx->qps, qpn))) {
		if (ohca_cqs_trylock(last)) {
			ohca_cqs_purge(last);
			ohca_table_del(&ctx->qps, qpn);
			ohca_cqs_unlock(last);
			break;
		}
		pthread_mutex_unlock(&ctx->qps.mutex);
		sched_yield();
		pthread_mutex_lock(&ctx->qps.mutex);
	}
}

int ohca_qp_insert(struct ohca_context *ctx, struct ohca_qp *qp)
{
	ohca_remove_last_qp(ctx, qp->qpn);
	return ohca_table_add(&ctx->qps, qp->qpn, qp);
}

void ohca_qp_replace(struct ohca_context *ctx, struct ohca_qp *qp)
{
	pthread_mutex_lock(&ctx->qps.mutex);
	ohca_remove_last_qp(ctx, qp->qpn);
	pthread_mutex_unlock(&ctx->qps.mutex);
}

void ohca_qp_remove(struct ohca_context *ctx, struct ohca_qp *qp)
{
	ohca_cqs_lock(qp);
	pthread_mutex_lock(&ctx->qps.mutex);
	if (ohca_table_find(&ctx->qps, qp->qpn) == qp) {
		ohca_cqs_purge(qp);
		ohca_table_del(&ctx->qps, qp->qpn);
	}
	pthread_mutex_unlock(&ctx->qps.mutex);
	ohca_cqs_unlock(qp);
}

/* Create the QP in the kernel, add it to the table, and allocate its slot of the shadow page. */
static int ohca_add_qp(struct ohca_context *ctx, struct ibv_qp_init_attr_ex *attr,
		       const struct ohca_qp_geometry *geo, struct ohca_qp *qp)
{
	int ret;

	pthread_mutex_lock(&ctx->qps.mutex);
	qp->slot = ohca_slot_get(&ctx->slots);
	ret = ohca_cmd_create_qp(ctx, attr, geo, qp);
	if (ret)
		goto err_slot;
	ret = ohca_qp_insert(ctx, qp);
	if (ret)
		goto err_destroy;
	pthread_mutex_unlock(&ctx->qps.mutex);
	return 0;

err_destroy:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
err_slot:
	ohca_slot_put(&ctx->slots, qp->slot);
	pthread_mutex_unlock(&ctx->qps.mutex);
	return ret;
}

/* Whether the SRQ has tags; then the device has the QP's send queue */
static bool ohca_qp_has_tags(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->srq && to_osrq(attr->srq)->vsrq.srq_type == IBV_SRQT_TM;
}

/* Whether the SRQ of a new QP, if it has one, is valid for its type */
static bool ohca_srq_fits(const struct ohca_qp_type *type, const struct ibv_qp_init_attr_ex *attr)
{
	if (!attr->srq)
		return true;
	if (ohca_qp_has_tags(attr))
		return attr->qp_type == IBV_QPT_RC && !attr->cap.max_send_wr &&
		       (!(attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) ||
			!attr->send_ops_flags);
	return !type->no_rq && to_osrq(attr->srq)->vsrq.srq_type == IBV_SRQT_BASIC;
}

static int ohca_check_qp_attr(struct ibv_context *ctx, const struct ohca_qp_type *type,
			      const struct ibv_qp_init_attr_ex *attr)
{
	uint32_t flags = 0;

	if (!type ||
	    !check_comp_mask(attr->comp_mask, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
						      IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return EOPNOTSUPP;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	    attr->send_ops_flags & ~ohca_send_ops_flags(ohca_qp_ops(ctx, type)))
		return EOPNOTSUPP;
	if (attr->qp_type == IBV_QPT_UD && ohca_has(ctx, OHCA_CAP_MCAST))
		flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && attr->create_flags & ~flags)
		return EOPNOTSUPP;
	if (!ohca_srq_fits(type, attr))
		return EINVAL;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->send_cq ||
	    (!attr->recv_cq && !type->no_rq))
		return EINVAL;
	return 0;
}

/* Initialize the queues in the QP's buffer. */
static void ohca_init_queues(struct ohca_qp *qp, const struct ohca_qp_geometry *geo,
			     const struct ohca_qp_type *type, bool no_rq, bool unlocked)
{
	ohca_wq_init(&qp->sq, qp->buf.addr + geo->sq_offset, qp->buf.addr + geo->sq_rec_offset,
		     geo->sq_log_size, geo->sq_log_stride, unlocked);
	qp->sq.kind = type->kind;
	if (type->kind == OHCA_SQ_UD)
		qp->sq.flags |= OHCA_WQE_EXT;
	qp->sq.max_sge = qp->cap.max_send_sge;
	qp->sq.max_inline = qp->cap.max_inline_data;
	if (no_rq)
		return;
	ohca_wq_init(&qp->rq, qp->buf.addr + geo->rq_offset, qp->buf.addr + geo->rq_rec_offset,
		     geo->rq_log_size, geo->rq_log_stride, unlocked);
	qp->rq.max_sge = qp->cap.max_recv_sge;
}

/* Create a QP with queues; @attr was checked. */
static struct ibv_qp *ohca_create_local_qp(struct ohca_context *ctx,
					   const struct ohca_qp_type *type,
					   struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp_init_attr_ex cmd_attr = *attr;
	bool no_rq = type->no_rq || attr->srq;
	struct ohca_qp_geometry geo;
	struct ohca_qp_cap cap;
	struct ohca_qp *qp;
	int ret;

	memcpy(&cap, &attr->cap, sizeof(cap));
	ret = ohca_qp_geometry(&ctx->limits,
			       (type->kind == OHCA_SQ_UD ? OHCA_GEO_EXT : 0) |
				       (no_rq ? OHCA_GEO_NO_RQ : 0),
			       &cap, &geo);
	if (ret)
		goto err;
	qp = ohca_alloc_qp();
	if (!qp)
		return NULL;
	qp->pd = to_opd(attr->pd);
	ret = ohca_buf_alloc(&qp->buf, geo.size, qp->pd, OHCA_RES_QP);
	if (ret)
		goto err_free;
	qp->cap = cap;
	ohca_init_queues(qp, &geo, type, no_rq, ctx->unlocked || qp->pd->td);
	/* struct ibv_send_wr has no fields for a flush. */
	qp->sq.ops = ohca_qp_ops(&ctx->vctx.context, type) & ~OHCA_OPS_FLUSH;
	qp->sq.send_flags = ohca_qp_send_flags(&ctx->vctx.context, type);
	if (attr->sq_sig_all)
		qp->sq.flags |= OHCA_WQE_SIGNALED;

	if (attr->qp_type == IBV_QPT_XRC_SEND)
		cmd_attr.recv_cq = NULL;
	memcpy(&cmd_attr.cap, &cap, sizeof(cap));
	ret = ohca_add_qp(ctx, &cmd_attr, &geo, qp);
	if (ret)
		goto err_buf;
	ohca_pd_get(qp->pd);
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		ohca_qp_fill_ops(qp, attr->send_ops_flags);
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

/* Create an XRC target: its state is in the kernel, whose driver does not know its owner. */
static struct ibv_qp *ohca_create_xrc_tgt(struct ohca_context *ctx,
					  struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp_init_attr_ex cmd_attr = *attr;
	struct ib_uverbs_ex_create_qp_resp resp = {};
	struct ibv_create_qp_ex cmd = {};
	struct ohca_qp *qp;
	int ret;

	if (!ohca_has(&ctx->vctx.context, OHCA_CAP_XRC) ||
	    !check_comp_mask(attr->comp_mask, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_XRCD)) {
		errno = EINVAL;
		return NULL;
	}
	qp = ohca_alloc_qp();
	if (!qp)
		return NULL;
	cmd_attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
	cmd_attr.pd = NULL;
	cmd_attr.send_cq = NULL;
	cmd_attr.recv_cq = NULL;
	cmd_attr.srq = NULL;
	memset(&cmd_attr.cap, 0, sizeof(cmd_attr.cap));
	ret = ibv_cmd_create_qp_ex2(&ctx->vctx.context, &qp->vqp, &cmd_attr, &cmd, sizeof(cmd),
				    &resp, sizeof(resp));
	if (ret) {
		free(qp);
		errno = ret;
		return NULL;
	}
	qp->qpn = qp->vqp.qp.qp_num;
	ohca_qp_replace(ctx, qp);
	/* The kernel has no PD for it, but librdmacm creates SRQs in the QP's. */
	if (attr->comp_mask & IBV_QP_INIT_ATTR_PD)
		qp->vqp.qp.pd = attr->pd;
	attr->cap = cmd_attr.cap;
	return &qp->vqp.qp;
}

/* Create a QP whose SRQ has tags: the device has its send queue.  @attr was checked. */
static struct ibv_qp *ohca_create_tagged_qp(struct ohca_context *ctx,
					    struct ibv_qp_init_attr_ex *attr)
{
	static const struct ohca_qp_geometry none;
	struct ibv_qp_init_attr_ex cmd_attr = *attr;
	struct ohca_qp *qp;
	int ret;

	qp = ohca_alloc_qp();
	if (!qp)
		return NULL;
	memset(&cmd_attr.cap, 0, sizeof(cmd_attr.cap));
	cmd_attr.comp_mask &= ~IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	ret = ohca_cmd_create_qp(ctx, &cmd_attr, &none, qp);
	if (ret) {
		free(qp);
		errno = ret;
		return NULL;
	}
	ohca_qp_replace(ctx, qp);
	qp->pd = to_opd(attr->pd);
	ohca_pd_get(qp->pd);
	atomic_fetch_add(&to_osrq(attr->srq)->tagged, 1);
	memset(&attr->cap, 0, sizeof(attr->cap));
	return &qp->vqp.qp;
}

struct ibv_qp *ohca_create_qp_ex(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr)
{
	const struct ohca_qp_type *type;
	int ret;

	if (attr->qp_type == IBV_QPT_XRC_RECV)
		return ohca_create_xrc_tgt(to_octx(ctx), attr);
	if (attr->comp_mask & IBV_QP_INIT_ATTR_IND_TABLE)
		return ohca_create_rss(to_octx(ctx), attr);
	type = ohca_qp_type(ctx, attr->qp_type);
	ret = ohca_check_qp_attr(ctx, type, attr);
	if (ret) {
		errno = ret;
		return NULL;
	}
	if (ohca_qp_has_tags(attr))
		return ohca_create_tagged_qp(to_octx(ctx), attr);
	return ohca_create_local_qp(to_octx(ctx), type, attr);
}

struct ibv_qp *ohca_create_tm_qp(struct ibv_srq *srq, struct ibv_cq *cq, uint32_t *max_ops)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = {.max_send_wr = *max_ops, .max_send_sge = OHCA_TM_MAX_SGE},
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = srq->pd,
	};
	struct ibv_qp *qp;

	qp = ohca_create_local_qp(to_octx(srq->context), &ohca_qp_type_tm, &attr);
	if (!qp)
		return NULL;
	*max_ops = attr.cap.max_send_wr;
	/* Whoever polls the CQ changes the list of tags, too: a domain of the SRQ's says nothing of it. */
	ohca_lock_init(&to_oqp(qp)->sq.lock, false);
	ohca_wq_set_ready(&to_oqp(qp)->sq, true);
	return qp;
}

struct ibv_qp *ohca_open_qp(struct ibv_context *ctx, struct ibv_qp_open_attr *attr)
{
	struct ib_uverbs_create_qp_resp resp;
	struct ibv_open_qp cmd;
	struct ohca_qp *qp;
	int ret;

	if (!ohca_has(ctx, OHCA_CAP_XRC)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	qp = ohca_alloc_qp();
	if (!qp)
		return NULL;
	ret = ibv_cmd_open_qp(ctx, &qp->vqp, sizeof(qp->vqp), attr, &cmd, sizeof(cmd), &resp,
			      sizeof(resp));
	if (ret) {
		free(qp);
		errno = ret;
		return NULL;
	}
	qp->qpn = attr->qp_num;
	ohca_qp_replace(to_octx(ctx), qp);
	return &qp->vqp.qp;
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
	struct ohca_qp *qp = to_oqp(ibqp);
	struct ibv_modify_qp cmd = {};
	int ret;

	ret = ibv_cmd_modify_qp(ibqp, attr, mask, &cmd, sizeof(cmd));
	if (ret || !(mask & IBV_QP_STATE))
		return ret;

	if (attr->qp_state == IBV_QPS_RESET) {
		ohca_cqs_lock(qp);
		ohca_cqs_purge(qp);
		ohca_wq_reset(&qp->sq);
		ohca_wq_reset(&qp->rq);
		ohca_cqs_unlock(qp);
		if (ibqp->srq)
			ohca_srq_sync(to_osrq(ibqp->srq));
	} else {
		ohca_wq_set_ready(&qp->sq, attr->qp_state >= IBV_QPS_RTS);
		ohca_wq_set_ready(&qp->rq, true);
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
	struct ohca_qp *qp = to_oqp(ibqp);
	int ret;

	/* Without the mutex: it waits until other threads have acknowledged all events of the QP. */
	ret = ibv_cmd_destroy_qp(ibqp);
	if (ret)
		return ret;
	if (qp->buf.addr) {
		ohca_qp_remove(ctx, qp);
		pthread_mutex_lock(&ctx->qps.mutex);
		ohca_slot_put(&ctx->slots, qp->slot);
		pthread_mutex_unlock(&ctx->qps.mutex);
	}

	if (ibqp->srq) {
		ohca_srq_sync(to_osrq(ibqp->srq));
		if (!qp->buf.addr)
			atomic_fetch_sub(&to_osrq(ibqp->srq)->tagged, 1);
	}
	if (qp->buf.addr)
		ohca_buf_free(&qp->buf);
	if (qp->pd)
		ohca_pd_put(qp->pd);
	free(qp);
	return 0;
}
