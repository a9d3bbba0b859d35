// SPDX-License-Identifier: GPL-2.0
/*
 * The mock kernel and device: see mock.h.  The ibv_cmd_*() functions replace those of libibverbs.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/cmd_ioctl.h>

#include "mock.h"

struct mock_qp mock_qps[MOCK_QPS];
struct mock_srq mock_srqs[MOCK_SRQS];
struct ohca_av mock_av;
uint32_t mock_create_flags;
int mock_fail;
uint8_t mock_uar[OHCA_UAR_SIZE] __attribute__((aligned(OHCA_UAR_SIZE)));
void (*mock_wait_acks)(void *arg);
void *mock_wait_arg;
struct ohca_shadow mock_shadow __attribute__((aligned(OHCA_UAR_SIZE)));

static struct ohca_cqe *mock_cqe(const struct mock_cq *cq, uint32_t idx);
static void mock_write_cqe(struct mock_cq *cq, const struct ohca_cqe *cqe);

static int fail(void)
{
	int ret = mock_fail;

	mock_fail = 0;
	return ret;
}

static void wait_acks(void)
{
	void (*call)(void *arg) = mock_wait_acks;

	mock_wait_acks = NULL;
	if (call)
		call(mock_wait_arg);
}

struct ibv_context *mock_open(void)
{
	struct ohca_context *ctx = calloc(1, sizeof(*ctx));

	memset(mock_uar, 0, sizeof(mock_uar));
	memset(&mock_shadow, 0, sizeof(mock_shadow));
	memset(mock_qps, 0, sizeof(mock_qps));
	memset(mock_srqs, 0, sizeof(mock_srqs));
	ctx->uar = mock_uar;
	ctx->shadow = &mock_shadow;
	ctx->caps = UINT64_MAX;
	ctx->limits = (struct ohca_limits){
		.max_inline = OHCA_MAX_INLINE,
		.max_send_sge = OHCA_MAX_SGE,
		.max_recv_sge = OHCA_MAX_SGE,
		.max_qp_wr = 4096,
		.max_cqe = 1 << 16,
		.max_srq_wr = 2048,
	};
	ohca_table_init(&ctx->qps);
	ohca_table_init(&ctx->srqs);
	return &ctx->vctx.context;
}

void mock_close(struct ibv_context *ibctx)
{
	struct ohca_context *ctx = to_octx(ibctx);

	ohca_table_free(&ctx->qps);
	ohca_table_free(&ctx->srqs);
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
	(void)resp_size;
	container_of(resp, struct ohca_cmd_alloc_pd_resp, ibv_resp)->comp_mask = MOCK_NEW_BIT;
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

	(void)cmd_flags;
	if (mock_fail)
		return fail();
	if (cmd_size != sizeof(*drv) || resp_size != sizeof(struct ohca_cmd_create_cq_resp) ||
	    cq_attr->cqe > 1U << drv->log_size)
		return EINVAL;
	container_of(resp, struct ohca_cmd_create_cq_resp, ibv_resp)->drv_payload.comp_mask =
		MOCK_NEW_BIT;
	mock = calloc(1, sizeof(*mock));
	mock->req = drv->drv_payload;
	if (cq_attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS)
		mock->flags = cq_attr->flags;
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

int ibv_cmd_create_qp_ex2(struct ibv_context *context, struct verbs_qp *qp,
			  struct ibv_qp_init_attr_ex *attr_ex, struct ibv_create_qp_ex *cmd,
			  size_t cmd_size, struct ib_uverbs_ex_create_qp_resp *resp,
			  size_t resp_size)
{
	struct ohca_cmd_create_qp *drv = container_of(cmd, struct ohca_cmd_create_qp, ibv_cmd);
	struct ohca_cmd_create_qp_resp *drv_resp =
		container_of(resp, struct ohca_cmd_create_qp_resp, ibv_resp);
	struct mock_qp *mock = mock_qps;
	uint32_t qpn;

	if (mock_fail)
		return fail();
	/* The driver does not know the user of a target. */
	if (attr_ex->qp_type == IBV_QPT_XRC_RECV
		    ? cmd_size != sizeof(*cmd) || resp_size != sizeof(*resp)
		    : cmd_size != sizeof(*drv) || resp_size != sizeof(*drv_resp))
		return EINVAL;
	while (mock->used)
		mock++;
	/* Numbers in the same leaf of the table, and in different ones. */
	qpn = (mock - mock_qps) % 2 ? 0xfffff0 + (mock - mock_qps) : 1 + (mock - mock_qps) * 1000;
	*mock = (struct mock_qp){
		.used = true,
		.sig_all = attr_ex->sq_sig_all,
		.qpn = qpn,
		.send_cq = attr_ex->send_cq ? attr_ex->send_cq->cq_context : NULL,
		.recv_cq = attr_ex->recv_cq ? attr_ex->recv_cq->cq_context : NULL,
		.srq = attr_ex->srq ? mock_find_srq(to_osrq(attr_ex->srq)->srqn) : NULL,
	};
	mock_create_flags = 0;
	if (attr_ex->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS)
		mock_create_flags = attr_ex->create_flags;
	if (attr_ex->qp_type != IBV_QPT_XRC_RECV) {
		mock->req = drv->drv_payload;
		drv_resp->drv_payload.qpn = qpn;
		drv_resp->drv_payload.comp_mask = MOCK_NEW_BIT;
	}
	qp->comp_mask = 0;
	qp->qp.context = context;
	qp->qp.qp_num = qpn;
	qp->qp.qp_type = attr_ex->qp_type;
	qp->qp.pd = attr_ex->pd;
	qp->qp.send_cq = attr_ex->send_cq;
	qp->qp.recv_cq = attr_ex->recv_cq;
	qp->qp.srq = attr_ex->srq;
	return 0;
}

int ibv_cmd_open_qp(struct ibv_context *context, struct verbs_qp *qp, int vqp_sz,
		    struct ibv_qp_open_attr *attr, struct ibv_open_qp *cmd, size_t cmd_size,
		    struct ib_uverbs_create_qp_resp *resp, size_t resp_size)
{
	(void)vqp_sz;
	(void)cmd;
	(void)cmd_size;
	(void)resp;
	(void)resp_size;
	if (mock_fail)
		return fail();
	qp->qp.context = context;
	qp->qp.qp_num = attr->qp_num;
	qp->qp.qp_type = attr->qp_type;
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
	wait_acks();
	return 0;
}

int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah, struct ibv_ah_attr *attr,
		      struct ib_uverbs_create_ah_resp *resp, size_t resp_size)
{
	struct ohca_cmd_create_ah_resp *drv =
		container_of(resp, struct ohca_cmd_create_ah_resp, ibv_resp);

	(void)attr;
	if (mock_fail)
		return fail();
	if (resp_size != sizeof(*drv))
		return EINVAL;
	drv->drv_payload.comp_mask = MOCK_NEW_BIT;
	memcpy(drv->drv_payload.av, &mock_av, sizeof(mock_av));
	ah->context = pd->context;
	return 0;
}

int ibv_cmd_destroy_ah(struct ibv_ah *ah)
{
	(void)ah;
	return fail();
}

int ibv_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type, struct ibv_mw *mw,
		     struct ibv_alloc_mw *cmd, size_t cmd_size,
		     struct ib_uverbs_alloc_mw_resp *resp, size_t resp_size)
{
	(void)cmd;
	(void)cmd_size;
	(void)resp;
	(void)resp_size;
	mw->context = pd->context;
	mw->pd = pd;
	mw->type = type;
	mw->rkey = 0xab12ff;
	return fail();
}

int ibv_cmd_dealloc_mw(struct ibv_mw *mw)
{
	(void)mw;
	return fail();
}

/* The mock has no receive work queues. */

int ibv_cmd_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr, struct ibv_wq *wq,
		      struct ibv_create_wq *cmd, size_t cmd_size,
		      struct ib_uverbs_ex_create_wq_resp *resp, size_t resp_size)
{
	return EOPNOTSUPP;
}

int ibv_cmd_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr, struct ibv_modify_wq *cmd,
		      size_t cmd_size)
{
	return EOPNOTSUPP;
}

int ibv_cmd_destroy_wq(struct ibv_wq *wq)
{
	return EOPNOTSUPP;
}

int ibv_cmd_create_rwq_ind_table(struct ibv_context *context,
				 struct ibv_rwq_ind_table_init_attr *attr,
				 struct ibv_rwq_ind_table *table,
				 struct ib_uverbs_ex_create_rwq_ind_table_resp *resp,
				 size_t resp_size)
{
	return EOPNOTSUPP;
}

int ibv_cmd_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table)
{
	return EOPNOTSUPP;
}

int ibv_cmd_create_srq_ex(struct ibv_context *context, struct verbs_srq *srq,
			  struct ibv_srq_init_attr_ex *attr_ex, struct ibv_create_xsrq *cmd,
			  size_t cmd_size, struct ib_uverbs_create_srq_resp *resp, size_t resp_size)
{
	struct ohca_cmd_create_srq *drv = container_of(cmd, struct ohca_cmd_create_srq, ibv_cmd);
	struct ohca_cmd_create_srq_resp *drv_resp =
		container_of(resp, struct ohca_cmd_create_srq_resp, ibv_resp);
	struct mock_srq *mock = mock_srqs;

	if (mock_fail)
		return fail();
	if (cmd_size != sizeof(*drv) || resp_size != sizeof(*drv_resp) ||
	    attr_ex->attr.max_wr > 1U << drv->log_size)
		return EINVAL;
	while (mock->used)
		mock++;
	*mock = (struct mock_srq){
		.req = drv->drv_payload,
		.used = true,
		.srqn = 0x100 + (mock - mock_srqs),
		.limit = attr_ex->attr.srq_limit,
	};
	srq->srq.context = context;
	srq->srq.handle = mock->srqn;
	if (attr_ex->comp_mask & IBV_SRQ_INIT_ATTR_TYPE)
		srq->srq_type = attr_ex->srq_type;
	if (attr_ex->comp_mask & IBV_SRQ_INIT_ATTR_CQ) {
		srq->cq = attr_ex->cq;
		mock->cq = attr_ex->cq->cq_context;
	}
	drv_resp->drv_payload.srqn = mock->srqn;
	drv_resp->drv_payload.comp_mask = MOCK_NEW_BIT;
	return 0;
}

int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, int srq_attr_mask,
		       struct ibv_modify_srq *cmd, size_t cmd_size)
{
	struct ohca_cmd_modify_srq *drv = container_of(cmd, struct ohca_cmd_modify_srq, ibv_cmd);
	static const struct ohca_modify_srq_req none;
	struct mock_srq *mock = mock_find_srq(to_osrq(srq)->srqn);
	struct mock_srq old = *mock;
	uint32_t i;

	if (mock_fail)
		return fail();
	if (cmd_size != sizeof(*drv))
		return EINVAL;
	if (srq_attr_mask & IBV_SRQ_LIMIT)
		mock->limit = srq_attr->srq_limit;
	if (!(srq_attr_mask & IBV_SRQ_MAX_WR))
		return memcmp(&drv->drv_payload, &none, sizeof(none)) ? EINVAL : 0;
	if (mock_srq_pi(mock) - mock->taken > 1U << drv->log_size)
		return EINVAL;
	mock->req.buf_addr = drv->buf_addr;
	mock->req.buf_size = drv->buf_size;
	mock->req.ring_offset = drv->ring_offset;
	mock->req.rec_offset = drv->rec_offset;
	mock->req.log_size = drv->log_size;
	for (i = mock->taken; i != mock_srq_pi(&old); i++)
		memcpy(mock_srq_wqe(mock, i), mock_srq_wqe(&old, i), 1U << old.req.log_stride);
	return mock_srq_pi(mock) == mock_srq_pi(&old) ? 0 : EINVAL;
}

int ibv_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, struct ibv_query_srq *cmd,
		      size_t cmd_size)
{
	(void)cmd;
	(void)cmd_size;
	srq_attr->srq_limit = mock_find_srq(to_osrq(srq)->srqn)->limit;
	return fail();
}

int ibv_cmd_destroy_srq(struct ibv_srq *srq)
{
	if (mock_fail)
		return fail();
	mock_find_srq(to_osrq(srq)->srqn)->used = false;
	wait_acks();
	return 0;
}

int execute_ioctl(struct ibv_context *context, struct ibv_command_buffer *cmd)
{
	struct ib_uverbs_attr *in = &cmd->hdr.attrs[0], *out = &cmd->hdr.attrs[1];

	(void)context;
	if (mock_fail)
		return fail();
	if (cmd->hdr.object_id != UVERBS_OBJECT_SRQ ||
	    cmd->hdr.method_id != OHCA_METHOD_SRQ_QUERY ||
	    in->attr_id != OHCA_ATTR_QUERY_SRQ_HANDLE ||
	    out->attr_id != OHCA_ATTR_QUERY_SRQ_RESP_TAKEN || out->len != sizeof(uint32_t))
		return EINVAL;
	*(uint32_t *)(uintptr_t)out->data = mock_find_srq(in->data)->taken;
	return 0;
}

int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd, size_t cmd_size,
		      struct ib_uverbs_resize_cq_resp *resp, size_t resp_size)
{
	struct ohca_cmd_resize_cq *drv = container_of(cmd, struct ohca_cmd_resize_cq, ibv_cmd);
	struct mock_cq *mock = cq->cq_context;
	struct mock_cq old = *mock;
	uint32_t ci = le32toh(mock_cq_rec(mock)->ci), i;

	if (mock_fail)
		return fail();
	if (cmd_size != sizeof(*drv) || resp_size != sizeof(*resp) || cqe > 1 << drv->log_size ||
	    mock->pi - ci > (uint32_t)cqe)
		return EINVAL;
	mock->req.buf_addr = drv->buf_addr;
	mock->req.rec_offset = drv->rec_offset;
	mock->req.log_size = drv->log_size;
	if (memcmp(mock_cq_rec(&old), mock_cq_rec(mock), sizeof(struct ohca_cq_rec)))
		return EINVAL;
	/* None of the new entries is valid, wherever the index is. */
	for (i = 0; i < 1U << drv->log_size; i++)
		mock_cqe(mock, ci + i)->owner = (ci + i) >> drv->log_size & 1;
	for (mock->pi = ci; mock->pi != old.pi;)
		mock_write_cqe(mock, mock_cqe(&old, mock->pi));
	cq->cqe = cqe;
	return 0;
}

int ibv_cmd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr, struct ibv_modify_cq *cmd,
		      size_t cmd_size)
{
	(void)cq;
	(void)attr;
	(void)cmd;
	(void)cmd_size;
	return fail();
}

struct mock_qp *mock_find_qp(uint32_t qpn)
{
	struct mock_qp *qp = mock_qps;

	while (!qp->used || qp->qpn != qpn)
		qp++;
	return qp;
}

struct mock_srq *mock_find_srq(uint32_t srqn)
{
	struct mock_srq *srq = mock_srqs;

	while (!srq->used || srq->srqn != srqn)
		srq++;
	return srq;
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

struct ohca_rq_wqe *mock_srq_wqe(const struct mock_srq *srq, uint32_t idx)
{
	idx &= (1U << srq->req.log_size) - 1;
	return at(srq->req.buf_addr, srq->req.ring_offset + (idx << srq->req.log_stride));
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

uint32_t mock_srq_pi(const struct mock_srq *srq)
{
	struct ohca_wq_rec *rec = at(srq->req.buf_addr, srq->req.rec_offset);

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

static struct ohca_cqe *mock_cqe(const struct mock_cq *cq, uint32_t idx)
{
	uint32_t mask = (1U << cq->req.log_size) - 1;

	return at(cq->req.buf_addr, (idx & mask) * sizeof(struct ohca_cqe));
}

static void mock_write_cqe(struct mock_cq *cq, const struct ohca_cqe *cqe)
{
	struct ohca_cqe *dst = mock_cqe(cq, cq->pi);

	memcpy(dst, cqe, offsetof(struct ohca_cqe, owner));
	atomic_store_explicit((_Atomic(uint8_t) *)&dst->owner, ~(cq->pi >> cq->req.log_size) & 1,
			      memory_order_release);
	cq->pi++;
}

void mock_complete(struct mock_cq *cq, const struct mock_qp *qp, uint64_t wr_id,
		   const struct ohca_cqe *cqe)
{
	struct ohca_cqe copy = *cqe;

	copy.wr_id = htole64(wr_id);
	copy.qpn = htole32(qp->qpn);
	mock_write_cqe(cq, &copy);
}

bool mock_take(struct mock_srq *srq, struct mock_taken *taken)
{
	if (srq->taken == mock_srq_pi(srq))
		return false;
	taken->srq = srq;
	taken->wr_id = le64toh(mock_srq_wqe(srq, srq->taken++)->wr_id);
	return true;
}

void mock_complete_taken(const struct mock_qp *qp, const struct mock_taken *taken)
{
	struct ohca_cqe cqe = {
		.wqe_idx = htole32(taken->srq->taken),
		.srqn = htole32(taken->srq->srqn),
		.opcode = OHCA_CQE_RECV,
		.flags = OHCA_CQE_F_RQ | OHCA_CQE_F_SRQ,
	};

	mock_complete(taken->srq->cq ? taken->srq->cq : qp->recv_cq, qp, taken->wr_id, &cqe);
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
