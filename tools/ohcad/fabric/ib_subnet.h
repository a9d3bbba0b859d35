/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subnet of a topology: its switches, its HCAs and its cables.  ib_subnet_attach() binds an adapter of this process to an
 * HCA of the topology.  The other HCAs have management agents only, like an HCA without a driver.
 */

#ifndef OHCAD_IB_SUBNET_H
#define OHCAD_IB_SUBNET_H

struct fabric;
struct ib_subnet;
struct loop;
struct port;
struct topology;

/* Create fabric->ib_subnet before adapters are added.  @topology must stay until ib_subnet_free().  0 or -ENOMEM */
int ib_subnet_new(struct fabric *fabric, struct loop *loop, const struct topology *topology);
/* Free it.  There are no adapters and no uplinks any more. */
void ib_subnet_free(struct fabric *fabric);

/* Give an adapter's port the GUIDs and the cable of the port of HCA hca->node. */
void ib_subnet_attach(struct ib_subnet *subnet, struct port *port);
/* Disconnect the adapter's port. */
void ib_subnet_detach(struct ib_subnet *subnet, struct port *port);

#endif
