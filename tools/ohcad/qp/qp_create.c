// SPDX-License-Identifier: GPL-2.0
/* Commands on queue pairs: creation and destruction. */

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/minmax.h"
#include "device/object.h"
#include "device/profile.h"
#include "device/cq.h"
#include "device/eq.h"
#include "device/strict.h"
#include "fabric/fabric.h"
#include "fabric/link_layer.h"
#include "mem/pd.h"
#include "qp/qp.h"
#include "qp/sched.h"
#include "qp/srq.h"

#define BAD(field) CMD_BAD(ctx, struct ohca_create_qp_in, field, OHCA_CMD_BAD_PARAM)
#define NO_OBJECT(field) CMD_BAD(ctx, struct ohca_create_qp_in, field, OHCA_CMD_BAD_HANDLE)

static const struct qp_type *type_of(const struct hca *hca, uint8_t type)
{
	return type < QP_NUM_TYPES ? hca->qp_types[type] : NULL;
}

/* Whether the QP receives from an SRQ that matches tags */
static bool receives_tags(struct hca *hca, const struct ohca_create_qp_in *in)
{
	struct srq *srq = in->flags & OHCA_QP_F_SRQ ? srq_get(hca, le32toh(in->srqn)) : NULL;

	return srq && srq->tags;
}

/* Whether there is a send queue that software fills */
static bool has_send_queue(struct hca *hca, const struct ohca_create_qp_in *in)
{
	return type_of(hca, in->type)->send && !receives_tags(hca, in);
}

/* Whether the QP has a receive queue of its own */
static bool has_recv_queue(const struct hca *hca, const struct ohca_create_qp_in *in)
{
	return type_of(hca, in->type)->recv && !(in->flags & OHCA_QP_F_SRQ);
}

/* QPs of a type of which each port has one name their port here, the others later. */
static enum ohca_cmd_status check_port(struct hca *hca, const struct ohca_create_qp_in *in,
				       struct cmd_ctx *ctx)
{
	const struct port *port = hca_port(hca, in->port);
	const struct qp_type *type = type_of(hca, in->type);

	if (!type->one)
		return in->port ? BAD(port) : OHCA_CMD_OK;
	if (!port || (type->link && type->link != port->ops->type))
		return BAD(port);
	if (qp_get(hca, OHCA_SPECIAL_QPN(port->num, in->type)))
		return CMD_BAD(ctx, struct ohca_create_qp_in, type, OHCA_CMD_NO_RESOURCE);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status check_type(struct hca *hca, const struct ohca_create_qp_in *in,
				       struct cmd_ctx *ctx)
{
	const struct qp_type *type = type_of(hca, in->type);
	uint64_t caps;

	if (!type)
		return BAD(type);
	caps = type->cap | (in->flags & OHCA_QP_F_PRIVILEGED ? 0 : type->user_cap);
	if (caps & ~hca_caps(hca) || type->feat & ~hca->feats)
		return CMD_BAD(ctx, struct ohca_create_qp_in, type, OHCA_CMD_UNSUPPORTED);
	if (type->link && !hca_has_link(hca, type->link))
		return BAD(type);
	if (in->flags & ~type->flags || type->must & ~in->flags)
		return BAD(flags);
	if (in->flags & OHCA_QP_F_SRQ && !(hca_caps(hca) & OHCA_CAP_SRQ))
		return CMD_BAD(ctx, struct ohca_create_qp_in, flags, OHCA_CMD_UNSUPPORTED);
	return check_port(hca, in, ctx);
}

static enum ohca_cmd_status check_send_queue(struct hca *hca, const struct ohca_create_qp_in *in,
					     struct cmd_ctx *ctx)
{
	uint32_t hdr = OHCA_SQ_WQE_HDR + (QPT(in->type) & QPT_DATAGRAM ? OHCA_SQ_WQE_EXT : 0);
	uint32_t max_sge = le16toh(in->max_send_sge);
	uint32_t max_inline = le16toh(in->max_inline);

	if (le16toh(in->slot) >= OHCA_SHADOW_SLOTS)
		return BAD(slot);
	if (!uar_get(hca, le32toh(in->uar)))
		return NO_OBJECT(uar);
	if (!cq_get(hca, le32toh(in->send_cqn)))
		return NO_OBJECT(send_cqn);
	if (1ULL << (in->sq_log_size & 63) > hca->profile->max_qp_wr || in->sq_log_size > 63)
		return BAD(sq_log_size);
	if (in->sq_log_stride < 6 || in->sq_log_stride > 11)
		return BAD(sq_log_stride);
	if (max_sge > hca->profile->max_sge ||
	    hdr + max_sge * sizeof(struct ohca_sge) > 1U << in->sq_log_stride)
		return BAD(max_send_sge);
	if (max_inline > hca->profile->max_inline || hdr + max_inline > 1U << in->sq_log_stride)
		return BAD(max_inline);
	if (le32toh(in->sq_offset) % 64)
		return BAD(sq_offset);
	if (le32toh(in->sq_rec_offset) % sizeof(struct ohca_wq_rec))
		return BAD(sq_rec_offset);
	return OHCA_CMD_OK;
}

/* The fields of a queue that the QP does not have are zero. */
static enum ohca_cmd_status check_no_send_queue(const struct ohca_create_qp_in *in,
						struct cmd_ctx *ctx)
{
	if (in->slot)
		return BAD(slot);
	if (in->uar)
		return BAD(uar);
	if (in->send_cqn)
		return BAD(send_cqn);
	if (in->sq_log_size)
		return BAD(sq_log_size);
	if (in->sq_log_stride)
		return BAD(sq_log_stride);
	if (in->max_send_sge)
		return BAD(max_send_sge);
	if (in->max_inline)
		return BAD(max_inline);
	if (in->sq_offset)
		return BAD(sq_offset);
	if (in->sq_rec_offset)
		return BAD(sq_rec_offset);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status
check_recv_queue(const struct hca *hca, const struct ohca_create_qp_in *in, struct cmd_ctx *ctx)
{
	uint32_t max_sge = le16toh(in->max_recv_sge);

	if (1ULL << (in->rq_log_size & 63) > hca->profile->max_qp_wr || in->rq_log_size > 63)
		return BAD(rq_log_size);
	if (in->rq_log_stride < 5 || in->rq_log_stride > 11)
		return BAD(rq_log_stride);
	if (max_sge > hca->profile->max_sge ||
	    OHCA_RQ_WQE_HDR + max_sge * sizeof(struct ohca_sge) > 1U << in->rq_log_stride)
		return BAD(max_recv_sge);
	if (le32toh(in->rq_offset) % 32)
		return BAD(rq_offset);
	if (le32toh(in->rq_rec_offset) % sizeof(struct ohca_wq_rec))
		return BAD(rq_rec_offset);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status check_no_recv_queue(const struct ohca_create_qp_in *in,
						struct cmd_ctx *ctx)
{
	if (in->rq_log_size)
		return BAD(rq_log_size);
	if (in->rq_log_stride)
		return BAD(rq_log_stride);
	if (in->max_recv_sge)
		return BAD(max_recv_sge);
	if (in->rq_offset)
		return BAD(rq_offset);
	if (in->rq_rec_offset)
		return BAD(rq_rec_offset);
	return OHCA_CMD_OK;
}

/*
 * With OHCA_QP_F_SRQ, the SRQ must be one for QPs that are created with it.  Other QPs have no SRQ,
 * except for OHCA_QPT_TM.
 */
static enum ohca_cmd_status check_srq(struct hca *hca, const struct ohca_create_qp_in *in,
				      struct cmd_ctx *ctx)
{
	struct srq *srq = srq_get(hca, le32toh(in->srqn));

	if (!(in->flags & OHCA_QP_F_SRQ) && in->type != OHCA_QPT_TM)
		return in->srqn ? BAD(srqn) : OHCA_CMD_OK;
	if (!srq)
		return NO_OBJECT(srqn);
	if (srq->tags ? in->type != OHCA_QPT_RC && in->type != OHCA_QPT_TM
		      : in->type == OHCA_QPT_TM || srq->type != OHCA_SRQ_BASIC)
		return BAD(srqn);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status check_create(struct hca *hca, const struct ohca_create_qp_in *in,
					 struct cmd_ctx *ctx)
{
	static const struct ohca_xlt no_buf;
	const struct qp_type *type;
	enum ohca_cmd_status status;
	bool send, recv_cq;

	if (in->rsvd)
		return BAD(rsvd);
	status = check_type(hca, in, ctx);
	if (status)
		return status;
	type = type_of(hca, in->type);
	if ((type->send || type->recv || in->pdn) && !pd_get(hca, le32toh(in->pdn)))
		return NO_OBJECT(pdn);
	status = check_srq(hca, in, ctx);
	if (status)
		return status;
	if (in->type != OHCA_QPT_XRC_TGT && in->xrcdn)
		return BAD(xrcdn);
	if (in->type == OHCA_QPT_XRC_TGT && !xrcd_get(hca, le32toh(in->xrcdn)))
		return NO_OBJECT(xrcdn);
	send = has_send_queue(hca, in);
	recv_cq = type->recv && !receives_tags(hca, in);
	if (recv_cq && !cq_get(hca, le32toh(in->recv_cqn)))
		return NO_OBJECT(recv_cqn);
	if (!recv_cq && in->recv_cqn)
		return BAD(recv_cqn);
	if (!send && !has_recv_queue(hca, in) && memcmp(&in->buf, &no_buf, sizeof(no_buf)))
		return BAD(buf);
	status = send ? check_send_queue(hca, in, ctx) : check_no_send_queue(in, ctx);
	if (status)
		return status;
	return has_recv_queue(hca, in) ? check_recv_queue(hca, in, ctx)
				       : check_no_recv_queue(in, ctx);
}

/**
 * struct queue_place - place of a queue in the buffer
 * @ring, @rec: offsets
 */
struct queue_place {
	uint32_t ring, rec;
	uint8_t log_size, log_stride;
};

static uint64_t queue_end(const struct queue_place *at)
{
	return max_of(at->ring + (1ULL << (at->log_size + at->log_stride)),
		      at->rec + (uint64_t)sizeof(struct ohca_wq_rec));
}

static enum ohca_cmd_status init_queue(struct qp *qp, struct wq *wq, uint64_t size,
				       const struct queue_place *at)
{
	struct dma_map *dma = qp->hca->dma;
	enum ohca_cmd_status status;

	status = ring_init(&wq->ring, dma, &qp->xlt, size, at->ring, at->log_size, at->log_stride);
	if (!status && !qp_charge(qp, ring_memory(&wq->ring)))
		status = OHCA_CMD_NO_RESOURCE;
	if (!status)
		status = rec_init(&wq->rec, &wq->ring, size, at->rec, sizeof(struct ohca_wq_rec));
	if (!status && !rec_ptr(&wq->rec, &wq->ring))
		status = OHCA_CMD_BAD_ADDR;
	if (!status)
		strict_record(qp->hca, rec_ptr(&wq->rec, &wq->ring), sizeof(struct ohca_wq_rec));
	return status;
}

/**
 * struct queues - places of both queues
 * @has_sq, @has_rq: whether there are such queues
 * @size: bytes of the buffer; 0: there is none
 */
struct queues {
	struct queue_place sq, rq;
	bool has_sq, has_rq;
	uint64_t size;
};

/* They are anywhere in the buffer. */
static struct queues queues_of(struct hca *hca, const struct ohca_create_qp_in *in)
{
	struct queues queues = {
		.sq = {le32toh(in->sq_offset), le32toh(in->sq_rec_offset), in->sq_log_size,
		       in->sq_log_stride},
		.rq = {le32toh(in->rq_offset), le32toh(in->rq_rec_offset), in->rq_log_size,
		       in->rq_log_stride},
		.has_sq = has_send_queue(hca, in),
		.has_rq = has_recv_queue(hca, in),
	};

	queues.size = max_of(queues.has_sq ? queue_end(&queues.sq) : 0,
			     queues.has_rq ? queue_end(&queues.rq) : 0);
	return queues;
}

/* Read the pages of the buffer, and look for the memory of the rings. */
static enum ohca_cmd_status load_queues(struct hca *hca, struct cmd_ctx *ctx,
					const struct queues *queues)
{
	const struct ohca_create_qp_in *in = ctx->in;
	const struct queue_place *sq = &queues->sq, *rq = &queues->rq;
	enum ohca_cmd_status status;

	if (!queues->size)
		return hca->ready ? OHCA_CMD_OK : OHCA_CMD_NO_RESOURCE;
	status = cmd_load_buf(hca, ctx, &in->buf);
	if (!status && queues->has_sq)
		status = cmd_check_ring(hca, ctx, 0, sq->ring,
					1ULL << (sq->log_size + sq->log_stride));
	if (!status && queues->has_rq)
		status = cmd_check_ring(hca, ctx, 1, rq->ring,
					1ULL << (rq->log_size + rq->log_stride));
	return status;
}

/* Set up rings and records of the existing queues. */
static enum ohca_cmd_status init_rings(struct qp *qp, struct cmd_ctx *ctx,
				       const struct queues *queues)
{
	enum ohca_cmd_status status = OHCA_CMD_OK;

	xlt_move(&qp->xlt, &ctx->xlt);
	if (queues->has_sq)
		status = init_queue(qp, &qp->sq.wq, queues->size, &queues->sq);
	if (!status && queues->has_rq)
		status = init_queue(qp, &qp->rq.wq, queues->size, &queues->rq);
	return status;
}

/* Take the references that qp_free() releases. */
static void get_refs(struct qp *qp, const struct ohca_create_qp_in *in)
{
	qp->pd = pd_get(qp->hca, qp->pdn);
	if (qp->pd)
		qp->pd->refs++;
	qp->srq = srq_get(qp->hca, le32toh(in->srqn));
	if (qp->srq)
		qp->srq->refs++;
	qp->xrcd = xrcd_get(qp->hca, le32toh(in->xrcdn));
	if (qp->xrcd)
		qp->xrcd->refs++;
	qp->sq.wq.cq = cq_get(qp->hca, le32toh(in->send_cqn));
	if (qp->sq.wq.cq)
		qp->sq.wq.cq->refs++;
	qp->rq.wq.cq = cq_get(qp->hca, le32toh(in->recv_cqn));
	if (qp->rq.wq.cq)
		qp->rq.wq.cq->refs++;
}

static int alloc_qpn(struct qp *qp, const struct qp_type *type)
{
	if (!type->one)
		return table_add(&qp->hca->qps, qp, &qp->id);
	qp->id = OHCA_SPECIAL_QPN(qp->port->num, type->type);
	return table_add_at(&qp->hca->qps, qp, qp->id);
}

/* The buffer is there. */
static enum ohca_cmd_status create(struct hca *hca, struct cmd_ctx *ctx,
				   const struct queues *queues)
{
	const struct ohca_create_qp_in *in = ctx->in;
	const struct qp_type *type = type_of(hca, in->type);
	struct ohca_handle *out = ctx->out;
	enum ohca_cmd_status status;
	struct qp *qp;

	qp = qp_new(hca, type, in->flags);
	if (!qp) {
		xlt_free(&ctx->xlt, &hca->quotas[QUOTA_PAGES]);
		return OHCA_CMD_NO_RESOURCE;
	}
	if (type->one)
		qp_set_port(qp, hca_port(hca, in->port));
	qp->pdn = le32toh(in->pdn);
	qp->sq.wq.max_sge = le16toh(in->max_send_sge);
	qp->sq.wq.max_inline = le16toh(in->max_inline);
	qp->rq.wq.max_sge = le16toh(in->max_recv_sge);
	get_refs(qp, in);

	status = init_rings(qp, ctx, queues);
	if (!status && qp->ops->init && qp->ops->init(qp))
		status = OHCA_CMD_NO_RESOURCE;
	if (!status && (wq_init_room(qp) || alloc_qpn(qp, type)))
		status = OHCA_CMD_NO_RESOURCE;
	if (status)
		goto free;
	qp_reset(qp);
	if (queues->has_sq)
		status = uar_attach(uar_get(hca, le32toh(in->uar)), qp, le16toh(in->slot));
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

static enum ohca_cmd_status create_more(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct queues queues = queues_of(hca, ctx->in);
	enum ohca_cmd_status status = load_queues(hca, ctx, &queues);

	return status ? status : create(hca, ctx, &queues);
}

static enum ohca_cmd_status cmd_create_qp(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_qp_in *in = ctx->in;
	enum ohca_cmd_status status = check_create(hca, in, ctx);
	struct queues queues;

	if (status)
		return status;
	queues = queues_of(hca, in);
	if (queues.size)
		status = cmd_begin_buf(hca, ctx, &in->buf, queues.size);
	return status ? status : CMD_CONTINUE(hca, ctx, create_more);
}

static enum ohca_cmd_status destroy_more(struct hca *hca, struct cmd_ctx *ctx)
{
	struct qp *qp = ctx->object;

	(void)hca;
	if (!qp_unbind(qp, true, ctx->end))
		return CMD_MORE;
	qp_free(qp);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_destroy_qp(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct qp *qp = qp_get(hca, le32toh(in->id));

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!qp)
		return OHCA_CMD_BAD_HANDLE;
	if (qp->refs)
		return OHCA_CMD_BUSY;
	table_del(&hca->qps, qp->id);
	eq_forget_async(hca, OHCA_EVENT_QP_FATAL, OHCA_EVENT_PATH_MIG_ERR, qp->id);
	qp_reset(qp);
	ctx->object = qp;
	return CMD_CONTINUE(hca, ctx, destroy_more);
}

static bool qp_shrink(struct hca *hca, void *object, uint64_t end)
{
	(void)hca;
	return qp_unbind(object, true, end);
}

/*
 * Numbers continue after a reset: peers may still have connections to the QPs before it, and refuse
 * one with the same number.
 */
static void qp_drop(struct hca *hca, void *object, uint32_t id)
{
	table_del(&hca->qps, id);
	qp_free(object);
}

static int qp_init(struct hca *hca)
{
	int err = sched_init(hca);

	if (err)
		return err;
	err = table_init(&hca->qps, HCA_FIRST_QPN, HCA_FIRST_QPN + HCA_MAX_QP);
	if (err)
		sched_fini(hca);
	return err;
}

static void qp_fini(struct hca *hca)
{
	table_fini(&hca->qps);
	sched_fini(hca);
}

static const struct cmd_desc qp_cmds[] = {
	CMD_DESC(CREATE_QP, cmd_create_qp, sizeof(struct ohca_create_qp_in), CMD_HANDLE_LEN,
		 .in_min = OHCA_CREATE_QP_IN_MIN),
	CMD_DESC(DESTROY_QP, cmd_destroy_qp, CMD_HANDLE_LEN, 0),
};

const struct object_class qp_class = {
	.init = qp_init,
	.fini = qp_fini,
	OBJECT_TABLE(qps, qp_drop),
	.shrink = qp_shrink,
	.keeps_numbers = true,
	OBJECT_CMDS(qp_cmds),
};
