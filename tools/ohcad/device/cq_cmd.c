// SPDX-License-Identifier: GPL-2.0
/* Commands on completion queues. */

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "device/object.h"
#include "device/profile.h"
#include "device/cq.h"
#include "device/eq.h"
#include "device/strict.h"

#define CREATE_BAD(field, status) CMD_BAD(ctx, struct ohca_create_cq_in, field, status)
#define RESIZE_BAD(field, status) CMD_BAD(ctx, struct ohca_resize_cq_in, field, status)

#define NS_PER_US 1000ULL
#define CQES_AT_ONCE 64 /* between two looks at the clock */

static bool log_size_good(const struct hca *hca, uint8_t log_size)
{
	return log_size < 32 && 1ULL << log_size <= hca->profile->max_cqe;
}

static bool rec_offset_good(uint32_t rec_offset, uint8_t log_size)
{
	return rec_offset >= sizeof(struct ohca_cqe) << log_size &&
	       !(rec_offset % sizeof(struct ohca_cq_rec));
}

static enum ohca_cmd_status check_create(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_cq_in *in = ctx->in;
	struct eq *eq = eq_get(hca, le32toh(in->eqn));

	if (in->flags & ~(OHCA_CQ_TIMESTAMP | OHCA_CQ_IGNORE_OVERRUN))
		return CREATE_BAD(flags, OHCA_CMD_BAD_PARAM);
	if (in->flags & OHCA_CQ_TIMESTAMP && !(hca_caps(hca) & OHCA_CAP_TIMESTAMP))
		return CREATE_BAD(flags, OHCA_CMD_UNSUPPORTED);
	if (!cmd_all_zero(in->rsvd, sizeof(in->rsvd)))
		return CREATE_BAD(rsvd, OHCA_CMD_BAD_PARAM);
	if (!log_size_good(hca, in->log_size))
		return CREATE_BAD(log_size, OHCA_CMD_BAD_PARAM);
	if (!rec_offset_good(le32toh(in->rec_offset), in->log_size))
		return CREATE_BAD(rec_offset, OHCA_CMD_BAD_PARAM);
	if (!eq)
		return CREATE_BAD(eqn, OHCA_CMD_BAD_HANDLE);
	if (eq->async)
		return CREATE_BAD(eqn, OHCA_CMD_BAD_PARAM);
	return OHCA_CMD_OK;
}

/**
 * struct cq_buf - ring and record of a CQ
 * @memory: charged for the CQ with this ring
 */
struct cq_buf {
	size_t memory;
	struct xlt xlt;
	struct ring ring;
	struct ring rec;
};

/**
 * struct cq_work - a command that gives a CQ a buffer, which may take several rounds
 * @buf: the buffer; at the end of a resize, the old one
 * @cq: to be resized
 * @checked: chunks of the ring whose memory was found
 * @first: resize: index of the first CQE that moves to the new ring
 * @marked, @copied: entries from there on that were made invalid, and CQEs that were copied
 */
struct cq_work {
	struct cq_buf buf;
	struct cq *cq;
	uint32_t checked;
	uint32_t first;
	uint32_t marked, copied;
};

static void buf_fini(struct hca *hca, struct cq_buf *buf)
{
	quota_release(&hca->quotas[QUOTA_MEMORY], buf->memory);
	ring_fini(&buf->rec);
	ring_fini(&buf->ring);
	xlt_free(&buf->xlt, &hca->quotas[QUOTA_PAGES]);
}

/* The work is over, with this status: free what it has. */
static enum ohca_cmd_status work_free(struct hca *hca, struct cmd_ctx *ctx)
{
	struct cq_work *work = ctx->object;

	if (!xlt_shrink(&work->buf.xlt, &hca->quotas[QUOTA_PAGES], ctx->end))
		return CMD_MORE;
	buf_fini(hca, &work->buf);
	free(work);
	return ctx->failed;
}

static enum ohca_cmd_status work_end(struct hca *hca, struct cmd_ctx *ctx,
				     enum ohca_cmd_status status)
{
	ctx->failed = status;
	return CMD_CONTINUE(hca, ctx, work_free);
}

/* Begin: there is an object of the command from now on. */
static enum ohca_cmd_status work_begin(struct hca *hca, struct cmd_ctx *ctx, struct cq *cq,
				       const struct ohca_xlt *desc, uint32_t rec_offset)
{
	uint64_t size = rec_offset + (uint64_t)sizeof(struct ohca_cq_rec);
	struct cq_work *work = calloc(1, sizeof(*work));
	enum ohca_cmd_status status;

	if (!work)
		return OHCA_CMD_NO_RESOURCE;
	status = xlt_begin(&work->buf.xlt, &hca->quotas[QUOTA_PAGES], desc, size);
	if (status) {
		free(work);
		return status;
	}
	work->cq = cq;
	ctx->object = work;
	return OHCA_CMD_OK;
}

/* The pages of the buffer are known: set up its ring and record. */
static enum ohca_cmd_status init_rings(struct hca *hca, struct cq_buf *buf, uint32_t rec_offset,
				       uint8_t log_size)
{
	uint64_t size = rec_offset + (uint64_t)sizeof(struct ohca_cq_rec);
	enum ohca_cmd_status status;

	status = ring_init(&buf->ring, hca->dma, &buf->xlt, size, 0, log_size, 6);
	if (!status)
		status = ring_init(&buf->rec, hca->dma, &buf->xlt, size, rec_offset, 0, 6);
	if (status)
		return status;
	buf->memory = sizeof(struct cq) + ring_memory(&buf->ring);
	if (!quota_charge(&hca->quotas[QUOTA_MEMORY], buf->memory)) {
		buf->memory = 0;
		return OHCA_CMD_NO_RESOURCE;
	}
	return ring_is_mapped(&buf->rec) ? OHCA_CMD_OK : OHCA_CMD_BAD_ADDR;
}

/* Resolve the buffer: all of it must be memory. */
static enum ohca_cmd_status load_buf(struct hca *hca, struct cmd_ctx *ctx,
				     const struct ohca_xlt *desc, uint32_t rec_offset,
				     uint8_t log_size)
{
	struct cq_work *work = ctx->object;
	enum ohca_cmd_status status;

	if (!hca->ready)
		return OHCA_CMD_NO_RESOURCE;
	if (!work->buf.memory) {
		status = xlt_load_part(&work->buf.xlt, hca->dma, desc, ctx->end);
		if (!status)
			status = init_rings(hca, &work->buf, rec_offset, log_size);
		if (status)
			return status;
	}
	return ring_check(&work->buf.ring, &work->checked, ctx->end);
}

/* Give a buffer to the CQ, which has none. */
static void take_buf(struct cq *cq, struct cq_buf *buf)
{
	cq->memory = buf->memory;
	xlt_move(&cq->xlt, &buf->xlt);
	ring_move(&cq->ring, &buf->ring, &cq->xlt);
	ring_move(&cq->rec, &buf->rec, &cq->xlt);
	memset(buf, 0, sizeof(*buf));
}

/* Take its buffer away from the CQ. */
static void buf_move(struct cq_buf *to, struct cq *cq)
{
	to->memory = cq->memory;
	xlt_move(&to->xlt, &cq->xlt);
	ring_move(&to->ring, &cq->ring, &to->xlt);
	ring_move(&to->rec, &cq->rec, &to->xlt);
}

/* The buffer is complete. */
static enum ohca_cmd_status create(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_cq_in *in = ctx->in;
	struct cq_work *work = ctx->object;
	struct ohca_handle *out = ctx->out;
	struct cq *cq = calloc(1, sizeof(*cq));

	if (!cq)
		return OHCA_CMD_NO_RESOURCE;
	cq->hca = hca;
	cq->timestamp = in->flags & OHCA_CQ_TIMESTAMP;
	cq->ignore_overrun = in->flags & OHCA_CQ_IGNORE_OVERRUN;
	cq->moder.fn = cq_moder_timer;
	list_init(&cq->check);
	eq_event_init(&cq->event, OHCA_EVENT_COMP, 0);
	take_buf(cq, &work->buf);
	if (table_add(&hca->cqs, cq, &cq->id)) {
		cq_free(cq);
		return OHCA_CMD_NO_RESOURCE;
	}
	strict_ring(hca, &cq->ring);
	strict_record(hca, ring_entry(&cq->rec, 0), sizeof(struct ohca_cq_rec));
	cq->event.id = cq->id;
	cq->eq = eq_get(hca, le32toh(in->eqn));
	cq->eq->refs++;
	out->id = htole32(cq->id);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status create_more(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_cq_in *in = ctx->in;
	enum ohca_cmd_status status;

	status = load_buf(hca, ctx, &in->buf, le32toh(in->rec_offset), in->log_size);
	if (status == CMD_MORE)
		return CMD_MORE;
	return work_end(hca, ctx, status ? status : create(hca, ctx));
}

static enum ohca_cmd_status cmd_create_cq(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_cq_in *in = ctx->in;
	enum ohca_cmd_status status;

	status = check_create(hca, ctx);
	if (!status)
		status = work_begin(hca, ctx, NULL, &in->buf, le32toh(in->rec_offset));
	return status ? status : CMD_CONTINUE(hca, ctx, create_more);
}

static bool cq_shrink(struct hca *hca, void *object, uint64_t end)
{
	struct cq *cq = object;

	return xlt_shrink(&cq->xlt, &hca->quotas[QUOTA_PAGES], end);
}

/* It has no number any more. */
static enum ohca_cmd_status destroy_more(struct hca *hca, struct cmd_ctx *ctx)
{
	if (!cq_shrink(hca, ctx->object, ctx->end))
		return CMD_MORE;
	cq_free(ctx->object);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_destroy_cq(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct cq *cq = cq_get(hca, le32toh(in->id));

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!cq)
		return OHCA_CMD_BAD_HANDLE;
	if (cq->refs)
		return OHCA_CMD_BUSY;
	table_del(&hca->cqs, cq->id);
	eq_forget_async(hca, OHCA_EVENT_CQ_ERR, OHCA_EVENT_CQ_ERR, cq->id);
	loop_timer_cancel(hca->loop, &cq->moder);
	list_del(&cq->check);
	eq_forget(&cq->event);
	ctx->object = cq;
	return CMD_CONTINUE(hca, ctx, destroy_more);
}

static enum ohca_cmd_status cmd_modify_cq(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_modify_cq_in *in = ctx->in;
	struct cq *cq = cq_get(hca, le32toh(in->cqn));

	if (!cq)
		return OHCA_CMD_BAD_HANDLE;
	cq->moder_count = le16toh(in->count);
	cq->moder_ns = le16toh(in->period) * NS_PER_US;
	/* For CQEs whose event is held back, apply the new values: raise it, or wait on. */
	loop_timer_cancel(hca->loop, &cq->moder);
	if (!cq->error)
		cq_schedule_check(cq);
	return OHCA_CMD_OK;
}

static uint32_t read_ci(struct ring *rec)
{
	const struct ohca_cq_rec *p = ring_entry(rec, 0);

	return le32toh(__atomic_load_n(&p->ci, __ATOMIC_ACQUIRE));
}

/* Make the entries of the new ring invalid for software that has polled the CQEs up to the first one. */
static enum ohca_cmd_status mark_entries(struct cq_work *work, uint64_t end)
{
	struct ring *to = &work->buf.ring;

	while (work->marked < 1U << to->log_size) {
		uint32_t index = work->first + work->marked;
		struct ohca_cqe *cqe = ring_entry(to, index);

		if (!cqe)
			return OHCA_CMD_BAD_STATE;
		cqe->owner = index >> to->log_size & 1;
		if (!(++work->marked % CQES_AT_ONCE) && loop_clock() >= end)
			return CMD_MORE;
	}
	return OHCA_CMD_OK;
}

/* Copy the CQEs that are in the ring by now.  Returns OHCA_CMD_OK if these are all. */
static enum ohca_cmd_status copy_cqes(struct cq_work *work, struct cmd_ctx *ctx)
{
	struct ring *to = &work->buf.ring;
	struct cq *cq = work->cq;

	while (work->first + work->copied != cq->pi) {
		uint32_t index = work->first + work->copied;
		const struct ohca_cqe *from = ring_entry(&cq->ring, index);
		struct ohca_cqe *cqe = ring_entry(to, index);

		if (!from || !cqe)
			return OHCA_CMD_BAD_STATE;
		if (work->copied >= 1U << to->log_size && !cq->ignore_overrun)
			return RESIZE_BAD(log_size, OHCA_CMD_BAD_PARAM);
		memcpy(cqe, from, sizeof(*cqe));
		cqe->owner = !(index >> to->log_size & 1);
		if (!(++work->copied % CQES_AT_ONCE) && loop_clock() >= ctx->end)
			return CMD_MORE;
	}
	return OHCA_CMD_OK;
}

/* The new buffer is complete: which CQEs does software not have yet? */
static enum ohca_cmd_status find_first(struct cq_work *work, struct cmd_ctx *ctx)
{
	struct cq *cq = work->cq;
	uint32_t size = 1U << cq->ring.log_size;
	uint32_t ci, num;

	if (cq->error || !ring_entry(&cq->rec, 0))
		return OHCA_CMD_BAD_STATE;
	ci = read_ci(&cq->rec);
	if (read_ci(&work->buf.rec) != ci)
		return RESIZE_BAD(rec_offset, OHCA_CMD_BAD_PARAM);
	num = cq->pi - ci;
	if (num > size && !cq->ignore_overrun)
		return OHCA_CMD_BAD_STATE;
	if (num > size)
		num = size;
	if (num > 1U << work->buf.ring.log_size)
		return RESIZE_BAD(log_size, OHCA_CMD_BAD_PARAM);
	cq->ci = ci;
	work->first = cq->pi - num;
	return OHCA_CMD_OK;
}

/* Move the CQEs to the new ring while others may come to the old one; then the new one takes its place. */
static enum ohca_cmd_status resize_more(struct hca *hca, struct cmd_ctx *ctx)
{
	struct cq_work *work = ctx->object;
	struct cq *cq = work->cq;
	enum ohca_cmd_status status;
	struct cq_buf old;

	if (!hca->ready)
		status = OHCA_CMD_NO_RESOURCE;
	else if (cq->error)
		status = OHCA_CMD_BAD_STATE;
	else
		status = mark_entries(work, ctx->end);
	if (!status)
		status = copy_cqes(work, ctx);
	if (status == CMD_MORE)
		return CMD_MORE;
	if (!status) {
		buf_move(&old, cq);
		take_buf(cq, &work->buf);
		work->buf.memory = old.memory;
		xlt_move(&work->buf.xlt, &old.xlt);
		ring_move(&work->buf.ring, &old.ring, &work->buf.xlt);
		ring_move(&work->buf.rec, &old.rec, &work->buf.xlt);
	}
	return work_end(hca, ctx, status);
}

static enum ohca_cmd_status resize_load(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_resize_cq_in *in = ctx->in;
	enum ohca_cmd_status status;

	status = load_buf(hca, ctx, &in->buf, le32toh(in->rec_offset), in->log_size);
	if (status == CMD_MORE)
		return CMD_MORE;
	if (!status)
		status = find_first(ctx->object, ctx);
	return status ? work_end(hca, ctx, status) : CMD_CONTINUE(hca, ctx, resize_more);
}

static enum ohca_cmd_status cmd_resize_cq(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_resize_cq_in *in = ctx->in;
	struct cq *cq = cq_get(hca, le32toh(in->cqn));
	enum ohca_cmd_status status;

	if (!cmd_all_zero(in->rsvd, sizeof(in->rsvd)))
		return RESIZE_BAD(rsvd, OHCA_CMD_BAD_PARAM);
	if (!log_size_good(hca, in->log_size))
		return RESIZE_BAD(log_size, OHCA_CMD_BAD_PARAM);
	if (!rec_offset_good(le32toh(in->rec_offset), in->log_size))
		return RESIZE_BAD(rec_offset, OHCA_CMD_BAD_PARAM);
	if (!cq)
		return RESIZE_BAD(cqn, OHCA_CMD_BAD_HANDLE);
	status = work_begin(hca, ctx, cq, &in->buf, le32toh(in->rec_offset));
	return status ? status : CMD_CONTINUE(hca, ctx, resize_load);
}

static void cq_drop(struct hca *hca, void *object, uint32_t id)
{
	table_del(&hca->cqs, id);
	cq_free(object);
}

static int cq_init(struct hca *hca)
{
	list_init(&hca->cq_check);
	return table_init(&hca->cqs, 1, HCA_MAX_CQ + 1);
}

static void cq_fini(struct hca *hca)
{
	table_fini(&hca->cqs);
}

static const struct cmd_desc cq_cmds[] = {
	CMD_DESC(CREATE_CQ, cmd_create_cq, sizeof(struct ohca_create_cq_in), CMD_HANDLE_LEN),
	CMD_DESC(DESTROY_CQ, cmd_destroy_cq, CMD_HANDLE_LEN, 0),
	CMD_DESC(MODIFY_CQ, cmd_modify_cq, sizeof(struct ohca_modify_cq_in), 0,
		 .cap = OHCA_CAP_CQ_MODER),
	CMD_DESC(RESIZE_CQ, cmd_resize_cq, sizeof(struct ohca_resize_cq_in), 0,
		 .cap = OHCA_CAP_CQ_RESIZE),
};

const struct object_class cq_class = {
	.init = cq_init,
	.fini = cq_fini,
	OBJECT_TABLE(cqs, cq_drop),
	.shrink = cq_shrink,
	OBJECT_CMDS(cq_cmds),
};
