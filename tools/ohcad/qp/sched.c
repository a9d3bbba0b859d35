// SPDX-License-Identifier: GPL-2.0
/* The scheduler of QPs. */

#include <errno.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "fabric/fabric.h"
#include "fabric/ib_traffic.h"
#include "fabric/uplink.h"
#include "qp/flush.h"
#include "qp/pace.h"
#include "qp/qp.h"
#include "qp/sched.h"

/* QPs in a round, about */
#define QPS_PER_ROUND 16
/* Parts of jobs in a round */
#define JOBS_PER_ROUND 16

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
	/* A READ may be answered in no QP's turn: then it is that of the last one, which may have been a datagram's. */
	uint32_t max = max_of(qp->hca->sched->max, SCHED_SHORT);

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
 * Run the first QP of a list for a quantum, and subtract its cost from @left.  Returns whether the quantum was a short one.
 */
static bool run_next(struct hca *hca, struct list *list, int64_t *left)
{
	struct qp *qp = list_entry(list->next, struct qp, run);
	struct sched *sched = hca->sched;
	const uint64_t *sent = &qp->counters->value[OHCA_CNT_TX_PKTS];
	uint64_t pkts = sent[0], bytes = sent[1], now = loop_now(hca->loop);
	bool is_short = others_are_small(sched, qp, now);
	uint32_t next = qp->sq.wq.next;
	uint64_t num = 0;

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
	/* A work request has packets, or none if it is a local operation.  It is lower after losses and errors. */
	if ((int32_t)(qp->sq.wq.next - next) > 0)
		num = qp->sq.wq.next - next;
	num = max_of(num, sent[0] - pkts);
	*left -= (int64_t)(max_of(sent[1] - bytes, num * SCHED_MESSAGE) + sched->extra);
	sched->extra = 0;
	return is_short;
}

/* The HCA has had little to send, and is done. */
static void set_light(const struct hca *hca)
{
	struct sched *sched = hca->sched;

	if (sched->light[0].hca != hca) {
		sched->light[1] = sched->light[0];
		sched->light[0].hca = hca;
	}
	sched->light[0].at = loop_now(hca->loop);
}

/* Whether another HCA has had little to send lately */
static bool others_are_light(const struct hca *hca)
{
	const struct sched *sched = hca->sched;
	uint64_t now = loop_now(hca->loop);
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (sched->light[i].hca && sched->light[i].hca != hca &&
		    now - sched->light[i].at < SMALL_NS)
			return true;
	}
	return false;
}

/* Messages of an HCA in a round while others have little to send: with many HCAs that have more, fewer of each */
static unsigned int short_batch(const struct sched *sched)
{
	unsigned int num = SCHED_BATCH_SHORT;

	if (sched->busy > SCHED_SHORT_TURNS)
		num = num * SCHED_SHORT_TURNS / sched->busy;
	return num ? num : 1;
}

/*
 * The cost that the QPs of the HCA may have in this round.  If another HCA has had more to send than it could since the
 * last round of this one, or little to send lately, each has the same share, and what it sends beyond that is subtracted
 * from the next one (deficit round robin), unless no other one has had work meanwhile.
 */
static int64_t share(const struct hca *hca)
{
	const struct hca *last = hca->sched->last;
	int64_t whole = SCHED_SHARE;

	if (others_are_light(hca))
		whole = short_batch(hca->sched) * SCHED_MESSAGE;
	else if (!last || last == hca)
		return SCHED_ROUND;
	return hca->turn == hca->sched->turns ? whole : whole - hca->owed;
}

static void set_busy(struct hca *hca, bool busy)
{
	hca->sched->busy += busy - hca->busy;
	hca->busy = busy;
}

/* The round is over, which had @whole to spend and has @left of it. */
static void settle(struct hca *hca, int64_t whole, int64_t left)
{
	struct sched *sched = hca->sched;
	bool busy = !list_empty(&hca->more) || !list_empty(&hca->jobs);

	set_busy(hca, busy);
	hca->owed = left < 0 ? -left : 0;
	sched->turns += whole > 0;
	hca->turn = sched->turns;
	hca->spent += whole - left;
	if (busy) {
		sched->last = hca;
		return;
	}
	if (sched->last == hca)
		sched->last = NULL;
	if (!list_empty(&hca->run))
		return;
	if (hca->spent && hca->spent < SCHED_SHORT)
		set_light(hca);
	hca->spent = 0;
}

uint64_t sched_slice(const struct hca *hca)
{
	const struct hca *last = hca->sched->last;

	return others_are_light(hca) || (last && last != hca) ? SCHED_SLICE_SHORT
							      : SCHED_SLICE_LONG;
}

bool sched_add_job(struct hca *hca, struct sched_job *job)
{
	if (hca->num_jobs == SCHED_MAX_JOBS)
		return false;
	list_add_tail(&hca->jobs, &job->node);
	hca->num_jobs++;
	return true;
}

/* The oldest one, which is in the list no more */
static struct sched_job *take_job(struct hca *hca)
{
	struct sched_job *job = list_entry(hca->jobs.next, struct sched_job, node);

	list_del(&job->node);
	hca->num_jobs--;
	return job;
}

/* A part of the oldest job.  It may end in hca_fatal(). */
static void run_job(struct hca *hca, int64_t *left)
{
	struct sched_job *job = take_job(hca);
	bool done = false;

	*left -= job->run(job, SCHED_SHORT, &done);
	if (done || !hca->ready) {
		job->free(job);
		return;
	}
	list_add_tail(hca->jobs.next, &job->node);
	hca->num_jobs++;
}

void sched_stop(struct hca *hca)
{
	if (hca->sched->last == hca)
		hca->sched->last = NULL;
	set_busy(hca, false);
	while (!list_empty(&hca->jobs)) {
		struct sched_job *job = take_job(hca);

		job->free(job);
	}
}

void sched_charge(const struct hca *hca, uint64_t bytes)
{
	hca->sched->extra += bytes;
}

bool sched_round(struct hca *hca)
{
	const struct list *last_new = hca->run.prev, *last = hca->more.prev;
	bool end = list_empty(&hca->run), more_end = last == &hca->more, waited;
	int64_t whole, left;
	unsigned int n;

	if (end && list_empty(&hca->more) && list_empty(&hca->jobs)) {
		settle(hca, 0, 0);
		return false;
	}
	whole = left = share(hca);
	hca->sched->batch = whole <= SCHED_SHORT ? short_batch(hca->sched) : SCHED_BATCH_LONG;
	hca->sched->extra = 0;
	if (left <= 0) {
		settle(hca, whole, left);
		return true;
	}
	waited = hca->passed_over && last != &hca->more;
	if (waited) {
		more_end = hca->more.next == last;
		run_next(hca, &hca->more, &left);
	}
	for (n = 0; !end && n < QPS_PER_ROUND && left > 0; n++) {
		end = hca->run.next == last_new;
		run_next(hca, &hca->run, &left);
	}
	/* At least one, however many QPs have new work; of a short share that these have used up, in the next round */
	hca->passed_over = whole <= SCHED_SHORT && left <= 0 && n && !waited;
	for (end = more_end || hca->passed_over || (waited && left <= 0); !end;
	     end |= ++n >= QPS_PER_ROUND || left <= 0) {
		end = hca->more.next == last;
		end |= run_next(hca, &hca->more, &left);
	}
	for (n = 0; !list_empty(&hca->jobs) && (!n || (n < JOBS_PER_ROUND && left > 0)); n++)
		run_job(hca, &left);
	settle(hca, whole, left);
	return true;
}

int sched_init(struct hca *hca)
{
	struct list *ports = &hca->fabric->ports;

	list_init(&hca->run);
	list_init(&hca->more);
	list_init(&hca->jobs);
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
