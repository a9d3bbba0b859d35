// SPDX-License-Identifier: GPL-2.0
/* Rounds of polling. */

#include "device/cmdq.h"
#include "device/cq.h"
#include "device/eq.h"
#include "fabric/port.h"
#include "hca/adapter.h"
#include "qp/sched.h"
#include "qp/uar.h"

/* Limits of a round: UARs with work, and all of them */
#define UARS_PER_POLL 16
#define POLLS_PER_POLL 128

/* Whether the HCA may access memory */
static bool hca_may_run(const struct hca *hca)
{
	return hca->ready && !hca->stalled;
}

/* Poll each active UAR once, up to a limit; those that have been idle for long enough are put to sleep. */
static bool hca_poll_uars(struct hca *hca)
{
	uint64_t now = loop_now(hca->loop);
	struct list *node, *next;
	unsigned int busy = 0, polled = 0;

	hca->doorbells = UAR_DOORBELLS;
	for (node = hca->active_uars.next; node != &hca->active_uars; node = next) {
		struct uar *uar = list_entry(node, struct uar, active);

		next = node->next;
		if (uar_poll(uar) || (uar_idle(uar, now) && !uar_sleep(uar))) {
			uar->last_work = now;
			busy++;
		}
		if (next == &hca->active_uars)
			break;
		if (busy < UARS_PER_POLL && ++polled < POLLS_PER_POLL && hca->doorbells)
			continue;
		/* The next round starts after the UAR where this one ends. */
		list_del(&hca->active_uars);
		list_add_tail(next, &hca->active_uars);
		break;
	}
	return busy;
}

/*
 * A round of polling, up to a limit: active UARs, command queue and runnable QPs.  Returns whether
 * there was work.
 */
static bool hca_poll(struct hca *hca)
{
	bool work;

	if (hca_reset_slice(hca))
		return true;
	if (!hca_may_run(hca))
		return false;
	work = hca_poll_uars(hca);
	work |= cmdq_poll(hca->cmdq, sched_slice(hca));
	if (hca->ready)
		work |= sched_round(hca);
	return work;
}

/* Write the events that this round has raised at @hca, also by other HCAs, and raise interrupts. */
static void notify(struct hca *hca)
{
	if (hca->stalled)
		return;
	cq_flush(hca);
	eq_flush(hca);
}

bool hcas_poll(struct hca *const *hcas, unsigned int num)
{
	bool work = false;
	unsigned int i;

	for (i = 0; i < num; i++) {
		hcas[i]->worked = hca_poll(hcas[i]);
		work |= hcas[i]->worked;
	}
	for (i = 0; i < num; i++) {
		if (!hcas[i]->worked)
			notify(hcas[i]);
	}
	for (i = 0; work && i < num; i++) {
		if (hcas[i]->worked)
			notify(hcas[i]);
	}
	return work;
}

bool hca_sleep(struct hca *hca)
{
	struct list *node, *next;

	if (hca->to_reset)
		return false;
	if (!hca_may_run(hca))
		return true;
	if (cmdq_pending(hca->cmdq) || !list_empty(&hca->run) || !list_empty(&hca->more) ||
	    !list_empty(&hca->jobs) || !list_empty(&hca->cq_check) || !list_empty(&hca->eq_check))
		return false;
	for (node = hca->active_uars.next; node != &hca->active_uars; node = next) {
		next = node->next;
		if (!uar_sleep(list_entry(node, struct uar, active)))
			return false;
	}
	return !cmdq_pending(hca->cmdq);
}
