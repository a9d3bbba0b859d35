/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A port that is no faster than its link: QPs wait while the link is busy with what was sent, and those with a static
 * rate for longer.  When the link is free, VL arbitration says whose turn it is.  Ports with the option pace=on have
 * a pacer; the others have none.
 */

#ifndef OHCAD_PACE_H
#define OHCAD_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct object_class;
struct port;
struct qp;

/* An InfiniBand port is paced from now on: port->pacer.  0 or -ENOMEM. */
int pacer_new(struct port *port);
/* The port is not paced any more; none of its QPs is left. */
void pacer_free(struct port *port);

/* Must the QP wait?  It is queued until its turn then. */
bool pace_holds(struct qp *qp);
/* How much of @max bytes it may send at once */
uint32_t pace_quantum(const struct qp *qp, uint32_t max);
/*
 * It has sent so much, and has @more to send.  Returns whether it may do so in this round; else it is queued, or has
 * nothing.
 */
bool pace_sent(struct qp *qp, uint64_t pkts, uint64_t bytes, bool more);

extern const struct object_class pace_class;

#endif
