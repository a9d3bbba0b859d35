// SPDX-License-Identifier: GPL-2.0
/* Commands on queue pairs. */

#include <endian.h>
#include <stdlib.h>

#include "cmd.h"
#include "cq.h"
#include "eq.h"
#include "fabric.h"
#include "pd.h"
#include "qp.h"

#define BAD(field) CMD_BAD(ctx, struct ohca_create_qp_in, field, OHCA_CMD_BAD_PARAM)
#define NO_OBJECT(field) CMD_BAD(ctx, struct ohca_create_qp_in, field, OHCA_CMD_BAD_HANDLE)

/* The port's QP of Ethernet frames, in whatever state. */
static bool have_eth_qp(struct hca *hca)
{
	uint32_t id = 0;
	struct qp *qp;

	for (; (qp = table_next(&hca->qps, &id)); id++) {
		if (qp->type == OHCA_QPT_ETH)
			return true;
	}
	return false;
}

static enum ohca_cmd_status check_geometry(const struct ohca_create_qp_in *in, struct cmd_ctx *ctx)
{
	uint32_t send_sge = le16toh(in->max_send_sge);
	uint32_t recv_sge = le16toh(in->max_recv_sge);
	uint32_t max_inline = le16toh(in->max_inline);

	if (1ULL << (in->sq_log_size & 63) > HCA_MAX_QP_WR || in->sq_log_size > 63)
		return BAD(sq_log_size);
	if (1ULL << (in->rq_log_size & 63) > HCA_MAX_QP_WR || in->rq_log_size > 63)
		return BAD(rq_log_size);
	if (in->sq_log_stride < 6 || in->sq_log_stride > 11)
		return BAD(sq_log_stride);
	if (in->rq_log_stride < 5 || in->rq_log_stride > 11)
		return BAD(rq_log_stride);
	if (send_sge > OHCA_MAX_SGE ||
	    OHCA_SQ_WQE_HDR + send_sge * sizeof(struct ohca_sge) > 1U << in->sq_log_stride)
		return BAD(max_send_sge);
	if (recv_sge > OHCA_MAX_SGE ||
	    OHCA_RQ_WQE_HDR + recv_sge * sizeof(struct ohca_sge) > 1U << in->rq_log_stride)
		return BAD(max_recv_sge);
	if (max_inline > OHCA_MAX_INLINE || OHCA_SQ_WQE_HDR + max_inline > 1U << in->sq_log_stride)
		return BAD(max_inline);
	if (le32toh(in->sq_offset) % 64)
		return BAD(sq_offset);
	if (le32toh(in->rq_offset) % 32)
		return BAD(rq_offset);
	if (le32toh(in->sq_rec_offset) % sizeof(struct ohca_wq_rec))
		return BAD(sq_rec_offset);
	if (le32toh(in->rq_rec_offset) % sizeof(struct ohca_wq_rec))
		return BAD(rq_rec_offset);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status check_create(struct hca *hca, const struct ohca_create_qp_in *in,
					 struct cmd_ctx *ctx)
{
	if (in->rsvd[0] || in->rsvd[1])
		return BAD(rsvd);
	if (in->type != OHCA_QPT_RC && in->type != OHCA_QPT_ETH)
		return BAD(type);
	if (in->srqn)
		return BAD(srqn);
	if (in->xrcdn)
		return BAD(xrcdn);
	if (in->flags & ~(OHCA_QP_F_PRIVILEGED | OHCA_QP_F_SIGNAL_ALL))
		return BAD(flags);
	if (in->type == OHCA_QPT_ETH) {
		if (!(hca->feats & OHCA_FEAT_ETH))
			return CMD_BAD(ctx, struct ohca_create_qp_in, type, OHCA_CMD_UNSUPPORTED);
		if (!(in->flags & OHCA_QP_F_PRIVILEGED))
			return BAD(flags);
		if (have_eth_qp(hca))
			return CMD_BAD(ctx, struct ohca_create_qp_in, type, OHCA_CMD_NO_RESOURCE);
	}
	if (le16toh(in->slot) >= OHCA_SHADOW_SLOTS)
		return BAD(slot);
	if (!pd_get(hca, le32toh(in->pdn)))
		return NO_OBJECT(pdn);
	if (!table_get(&hca->uars, le32toh(in->uar)))
		return NO_OBJECT(uar);
	if (!cq_get(hca, le32toh(in->send_cqn)))
		return NO_OBJECT(send_cqn);
	if (!cq_get(hca, le32toh(in->recv_cqn)))
		return NO_OBJECT(recv_cqn);
	return check_geometry(in, ctx);
}

static uint64_t max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Both rings and both records, wherever they are in the buffer. */
static enum ohca_cmd_status init_rings(struct qp *qp, const struct ohca_create_qp_in *in)
{
	uint32_t sq = le32toh(in->sq_offset), rq = le32toh(in->rq_offset);
	uint32_t sq_rec = le32toh(in->sq_rec_offset), rq_rec = le32toh(in->rq_rec_offset);
	uint64_t size = max64(sq + (1ULL << (in->sq_log_size + in->sq_log_stride)),
			      rq + (1ULL << (in->rq_log_size + in->rq_log_stride)));
	struct dma_map *dma = qp->hca->dma;
	enum ohca_cmd_status status;

	size = max64(size, max64(sq_rec, rq_rec) + (uint64_t)sizeof(struct ohca_wq_rec));
	status = xlt_load(&qp->xlt, dma, &in->buf, size);
	if (!status)
		status = ring_init(&qp->sq.ring, dma, &qp->xlt, size, sq, in->sq_log_size,
				   in->sq_log_stride);
	if (!status)
		status = ring_init(&qp->rq.ring, dma, &qp->xlt, size, rq, in->rq_log_size,
				   in->rq_log_stride);
	if (!status)
		status = ring_init(&qp->sq.rec, dma, &qp->xlt, size, sq_rec, 0, 6);
	if (!status)
		status = ring_init(&qp->rq.rec, dma, &qp->xlt, size, rq_rec, 0, 6);
	if (!status && (!qp->sq.ring.mapped || !qp->rq.ring.mapped || !qp->sq.rec.mapped ||
			!qp->rq.rec.mapped))
		status = OHCA_CMD_BAD_ADDR;
	return status;
}

/* Take the references that qp_free() gives back. */
static void take_refs(struct qp *qp, const struct ohca_create_qp_in *in)
{
	qp->pd = pd_get(qp->hca, qp->pdn);
	qp->pd->refs++;
	qp->sq.cq = cq_get(qp->hca, le32toh(in->send_cqn));
	qp->sq.cq->refs++;
	qp->rq.cq = cq_get(qp->hca, le32toh(in->recv_cqn));
	qp->rq.cq->refs++;
}

enum ohca_cmd_status cmd_create_qp(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_qp_in *in = ctx->in;
	struct ohca_handle *out = ctx->out;
	struct uar *uar = table_get(&hca->uars, le32toh(in->uar));
	enum ohca_cmd_status status;
	struct qp *qp;

	status = check_create(hca, in, ctx);
	if (status)
		return status;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return OHCA_CMD_NO_RESOURCE;
	qp->hca = hca;
	qp->type = in->type;
	qp->flags = in->flags;
	qp->pdn = le32toh(in->pdn);
	qp->sq.max_sge = le16toh(in->max_send_sge);
	qp->sq.max_inline = le16toh(in->max_inline);
	qp->rq.max_sge = le16toh(in->max_recv_sge);
	qp->req.timer.fn = requester_timer;
	list_init(&qp->run);
	take_refs(qp, in);

	status = init_rings(qp, in);
	if (!status && qp->type == OHCA_QPT_RC && (requester_init(qp) || responder_init(qp)))
		status = OHCA_CMD_NO_RESOURCE;
	if (!status && table_add(&hca->qps, qp, &qp->id))
		status = OHCA_CMD_NO_RESOURCE;
	if (status)
		goto free;
	qp_reset(qp);
	status = uar_attach(uar, qp, le16toh(in->slot));
	if (status)
		goto del;
	out->id = htole32(qp->id);
	return OHCA_CMD_OK;

del:
	table_del(&hca->qps, qp->id);
free:
	qp_free(qp);
	return status;
}

enum ohca_cmd_status cmd_destroy_qp(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct qp *qp = qp_get(hca, le32toh(in->id));

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!qp)
		return OHCA_CMD_BAD_HANDLE;
	table_del(&hca->qps, qp->id);
	eq_forget_async(hca, OHCA_EVENT_QP_FATAL, OHCA_EVENT_SQ_DRAINED, qp->id);
	qp_free(qp);
	return OHCA_CMD_OK;
}

enum ohca_cmd_status cmd_query_qp(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct ohca_query_qp_out *out = ctx->out;
	struct qp *qp = qp_get(hca, le32toh(in->id));

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!qp)
		return OHCA_CMD_BAD_HANDLE;
	out->attr = qp->attr;
	out->attr.state = qp->state;
	out->attr.cur_state = qp->state;
	out->attr.sq_draining = qp->state == OHCA_QPS_SQD && !requester_drained(qp);
	out->attr.sq_psn = htole32(qp->req.psn);
	out->attr.rq_psn = htole32(qp->resp.epsn);
	return OHCA_CMD_OK;
}

#undef BAD
#define BAD(field) CMD_BAD(ctx, struct ohca_modify_qp_in, attr.field, OHCA_CMD_BAD_PARAM)

static enum ohca_cmd_status check_av(struct hca *hca, const struct ohca_av *av, struct cmd_ctx *ctx)
{
	uint16_t sgid_index = le16toh(av->sgid_index);

	if (av->port != 1)
		return BAD(av.port);
	if (sgid_index >= PORT_GIDS || hca->port.gids[sgid_index].type == OHCA_GID_NONE)
		return BAD(av.sgid_index);
	if (le32toh(av->flow_label) > 0xfffff)
		return BAD(av.flow_label);
	if (av->sl > 15)
		return BAD(av.sl);
	return OHCA_CMD_OK;
}

/* The values of the attributes that the mask names. */
static enum ohca_cmd_status check_attr(struct hca *hca, const struct ohca_qp_attr *attr,
				       uint32_t mask, struct cmd_ctx *ctx)
{
	if (attr->sq_draining || attr->rsvd || attr->rsvd1)
		return BAD(rsvd);
	if (attr->qkey)
		return BAD(qkey);
	if (attr->counters)
		return BAD(counters);
	if (mask & OHCA_QP_EN_SQD_ASYNC_NOTIFY && attr->en_sqd_async_notify > 1)
		return BAD(en_sqd_async_notify);
	if (mask & OHCA_QP_ACCESS_FLAGS &&
	    attr->access & ~(OHCA_ACCESS_REMOTE_WRITE | OHCA_ACCESS_REMOTE_READ |
			     OHCA_ACCESS_REMOTE_ATOMIC))
		return BAD(access);
	if (mask & OHCA_QP_PKEY_INDEX && attr->pkey_index)
		return BAD(pkey_index);
	if (mask & OHCA_QP_PORT && attr->port != 1)
		return BAD(port);
	if (mask & OHCA_QP_PATH_MTU && (attr->path_mtu < 1 || attr->path_mtu > 5))
		return BAD(path_mtu);
	if (mask & OHCA_QP_TIMEOUT && attr->timeout > 31)
		return BAD(timeout);
	if (mask & OHCA_QP_RETRY_CNT && attr->retry_cnt > 7)
		return BAD(retry_cnt);
	if (mask & OHCA_QP_RNR_RETRY && attr->rnr_retry > 7)
		return BAD(rnr_retry);
	if (mask & OHCA_QP_RQ_PSN && le32toh(attr->rq_psn) > PSN_MASK)
		return BAD(rq_psn);
	if (mask & OHCA_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > HCA_MAX_RD_ATOMIC)
		return BAD(max_rd_atomic);
	if (mask & OHCA_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31)
		return BAD(min_rnr_timer);
	if (mask & OHCA_QP_SQ_PSN && le32toh(attr->sq_psn) > PSN_MASK)
		return BAD(sq_psn);
	if (mask & OHCA_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > HCA_MAX_RD_ATOMIC)
		return BAD(max_dest_rd_atomic);
	if (mask & OHCA_QP_DEST_QPN && le32toh(attr->dest_qpn) > 0xffffff)
		return BAD(dest_qpn);
	if (mask & OHCA_QP_AV)
		return check_av(hca, &attr->av, ctx);
	return OHCA_CMD_OK;
}

/* Take over the attributes that the mask names. */
static void set_attr(struct qp *qp, const struct ohca_qp_attr *attr, uint32_t mask)
{
	struct ohca_qp_attr *to = &qp->attr;

#define SET(bit, field)                          \
	do {                                     \
		if (mask & (bit))                \
			to->field = attr->field; \
	} while (0)
	SET(OHCA_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
	SET(OHCA_QP_ACCESS_FLAGS, access);
	SET(OHCA_QP_PKEY_INDEX, pkey_index);
	SET(OHCA_QP_PORT, port);
	SET(OHCA_QP_AV, av);
	SET(OHCA_QP_PATH_MTU, path_mtu);
	SET(OHCA_QP_TIMEOUT, timeout);
	SET(OHCA_QP_RETRY_CNT, retry_cnt);
	SET(OHCA_QP_RNR_RETRY, rnr_retry);
	SET(OHCA_QP_RQ_PSN, rq_psn);
	SET(OHCA_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	SET(OHCA_QP_MIN_RNR_TIMER, min_rnr_timer);
	SET(OHCA_QP_SQ_PSN, sq_psn);
	SET(OHCA_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	SET(OHCA_QP_DEST_QPN, dest_qpn);
#undef SET
	qp->access = to->access;
	qp->dest_qpn = le32toh(to->dest_qpn);
	qp->mtu_shift = to->path_mtu + 7;
}

/* Enter the state, with the new attributes. */
static void enter_state(struct qp *qp, enum ohca_qp_state from, enum ohca_qp_state to)
{
	qp->state = to;
	switch (to) {
	case OHCA_QPS_RTR:
		if (qp->type == OHCA_QPT_ETH)
			qp->hca->port.eth_qp = qp;
		else
			responder_start(qp);
		break;
	case OHCA_QPS_RTS:
		if (from == OHCA_QPS_RTR && qp->type == OHCA_QPT_RC)
			requester_start(qp);
		qp_schedule(qp);
		break;
	case OHCA_QPS_SQD:
		if (from == OHCA_QPS_RTS)
			qp->req.drained = false;
		requester_check_drained(qp);
		break;
	default:
		break;
	}
}

enum ohca_cmd_status cmd_modify_qp(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_modify_qp_in *in = ctx->in;
	const struct ohca_qp_attr *attr = &in->attr;
	uint32_t mask = le32toh(in->attr_mask);
	struct qp *qp = qp_get(hca, le32toh(in->qpn));
	enum ohca_qp_state from, to;
	enum ohca_cmd_status status;

	if (!qp)
		return OHCA_CMD_BAD_HANDLE;
	from = qp->state;
	to = mask & OHCA_QP_STATE ? attr->state : from;
	if (to > OHCA_QPS_ERR)
		return BAD(state);
	if (mask & OHCA_QP_CUR_STATE && attr->cur_state != from)
		return CMD_BAD(ctx, struct ohca_modify_qp_in, attr.cur_state, OHCA_CMD_BAD_STATE);
	status = qp_check_transition(qp->type, from, to, mask);
	if (status)
		return CMD_BAD(ctx, struct ohca_modify_qp_in, attr_mask, status);
	status = check_attr(hca, attr, mask, ctx);
	if (status)
		return status;

	if (to == OHCA_QPS_RESET) {
		qp_reset(qp);
	} else if (to == OHCA_QPS_ERR) {
		qp_error(qp);
	} else {
		set_attr(qp, attr, mask);
		hca->fabric->gen++;
		enter_state(qp, from, to);
	}
	return OHCA_CMD_OK;
}
