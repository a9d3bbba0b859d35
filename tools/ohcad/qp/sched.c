// SPDX-License-Identifier: GPL-2.0
/* The scheduler of QPs. */

#include <errno.h>
#include <stdlib.h>

#include "fabric/fabric.h"
#include "fabric/ib_traffic.h"
#include "fabric/uplink.h"
#include "qp/flush.h"
#include "qp/pace.h"
#include "qp/qp.h"
#include "qp/sched.h"

/* QPs in a round, about */
#define QPS_PER_ROUND 16

_Static_assert(SCHED_LONG <= PKT_MAX_LEN, "a quantum fits in a burst");
_Static_assert(SCHED_SHORT >= 4096, "a quantum has room for a packet");

/* Time after a small message in which more of them are expected, ns */
#define SMALL_NS 1000000

/* Whether other QPs than @qp and its peer send small messages */
static bool others_are_small(const struct sched *sched, const struct qp *qp, uint64_t now)
{
	return sched->small_at && sched->small != qp && sched->small_peer != qp &&
	       now - sched->small_at < SMALL_NS;
}

uint32_t sched_long_part(const struct qp *qp, uint32_t len)
{
	uint32_t max = qp->hca->sched->max;

	if (qp->egress && max > SCHED_EGRESS)
		max = SCHED_EGRESS;
	return len < max ? len : max;
}

void sched_timer(struct timer *timer)
{
	struct qp *qp = list_entry(timer, struct qp, sq.timer);

	if (!qp->hca->ready)
		return;
	if (qp->state == OHCA_QPS_ERR) {
		qp_schedule(qp);
		return;
	}
	if (qp->state != OHCA_QPS_RTS && qp->state != OHCA_QPS_SQD)
		return;
	if (qp->sq.paused & SQ_WAIT_RECEIVER) {
		qp->sq.paused &= ~SQ_WAIT_RECEIVER;
		qp_schedule(qp);
		return;
	}
	if (qp->ops->timeout)
		qp->ops->timeout(qp);
}

static void resume_run(struct list *run)
{
	qp_schedule(list_entry(run, struct qp, run));
}

/* If the uplinks are congested, park the QP until they are not. */
static bool is_parked(struct qp *qp)
{
	struct uplinks *uplinks = qp->hca->fabric->uplinks;
	struct port *port = qp->port;

	if (!uplinks || !uplinks_park(uplinks, &qp->run, resume_run))
		return false;
	if (port->ib)
		ib_wait(port->ib, IB_WAIT_UPLINK, true);
	return true;
}

/*
 * Do a bounded amount of the QP's work (about @budget bytes).  Returns whether more can be done at
 * once.  The QP may have put itself on hca->run then.
 */
static bool qp_run(struct qp *qp, uint32_t budget)
{
	if (qp->state == OHCA_QPS_ERR)
		return qp_flush(qp);
	if (qp->state == OHCA_QPS_SQE)
		return qp_flush_send(qp);
	if (qp->state < OHCA_QPS_RTR || (qp->egress && is_parked(qp)))
		return false;
	return qp->ops->run(qp, budget);
}

/* The same of a port that is no faster than its link */
static bool run_paced(struct qp *qp, uint32_t budget)
{
	const uint64_t *sent = &qp->counters->value[OHCA_CNT_TX_PKTS];
	uint64_t pkts = sent[0], bytes = sent[1];
	bool more;

	if (pace_holds(qp))
		return false;
	budget = pace_quantum(qp, budget);
	qp->hca->sched->max = budget;
	more = qp_run(qp, budget);
	return pace_sent(qp, sent[0] - pkts, sent[1] - bytes, more);
}

/*
 * Run the first QP of a list for a quantum, and subtract the bytes that it sent from @left.
 * Returns whether the quantum was a short one.
 */
static bool run_next(struct hca *hca, struct list *list, int64_t *left)
{
	struct qp *qp = list_entry(list->next, struct qp, run);
	struct sched *sched = hca->sched;
	const uint64_t *sent = &qp->counters->value[OHCA_CNT_TX_PKTS];
	uint64_t pkts = sent[0], bytes = sent[1], now = loop_now(hca->loop);
	bool is_short = others_are_small(sched, qp, now);

	list_del(&qp->run);
	sched->max = is_short ? SCHED_SHORT : SCHED_LONG;
	if (qp->port->pacer ? run_paced(qp, sched->max) : qp_run(qp, sched->max)) {
		if (list_empty(&qp->run))
			list_add_tail(&hca->more, &qp->run);
	} else if (sent[0] != pkts && sent[1] - bytes < SCHED_SHORT) {
		sched->small = qp;
		sched->small_peer = qp->peer;
		sched->small_at = now;
	}
	*left -= (int64_t)(sent[1] - bytes);
	return is_short;
}

/*
 * Bytes that the QPs of the HCA may send in this round.  If another HCA has had more to send than it could since the
 * last round of this one, each has the same share, and what it sends beyond that is subtracted from the next one
 * (deficit round robin).
 */
static int64_t share(const struct hca *hca)
{
	const struct hca *last = hca->sched->last;

	return !last || last == hca ? SCHED_ROUND : (int64_t)SCHED_SHARE - hca->owed;
}

/* The round is over. */
static void settle(struct hca *hca, int64_t left)
{
	struct sched *sched = hca->sched;

	hca->owed = left < 0 ? -left : 0;
	if (!list_empty(&hca->more))
		sched->last = hca;
	else if (sched->last == hca)
		sched->last = NULL;
}

bool sched_round(struct hca *hca)
{
	const struct list *last_new = hca->run.prev, *last = hca->more.prev;
	bool end = list_empty(&hca->run);
	int64_t left;
	unsigned int n;

	if (end && list_empty(&hca->more)) {
		settle(hca, 0);
		return false;
	}
	left = share(hca);
	if (left <= 0) {
		settle(hca, left);
		return true;
	}
	for (n = 0; !end && n < QPS_PER_ROUND && left > 0; n++) {
		end = hca->run.next == last_new;
		run_next(hca, &hca->run, &left);
	}
	/* At least one, however many QPs have new work */
	for (end = last == &hca->more; !end; end |= ++n >= QPS_PER_ROUND || left <= 0) {
		end = hca->more.next == last;
		end |= run_next(hca, &hca->more, &left);
	}
	settle(hca, left);
	return true;
}

int sched_init(struct hca *hca)
{
	struct list *ports = &hca->fabric->ports;

	list_init(&hca->run);
	list_init(&hca->more);
	if (!list_empty(ports)) {
		hca->sched = list_entry(ports->next, struct port, link)->hca->sched;
		hca->sched->users++;
		return 0;
	}
	hca->sched = calloc(1, sizeof(*hca->sched));
	if (!hca->sched)
		return -ENOMEM;
	hca->sched->users = 1;
	hca->sched->max = SCHED_LONG;
	return 0;
}

void sched_fini(struct hca *hca)
{
	if (!--hca->sched->users)
		free(hca->sched);
}
