/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Traps of the agents (InfiniBand specification volume 1, 13.4.9): sent to the master subnet manager repeatedly until it
 * represses them.
 */

#ifndef OHCAD_TRAP_H
#define OHCAD_TRAP_H

#include "fabric/ib_port.h"
#include "packet/sm_attr.h"

/* As struct ib_agent_ops.trap and .forget say */
void traps_raise(struct ib_port *at, const struct notice *notice);
void traps_forget(struct ib_port *ib);

/* Process SubnTrapRepress() at @ib.  False: the port has no such trap. */
bool traps_repress(struct ib_port *ib, const struct smp *smp);

#endif
