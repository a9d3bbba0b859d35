/* SPDX-License-Identifier: GPL-2.0 */
/* Flush: work requests of a QP in error complete as such. */

#ifndef OHCAD_FLUSH_H
#define OHCAD_FLUSH_H

#include <stdbool.h>

struct qp;

/*
 * In error: flush what is posted to both queues; returns whether there is more.  They are looked at
 * again later, at first soon, then more seldom.
 */
bool qp_flush(struct qp *qp);
/* In SQE: the same of the send queue alone, which goes on where this ends. */
bool qp_flush_send(struct qp *qp);

#endif
