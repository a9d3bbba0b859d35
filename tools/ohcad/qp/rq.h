/* SPDX-License-Identifier: GPL-2.0 */
/* The receive queue of a QP, or the SRQ in its place, and the current receive. */

#ifndef OHCAD_RQ_H
#define OHCAD_RQ_H

#include "base/list.h"
#include "qp/wq.h"

#define RQ_WQE_USED (OHCA_RQ_WQE_HDR + OHCA_MAX_SGE * sizeof(struct ohca_sge))

/**
 * struct recv_queue - a receive queue
 * @wq: the queue
 * @wqe: used part of entry wq.done, while a message is under way; or the receive that was taken;
 *	wq_init_room()
 * @srq: SRQ to take receives from, NULL: the QP's own queue
 * @srq_user: in srq->users, if it is one of OHCA_SRQ_XRC
 */
struct recv_queue {
	struct wq wq;
	struct ohca_rq_wqe *wqe;
	struct srq *srq;
	struct list srq_user;
};

#endif
