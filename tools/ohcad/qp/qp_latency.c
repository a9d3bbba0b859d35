// SPDX-License-Identifier: GPL-2.0
/* Latencies of work requests. */

#include <stdlib.h>
#include <string.h>

#include "qp/qp_latency.h"

void qp_latency_measure(struct hca *hca, bool on)
{
	hca->measures = on;
	if (!on)
		return;
	hca->measured_since++;
	memset(&hca->latency, 0, sizeof(hca->latency));
}

static size_t stamps_size(const struct qp *qp)
{
	return sizeof(uint64_t) << qp->sq.wq.ring.log_size;
}

/* The latencies of the QP, which begin now if they are not of this time.  NULL: there is no memory, or its quota is used up. */
static struct qp_latency *current(struct qp *qp)
{
	struct qp_latency *latency = qp->latency;
	size_t size = sizeof(*latency) + stamps_size(qp);

	if (latency && latency->since == qp->hca->measured_since)
		return latency;
	if (!latency && qp_charge(qp, size))
		latency = malloc(size);
	if (!latency)
		return NULL;
	memset(latency, 0, size);
	latency->since = qp->hca->measured_since;
	qp->latency = latency;
	return latency;
}

__attribute__((noinline)) void qp_latency_stamp(struct qp *qp, uint32_t from)
{
	struct qp_latency *latency = current(qp);
	uint32_t mask = (1U << qp->sq.wq.ring.log_size) - 1;
	uint64_t now;

	if (!latency || from == qp->sq.wq.pi)
		return;
	now = loop_clock();
	for (; from != qp->sq.wq.pi; from++)
		latency->posted[from & mask] = now;
}

__attribute__((noinline)) void qp_latency_take(struct qp *qp, uint32_t idx)
{
	struct qp_latency *latency = qp->latency;
	uint32_t mask = (1U << qp->sq.wq.ring.log_size) - 1;
	uint64_t posted, ns;

	if (!latency || latency->since != qp->hca->measured_since)
		return;
	posted = latency->posted[idx & mask];
	latency->posted[idx & mask] = 0;
	if (!posted)
		return;
	ns = loop_clock() - posted;
	latency_add(&latency->sum, ns);
	latency_add(&qp->hca->latency, ns);
}

const struct latency *qp_latency_of(const struct qp *qp)
{
	return qp->latency && qp->latency->since == qp->hca->measured_since ? &qp->latency->sum
									    : NULL;
}
