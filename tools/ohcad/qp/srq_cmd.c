// SPDX-License-Identifier: GPL-2.0
/* Commands on shared receive queues. */

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
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

/* QPs that are looked at between two looks at the clock */
#define USERS_AT_ONCE 8
/* Bytes of entries that are copied between two looks at the clock */
#define COPY_AT_ONCE 4096

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

static uint64_t ring_bytes(const struct srq_place *at)
{
	return 1ULL << (at->log_size + at->log_stride);
}

/* Bytes of the buffer */
static uint64_t size_of(const struct srq_place *at)
{
	return max_of(at->ring + ring_bytes(at), at->rec + (uint64_t)sizeof(struct ohca_wq_rec));
}

/* Read the pages of the buffer, and look for the memory of the ring. */
static enum ohca_cmd_status load_queue(struct hca *hca, struct cmd_ctx *ctx,
				       const struct ohca_xlt *buf, const struct srq_place *at)
{
	enum ohca_cmd_status status = cmd_load_buf(hca, ctx, buf);

	return status ? status : cmd_check_ring(hca, ctx, 0, at->ring, ring_bytes(at));
}

/* Set up ring and record of @wq, which is empty before, and on failure.  The buffer is there. */
static enum ohca_cmd_status init_queue(struct hca *hca, struct wq *wq, const struct xlt *xlt,
				       const struct srq_place *at)
{
	uint64_t size = size_of(at);
	enum ohca_cmd_status status;

	status = ring_init(&wq->ring, hca->dma, xlt, size, at->ring, at->log_size, at->log_stride);
	if (!status)
		status = rec_init(&wq->rec, &wq->ring, size, at->rec, sizeof(struct ohca_wq_rec));
	if (!status && !rec_ptr(&wq->rec, &wq->ring))
		status = OHCA_CMD_BAD_ADDR;
	if (status)
		ring_fini(&wq->ring);
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

static struct srq_place place_of(const struct ohca_create_srq_in *in)
{
	return (struct srq_place){le32toh(in->ring_offset), le32toh(in->rec_offset), in->log_size,
				  in->log_stride};
}

/* An SRQ without a number, with all that can fail.  It has taken the buffer. */
static enum ohca_cmd_status init(struct srq *srq, const struct ohca_create_srq_in *in)
{
	const struct srq_place at = place_of(in);
	enum ohca_cmd_status status;

	srq->type = in->type;
	srq->privileged = in->flags & OHCA_SRQ_F_PRIVILEGED;
	srq->limit = le32toh(in->limit);
	srq->wq.max_sge = le16toh(in->max_sge);
	list_init(&srq->users);
	if (!charge(srq, memory_of(in)))
		return OHCA_CMD_NO_RESOURCE;
	if (srq->type == OHCA_SRQ_TM)
		srq->tags = tag_list_new(le16toh(in->max_tags));
	status = init_queue(srq->hca, &srq->wq, &srq->xlt, &at);
	if (!status && !charge(srq, ring_memory(&srq->wq.ring)))
		status = OHCA_CMD_NO_RESOURCE;
	if (!status && srq->type == OHCA_SRQ_TM && !srq->tags)
		status = OHCA_CMD_NO_RESOURCE;
	return status;
}

/* The buffer is there. */
static enum ohca_cmd_status create(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_srq_in *in = ctx->in;
	struct ohca_handle *out = ctx->out;
	enum ohca_cmd_status status;
	struct srq *srq = calloc(1, sizeof(*srq));

	if (!srq) {
		xlt_free(&ctx->xlt, &hca->quotas[QUOTA_PAGES]);
		return OHCA_CMD_NO_RESOURCE;
	}
	srq->hca = hca;
	xlt_move(&srq->xlt, &ctx->xlt);
	status = init(srq, in);
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

static enum ohca_cmd_status create_more(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_srq_in *in = ctx->in;
	const struct srq_place at = place_of(in);
	enum ohca_cmd_status status = load_queue(hca, ctx, &in->buf, &at);

	return status ? status : create(hca, ctx);
}

static enum ohca_cmd_status cmd_create_srq(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_srq_in *in = ctx->in;
	const struct srq_place at = place_of(in);
	enum ohca_cmd_status status = check_create(hca, in, ctx);

	if (!status)
		status = cmd_begin_buf(hca, ctx, &in->buf, size_of(&at));
	return status ? status : CMD_CONTINUE(hca, ctx, create_more);
}

/* It has no number any more.  XRC QPs that have taken receives of it take no more. */
static enum ohca_cmd_status destroy_more(struct hca *hca, struct cmd_ctx *ctx)
{
	struct srq *srq = ctx->object;
	unsigned int n = 0;

	while (!list_empty(&srq->users)) {
		recv_use_srq(list_entry(srq->users.next, struct qp, rq.srq_user), NULL);
		if (!(++n % USERS_AT_ONCE) && loop_clock() >= ctx->end)
			return CMD_MORE;
	}
	eq_forget_async(hca, OHCA_EVENT_SRQ_LIMIT, OHCA_EVENT_SRQ_ERR, srq->id);
	srq_free(srq);
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
	table_del(&hca->srqs, srq->id);
	ctx->object = srq;
	return CMD_CONTINUE(hca, ctx, destroy_more);
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

/**
 * struct srq_work - an SRQ gets another ring, which may take several rounds
 * @to: the new ring
 * @idx: entries up to this one have moved to it, or were taken
 */
struct srq_work {
	struct srq *srq;
	struct wq to;
	uint32_t idx;
};

/* The queue at present: is the new one its equal?  Software posts nothing meanwhile. */
static enum ohca_cmd_status check_entries(struct srq *srq, struct wq *to, struct cmd_ctx *ctx)
{
	struct wq *wq = &srq->wq;

	if (srq->error)
		return OHCA_CMD_BAD_STATE;
	if (!wq_update(wq)) {
		srq_error(srq);
		return OHCA_CMD_BAD_STATE;
	}
	if (!rec_ptr(&to->rec, &to->ring))
		return OHCA_CMD_BAD_STATE;
	if (read_pi(to) != wq->pi)
		return MODIFY_BAD(rec_offset);
	if (wq->pi - wq->done > 1U << to->ring.log_size)
		return MODIFY_BAD(log_size);
	return OHCA_CMD_OK;
}

/* Copy the entries that were not taken to the new ring. */
static enum ohca_cmd_status move_entries(struct srq_work *work, struct cmd_ctx *ctx)
{
	struct wq *wq = &work->srq->wq;
	enum ohca_cmd_status status = check_entries(work->srq, &work->to, ctx);
	unsigned int bytes = 1U << wq->ring.log_stride, sum = 0;

	if (status)
		return status;
	/* Some may have been taken meanwhile. */
	if (wq->pi - wq->done < wq->pi - work->idx)
		work->idx = wq->done;
	for (; work->idx != wq->pi; work->idx++) {
		const void *from = ring_entry(&wq->ring, work->idx);
		void *to = ring_entry(&work->to.ring, work->idx);

		if (sum >= COPY_AT_ONCE) {
			if (loop_clock() >= ctx->end)
				return CMD_MORE;
			sum = 0;
		}
		if (!from || !to)
			return OHCA_CMD_BAD_STATE;
		memcpy(to, from, bytes);
		sum += bytes;
	}
	return OHCA_CMD_OK;
}

/* The limit of a command that is about to succeed */
static void set_limit(struct srq *srq, const struct ohca_modify_srq_in *in)
{
	uint32_t limit = le32toh(in->limit);

	if (!(le32toh(in->attr_mask) & OHCA_SRQ_ATTR_LIMIT))
		return;
	srq->limit = limit;
	if (limit)
		srq_check_limit(srq);
}

/* The new ring takes the place of the old one. */
static enum ohca_cmd_status take_ring(struct srq_work *work, struct cmd_ctx *ctx)
{
	struct srq *srq = work->srq;

	if (!charge(srq, ring_memory(&work->to.ring)))
		return OHCA_CMD_NO_RESOURCE;
	uncharge(srq, ring_memory(&srq->wq.ring));
	ring_fini(&srq->wq.ring);
	xlt_free(&srq->xlt, &srq->hca->quotas[QUOTA_PAGES]);
	xlt_move(&srq->xlt, &ctx->xlt);
	ring_move(&srq->wq.ring, &work->to.ring, &srq->xlt);
	srq->wq.rec = work->to.rec;
	set_limit(srq, ctx->in);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status move_more(struct hca *hca, struct cmd_ctx *ctx)
{
	struct srq_work *work = ctx->object;
	enum ohca_cmd_status status;

	status = hca->ready ? move_entries(work, ctx) : OHCA_CMD_NO_RESOURCE;
	if (status == CMD_MORE)
		return CMD_MORE;
	if (!status)
		status = take_ring(work, ctx);
	ring_fini(&work->to.ring);
	xlt_free(&ctx->xlt, &hca->quotas[QUOTA_PAGES]);
	free(work);
	return status;
}

static struct srq_place new_place(const struct srq *srq, const struct ohca_modify_srq_in *in)
{
	return (struct srq_place){le32toh(in->ring_offset), le32toh(in->rec_offset), in->log_size,
				  srq->wq.ring.log_stride};
}

/* The new buffer is there. */
static enum ohca_cmd_status begin_move(struct hca *hca, struct cmd_ctx *ctx)
{
	struct srq *srq = ctx->object;
	const struct srq_place at = new_place(srq, ctx->in);
	struct srq_work *work = calloc(1, sizeof(*work));
	enum ohca_cmd_status status = OHCA_CMD_NO_RESOURCE;

	if (work)
		status = init_queue(hca, &work->to, &ctx->xlt, &at);
	if (status) {
		xlt_free(&ctx->xlt, &hca->quotas[QUOTA_PAGES]);
		free(work);
		return status;
	}
	work->srq = srq;
	work->idx = srq->wq.done;
	ctx->object = work;
	return CMD_CONTINUE(hca, ctx, move_more);
}

static enum ohca_cmd_status resize_more(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_modify_srq_in *in = ctx->in;
	const struct srq_place at = new_place(ctx->object, in);
	enum ohca_cmd_status status = load_queue(hca, ctx, &in->buf, &at);

	return status ? status : begin_move(hca, ctx);
}

static enum ohca_cmd_status resize(struct hca *hca, struct srq *srq, struct cmd_ctx *ctx)
{
	const struct ohca_modify_srq_in *in = ctx->in;
	const struct srq_place at = new_place(srq, in);
	enum ohca_cmd_status status = cmd_begin_buf(hca, ctx, &in->buf, size_of(&at));

	ctx->object = srq;
	return status ? status : CMD_CONTINUE(hca, ctx, resize_more);
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
	if (mask & OHCA_SRQ_ATTR_SIZE)
		return resize(hca, srq, ctx);
	set_limit(srq, in);
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
