/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subnet of a topology: its switches, its cables, and its HCAs.  HCAs that are adapters of this process come to their places
 * with ib_subnet_attach(); the others have management agents only, as if their driver was never loaded.
 */

#ifndef OHCAD_IB_SUBNET_H
#define OHCAD_IB_SUBNET_H

struct fabric;
struct ib_subnet;
struct loop;
struct port;
struct topology;

/* Build it: fabric->ib_subnet, before there are adapters.  The topology is used until ib_subnet_free().  0 or -ENOMEM */
int ib_subnet_new(struct fabric *fabric, struct loop *loop, const struct topology *topology);
/* There are no adapters and no uplinks any more. */
void ib_subnet_free(struct fabric *fabric);

/* The port of an adapter is that of the HCA hca->node, and has its GUIDs and its cable. */
void ib_subnet_attach(struct ib_subnet *subnet, struct port *port);
/* It has no cable any more. */
void ib_subnet_detach(struct ib_subnet *subnet, struct port *port);

#endif
