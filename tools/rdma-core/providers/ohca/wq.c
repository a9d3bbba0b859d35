// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Initialization and reset of a work queue.
 */

#include "wq.h"

void ohca_wq_init(struct ohca_wq *wq, void *ring, struct ohca_wq_rec *rec, uint8_t log_size,
		  uint8_t log_stride, bool unlocked)
{
	ohca_lock_init(&wq->lock, unlocked);
	wq->ring = ring;
	wq->rec = rec;
	wq->mask = (1U << log_size) - 1;
	wq->log_stride = log_stride;
}

void ohca_wq_reset(struct ohca_wq *wq)
{
	if (!wq->ring)
		return;
	ohca_lock(&wq->lock);
	wq->ready = false;
	wq->pi = 0;
	wq->seen = 0;
	atomic_store_explicit(&wq->tail, 0, memory_order_relaxed);
	ohca_rec_store(&wq->rec->pi, 0);
	ohca_unlock(&wq->lock);
}

void ohca_wq_set_ready(struct ohca_wq *wq, bool ready)
{
	if (!wq->ring)
		return;
	ohca_lock(&wq->lock);
	wq->ready = ready;
	ohca_unlock(&wq->lock);
}
