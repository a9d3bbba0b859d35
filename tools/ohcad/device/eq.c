// SPDX-License-Identifier: GPL-2.0
/*
 * Event queues.  An EQE for which there is no room waits in the device: a CQ in the EQ's list, an
 * asynchronous event in a list that holds each (type, number) once, or is that of an access, which
 * waits in a list itself.  A timer then looks at the consumer index until all are written.
 */

#include <endian.h>
#include <stdlib.h>

#include "device/object.h"
#include "device/cq.h"
#include "device/eq.h"
#include "mem/page_fault.h"
#include "base/log.h"

#define RETRY_MIN_NS 50000
#define RETRY_MAX_NS 5000000

/**
 * struct eq_pending - an asynchronous event that waits for room
 * @order: in eq->pending
 * @next: next one of its bucket
 */
struct eq_pending {
	struct list order;
	struct eq_pending *next;
	uint32_t id;
	uint8_t type;
};

struct eq *eq_get(struct hca *hca, uint32_t eqn)
{
	return table_get(&hca->eqs, eqn);
}

static uint32_t eq_size(const struct eq *eq)
{
	return 1U << eq->ring.log_size;
}

/* Is there room for an EQE?  A consumer index that makes no sense counts as no room. */
static bool eq_room(struct eq *eq)
{
	struct ohca_eq_rec *rec;
	uint32_t ci;

	if (eq->overrun)
		return false;
	if (eq->pi - eq->ci < eq_size(eq))
		return true;
	rec = ring_entry(&eq->rec, 0);
	if (!rec) {
		hca_fatal(eq->hca, OHCA_FATAL_EQ);
		return false;
	}
	ci = le32toh(__atomic_load_n(&rec->ci, __ATOMIC_ACQUIRE));
	if (eq->pi - ci > eq_size(eq))
		return false;
	eq->ci = ci;
	return eq->pi - eq->ci < eq_size(eq);
}

/* Write an EQE; there is room.  @pages: OHCA_FAULT_* of OHCA_EVENT_PAGE_FAULT, else 0. */
static void eq_write(struct eq *eq, uint8_t type, uint32_t id, uint64_t pages)
{
	struct ohca_eqe *slot = ring_entry(&eq->ring, eq->pi);
	union {
		struct ohca_eqe eqe;
		uint64_t word[2];
	} u = {.eqe = {.id = htole32(id),
		       .fault_lo = htole32(pages),
		       .fault_hi = htole32(pages >> 32),
		       .type = type}};
	uint64_t *to = (uint64_t *)slot;

	if (!slot) {
		hca_fatal(eq->hca, OHCA_FATAL_EQ);
		return;
	}
	u.eqe.owner = !(eq->pi >> eq->ring.log_size & 1);
	__atomic_store_n(&to[0], u.word[0], __ATOMIC_RELAXED);
	__atomic_store_n(&to[1], u.word[1], __ATOMIC_RELEASE);
	eq->pi++;
	if (list_empty(&eq->check))
		list_add_tail(&eq->hca->eq_check, &eq->check);
}

static void retry_start(struct eq *eq)
{
	if (eq->retry.pos)
		return;
	eq->retry_ns = RETRY_MIN_NS;
	loop_timer_arm(eq->hca->loop, &eq->retry, loop_now(eq->hca->loop) + eq->retry_ns);
}

static struct eq_pending **pending_bucket(struct eq *eq, uint8_t type, uint32_t id)
{
	uint32_t hash = (id * 64 + type) * 0x9e3779b1U;

	return &eq->buckets[hash >> 24];
}

static void pending_del(struct eq *eq, struct eq_pending *event)
{
	struct eq_pending **at = pending_bucket(eq, event->type, event->id);

	while (*at != event)
		at = &(*at)->next;
	*at = event->next;
	list_del(&event->order);
	free(event);
}

static void pending_clear(struct eq *eq)
{
	while (!list_empty(&eq->pending))
		pending_del(eq, list_entry(eq->pending.next, struct eq_pending, order));
	free(eq->buckets);
	eq->buckets = NULL;
}

static struct eq_pending *pending_find(struct eq *eq, uint8_t type, uint32_t id)
{
	struct eq_pending *event;

	if (!eq->buckets)
		return NULL;
	event = *pending_bucket(eq, type, id);
	while (event && (event->type != type || event->id != id))
		event = event->next;
	return event;
}

/*
 * Queue an event, once: one that waits already goes to the end, so that the last of several
 * states is told last.
 */
static void pending_add(struct eq *eq, uint8_t type, uint32_t id)
{
	struct eq_pending *event = pending_find(eq, type, id);
	struct eq_pending **bucket;

	if (event) {
		list_del(&event->order);
		list_add_tail(&eq->pending, &event->order);
		return;
	}
	if (!eq->buckets)
		eq->buckets = calloc(EQ_PENDING_BUCKETS, sizeof(*eq->buckets));
	event = eq->buckets ? malloc(sizeof(*event)) : NULL;
	if (!event) {
		hca_fatal(eq->hca, OHCA_FATAL_INTERNAL);
		return;
	}
	event->type = type;
	event->id = id;
	bucket = pending_bucket(eq, type, id);
	event->next = *bucket;
	*bucket = event;
	list_add_tail(&eq->pending, &event->order);
	retry_start(eq);
}

static void write_fault(struct eq *eq, const struct page_fault *fault)
{
	uint64_t pages = fault->first << OHCA_FAULT_FIRST_SHIFT |
			 (fault->num - 1) << OHCA_FAULT_NUM_SHIFT |
			 (fault->write ? OHCA_FAULT_WRITE : 0);

	eq_write(eq, OHCA_EVENT_PAGE_FAULT, fault->key, pages);
}

/* Write what waits, as far as there is room.  Returns whether any was written. */
static bool eq_drain(struct eq *eq)
{
	bool wrote = false;

	while (eq->hca->ready && !list_empty(&eq->pending) && eq_room(eq)) {
		struct eq_pending *event = list_entry(eq->pending.next, struct eq_pending, order);

		eq_write(eq, event->type, event->id, 0);
		pending_del(eq, event);
		wrote = true;
	}
	while (eq->hca->ready && !list_empty(&eq->faults) && eq_room(eq)) {
		struct page_fault *fault = list_entry(eq->faults.next, struct page_fault, event);

		list_del(&fault->event);
		write_fault(eq, fault);
		wrote = true;
	}
	while (eq->hca->ready && !list_empty(&eq->waiting) && eq_room(eq)) {
		struct cq *cq = list_entry(eq->waiting.next, struct cq, waiting);

		list_del(&cq->waiting);
		eq_write(eq, OHCA_EVENT_COMP, cq->id, 0);
		wrote = true;
	}
	return wrote;
}

static void eq_retry(struct timer *timer)
{
	struct eq *eq = list_entry(timer, struct eq, retry);
	struct hca *hca = eq->hca;
	uint64_t period = eq->retry_ns;

	if (!hca->ready)
		return;
	if (!hca->stalled && eq_drain(eq)) {
		eq_flush(hca);
		period = RETRY_MIN_NS;
	} else {
		period = period * 2 < RETRY_MAX_NS ? period * 2 : RETRY_MAX_NS;
	}
	if (!hca->ready ||
	    (list_empty(&eq->pending) && list_empty(&eq->faults) && list_empty(&eq->waiting)))
		return;
	eq->retry_ns = period;
	loop_timer_arm(hca->loop, &eq->retry, loop_now(hca->loop) + period);
}

void eq_async(struct hca *hca, enum ohca_event type, uint32_t id)
{
	struct eq *eq = hca->async_eq;

	if (!eq || !hca->ready)
		return;
	if (hca->stalled || !list_empty(&eq->pending) || !eq_room(eq)) {
		if (hca->ready)
			pending_add(eq, type, id);
		return;
	}
	eq_write(eq, type, id, 0);
}

void eq_fault(struct hca *hca, struct page_fault *fault)
{
	struct eq *eq = hca->async_eq;

	if (!eq || !hca->ready)
		return;
	if (!hca->stalled && list_empty(&eq->pending) && list_empty(&eq->faults) && eq_room(eq)) {
		write_fault(eq, fault);
		return;
	}
	list_add_tail(&eq->faults, &fault->event);
	if (hca->ready)
		retry_start(eq);
}

void eq_forget_async(struct hca *hca, enum ohca_event first, enum ohca_event last, uint32_t id)
{
	unsigned int type;

	if (!hca->async_eq)
		return;
	for (type = first; type <= last; type++) {
		struct eq_pending *event = pending_find(hca->async_eq, type, id);

		if (event)
			pending_del(hca->async_eq, event);
	}
}

void eq_completion(struct cq *cq)
{
	struct eq *eq = cq->eq;

	if (!list_empty(&cq->waiting))
		return;
	if (list_empty(&eq->waiting) && eq_room(eq)) {
		eq_write(eq, OHCA_EVENT_COMP, cq->id, 0);
		return;
	}
	list_add_tail(&eq->waiting, &cq->waiting);
	if (eq->hca->ready)
		retry_start(eq);
}

void eq_forget_cq(struct cq *cq)
{
	list_del(&cq->waiting);
	cq->eq->refs--;
	cq->eq = NULL;
}

void eq_flush(struct hca *hca)
{
	if (list_empty(&hca->eq_check))
		return;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	while (hca->ready && !list_empty(&hca->eq_check)) {
		struct eq *eq = list_entry(hca->eq_check.next, struct eq, check);
		struct ohca_eq_rec *rec = ring_entry(&eq->rec, 0);
		uint32_t arm;

		list_del(&eq->check);
		if (!rec) {
			hca_fatal(hca, OHCA_FATAL_EQ);
			continue;
		}
		arm = le32toh(__atomic_load_n(&rec->arm, __ATOMIC_RELAXED));
		if (arm == eq->fired)
			continue;
		eq->fired = arm;
		pci_msix_raise(hca->fn, eq->vector);
	}
}

static void eq_free(struct eq *eq)
{
	struct hca *hca = eq->hca;

	loop_timer_cancel(hca->loop, &eq->retry);
	list_del(&eq->check);
	pending_clear(eq);
	while (!list_empty(&eq->faults))
		list_del(eq->faults.next);
	if (hca->async_eq == eq)
		hca->async_eq = NULL;
	ring_fini(&eq->rec);
	ring_fini(&eq->ring);
	xlt_free(&eq->xlt);
	free(eq);
}

static enum ohca_cmd_status eq_check_input(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_eq_in *in = ctx->in;

	if (in->log_size < 4 || in->log_size > 20)
		return CMD_BAD(ctx, struct ohca_create_eq_in, log_size, OHCA_CMD_BAD_PARAM);
	if (in->flags & ~OHCA_EQ_ASYNC)
		return CMD_BAD(ctx, struct ohca_create_eq_in, flags, OHCA_CMD_BAD_PARAM);
	if (le16toh(in->vector) >= HCA_MSIX_VECTORS)
		return CMD_BAD(ctx, struct ohca_create_eq_in, vector, OHCA_CMD_BAD_PARAM);
	if (le32toh(in->rec_offset) < sizeof(struct ohca_eqe) << in->log_size ||
	    le32toh(in->rec_offset) % sizeof(struct ohca_eq_rec))
		return CMD_BAD(ctx, struct ohca_create_eq_in, rec_offset, OHCA_CMD_BAD_PARAM);
	if ((in->flags & OHCA_EQ_ASYNC) && hca->async_eq)
		return CMD_BAD(ctx, struct ohca_create_eq_in, flags, OHCA_CMD_NO_RESOURCE);
	return OHCA_CMD_OK;
}

/* Its buffer: all of it must be there, or the first event would be fatal. */
static enum ohca_cmd_status eq_init_buf(struct eq *eq, const struct ohca_create_eq_in *in)
{
	uint64_t size = le32toh(in->rec_offset) + sizeof(struct ohca_eq_rec);
	struct dma_map *dma = eq->hca->dma;
	enum ohca_cmd_status status;

	status = xlt_load(&eq->xlt, dma, &in->buf, size);
	if (!status)
		status = ring_init(&eq->ring, dma, &eq->xlt, size, 0, in->log_size, 4);
	if (!status)
		status = ring_init(&eq->rec, dma, &eq->xlt, size, le32toh(in->rec_offset), 0, 6);
	if (!status && (!eq->ring.mapped || !eq->rec.mapped))
		status = OHCA_CMD_BAD_ADDR;
	return status;
}

static enum ohca_cmd_status cmd_create_eq(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_eq_in *in = ctx->in;
	struct ohca_handle *out = ctx->out;
	enum ohca_cmd_status status;
	struct eq *eq;

	status = eq_check_input(hca, ctx);
	if (status)
		return status;
	eq = calloc(1, sizeof(*eq));
	if (!eq)
		return OHCA_CMD_NO_RESOURCE;
	eq->hca = hca;
	eq->async = in->flags & OHCA_EQ_ASYNC;
	eq->vector = le16toh(in->vector);
	eq->retry.fn = eq_retry;
	list_init(&eq->check);
	list_init(&eq->waiting);
	list_init(&eq->pending);
	list_init(&eq->faults);

	status = eq_init_buf(eq, in);
	if (!status && table_add(&hca->eqs, eq, &eq->id))
		status = OHCA_CMD_NO_RESOURCE;
	if (status) {
		eq_free(eq);
		return status;
	}
	if (eq->async)
		hca->async_eq = eq;
	out->id = htole32(eq->id);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_destroy_eq(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct eq *eq = eq_get(hca, le32toh(in->id));

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!eq)
		return OHCA_CMD_BAD_HANDLE;
	if (eq->refs)
		return OHCA_CMD_BUSY;
	table_del(&hca->eqs, eq->id);
	eq_free(eq);
	return OHCA_CMD_OK;
}

static void eq_reset(struct hca *hca)
{
	uint32_t id = 0;
	struct eq *eq;

	for (; (eq = table_next(&hca->eqs, &id)); id++) {
		table_del(&hca->eqs, id);
		eq_free(eq);
	}
	table_restart(&hca->eqs);
}

static int eq_init(struct hca *hca)
{
	list_init(&hca->eq_check);
	return table_init(&hca->eqs, 1, HCA_MAX_EQ + 1);
}

static void eq_fini(struct hca *hca)
{
	table_fini(&hca->eqs);
}

static const struct cmd_desc eq_cmds[] = {
	CMD_DESC(CREATE_EQ, cmd_create_eq, sizeof(struct ohca_create_eq_in), CMD_HANDLE_LEN),
	CMD_DESC(DESTROY_EQ, cmd_destroy_eq, CMD_HANDLE_LEN, 0),
};

const struct object_class eq_class = {
	.init = eq_init,
	.fini = eq_fini,
	.reset = eq_reset,
	OBJECT_CMDS(eq_cmds),
};
