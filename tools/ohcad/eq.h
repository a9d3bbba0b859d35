/* SPDX-License-Identifier: GPL-2.0 */
/* Event queues. */

#ifndef OHCAD_EQ_H
#define OHCAD_EQ_H

#include "hca.h"
#include "ring.h"

struct cq;

/* An asynchronous event of @id for the host; kept in the device while the EQ is full, dropped if there is no async EQ. */
void eq_async(struct hca *hca, enum ohca_event type, uint32_t id);

/* The CQ asks for its OHCA_EVENT_COMP; a CQ whose EQ is full waits in the EQ's list (at most once). */
void eq_completion(struct cq *cq);

/* The CQ goes: it waits for no event any more, and @cq->eq loses a reference. */
void eq_forget_cq(struct cq *cq);

#endif
