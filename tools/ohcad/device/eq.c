// SPDX-License-Identifier: GPL-2.0
/*
 * Event queues.  An event for which there is no room waits in the EQ's list; one that no object
 * embeds gets a struct eq_pending for that, one for each type and number.  A timer then looks at
 * the consumer index until all are written.
 */

#include <endian.h>
#include <stdlib.h>

#include "device/object.h"
#include "device/eq.h"
#include "device/hca_hooks.h"
#include "device/strict.h"
#include "base/log.h"

/* Events that are written, or freed, between two looks at the clock */
#define EVENTS_AT_ONCE 64

/**
 * struct eq_pending - an asynchronous event that waits for room
 * @node: in eq->pending
 */
struct eq_pending {
	struct eq_event event;
	struct hash_node node;
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

/* Write an EQE; there is room. */
static void eq_write(struct eq *eq, const struct eq_event *event)
{
	struct ohca_eqe *slot = ring_entry(&eq->ring, eq->pi);
	union {
		struct ohca_eqe eqe;
		uint64_t word[2];
	} u = {.eqe = {.id = htole32(event->id),
		       .fault_lo = htole32(event->pages),
		       .fault_hi = htole32(event->pages >> 32),
		       .type = event->type}};
	uint64_t *to = (uint64_t *)slot;

	if (!slot) {
		hca_fatal(eq->hca, OHCA_FATAL_EQ);
		return;
	}
	if (eq->hca->hooks)
		eq->hca->hooks->event(eq->hca, &u.eqe);
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
	eq->retry_ns = EQ_RETRY_MIN_NS;
	loop_timer_arm(eq->hca->loop, &eq->retry, loop_now(eq->hca->loop) + eq->retry_ns);
}

static uint64_t pending_hash(const struct eq *eq, uint8_t type, uint32_t id)
{
	const uint64_t word = id;

	return hash_of(&eq->pending, type, &word, 1);
}

static void pending_del(struct eq *eq, struct eq_pending *pending)
{
	hash_table_del(&eq->pending, &pending->node);
	eq_forget(&pending->event);
	free(pending);
}

/* Take an event out of the list of those that wait. */
static void take(struct eq *eq, struct eq_event *event)
{
	if (event->pending)
		pending_del(eq, list_entry(event, struct eq_pending, event));
	else
		eq_forget(event);
}

static struct eq_event *first_waiting(struct eq *eq)
{
	return list_entry(eq->waiting.next, struct eq_event, list);
}

static struct eq_pending *pending_find(struct eq *eq, uint8_t type, uint32_t id)
{
	struct hash_node *node = hash_table_find(&eq->pending, pending_hash(eq, type, id));

	for (; node; node = hash_table_next(node)) {
		struct eq_pending *pending = list_entry(node, struct eq_pending, node);

		if (pending->event.type == type && pending->event.id == id)
			return pending;
	}
	return NULL;
}

static void wait(struct eq *eq, struct eq_event *event)
{
	list_add_tail(&eq->waiting, &event->list);
	retry_start(eq);
}

/*
 * Put an event into the list of those that wait.  One that waits already moves to the end, so that
 * the last of several states is reported last.
 */
static void pending_add(struct eq *eq, uint8_t type, uint32_t id)
{
	struct eq_pending *pending = pending_find(eq, type, id);

	if (pending) {
		eq_forget(&pending->event);
		wait(eq, &pending->event);
		return;
	}
	pending = hash_table_grow(&eq->pending) ? malloc(sizeof(*pending)) : NULL;
	if (!pending) {
		hca_fatal(eq->hca, OHCA_FATAL_INTERNAL);
		return;
	}
	eq_event_init(&pending->event, type, id);
	pending->event.pending = true;
	hash_table_add(&eq->pending, &pending->node, pending_hash(eq, type, id));
	wait(eq, &pending->event);
}

/* Write the events that wait, as far as there is room, but not too many at once.  Returns how many were written. */
static unsigned int eq_drain(struct eq *eq)
{
	unsigned int num = 0;

	while (eq->hca->ready && !list_empty(&eq->waiting) && num < EVENTS_AT_ONCE && eq_room(eq)) {
		eq_write(eq, first_waiting(eq));
		take(eq, first_waiting(eq));
		num++;
	}
	return num;
}

static void eq_retry(struct timer *timer)
{
	struct eq *eq = list_entry(timer, struct eq, retry);
	struct hca *hca = eq->hca;
	uint64_t period = eq->retry_ns, now = loop_now(hca->loop);
	unsigned int num;

	if (!hca->ready)
		return;
	num = hca->stalled ? 0 : eq_drain(eq);
	if (num) {
		eq_flush(hca);
		period = EQ_RETRY_MIN_NS;
	} else {
		period = eq_retry_later(period);
	}
	if (!hca->ready || list_empty(&eq->waiting))
		return;
	eq->retry_ns = period;
	/* The others, for which there may be room, come in the next round. */
	loop_timer_arm(hca->loop, &eq->retry, num == EVENTS_AT_ONCE ? now : now + period);
}

/* Is there room for an event behind all that wait? */
static bool may_write(struct eq *eq)
{
	return !eq->hca->stalled && list_empty(&eq->waiting) && eq_room(eq);
}

uint32_t eq_flood(struct hca *hca, uint8_t type, uint32_t id, uint32_t num)
{
	struct eq *eq = hca->async_eq;
	struct eq_event event;

	if (!eq)
		return 0;
	eq_event_init(&event, type, id);
	while (num && hca->ready && may_write(eq)) {
		eq_write(eq, &event);
		num--;
	}
	eq_flush(hca);
	return hca->ready ? num : 0;
}

void eq_async(struct hca *hca, enum ohca_event type, uint32_t id)
{
	struct eq *eq = hca->async_eq;
	struct eq_event event;

	if (!eq || !hca->ready)
		return;
	eq_event_init(&event, type, id);
	if (may_write(eq))
		eq_write(eq, &event);
	else if (hca->ready)
		pending_add(eq, type, id);
}

void eq_post(struct eq *eq, struct eq_event *event)
{
	if (!list_empty(&event->list))
		return;
	if (may_write(eq))
		eq_write(eq, event);
	else if (eq->hca->ready)
		wait(eq, event);
}

void eq_async_event(struct hca *hca, struct eq_event *event)
{
	if (hca->async_eq && hca->ready)
		eq_post(hca->async_eq, event);
}

void eq_forget_async(struct hca *hca, enum ohca_event first, enum ohca_event last, uint32_t id)
{
	unsigned int type;

	if (!hca->async_eq)
		return;
	for (type = first; type <= last; type++) {
		struct eq_pending *pending = pending_find(hca->async_eq, type, id);

		if (pending)
			pending_del(hca->async_eq, pending);
	}
}

void eq_flush(struct hca *hca)
{
	if (hca->stalled || list_empty(&hca->eq_check))
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

/* No event comes to it any more. */
static void eq_stop(struct eq *eq)
{
	struct hca *hca = eq->hca;

	loop_timer_cancel(hca->loop, &eq->retry);
	list_del(&eq->check);
	if (hca->async_eq == eq)
		hca->async_eq = NULL;
}

/* Free what waits, until @end.  Returns whether nothing waits any more. */
static bool eq_shrink(struct hca *hca, void *object, uint64_t end)
{
	struct eq *eq = object;
	unsigned int num = 0;

	(void)hca;
	while (!list_empty(&eq->waiting)) {
		take(eq, first_waiting(eq));
		if (!(++num % EVENTS_AT_ONCE) && loop_clock() >= end)
			return list_empty(&eq->waiting);
	}
	return true;
}

/* It has stopped, and nothing waits. */
static void eq_free(struct eq *eq)
{
	struct hca *hca = eq->hca;

	hash_table_fini(&eq->pending);
	ring_fini(&eq->rec);
	ring_fini(&eq->ring);
	xlt_free(&eq->xlt, &hca->quotas[QUOTA_PAGES]);
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

static uint64_t eq_buf_size(const struct ohca_create_eq_in *in)
{
	return le32toh(in->rec_offset) + sizeof(struct ohca_eq_rec);
}

/* The pages of the buffer are known: set up its ring and record. */
static enum ohca_cmd_status eq_init_buf(struct eq *eq, const struct ohca_create_eq_in *in)
{
	struct dma_map *dma = eq->hca->dma;
	uint64_t size = eq_buf_size(in);
	enum ohca_cmd_status status;

	status = ring_init(&eq->ring, dma, &eq->xlt, size, 0, in->log_size, 4);
	if (!status)
		status = ring_init(&eq->rec, dma, &eq->xlt, size, le32toh(in->rec_offset), 0, 6);
	if (!status && !ring_is_mapped(&eq->rec))
		status = OHCA_CMD_BAD_ADDR;
	return status;
}

static enum ohca_cmd_status create(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_eq_in *in = ctx->in;
	struct ohca_handle *out = ctx->out;
	enum ohca_cmd_status status;
	struct eq *eq = calloc(1, sizeof(*eq));

	if (!eq) {
		xlt_free(&ctx->xlt, &hca->quotas[QUOTA_PAGES]);
		return OHCA_CMD_NO_RESOURCE;
	}
	eq->hca = hca;
	eq->async = in->flags & OHCA_EQ_ASYNC;
	eq->vector = le16toh(in->vector);
	eq->retry.fn = eq_retry;
	list_init(&eq->check);
	list_init(&eq->waiting);
	xlt_move(&eq->xlt, &ctx->xlt);

	status = eq_init_buf(eq, in);
	if (!status && table_add(&hca->eqs, eq, &eq->id))
		status = OHCA_CMD_NO_RESOURCE;
	if (status) {
		eq_stop(eq);
		eq_free(eq);
		return status;
	}
	strict_ring(hca, &eq->ring);
	strict_record(hca, ring_entry(&eq->rec, 0), sizeof(struct ohca_eq_rec));
	if (eq->async) {
		hca->async_eq = eq;
		hca->ports_read = 0;
	}
	out->id = htole32(eq->id);
	return OHCA_CMD_OK;
}

/* Resolve the buffer.  All of it must be there, or the first event would be fatal. */
static enum ohca_cmd_status create_more(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_eq_in *in = ctx->in;
	enum ohca_cmd_status status = cmd_load_buf(hca, ctx, &in->buf);

	if (!status)
		status = cmd_check_ring(hca, ctx, 0, 0, sizeof(struct ohca_eqe) << in->log_size);
	return status ? status : create(hca, ctx);
}

static enum ohca_cmd_status cmd_create_eq(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_eq_in *in = ctx->in;
	enum ohca_cmd_status status = eq_check_input(hca, ctx);

	if (!status)
		status = cmd_begin_buf(hca, ctx, &in->buf, eq_buf_size(in));
	return status ? status : CMD_CONTINUE(hca, ctx, create_more);
}

/* It has no number any more. */
static enum ohca_cmd_status destroy_more(struct hca *hca, struct cmd_ctx *ctx)
{
	if (!eq_shrink(hca, ctx->object, ctx->end))
		return CMD_MORE;
	eq_free(ctx->object);
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
	eq_stop(eq);
	ctx->object = eq;
	return CMD_CONTINUE(hca, ctx, destroy_more);
}

static void eq_drop(struct hca *hca, void *object, uint32_t id)
{
	table_del(&hca->eqs, id);
	eq_stop(object);
	eq_free(object);
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
	OBJECT_TABLE(eqs, eq_drop),
	.shrink = eq_shrink,
	OBJECT_CMDS(eq_cmds),
};
