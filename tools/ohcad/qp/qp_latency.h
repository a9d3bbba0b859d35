/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Latencies of work requests: the time from when the device has seen that a send work request was posted, until it writes its
 * completion.  They are measured while hca->measures, of work requests that are signaled and succeed.
 */

#ifndef OHCAD_QP_LATENCY_H
#define OHCAD_QP_LATENCY_H

#include "qp/qp.h"

/**
 * struct qp_latency - latencies of a QP, allocated when they are measured for the first time
 * @since: hca->measured_since when they were begun; with another value they are out of date
 * @sum: the histogram
 * @posted: of each entry of the send queue, when it was seen; 0: before
 */
struct qp_latency {
	uint64_t since;
	struct latency sum;
	uint64_t posted[];
};

/* Begin to measure the HCA's latencies from zero, or end that.  What was measured stays until it begins again. */
void qp_latency_measure(struct hca *hca, bool on);

/* The slow parts of the functions below. */
void qp_latency_stamp(struct qp *qp, uint32_t from);
void qp_latency_take(struct qp *qp, uint32_t idx);

/* The producer index of the send queue was read; before, it was @from. */
static inline void qp_latency_posted(struct qp *qp, uint32_t from)
{
	if (__builtin_expect(qp->hca->measures, 0))
		qp_latency_stamp(qp, from);
}

/* Entry @idx of the send queue completes with success. */
static inline void qp_latency_completed(struct qp *qp, uint32_t idx)
{
	if (__builtin_expect(qp->hca->measures, 0))
		qp_latency_take(qp, idx);
}

/* What was measured of it, or NULL */
const struct latency *qp_latency_of(const struct qp *qp);

#endif
