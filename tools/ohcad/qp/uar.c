// SPDX-License-Identifier: GPL-2.0
/*
 * User access regions.
 *
 * An active UAR is polled: its seven direct words and the summary word are one cache line.  After a
 * while without work it is put to sleep: the device sets asleep in the shadow page, executes a full
 * barrier and polls once more (struct ohca_shadow).  From then on, a UAR costs nothing until
 * software writes OHCA_UAR_WAKE.  That write is expensive, so a UAR that was woken soon after it
 * fell asleep is polled for longer the next time.
 */

#include <endian.h>
#include <stdlib.h>

#include "device/cmdq.h"
#include "device/hca_hooks.h"
#include "device/object.h"
#include "device/strict.h"
#include "qp/qp.h"
#include "qp/uar.h"

#define IDLE_MIN_NS 50000
#define IDLE_MAX_NS 800000

#define DIRECT_WORDS (OHCA_SHADOW_DIRECT_SLOTS / 64)

struct uar *uar_get(struct hca *hca, uint32_t id)
{
	return table_get(&hca->uars, id);
}

/* The UAR at an offset of the BAR, which becomes that in the UAR; or NULL */
static struct uar *uar_at(struct hca *hca, uint64_t *off)
{
	uint64_t at = *off;

	if (!hca->ready)
		return NULL;
	*off = at & ((1ULL << hca->uar_shift) - 1);
	return uar_get(hca, at >> hca->uar_shift);
}

/* The doorbell of the QP was rung. */
static void ring(struct qp *qp)
{
	if (qp->hca->hooks)
		qp->hca->hooks->doorbell(qp->hca, qp->id);
	qp_schedule(qp);
}

/* The shadow page, or NULL if there is none or its memory is not accessible */
static struct ohca_shadow *uar_shadow(struct uar *uar)
{
	struct dma_map *dma = uar->hca->dma;

	if (uar->gen == dma->gen)
		return uar->shadow;
	uar->gen = dma->gen;
	uar->shadow = NULL;
	if (uar->shadow_addr && dma_ptr(dma, uar->shadow_addr, OHCA_UAR_SIZE, false))
		uar->shadow = dma_ptr(dma, uar->shadow_addr, OHCA_UAR_SIZE, true);
	return uar->shadow;
}

static bool uar_charge(struct uar *uar, size_t bytes)
{
	if (!quota_charge(&uar->hca->quotas[QUOTA_MEMORY], bytes))
		return false;
	uar->memory += bytes;
	return true;
}

static void uar_free(struct uar *uar)
{
	list_del(&uar->active);
	quota_release(&uar->hca->quotas[QUOTA_MEMORY], uar->memory);
	free(uar->slots);
	free(uar);
}

enum ohca_cmd_status uar_attach(struct uar *uar, struct qp *qp, uint16_t slot)
{
	if (!uar->slots) {
		if (!uar_charge(uar, OHCA_SHADOW_SLOTS * sizeof(*uar->slots)))
			return OHCA_CMD_NO_RESOURCE;
		uar->slots = calloc(OHCA_SHADOW_SLOTS, sizeof(*uar->slots));
		if (!uar->slots)
			return OHCA_CMD_NO_RESOURCE;
	}
	qp->uar = uar;
	qp->slot = slot;
	qp->slot_next = uar->slots[slot];
	qp->slot_at = &uar->slots[slot];
	if (qp->slot_next)
		qp->slot_next->slot_at = &qp->slot_next;
	uar->slots[slot] = qp;
	uar->num_qps++;
	return OHCA_CMD_OK;
}

void uar_detach(struct uar *uar, struct qp *qp)
{
	if (uar->next == qp)
		uar->next = qp->slot_next;
	*qp->slot_at = qp->slot_next;
	if (qp->slot_next)
		qp->slot_next->slot_at = qp->slot_at;
	qp->slot_next = NULL;
	uar->num_qps--;
}

/*
 * Poll the UAR from now on.  A UAR whose memory is not accessible at the moment stays active too.
 * Otherwise its dirty bits would not be seen when the memory is accessible again.
 */
static void uar_wake(struct uar *uar)
{
	struct ohca_shadow *shadow = uar_shadow(uar);
	uint64_t now = loop_now(uar->hca->loop);

	if (!uar->shadow_addr)
		return;
	/* A stalled HCA writes nothing: software wakes the UAR again with the next doorbell. */
	if (shadow && !uar->hca->stalled)
		__atomic_store_n(&shadow->asleep, 0, __ATOMIC_RELAXED);
	if (!list_empty(&uar->active))
		return;
	if (now - uar->last_work < 4 * uar->idle_ns)
		uar->idle_ns = uar->idle_ns * 2 < IDLE_MAX_NS ? uar->idle_ns * 2 : IDLE_MAX_NS;
	else
		uar->idle_ns = IDLE_MIN_NS;
	uar->last_work = now;
	list_add_tail(&uar->hca->active_uars, &uar->active);
}

void uar_bar_write(struct hca *hca, uint64_t off, unsigned int len, uint64_t val)
{
	struct uar *uar = uar_at(hca, &off);
	struct qp *qp;

	if (!uar)
		return;
	if (off == OHCA_UAR_WAKE && len == 4) {
		uar_wake(uar);
	} else if (off == OHCA_UAR_SQ_DB && len == 8) {
		qp = qp_get(hca, (val & OHCA_SQ_DB_QPN_MASK) >> OHCA_SQ_DB_QPN_SHIFT);
		if (qp && qp->uar == uar)
			ring(qp);
	} else if (off / 8 == OHCA_UAR_SQ_DB / 8) {
		strict_broken(hca, "S-801", "a doorbell is not written as one value of 64 bits");
	}
}

uint64_t uar_bar_read(struct hca *hca, uint64_t off, unsigned int len)
{
	struct uar *uar = uar_at(hca, &off);
	uint64_t now;

	if (!uar)
		return 0;
	if (off == OHCA_UAR_CLOCK + 4 && len == 4)
		return uar->clock_high;
	if (off != OHCA_UAR_CLOCK || (len != 4 && len != 8))
		return 0;
	now = loop_clock();
	uar->clock_high = now >> 32;
	return len == 4 ? (uint32_t)now : now;
}

/*
 * Handle the slots that were taken, and all QPs of each, as long as the round has doorbells left.  Returns whether all are
 * done.
 */
static bool uar_serve(struct uar *uar)
{
	uint32_t left = uar->hca->doorbells;
	struct qp *qp = uar->next;
	uint64_t taken = uar->taken;

	while ((qp || taken) && left) {
		left--;
		if (qp) {
			ring(qp);
			qp = qp->slot_next;
			continue;
		}
		if (taken & 1 && !uar->first && !uar->id)
			cmdq_kick(uar->hca->cmdq);
		if (uar->slots)
			qp = uar->slots[uar->first + __builtin_ctzll(taken)];
		taken &= taken - 1;
	}
	uar->hca->doorbells = left;
	uar->next = qp;
	uar->taken = taken;
	return !qp && !taken;
}

static uint64_t peek(const __le64 *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static uint64_t take(__le64 *word)
{
	return le64toh(__atomic_exchange_n(word, 0, __ATOMIC_SEQ_CST));
}

/* Take the dirty slots of a word, from @first on, and handle them. */
static bool uar_take(struct uar *uar, __le64 *word, unsigned int first)
{
	uar->taken = take(word);
	uar->first = first;
	return uar_serve(uar);
}

bool uar_poll(struct uar *uar)
{
	struct ohca_shadow *shadow = uar_shadow(uar);
	uint64_t any = 0, summary;
	unsigned int i;

	if ((uar->taken || uar->next) && !uar_serve(uar))
		return true;
	if (!shadow)
		return false;
	for (i = 0; i < DIRECT_WORDS; i++)
		any |= peek(&shadow->direct[i]);
	summary = peek(&shadow->summary);
	if (!(any | summary | uar->summary))
		return false;

	for (i = 0; any && i < DIRECT_WORDS; i++) {
		if (peek(&shadow->direct[i]) && !uar_take(uar, &shadow->direct[i], i * 64))
			return true;
	}
	/* The summary bit is taken first: if it is set again, the word is read again. */
	if (summary)
		uar->summary |= take(&shadow->summary);
	while (uar->summary) {
		i = __builtin_ctzll(uar->summary);
		uar->summary &= uar->summary - 1;
		if (peek(&shadow->indirect[i]) &&
		    !uar_take(uar, &shadow->indirect[i], OHCA_SHADOW_DIRECT_SLOTS + i * 64))
			return true;
	}
	return true;
}

bool uar_idle(struct uar *uar, uint64_t now)
{
	return now - uar->last_work > uar->idle_ns;
}

bool uar_sleep(struct uar *uar)
{
	struct ohca_shadow *shadow = uar_shadow(uar);

	if (!shadow)
		return true;
	list_del(&uar->active);
	__atomic_store_n(&shadow->asleep, htole32(1), __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!uar_poll(uar))
		return true;
	__atomic_store_n(&shadow->asleep, 0, __ATOMIC_RELAXED);
	list_add_tail(&uar->hca->active_uars, &uar->active);
	return false;
}

static enum ohca_cmd_status cmd_alloc_uar(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_alloc_uar_in *in = ctx->in;
	uint64_t addr = le64toh(in->shadow_addr);
	bool shadow = hca->feats & OHCA_FEAT_SHADOW_DB;
	struct ohca_handle *out = ctx->out;
	struct uar *uar;

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_alloc_uar_in, rsvd, OHCA_CMD_BAD_PARAM);
	if (addr && !shadow)
		return CMD_BAD(ctx, struct ohca_alloc_uar_in, shadow_addr, OHCA_CMD_UNSUPPORTED);
	if (addr % OHCA_UAR_SIZE || (shadow && !addr))
		return CMD_BAD(ctx, struct ohca_alloc_uar_in, shadow_addr, OHCA_CMD_BAD_PARAM);

	uar = calloc(1, sizeof(*uar));
	if (!uar)
		return OHCA_CMD_NO_RESOURCE;
	uar->hca = hca;
	uar->shadow_addr = addr;
	uar->gen = ~hca->dma->gen;
	uar->idle_ns = IDLE_MIN_NS;
	list_init(&uar->active);
	if (!uar_charge(uar, sizeof(*uar))) {
		free(uar);
		return OHCA_CMD_NO_RESOURCE;
	}
	if (shadow && !uar_shadow(uar)) {
		uar_free(uar);
		return CMD_BAD(ctx, struct ohca_alloc_uar_in, shadow_addr, OHCA_CMD_BAD_ADDR);
	}
	if (table_add(&hca->uars, uar, &uar->id)) {
		uar_free(uar);
		return OHCA_CMD_NO_RESOURCE;
	}
	uar_wake(uar);
	out->id = htole32(uar->id);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_free_uar(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct uar *uar = uar_get(hca, le32toh(in->id));

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!uar)
		return OHCA_CMD_BAD_HANDLE;
	if (uar->num_qps)
		return OHCA_CMD_BUSY;
	table_del(&hca->uars, uar->id);
	uar_free(uar);
	return OHCA_CMD_OK;
}

static void uar_drop(struct hca *hca, void *object, uint32_t id)
{
	table_del(&hca->uars, id);
	uar_free(object);
}

static int uar_init(struct hca *hca)
{
	list_init(&hca->active_uars);
	return table_init(&hca->uars, 0, HCA_MAX_UAR);
}

static void uar_fini(struct hca *hca)
{
	table_fini(&hca->uars);
}

static const struct cmd_desc uar_cmds[] = {
	CMD_DESC(ALLOC_UAR, cmd_alloc_uar, sizeof(struct ohca_alloc_uar_in), CMD_HANDLE_LEN),
	CMD_DESC(FREE_UAR, cmd_free_uar, CMD_HANDLE_LEN, 0),
};

const struct object_class uar_class = {
	.init = uar_init,
	.fini = uar_fini,
	OBJECT_TABLE(uars, uar_drop),
	OBJECT_CMDS(uar_cmds),
};
