/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subnet management interface of a node (InfiniBand specification volume 1, 14.2.2): forwards directed routes, and delivers
 * subnet management packets to the agent or to the host's QP 0.
 */

#ifndef OHCAD_SMI_H
#define OHCAD_SMI_H

#include "fabric/ib_port.h"

/* As struct ib_agent_ops.receive says */
void smi_receive(struct ib_port *at, const struct mad_packet *p);

#endif
