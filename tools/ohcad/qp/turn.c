// SPDX-License-Identifier: GPL-2.0
/* Turns of QPs. */

#include "fabric/fabric.h"
#include "qp/qp.h"
#include "qp/turn.h"

/* Turns in a round, about */
#define QPS_PER_ROUND 16

_Static_assert(TURN_LONG <= PKT_MAX_LEN, "a turn is a train at most");
_Static_assert(TURN_SHORT >= 4096, "a turn is a packet at least");

/* So long after small messages more of them are expected (ns). */
#define SMALL_NS 1000000

/* Do others than @qp and its peer send small messages? */
static bool others_are_small(const struct turns *turns, const struct qp *qp, uint64_t now)
{
	return turns->small_at && turns->small != qp && turns->small_peer != qp &&
	       now - turns->small_at < SMALL_NS;
}

uint32_t turn_long_part(const struct qp *qp, uint32_t len)
{
	uint32_t max = qp->hca->fabric->turns.max;

	if (qp->egress && max > TURN_WIRE)
		max = TURN_WIRE;
	return len < max ? len : max;
}

/*
 * The turn of the first one of a list, whose bytes are no longer left to the round; returns whether
 * it was a short one.
 */
static bool take_turn(struct hca *hca, struct list *list, int64_t *left)
{
	struct qp *qp = list_entry(list->next, struct qp, run);
	struct turns *turns = &hca->fabric->turns;
	const uint64_t *sent = &qp->counters->value[OHCA_CNT_TX_PKTS];
	uint64_t pkts = sent[0], bytes = sent[1], now = loop_now(hca->loop);
	bool is_short = others_are_small(turns, qp, now);

	list_del(&qp->run);
	turns->max = is_short ? TURN_SHORT : TURN_LONG;
	if (qp_run(qp, turns->max)) {
		if (list_empty(&qp->run))
			list_add_tail(&hca->more, &qp->run);
	} else if (sent[0] != pkts && sent[1] - bytes < TURN_SHORT) {
		turns->small = qp;
		turns->small_peer = qp->peer;
		turns->small_at = now;
	}
	*left -= (int64_t)(sent[1] - bytes);
	return is_short;
}

bool turn_round(struct hca *hca)
{
	const struct list *last_new = hca->run.prev, *last = hca->more.prev;
	bool end = list_empty(&hca->run);
	int64_t left = TURN_ROUND;
	unsigned int n;

	if (end && list_empty(&hca->more))
		return false;
	for (n = 0; !end && n < QPS_PER_ROUND && left > 0; n++) {
		end = hca->run.next == last_new;
		take_turn(hca, &hca->run, &left);
	}
	/* One at least, however many are new */
	for (end = last == &hca->more; !end; end |= ++n >= QPS_PER_ROUND || left <= 0) {
		end = hca->more.next == last;
		end |= take_turn(hca, &hca->more, &left);
	}
	return true;
}
