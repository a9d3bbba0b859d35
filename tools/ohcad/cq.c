// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues.
 *
 * The barrier between a CQE and the look at the arm counters is executed once for all CQEs of a
 * polling round: cq_push() puts the CQ on hca->cq_check, and cq_flush() at the end of the round
 * does the rest.
 */

#include <endian.h>
#include <stdlib.h>

#include "cmd.h"
#include "cq.h"
#include "eq.h"
#include "log.h"

struct cq *cq_get(struct hca *hca, uint32_t cqn)
{
	return table_get(&hca->cqs, cqn);
}

static void cq_error(struct cq *cq, const char *why)
{
	log_debug(cq->hca->name, "CQ %u: %s", cq->id, why);
	cq->error = true;
	list_del(&cq->check);
	eq_async(cq->hca, OHCA_EVENT_CQ_ERR, cq->id);
}

/*
 * The ring looks full: see how far software is.  An index that jumped is no better than an
 * overrun.
 */
static __attribute__((noinline)) bool cq_make_room(struct cq *cq)
{
	uint32_t size = 1U << cq->ring.log_size;
	struct ohca_cq_rec *rec = ring_entry(&cq->rec, 0);
	uint32_t ci;

	if (!rec) {
		cq_error(cq, "record not accessible");
		return false;
	}
	ci = le32toh(__atomic_load_n(&rec->ci, __ATOMIC_ACQUIRE));
	if (cq->pi - ci >= size) {
		cq_error(cq, "overrun");
		return false;
	}
	cq->ci = ci;
	return true;
}

bool cq_push(struct cq *cq, const struct ohca_cqe *cqe)
{
	const uint64_t *from = (const uint64_t *)cqe;
	uint64_t *to;
	uint64_t last;

	if (cq->error)
		return false;
	if (cq->pi - cq->ci >= 1U << cq->ring.log_size && !cq_make_room(cq))
		return false;
	to = ring_entry(&cq->ring, cq->pi);
	if (!to) {
		cq_error(cq, "ring not accessible");
		return false;
	}

	/*
	 * The owner bit is the lowest of the last byte: of the highest byte of a little-endian
	 * word.
	 */
	last = le64toh(from[7]) & ~(0xffULL << 56);
	last |= (uint64_t)!(cq->pi >> cq->ring.log_size & 1) << 56;
	__builtin_memcpy(to, from, 56);
	__atomic_store_n(&to[7], htole64(last), __ATOMIC_RELEASE);
	cq->pi++;

	cq->solicited |= (cqe->flags & OHCA_CQE_F_SOLICITED) || cqe->status;
	if (list_empty(&cq->check))
		list_add_tail(&cq->hca->cq_check, &cq->check);
	return true;
}

/* After the fence: has software asked for an event? */
static void cq_check_armed(struct cq *cq)
{
	struct ohca_cq_rec *rec = ring_entry(&cq->rec, 0);
	bool solicited = cq->solicited;
	uint32_t next, sol;

	cq->solicited = false;
	if (!rec) {
		cq_error(cq, "record not accessible");
		return;
	}
	next = le32toh(__atomic_load_n(&rec->arm_next, __ATOMIC_RELAXED));
	sol = le32toh(__atomic_load_n(&rec->arm_solicited, __ATOMIC_RELAXED));
	if (next == cq->fired_next && (!solicited || sol == cq->fired_solicited))
		return;
	cq->fired_next = next;
	cq->fired_solicited = sol;
	eq_completion(cq);
}

void cq_flush(struct hca *hca)
{
	if (list_empty(&hca->cq_check))
		return;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	while (hca->ready && !list_empty(&hca->cq_check)) {
		struct cq *cq = list_entry(hca->cq_check.next, struct cq, check);

		list_del(&cq->check);
		cq_check_armed(cq);
	}
}

static void cq_free(struct cq *cq)
{
	list_del(&cq->check);
	if (cq->eq)
		eq_forget_cq(cq);
	ring_fini(&cq->rec);
	ring_fini(&cq->ring);
	xlt_free(&cq->xlt);
	free(cq);
}

static enum ohca_cmd_status cq_check_input(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_cq_in *in = ctx->in;
	struct eq *eq = eq_get(hca, le32toh(in->eqn));
	unsigned int i;

	if (in->flags)
		return CMD_BAD(ctx, struct ohca_create_cq_in, flags,
			       in->flags & ~(OHCA_CQ_TIMESTAMP | OHCA_CQ_IGNORE_OVERRUN) ?
				       OHCA_CMD_BAD_PARAM :
				       OHCA_CMD_UNSUPPORTED);
	for (i = 0; i < sizeof(in->rsvd); i++) {
		if (in->rsvd[i])
			return CMD_BAD(ctx, struct ohca_create_cq_in, rsvd, OHCA_CMD_BAD_PARAM);
	}
	if (1ULL << (in->log_size & 63) > HCA_MAX_CQE || in->log_size > 63)
		return CMD_BAD(ctx, struct ohca_create_cq_in, log_size, OHCA_CMD_BAD_PARAM);
	if (le32toh(in->rec_offset) < sizeof(struct ohca_cqe) << in->log_size ||
	    le32toh(in->rec_offset) % sizeof(struct ohca_cq_rec))
		return CMD_BAD(ctx, struct ohca_create_cq_in, rec_offset, OHCA_CMD_BAD_PARAM);
	if (!eq)
		return CMD_BAD(ctx, struct ohca_create_cq_in, eqn, OHCA_CMD_BAD_HANDLE);
	if (eq->async)
		return CMD_BAD(ctx, struct ohca_create_cq_in, eqn, OHCA_CMD_BAD_PARAM);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cq_init_buf(struct cq *cq, const struct ohca_create_cq_in *in)
{
	uint64_t size = le32toh(in->rec_offset) + (uint64_t)sizeof(struct ohca_cq_rec);
	struct dma_map *dma = cq->hca->dma;
	enum ohca_cmd_status status;

	status = xlt_load(&cq->xlt, dma, &in->buf, size);
	if (!status)
		status = ring_init(&cq->ring, dma, &cq->xlt, size, 0, in->log_size, 6);
	if (!status)
		status = ring_init(&cq->rec, dma, &cq->xlt, size, le32toh(in->rec_offset), 0, 6);
	if (!status && (!cq->ring.mapped || !cq->rec.mapped))
		status = OHCA_CMD_BAD_ADDR;
	return status;
}

enum ohca_cmd_status cmd_create_cq(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_cq_in *in = ctx->in;
	struct ohca_handle *out = ctx->out;
	enum ohca_cmd_status status;
	struct cq *cq;

	status = cq_check_input(hca, ctx);
	if (status)
		return status;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return OHCA_CMD_NO_RESOURCE;
	cq->hca = hca;
	list_init(&cq->check);
	list_init(&cq->waiting);

	status = cq_init_buf(cq, in);
	if (!status && table_add(&hca->cqs, cq, &cq->id))
		status = OHCA_CMD_NO_RESOURCE;
	if (status) {
		cq_free(cq);
		return status;
	}
	cq->eq = eq_get(hca, le32toh(in->eqn));
	cq->eq->refs++;
	out->id = htole32(cq->id);
	return OHCA_CMD_OK;
}

enum ohca_cmd_status cmd_destroy_cq(struct hca *hca, struct cmd_ctx *ctx)
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

void cq_stop_all(struct hca *hca)
{
	uint32_t id = 0;
	struct cq *cq;

	for (; (cq = table_next(&hca->cqs, &id)); id++) {
		cq->error = true;
		list_del(&cq->check);
	}
}

void cq_reset_all(struct hca *hca)
{
	uint32_t id = 0;
	struct cq *cq;

	for (; (cq = table_next(&hca->cqs, &id)); id++) {
		table_del(&hca->cqs, id);
		cq_free(cq);
	}
}
