/* SPDX-License-Identifier: GPL-2.0 */
/* The subnet management agent of a node (InfiniBand specification volume 1, 14.2). */

#ifndef OHCAD_SMA_H
#define OHCAD_SMA_H

#include "fabric/ib_port.h"
#include "packet/mad.h"

/*
 * Process a subnet management packet that has arrived at @at.  OHCA_MAD_REPLY: @p->smp is the response, with the direction
 * bit for a directed route.  OHCA_MAD_PASS: it is not for the agent, and unmodified.
 */
enum ohca_mad_result sma_process(struct ib_port *at, struct mad_packet *p, bool ignore_mkey);

#endif
