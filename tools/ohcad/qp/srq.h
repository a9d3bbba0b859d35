/* SPDX-License-Identifier: GPL-2.0 */
/* Shared receive queues, and XRC domains. */

#ifndef OHCAD_SRQ_H
#define OHCAD_SRQ_H

#include "device/hca.h"
#include "qp/qp.h"
#include "qp/wq.h"

struct pd;
struct tag_list;

/**
 * struct xrcd - an XRC domain
 * @refs: SRQs and QPs of it
 */
struct xrcd {
	uint32_t id;
	uint32_t refs;
};

/**
 * struct srq - a shared receive queue
 * @type: OHCA_SRQ_*
 * @privileged: may use the reserved key
 * @pdn: of @pd
 * @xrcd: OHCA_SRQ_XRC: its domain
 * @wq: the queue; @wq.done counts the entries taken, @wq.cq is NULL but for OHCA_SRQ_XRC
 *	and OHCA_SRQ_TM
 * @tags: OHCA_SRQ_TM: its tags, else NULL
 * @limit: raise OHCA_EVENT_SRQ_LIMIT when less entries are left, 0: not armed
 * @error: not accessible or jumped, which was reported
 * @refs: QPs that were created with it
 * @users: OHCA_SRQ_XRC: QPs (struct recv_queue.srq_user) whose @srq it is
 */
struct srq {
	struct hca *hca;
	uint32_t id;
	uint8_t type;
	bool privileged;
	bool error;
	uint32_t pdn;
	struct pd *pd;
	struct xrcd *xrcd;
	struct xlt xlt;
	struct wq wq;
	struct tag_list *tags;
	uint32_t limit;
	uint32_t refs;
	struct list users;
};

struct srq *srq_get(struct hca *hca, uint32_t srqn); /* NULL if there is none */
struct xrcd *xrcd_get(struct hca *hca, uint32_t xrcdn); /* NULL if there is none */

/* With which lists of @srq are used, or those of @qp's own queues if that is NULL. */
static inline struct sge_rights srq_rights(const struct srq *srq, const struct qp *qp)
{
	return srq ? (struct sge_rights){.pdn = srq->pdn, .privileged = srq->privileged}
		   : qp_rights(qp);
}

/* The oldest entry, which was copied, is taken. */
void srq_taken(struct srq *srq);
/* Are less entries left than the limit says, as software has it now?  OHCA_EVENT_SRQ_LIMIT. */
void srq_check_limit(struct srq *srq);
/* The queue or its record is not accessible, or jumped: no entry is taken any more. */
void srq_error(struct srq *srq);

extern const struct object_class xrcd_class;

extern const struct object_class srq_class;

#endif
