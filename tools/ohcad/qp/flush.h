/* SPDX-License-Identifier: GPL-2.0 */
/* Flush: work requests of a QP in error complete as such. */

#ifndef OHCAD_FLUSH_H
#define OHCAD_FLUSH_H

#include <stdbool.h>

struct qp;

/*
 * In error: flush posted entries of both queues.  Returns whether there are more.  The queues are
 * checked again later, at growing intervals.
 */
bool qp_flush(struct qp *qp);
/* In SQE: the same for the send queue only, which continues where this ends. */
bool qp_flush_send(struct qp *qp);

#endif
