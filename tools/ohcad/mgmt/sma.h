/* SPDX-License-Identifier: GPL-2.0 */
/* The subnet management agent of a node (InfiniBand specification volume 1, 14.2). */

#ifndef OHCAD_SMA_H
#define OHCAD_SMA_H

#include "fabric/ib_port.h"
#include "packet/mad.h"

/*
 * A subnet management packet has come to the node of @at.  OHCA_MAD_REPLY: @p->smp is the answer; of a directed
 * route, with the direction bit.  OHCA_MAD_PASS: it is not the agent's, and is as it was.
 */
enum ohca_mad_result sma_process(struct ib_port *at, struct mad_packet *p, bool ignore_mkey);

#endif
