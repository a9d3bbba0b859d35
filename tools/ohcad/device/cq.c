// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues.
 *
 * The barrier between a CQE and the look at the arm counters is executed once for all CQEs of a
 * polling round: cq_push() puts the CQ on hca->cq_check, and cq_flush() at the end of the round
 * does the rest.
 *
 * Moderation holds an event back while few CQEs have come since the last event.  Only CQEs that
 * were written while the CQ was armed count: software polls once more after it has armed the CQ,
 * and finds all earlier ones then.
 */

#include <endian.h>
#include <stdlib.h>

#include "device/cq.h"
#include "device/eq.h"
#include "device/hca_hooks.h"
#include "base/log.h"

struct cq *cq_get(struct hca *hca, uint32_t cqn)
{
	return table_get(&hca->cqs, cqn);
}

void cq_error(struct cq *cq, const char *why)
{
	log_debug(cq->hca->name, "CQ %u: %s", cq->id, why);
	cq->error = true;
	list_del(&cq->check);
	loop_timer_cancel(cq->hca->loop, &cq->moder);
	eq_async(cq->hca, OHCA_EVENT_CQ_ERR, cq->id);
}

/*
 * The ring looks full: read the consumer index.  An index that jumped is handled like an
 * overrun.
 */
static __attribute__((noinline)) bool cq_make_room(struct cq *cq)
{
	uint32_t size = 1U << cq->ring.log_size;
	struct ohca_cq_rec *rec = ring_entry(&cq->rec, 0);
	uint32_t ci;

	if (cq->ignore_overrun) {
		cq->ci = cq->pi - (size - 1);
		return true;
	}
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

/* A completion as it leaves the device */
static bool cq_write(struct cq *cq, const struct ohca_cqe *cqe)
{
	const uint64_t *from = (const uint64_t *)cqe;
	uint64_t *to;
	uint64_t last;

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
	if (cq->timestamp)
		to[offsetof(struct ohca_cqe, timestamp) / 8] = htole64(loop_clock());
	__atomic_store_n(&to[7], htole64(last), __ATOMIC_RELEASE);
	cq->pi++;

	cq->solicited |= (cqe->flags & OHCA_CQE_F_SOLICITED) || cqe->status;
	cq_schedule_check(cq);
	return true;
}

static __attribute__((noinline)) bool cq_push_hooked(struct cq *cq, const struct ohca_cqe *cqe)
{
	struct ohca_cqe copy = *cqe;

	cq->hca->hooks->completion(cq->hca, &copy, cq->id);
	return cq_write(cq, &copy);
}

bool cq_push(struct cq *cq, const struct ohca_cqe *cqe)
{
	if (cq->error || cq->hca->fatal)
		return false;
	if (cq->hca->hooks)
		return cq_push_hooked(cq, cqe);
	return cq_write(cq, cqe);
}

void cq_moder_timer(struct timer *timer)
{
	struct cq *cq = list_entry(timer, struct cq, moder);

	cq->due = true;
	cq_schedule_check(cq);
}

/* Does moderation still hold back the event for the CQEs that came? */
static bool cq_hold_back(struct cq *cq)
{
	struct loop *loop = cq->hca->loop;

	if (cq->pi - cq->notified >= cq->moder_count || cq->due)
		return false;
	if (cq->moder_ns && !cq->moder.pos)
		loop_timer_arm(loop, &cq->moder, loop_now(loop) + cq->moder_ns);
	return true;
}

/* After the fence: has software asked for an event? */
static void cq_check_armed(struct cq *cq)
{
	struct ohca_cq_rec *rec = ring_entry(&cq->rec, 0);
	bool solicited = cq->solicited, fire;
	uint32_t next, sol;

	cq->solicited = false;
	if (!rec) {
		cq_error(cq, "record not accessible");
		return;
	}
	next = le32toh(__atomic_load_n(&rec->arm_next, __ATOMIC_RELAXED));
	sol = le32toh(__atomic_load_n(&rec->arm_solicited, __ATOMIC_RELAXED));
	fire = next != cq->fired_next && cq->pi != cq->notified;
	if (solicited && sol != cq->fired_solicited)
		fire = true;
	else if (fire && cq_hold_back(cq))
		return;
	cq->due = false;
	cq->notified = cq->pi;
	loop_timer_cancel(cq->hca->loop, &cq->moder);
	if (!fire)
		return;
	cq->fired_next = next;
	cq->fired_solicited = sol;
	eq_post(cq->eq, &cq->event);
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

void cq_free(struct cq *cq)
{
	loop_timer_cancel(cq->hca->loop, &cq->moder);
	list_del(&cq->check);
	eq_forget(&cq->event);
	if (cq->eq)
		cq->eq->refs--;
	ring_fini(&cq->rec);
	ring_fini(&cq->ring);
	xlt_free(&cq->xlt, &cq->hca->quotas[QUOTA_PAGES]);
	quota_release(&cq->hca->quotas[QUOTA_MEMORY], cq->memory);
	free(cq);
}
