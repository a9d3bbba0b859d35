/* SPDX-License-Identifier: GPL-2.0 */
/* Flush: work requests of a QP in error complete as such. */

#ifndef OHCAD_FLUSH_H
#define OHCAD_FLUSH_H

#include <stdbool.h>

struct qp;

/* The QP is in error from now on: its queues are looked at, at first soon, later more seldom. */
void qp_flush_start(struct qp *qp);
/* In error: flush what is posted to both queues; returns whether there is more. */
bool qp_flush(struct qp *qp);
/* In SQE: the same of the send queue alone, which goes on where this ends. */
bool qp_flush_send(struct qp *qp);

#endif
