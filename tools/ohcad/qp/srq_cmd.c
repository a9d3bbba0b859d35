// SPDX-License-Identifier: GPL-2.0
/* Commands on shared receive queues. */

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "device/object.h"
#include "device/profile.h"
#include "device/cq.h"
#include "device/eq.h"
#include "device/strict.h"
#include "base/log.h"
#include "mem/pd.h"
#include "qp/qp.h"
#include "qp/recv.h"
#include "qp/srq.h"
#include "qp/tag_list.h"

#define CREATE_BAD(field) CMD_BAD(ctx, struct ohca_create_srq_in, field, OHCA_CMD_BAD_PARAM)
#define NO_OBJECT(field) CMD_BAD(ctx, struct ohca_create_srq_in, field, OHCA_CMD_BAD_HANDLE)
#define MODIFY_BAD(field) CMD_BAD(ctx, struct ohca_modify_srq_in, field, OHCA_CMD_BAD_PARAM)

/**
 * struct srq_place - places of ring and record in the buffer
 */
struct srq_place {
	uint32_t ring, rec;
	uint8_t log_size, log_stride;
};

static bool log_size_good(const struct hca *hca, uint8_t log_size)
{
	return log_size < 32 && 1U << log_size <= hca->profile->max_srq_wr;
}

/*
 * Set up ring and record of @wq, and check that they are memory.  @wq and @xlt are empty before,
 * and on failure.
 */
static enum ohca_cmd_status init_queue(struct hca *hca, struct wq *wq, struct xlt *xlt,
				       const struct ohca_xlt *buf, const struct srq_place *at)
{
	uint64_t ring_end = at->ring + (1ULL << (at->log_size + at->log_stride));
	uint64_t size = at->rec + (uint64_t)sizeof(struct ohca_wq_rec);
	enum ohca_cmd_status status;

	if (ring_end > size)
		size = ring_end;
	status = xlt_load(xlt, &hca->quotas[QUOTA_PAGES], hca->dma, buf, size);
	if (!status)
		status = ring_init(&wq->ring, hca->dma, xlt, size, at->ring, at->log_size,
				   at->log_stride);
	if (!status)
		status = rec_init(&wq->rec, &wq->ring, size, at->rec, sizeof(struct ohca_wq_rec));
	if (!status && (!ring_is_mapped(&wq->ring) || !rec_ptr(&wq->rec, &wq->ring)))
		status = OHCA_CMD_BAD_ADDR;
	if (status) {
		ring_fini(&wq->ring);
		xlt_free(xlt, &hca->quotas[QUOTA_PAGES]);
		memset(xlt, 0, sizeof(*xlt));
	}
	return status;
}

static enum ohca_cmd_status check_create(struct hca *hca, const struct ohca_create_srq_in *in,
					 struct cmd_ctx *ctx)
{
	uint32_t max_sge = le16toh(in->max_sge);
	uint32_t max_tags = le16toh(in->max_tags);
	bool xrc = in->type == OHCA_SRQ_XRC;
	bool tm = in->type == OHCA_SRQ_TM;

	if (in->type > OHCA_SRQ_TM)
		return CREATE_BAD(type);
	if ((xrc && !(hca_caps(hca) & OHCA_CAP_XRC)) || (tm && !(hca_caps(hca) & OHCA_CAP_TM)))
		return CMD_BAD(ctx, struct ohca_create_srq_in, type, OHCA_CMD_UNSUPPORTED);
	if (tm ? !max_tags || max_tags > HCA_MAX_TAGS : max_tags)
		return CREATE_BAD(max_tags);
	if (in->flags & ~OHCA_SRQ_F_PRIVILEGED)
		return CREATE_BAD(flags);
	if (!log_size_good(hca, in->log_size))
		return CREATE_BAD(log_size);
	if (in->log_stride < 5 || in->log_stride > 11)
		return CREATE_BAD(log_stride);
	if (max_sge > hca->profile->max_sge ||
	    OHCA_RQ_WQE_HDR + max_sge * sizeof(struct ohca_sge) > 1U << in->log_stride)
		return CREATE_BAD(max_sge);
	if (le32toh(in->ring_offset) % (1U << in->log_stride))
		return CREATE_BAD(ring_offset);
	if (le32toh(in->rec_offset) % sizeof(struct ohca_wq_rec))
		return CREATE_BAD(rec_offset);
	if (le32toh(in->limit) > 1U << in->log_size)
		return CREATE_BAD(limit);
	if (!pd_get(hca, le32toh(in->pdn)))
		return NO_OBJECT(pdn);
	if (!xrc && !tm && in->cqn)
		return CREATE_BAD(cqn);
	if (!xrc && in->xrcdn)
		return CREATE_BAD(xrcdn);
	if ((xrc || tm) && !cq_get(hca, le32toh(in->cqn)))
		return NO_OBJECT(cqn);
	if (xrc && !xrcd_get(hca, le32toh(in->xrcdn)))
		return NO_OBJECT(xrcdn);
	return OHCA_CMD_OK;
}

/* Memory of an SRQ that is to be created, without that of its ring */
static size_t memory_of(const struct ohca_create_srq_in *in)
{
	return sizeof(struct srq) +
	       (in->type == OHCA_SRQ_TM ? tag_list_memory(le16toh(in->max_tags)) : 0);
}

static bool charge(struct srq *srq, size_t memory)
{
	if (!quota_charge(&srq->hca->quotas[QUOTA_MEMORY], memory))
		return false;
	srq->memory += memory;
	return true;
}

static void uncharge(struct srq *srq, size_t memory)
{
	quota_release(&srq->hca->quotas[QUOTA_MEMORY], memory);
	srq->memory -= memory;
}

static void srq_free(struct srq *srq)
{
	if (srq->pd)
		srq->pd->refs--;
	if (srq->xrcd)
		srq->xrcd->refs--;
	if (srq->wq.cq)
		srq->wq.cq->refs--;
	ring_fini(&srq->wq.ring);
	xlt_free(&srq->xlt, &srq->hca->quotas[QUOTA_PAGES]);
	free(srq->tags);
	quota_release(&srq->hca->quotas[QUOTA_MEMORY], srq->memory);
	free(srq);
}

static enum ohca_cmd_status cmd_create_srq(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_srq_in *in = ctx->in;
	const struct srq_place at = {le32toh(in->ring_offset), le32toh(in->rec_offset),
				     in->log_size, in->log_stride};
	struct ohca_handle *out = ctx->out;
	enum ohca_cmd_status status;
	struct srq *srq;

	status = check_create(hca, in, ctx);
	if (status)
		return status;
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return OHCA_CMD_NO_RESOURCE;
	srq->hca = hca;
	if (!charge(srq, memory_of(in))) {
		free(srq);
		return OHCA_CMD_NO_RESOURCE;
	}
	srq->type = in->type;
	srq->privileged = in->flags & OHCA_SRQ_F_PRIVILEGED;
	srq->limit = le32toh(in->limit);
	srq->wq.max_sge = le16toh(in->max_sge);
	list_init(&srq->users);
	if (srq->type == OHCA_SRQ_TM)
		srq->tags = tag_list_new(le16toh(in->max_tags));
	status = init_queue(hca, &srq->wq, &srq->xlt, &in->buf, &at);
	if (!status && !charge(srq, ring_memory(&srq->wq.ring)))
		status = OHCA_CMD_NO_RESOURCE;
	if (!status && srq->type == OHCA_SRQ_TM && !srq->tags)
		status = OHCA_CMD_NO_RESOURCE;
	if (!status && table_add(&hca->srqs, srq, &srq->id))
		status = OHCA_CMD_NO_RESOURCE;
	if (status) {
		srq_free(srq);
		return status;
	}
	srq->pdn = le32toh(in->pdn);
	srq->pd = pd_get(hca, srq->pdn);
	srq->pd->refs++;
	if (srq->type == OHCA_SRQ_XRC) {
		srq->xrcd = xrcd_get(hca, le32toh(in->xrcdn));
		srq->xrcd->refs++;
	}
	if (srq->type != OHCA_SRQ_BASIC) {
		srq->wq.cq = cq_get(hca, le32toh(in->cqn));
		srq->wq.cq->refs++;
	}
	strict_record(hca, rec_ptr(&srq->wq.rec, &srq->wq.ring), sizeof(struct ohca_wq_rec));
	out->id = htole32(srq->id);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_destroy_srq(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct srq *srq = srq_get(hca, le32toh(in->id));

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!srq)
		return OHCA_CMD_BAD_HANDLE;
	if (srq->refs)
		return OHCA_CMD_BUSY;
	while (!list_empty(&srq->users))
		recv_use_srq(list_entry(srq->users.next, struct qp, rq.srq_user), NULL);
	table_del(&hca->srqs, srq->id);
	eq_forget_async(hca, OHCA_EVENT_SRQ_LIMIT, OHCA_EVENT_SRQ_ERR, srq->id);
	srq_free(srq);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_query_srq(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct ohca_query_srq_out *out = ctx->out;
	struct srq *srq = srq_get(hca, le32toh(in->id));

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!srq)
		return OHCA_CMD_BAD_HANDLE;
	out->limit = htole32(srq->limit);
	out->taken = htole32(srq->wq.done);
	return OHCA_CMD_OK;
}

static uint32_t read_pi(struct wq *wq)
{
	const struct ohca_wq_rec *rec = rec_ptr(&wq->rec, &wq->ring);

	return le32toh(__atomic_load_n(&rec->pi, __ATOMIC_ACQUIRE));
}

/* Copy the entries that were not taken to the ring of @to. */
static enum ohca_cmd_status move_entries(struct srq *srq, struct wq *to, struct cmd_ctx *ctx)
{
	struct wq *wq = &srq->wq;
	uint32_t idx;

	if (srq->error)
		return OHCA_CMD_BAD_STATE;
	if (!wq_update(wq)) {
		srq_error(srq);
		return OHCA_CMD_BAD_STATE;
	}
	if (read_pi(to) != wq->pi)
		return MODIFY_BAD(rec_offset);
	if (wq->pi - wq->done > 1U << to->ring.log_size)
		return MODIFY_BAD(log_size);
	for (idx = wq->done; idx != wq->pi; idx++) {
		const void *from = ring_entry(&wq->ring, idx);

		if (!from)
			return OHCA_CMD_BAD_STATE;
		memcpy(ring_entry(&to->ring, idx), from, 1U << wq->ring.log_stride);
	}
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status resize(struct srq *srq, const struct ohca_modify_srq_in *in,
				   struct cmd_ctx *ctx)
{
	const struct srq_place at = {le32toh(in->ring_offset), le32toh(in->rec_offset),
				     in->log_size, srq->wq.ring.log_stride};
	struct xlt xlt = {0};
	struct wq to = {0};
	enum ohca_cmd_status status;

	status = init_queue(srq->hca, &to, &xlt, &in->buf, &at);
	if (status)
		return status;
	status = move_entries(srq, &to, ctx);
	if (!status && !charge(srq, ring_memory(&to.ring)))
		status = OHCA_CMD_NO_RESOURCE;
	if (status) {
		ring_fini(&to.ring);
		xlt_free(&xlt, &srq->hca->quotas[QUOTA_PAGES]);
		return status;
	}
	uncharge(srq, ring_memory(&srq->wq.ring));
	ring_fini(&srq->wq.ring);
	xlt_free(&srq->xlt, &srq->hca->quotas[QUOTA_PAGES]);
	xlt_move(&srq->xlt, &xlt);
	ring_move(&srq->wq.ring, &to.ring, &srq->xlt);
	srq->wq.rec = to.rec;
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status check_modify(const struct hca *hca, const struct ohca_modify_srq_in *in,
					 struct cmd_ctx *ctx)
{
	static const struct ohca_xlt no_buf;
	uint32_t mask = le32toh(in->attr_mask);

	if (!mask || mask & ~(OHCA_SRQ_ATTR_LIMIT | OHCA_SRQ_ATTR_SIZE))
		return MODIFY_BAD(attr_mask);
	if (!cmd_all_zero(in->rsvd, sizeof(in->rsvd)))
		return MODIFY_BAD(rsvd);
	if (!(mask & OHCA_SRQ_ATTR_LIMIT) && in->limit)
		return MODIFY_BAD(limit);
	if (!(mask & OHCA_SRQ_ATTR_SIZE)) {
		if (memcmp(&in->buf, &no_buf, sizeof(no_buf)))
			return MODIFY_BAD(buf);
		if (in->ring_offset)
			return MODIFY_BAD(ring_offset);
		if (in->rec_offset)
			return MODIFY_BAD(rec_offset);
		return in->log_size ? MODIFY_BAD(log_size) : OHCA_CMD_OK;
	}
	if (!log_size_good(hca, in->log_size))
		return MODIFY_BAD(log_size);
	if (le32toh(in->rec_offset) % sizeof(struct ohca_wq_rec))
		return MODIFY_BAD(rec_offset);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_modify_srq(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_modify_srq_in *in = ctx->in;
	struct srq *srq = srq_get(hca, le32toh(in->srqn));
	uint32_t mask = le32toh(in->attr_mask), limit = le32toh(in->limit);
	enum ohca_cmd_status status;
	uint8_t log_size;

	status = check_modify(hca, in, ctx);
	if (status)
		return status;
	if (!srq)
		return CMD_BAD(ctx, struct ohca_modify_srq_in, srqn, OHCA_CMD_BAD_HANDLE);
	if (le32toh(in->ring_offset) % (1U << srq->wq.ring.log_stride))
		return MODIFY_BAD(ring_offset);
	log_size = mask & OHCA_SRQ_ATTR_SIZE ? in->log_size : srq->wq.ring.log_size;
	if (limit > 1U << log_size)
		return MODIFY_BAD(limit);
	if (srq->error)
		return OHCA_CMD_BAD_STATE;
	if (mask & OHCA_SRQ_ATTR_SIZE) {
		status = resize(srq, in, ctx);
		if (status)
			return status;
	}
	if (mask & OHCA_SRQ_ATTR_LIMIT) {
		srq->limit = limit;
		if (limit)
			srq_check_limit(srq);
	}
	return OHCA_CMD_OK;
}

static void srq_drop(struct hca *hca, void *object, uint32_t id)
{
	table_del(&hca->srqs, id);
	srq_free(object);
}

static int srq_init(struct hca *hca)
{
	return table_init(&hca->srqs, 1, HCA_MAX_SRQ + 1);
}

static void srq_fini(struct hca *hca)
{
	table_fini(&hca->srqs);
}

static const struct cmd_desc srq_cmds[] = {
	CMD_DESC(CREATE_SRQ, cmd_create_srq, sizeof(struct ohca_create_srq_in), CMD_HANDLE_LEN,
		 .cap = OHCA_CAP_SRQ),
	CMD_DESC(MODIFY_SRQ, cmd_modify_srq, sizeof(struct ohca_modify_srq_in), 0,
		 .cap = OHCA_CAP_SRQ),
	CMD_DESC(QUERY_SRQ, cmd_query_srq, CMD_HANDLE_LEN, sizeof(struct ohca_query_srq_out),
		 .cap = OHCA_CAP_SRQ),
	CMD_DESC(DESTROY_SRQ, cmd_destroy_srq, CMD_HANDLE_LEN, 0, .cap = OHCA_CAP_SRQ),
};

const struct object_class srq_class = {
	.init = srq_init,
	.fini = srq_fini,
	OBJECT_TABLE(srqs, srq_drop),
	OBJECT_CMDS(srq_cmds),
};
