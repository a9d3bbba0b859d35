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
 * @wq: the queue; @wq.done counts the entries taken, @wq.cq is NULL except for OHCA_SRQ_XRC and
 *	OHCA_SRQ_TM
 * @tags: OHCA_SRQ_TM: its tags, else NULL
 * @limit: raise OHCA_EVENT_SRQ_LIMIT when fewer entries are left, 0: not armed
 * @error: not accessible or jumped; the event was raised
 * @refs: QPs that were created with it
 * @memory: charged to QUOTA_MEMORY
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
	size_t memory;
	struct list users;
};

struct srq *srq_get(struct hca *hca, uint32_t srqn); /* Returns NULL if there is none. */
struct xrcd *xrcd_get(struct hca *hca, uint32_t xrcdn); /* Returns NULL if there is none. */

/* Rights for the lists of @srq, or of @qp's own queues if that is NULL */
static inline struct sge_rights srq_rights(const struct srq *srq, const struct qp *qp)
{
	return srq ? (struct sge_rights){.pdn = srq->pdn, .privileged = srq->privileged}
		   : qp_rights(qp);
}

/* The oldest entry, which was copied, is taken. */
void srq_taken(struct srq *srq);
/* Raise OHCA_EVENT_SRQ_LIMIT if fewer entries are left than the limit. */
void srq_check_limit(struct srq *srq);
/* The queue or its record is not accessible, or jumped: no more entries are taken. */
void srq_error(struct srq *srq);

extern const struct object_class xrcd_class;

extern const struct object_class srq_class;

#endif
