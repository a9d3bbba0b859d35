/* SPDX-License-Identifier: GPL-2.0 */
/* The send queue of a QP: its entries, the current one, and what the queue waits for. */

#ifndef OHCAD_SQ_H
#define OHCAD_SQ_H

#include "base/loop.h"
#include "qp/wq.h"

/**
 * struct sq_entry - state of a work request from its start to its completion
 * @psn: of its first packet
 * @npsn: packets, 0: a local operation
 * @len: bytes of the message
 * @got: response packets received
 * @kind: enum op_kind
 */
struct sq_entry {
	uint64_t wr_id;
	uint32_t psn;
	uint32_t npsn;
	uint32_t len;
	uint32_t got;
	uint16_t num_sge;
	uint8_t opcode;
	uint8_t flags;
	uint8_t kind;
};

/*
 * The largest used part of a WQE: header, extension, and OHCA_MAX_INLINE or OHCA_MAX_SGE elements
 */
#define SQ_WQE_USED 1024

#define SQ_WAIT_RECEIVER 0x1 /* RNR: waits for the timer */
#define SQ_WAIT_PAGE 0x2 /* waits for a page of its memory */

/**
 * struct send_queue - a send queue
 * @wq: the queue
 * @wqe: copy of a work request; wq_init_room()
 * @wqe_idx: index of its entry, if @wqe_valid
 * @wqe_valid: @wqe has the used part of it
 * @wqe_fits: sq_wqe_fits(): its whole list or inline data were copied
 * @paused: SQ_WAIT_*: sends nothing
 * @drained: SQ_DRAINED was raised
 * @fetched: one past the last work request that was begun; without @entries that is one that is sent in parts
 * @mask: number of @entries, less one
 * @entries: as many as the queue has, valid from wq.done to @fetched; NULL: work requests are one
 *	step each
 * @flush_period: time to the next check of the queues of a QP in error, ns; 0: there was none yet
 * @timer: for retransmission, RNR, or a check of a QP in error
 */
struct send_queue {
	struct wq wq;
	struct ohca_sq_wqe *wqe;
	uint32_t wqe_idx;
	bool wqe_valid;
	bool wqe_fits;
	uint8_t paused;
	bool drained;
	uint32_t fetched;
	uint32_t mask;
	struct sq_entry *entries;
	uint64_t flush_period;
	struct timer timer;
};

static inline struct sq_entry *sq_entry(const struct send_queue *sq, uint32_t idx)
{
	return &sq->entries[idx & sq->mask];
}

#endif
