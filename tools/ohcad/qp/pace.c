// SPDX-License-Identifier: GPL-2.0
/* A port that is no faster than its link. */

#include <errno.h>
#include <stdlib.h>

#include "device/object.h"
#include "fabric/ib_traffic.h"
#include "packet/ib.h"
#include "qp/pace.h"
#include "qp/qp.h"
#include "qp/sched.h"

/* What each packet has beside its payload, at least */
#define OVERHEAD (LRH_LEN + BTH_LEN + ICRC_LEN + VCRC_LEN)

/* A timer may be so late (ns) without loss: the link catches up. */
#define LATENESS 100000

/**
 * struct pacer - that of an HCA
 * @free_at: then the link has sent what it got
 * @waiting: QPs (struct qp.run), in the order in which they came
 * @timer: for the first of them whose time comes: at @deadline; runs while there are any
 */
struct pacer {
	struct hca *hca;
	uint64_t free_at;
	struct list waiting;
	struct timer timer;
	uint64_t deadline;
};

static uint64_t due(const struct pacer *p, const struct qp *qp)
{
	return qp->pace_at > p->free_at ? qp->pace_at : p->free_at;
}

static void wait(struct pacer *p, struct qp *qp)
{
	uint64_t at = due(p, qp);

	list_add_tail(&p->waiting, &qp->run);
	ib_wait(p->hca->port->ib, IB_WAIT_PACE, true);
	if (p->timer.pos && p->deadline <= at)
		return;
	p->deadline = at;
	loop_timer_arm(p->hca->loop, &p->timer, at);
}

static void on_timer(struct timer *timer)
{
	struct pacer *p = list_entry(timer, struct pacer, timer);
	uint64_t now = loop_now(p->hca->loop);
	struct list *last = p->waiting.prev, *node;
	bool end = list_empty(&p->waiting);

	ib_wait(p->hca->port->ib, IB_WAIT_PACE, false);
	while (!end) {
		struct qp *qp = list_entry(p->waiting.next, struct qp, run);

		node = &qp->run;
		end = node == last;
		list_del(node);
		if (due(p, qp) <= now)
			qp_schedule(qp);
		else
			wait(p, qp);
	}
}

bool pace_holds(struct qp *qp)
{
	struct pacer *p = qp->hca->pacer;
	uint64_t now = loop_now(p->hca->loop);

	/* QP 0 has a lane of its own; who is in error sends nothing. */
	if (qp->type == OHCA_QPT_SMI || !qp_receives(qp) || due(p, qp) <= now)
		return false;
	wait(p, qp);
	return true;
}

uint32_t pace_quantum(const struct qp *qp, uint32_t max)
{
	/* Each datagram has its own address, with a rate of its own. */
	if (qp_is(qp, QPT_DATAGRAM))
		return 1;
	return max < SCHED_EGRESS ? max : SCHED_EGRESS;
}

/* ns that @bytes take at @rate Mb/s, from @begin on, if that is not too long ago */
static uint64_t end_of(uint64_t begin, uint64_t now, uint64_t bytes, uint32_t rate)
{
	if (begin + LATENESS < now)
		begin = now - LATENESS;
	return begin + bytes * 8000 / rate;
}

void pace_sent(struct qp *qp, uint64_t pkts, uint64_t bytes)
{
	const struct ib_port *ib = qp->hca->port->ib;
	struct pacer *p = qp->hca->pacer;
	uint32_t own = ib_static_rate(qp_is(qp, QPT_DATAGRAM) ? qp->static_rate
							      : qp->attr.av.ib.static_rate);
	uint64_t now = loop_now(p->hca->loop);

	if (!pkts || qp->type == OHCA_QPT_SMI)
		return;
	bytes += pkts * OVERHEAD;
	p->free_at = end_of(p->free_at, now, bytes, ib_speeds_rate(&ib->active));
	if (own)
		qp->pace_at = end_of(qp->pace_at, now, bytes, own);
}

int pacer_new(struct hca *hca)
{
	struct pacer *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->hca = hca;
	list_init(&p->waiting);
	p->timer.fn = on_timer;
	hca->pacer = p;
	return 0;
}

/* The QPs are gone, or have nothing to send. */
static void pace_reset(struct hca *hca)
{
	struct pacer *p = hca->pacer;

	if (!p)
		return;
	loop_timer_cancel(hca->loop, &p->timer);
	p->free_at = 0;
}

static void pace_fini(struct hca *hca)
{
	pace_reset(hca);
	free(hca->pacer);
}

const struct object_class pace_class = {
	.reset = pace_reset,
	.fini = pace_fini,
};
