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

static void buf_fini(struct hca *hca, struct cq_buf *buf)
{
	quota_release(&hca->quotas[QUOTA_MEMORY], buf->memory);
	ring_fini(&buf->rec);
	ring_fini(&buf->ring);
	xlt_free(&buf->xlt, &hca->quotas[QUOTA_PAGES]);
}

/* Resolve the buffer: all of it must be memory.  If that fails, nothing is kept. */
static enum ohca_cmd_status buf_init(struct hca *hca, struct cq_buf *buf,
				     const struct ohca_xlt *desc, uint32_t rec_offset,
				     uint8_t log_size)
{
	uint64_t size = rec_offset + (uint64_t)sizeof(struct ohca_cq_rec);
	enum ohca_cmd_status status;

	memset(buf, 0, sizeof(*buf));
	status = xlt_load(&buf->xlt, &hca->quotas[QUOTA_PAGES], hca->dma, desc, size);
	if (!status)
		status = ring_init(&buf->ring, hca->dma, &buf->xlt, size, 0, log_size, 6);
	if (!status)
		status = ring_init(&buf->rec, hca->dma, &buf->xlt, size, rec_offset, 0, 6);
	if (!status) {
		buf->memory = sizeof(struct cq) + ring_memory(&buf->ring);
		if (!quota_charge(&hca->quotas[QUOTA_MEMORY], buf->memory)) {
			buf->memory = 0;
			status = OHCA_CMD_NO_RESOURCE;
		}
	}
	if (!status && (!buf->ring.mapped || !buf->rec.mapped))
		status = OHCA_CMD_BAD_ADDR;
	if (status)
		buf_fini(hca, buf);
	return status;
}

/* Give a buffer to the CQ, which has none. */
static void take_buf(struct cq *cq, struct cq_buf *buf)
{
	cq->memory = buf->memory;
	cq->xlt = buf->xlt;
	ring_move(&cq->ring, &buf->ring, &cq->xlt);
	ring_move(&cq->rec, &buf->rec, &cq->xlt);
}

static enum ohca_cmd_status cmd_create_cq(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_cq_in *in = ctx->in;
	struct ohca_handle *out = ctx->out;
	enum ohca_cmd_status status;
	struct cq_buf buf;
	struct cq *cq;

	status = check_create(hca, ctx);
	if (status)
		return status;
	status = buf_init(hca, &buf, &in->buf, le32toh(in->rec_offset), in->log_size);
	if (status)
		return status;
	cq = calloc(1, sizeof(*cq));
	if (!cq) {
		buf_fini(hca, &buf);
		return OHCA_CMD_NO_RESOURCE;
	}
	cq->hca = hca;
	cq->timestamp = in->flags & OHCA_CQ_TIMESTAMP;
	cq->ignore_overrun = in->flags & OHCA_CQ_IGNORE_OVERRUN;
	cq->moder.fn = cq_moder_timer;
	list_init(&cq->check);
	eq_event_init(&cq->event, OHCA_EVENT_COMP, 0);
	take_buf(cq, &buf);
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
	cq_free(cq);
	return OHCA_CMD_OK;
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

/* Copy the @num last CQEs to the ring @to, and make all others of its entries invalid. */
static enum ohca_cmd_status copy_cqes(struct cq *cq, struct ring *to, uint32_t num)
{
	uint32_t first = cq->pi - num, i;

	for (i = 0; i < 1U << to->log_size; i++) {
		struct ohca_cqe *cqe = ring_entry(to, first + i);
		bool pass = !((first + i) >> to->log_size & 1);
		const struct ohca_cqe *from;

		if (i < num) {
			from = ring_entry(&cq->ring, first + i);
			if (!from)
				return OHCA_CMD_BAD_STATE;
			memcpy(cqe, from, sizeof(*cqe));
			cqe->owner = pass;
		} else {
			cqe->owner = !pass;
		}
	}
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status move_cqes(struct cq *cq, struct cq_buf *to, struct cmd_ctx *ctx)
{
	uint32_t size = 1U << cq->ring.log_size;
	uint32_t ci, num;

	if (cq->error || !ring_entry(&cq->rec, 0))
		return OHCA_CMD_BAD_STATE;
	ci = read_ci(&cq->rec);
	if (read_ci(&to->rec) != ci)
		return RESIZE_BAD(rec_offset, OHCA_CMD_BAD_PARAM);
	num = cq->pi - ci;
	if (num > size && !cq->ignore_overrun)
		return OHCA_CMD_BAD_STATE;
	if (num > size)
		num = size;
	if (num > 1U << to->ring.log_size)
		return RESIZE_BAD(log_size, OHCA_CMD_BAD_PARAM);
	cq->ci = ci;
	return copy_cqes(cq, &to->ring, num);
}

static enum ohca_cmd_status cmd_resize_cq(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_resize_cq_in *in = ctx->in;
	struct cq *cq = cq_get(hca, le32toh(in->cqn));
	enum ohca_cmd_status status;
	struct cq_buf buf, old;

	if (!cmd_all_zero(in->rsvd, sizeof(in->rsvd)))
		return RESIZE_BAD(rsvd, OHCA_CMD_BAD_PARAM);
	if (!log_size_good(hca, in->log_size))
		return RESIZE_BAD(log_size, OHCA_CMD_BAD_PARAM);
	if (!rec_offset_good(le32toh(in->rec_offset), in->log_size))
		return RESIZE_BAD(rec_offset, OHCA_CMD_BAD_PARAM);
	if (!cq)
		return RESIZE_BAD(cqn, OHCA_CMD_BAD_HANDLE);
	status = buf_init(hca, &buf, &in->buf, le32toh(in->rec_offset), in->log_size);
	if (status)
		return status;
	status = move_cqes(cq, &buf, ctx);
	if (status) {
		buf_fini(hca, &buf);
		return status;
	}
	old.memory = cq->memory;
	old.xlt = cq->xlt;
	ring_move(&old.ring, &cq->ring, &old.xlt);
	ring_move(&old.rec, &cq->rec, &old.xlt);
	take_buf(cq, &buf);
	buf_fini(hca, &old);
	return OHCA_CMD_OK;
}

/* Put all in error, without an event. */
static void cq_stop(struct hca *hca)
{
	uint32_t id = 0;
	struct cq *cq;

	for (; (cq = table_next(&hca->cqs, &id)); id++) {
		cq->error = true;
		list_del(&cq->check);
		loop_timer_cancel(hca->loop, &cq->moder);
	}
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
	.stop = cq_stop,
	OBJECT_CMDS(cq_cmds),
};
