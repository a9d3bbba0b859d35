// SPDX-License-Identifier: GPL-2.0
/*
 * The mock kernel and device: see mock.h.  The ibv_cmd_*() functions stand in for those of
 * libibverbs.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mock.h"

struct mock_qp mock_qps[MOCK_QPS];
int mock_fail;
uint8_t mock_uar[OHCA_UAR_SIZE] __attribute__((aligned(OHCA_UAR_SIZE)));
struct ohca_shadow mock_shadow __attribute__((aligned(OHCA_UAR_SIZE)));

static int fail(void)
{
	int ret = mock_fail;

	mock_fail = 0;
	return ret;
}

struct ibv_context *mock_open(void)
{
	struct ohca_context *ctx = calloc(1, sizeof(*ctx));

	memset(mock_uar, 0, sizeof(mock_uar));
	memset(&mock_shadow, 0, sizeof(mock_shadow));
	memset(mock_qps, 0, sizeof(mock_qps));
	ctx->uar = mock_uar;
	ctx->shadow = &mock_shadow;
	ctx->limits = (struct ohca_limits){
		.max_inline = OHCA_MAX_INLINE,
		.max_send_sge = OHCA_MAX_SGE,
		.max_recv_sge = OHCA_MAX_SGE,
		.max_qp_wr = 4096,
		.max_cqe = 1 << 16,
	};
	ohca_qp_table_init(&ctx->qps);
	return &ctx->vctx.context;
}

void mock_close(struct ibv_context *ibctx)
{
	struct ohca_context *ctx = to_octx(ibctx);

	ohca_qp_table_free(&ctx->qps);
	free(ctx);
}

int ibv_dontfork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return 0;
}

int ibv_dofork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return 0;
}

int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd, struct ibv_alloc_pd *cmd,
		     size_t cmd_size, struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size)
{
	(void)cmd;
	(void)cmd_size;
	(void)resp;
	(void)resp_size;
	pd->context = context;
	return fail();
}

int ibv_cmd_dealloc_pd(struct ibv_pd *pd)
{
	(void)pd;
	return fail();
}

int ibv_cmd_create_cq_ex(struct ibv_context *context, const struct ibv_cq_init_attr_ex *cq_attr,
			 struct verbs_cq *cq, struct ibv_create_cq_ex *cmd, size_t cmd_size,
			 struct ib_uverbs_ex_create_cq_resp *resp, size_t resp_size,
			 uint32_t cmd_flags)
{
	struct ohca_cmd_create_cq *drv = container_of(cmd, struct ohca_cmd_create_cq, ibv_cmd);
	struct mock_cq *mock;

	(void)resp;
	(void)cmd_flags;
	if (mock_fail)
		return fail();
	if (cmd_size != sizeof(*drv) || resp_size != sizeof(struct ohca_cmd_create_cq_resp) ||
	    cq_attr->cqe > 1U << drv->log_size)
		return EINVAL;
	mock = calloc(1, sizeof(*mock));
	mock->req = drv->drv_payload;
	cq->cq.context = context;
	cq->cq.cqe = cq_attr->cqe;
	cq->cq.cq_context = mock;
	return 0;
}

int ibv_cmd_destroy_cq(struct ibv_cq *cq)
{
	if (mock_fail)
		return fail();
	free(cq->cq_context);
	return 0;
}

int ibv_cmd_create_qp_ex(struct ibv_context *context, struct verbs_qp *qp,
			 struct ibv_qp_init_attr_ex *attr_ex, struct ibv_create_qp *cmd,
			 size_t cmd_size, struct ib_uverbs_create_qp_resp *resp, size_t resp_size)
{
	struct ohca_cmd_create_qp *drv = container_of(cmd, struct ohca_cmd_create_qp, ibv_cmd);
	struct ohca_cmd_create_qp_resp *drv_resp =
		container_of(resp, struct ohca_cmd_create_qp_resp, ibv_resp);
	struct mock_qp *mock = mock_qps;
	uint32_t qpn;

	if (mock_fail)
		return fail();
	if (cmd_size != sizeof(*drv) || resp_size != sizeof(*drv_resp))
		return EINVAL;
	while (mock->used)
		mock++;
	/* Numbers that meet in a leaf of the table, and numbers that do not. */
	qpn = (mock - mock_qps) % 2 ? 0xfffff0 + (mock - mock_qps) : 1 + (mock - mock_qps) * 1000;
	*mock = (struct mock_qp){
		.req = drv->drv_payload,
		.used = true,
		.sig_all = attr_ex->sq_sig_all,
		.qpn = qpn,
		.send_cq = attr_ex->send_cq->cq_context,
		.recv_cq = attr_ex->recv_cq->cq_context,
	};
	drv_resp->drv_payload.qpn = qpn;
	qp->qp.context = context;
	qp->qp.qp_num = qpn;
	qp->qp.pd = attr_ex->pd;
	qp->qp.send_cq = attr_ex->send_cq;
	qp->qp.recv_cq = attr_ex->recv_cq;
	return 0;
}

int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		      struct ibv_modify_qp *cmd, size_t cmd_size)
{
	struct mock_qp *mock = mock_find_qp(qp->qp_num);

	(void)cmd;
	(void)cmd_size;
	if (mock_fail)
		return fail();
	if (attr_mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		mock->sq_ci = mock->rq_ci = 0;
	return 0;
}

int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		     struct ibv_qp_init_attr *init_attr, struct ibv_query_qp *cmd, size_t cmd_size)
{
	(void)qp;
	(void)attr_mask;
	(void)cmd;
	(void)cmd_size;
	memset(attr, 0, sizeof(*attr));
	memset(init_attr, 0, sizeof(*init_attr));
	return fail();
}

int ibv_cmd_destroy_qp(struct ibv_qp *qp)
{
	if (mock_fail)
		return fail();
	mock_find_qp(qp->qp_num)->used = false;
	return 0;
}

struct mock_qp *mock_find_qp(uint32_t qpn)
{
	struct mock_qp *qp = mock_qps;

	while (!qp->used || qp->qpn != qpn)
		qp++;
	return qp;
}

static void *at(uint64_t addr, uint32_t offset)
{
	return (uint8_t *)(uintptr_t)addr + offset;
}

static uint32_t load(const __le32 *field)
{
	return le32toh(atomic_load_explicit((_Atomic(uint32_t) *)field, memory_order_acquire));
}

struct ohca_sq_wqe *mock_sq_wqe(const struct mock_qp *qp, uint32_t idx)
{
	idx &= (1U << qp->req.sq_log_size) - 1;
	return at(qp->req.buf_addr, qp->req.sq_offset + (idx << qp->req.sq_log_stride));
}

struct ohca_rq_wqe *mock_rq_wqe(const struct mock_qp *qp, uint32_t idx)
{
	idx &= (1U << qp->req.rq_log_size) - 1;
	return at(qp->req.buf_addr, qp->req.rq_offset + (idx << qp->req.rq_log_stride));
}

uint32_t mock_sq_pi(const struct mock_qp *qp)
{
	struct ohca_wq_rec *rec = at(qp->req.buf_addr, qp->req.sq_rec_offset);

	return load(&rec->pi);
}

uint32_t mock_rq_pi(const struct mock_qp *qp)
{
	struct ohca_wq_rec *rec = at(qp->req.buf_addr, qp->req.rq_rec_offset);

	return load(&rec->pi);
}

const struct ohca_cq_rec *mock_cq_rec(const struct mock_cq *cq)
{
	return at(cq->req.buf_addr, cq->req.rec_offset);
}

bool mock_cq_room(const struct mock_cq *cq)
{
	return cq->pi - load(&mock_cq_rec(cq)->ci) < 1U << cq->req.log_size;
}

void mock_complete(struct mock_cq *cq, const struct mock_qp *qp, uint64_t wr_id,
		   const struct ohca_cqe *cqe)
{
	uint32_t mask = (1U << cq->req.log_size) - 1;
	struct ohca_cqe *dst = at(cq->req.buf_addr, (cq->pi & mask) * sizeof(*dst));

	memcpy(dst, cqe, offsetof(struct ohca_cqe, owner));
	dst->wr_id = htole64(wr_id);
	dst->qpn = htole32(qp->qpn);
	atomic_store_explicit((_Atomic(uint8_t) *)&dst->owner, ~(cq->pi >> cq->req.log_size) & 1,
			      memory_order_release);
	cq->pi++;
}

bool mock_do_send(struct mock_qp *qp)
{
	struct ohca_sq_wqe *wqe = mock_sq_wqe(qp, qp->sq_ci);
	struct ohca_cqe cqe = {};

	if (qp->sq_ci == mock_sq_pi(qp) || !mock_cq_room(qp->send_cq))
		return false;
	cqe.opcode = wqe->opcode;
	cqe.wqe_idx = htole32(qp->sq_ci++);
	if (wqe->flags & OHCA_WQE_SIGNALED || qp->sig_all)
		mock_complete(qp->send_cq, qp, le64toh(wqe->wr_id), &cqe);
	return true;
}

bool mock_do_recv(struct mock_qp *qp, uint32_t len)
{
	struct ohca_rq_wqe *wqe = mock_rq_wqe(qp, qp->rq_ci);
	struct ohca_cqe cqe = {.opcode = OHCA_CQE_RECV, .flags = OHCA_CQE_F_RQ};

	if (qp->rq_ci == mock_rq_pi(qp) || !mock_cq_room(qp->recv_cq))
		return false;
	cqe.byte_len = htole32(len);
	cqe.wqe_idx = htole32(qp->rq_ci++);
	mock_complete(qp->recv_cq, qp, le64toh(wqe->wr_id), &cqe);
	return true;
}
