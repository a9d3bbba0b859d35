// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receive queues.  The device copies an entry when it takes it; from then on it belongs to
 * the QP (recv.c), whatever happens to the SRQ.
 */

#include "base/log.h"
#include "device/eq.h"
#include "qp/srq.h"

struct srq *srq_get(struct hca *hca, uint32_t srqn)
{
	return table_get(&hca->srqs, srqn);
}

void srq_error(struct srq *srq)
{
	if (srq->error)
		return;
	log_debug(srq->hca->name, "SRQ %u: not accessible, or its index jumped", srq->id);
	srq->error = true;
	srq->wq.broken = true;
	srq->wq.pi = srq->wq.done;
	eq_async(srq->hca, OHCA_EVENT_SRQ_ERR, srq->id);
}

void srq_check_limit(struct srq *srq)
{
	if (!wq_update(&srq->wq)) {
		srq_error(srq);
		return;
	}
	if (srq->wq.pi - srq->wq.done >= srq->limit)
		return;
	srq->limit = 0;
	eq_async(srq->hca, OHCA_EVENT_SRQ_LIMIT, srq->id);
}

void srq_taken(struct srq *srq)
{
	srq->wq.done++;
	if (srq->wq.pi - srq->wq.done < srq->limit)
		srq_check_limit(srq);
}
