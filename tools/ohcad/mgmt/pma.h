/* SPDX-License-Identifier: GPL-2.0 */
/* The performance management agent of a node (InfiniBand specification volume 1, 16.1). */

#ifndef OHCAD_PMA_H
#define OHCAD_PMA_H

#include "fabric/ib_port.h"
#include "packet/mad.h"

/* A datagram of its class has come to the node of @at; OHCA_MAD_REPLY: @p->mad is the answer. */
enum ohca_mad_result pma_process(struct ib_port *at, struct mad_packet *p);

#endif
