/* SPDX-License-Identifier: GPL-2.0 */
/* Subnet management packets of QP 0: to the port's link, and from it. */

#ifndef OHCAD_NET_SMP_H
#define OHCAD_NET_SMP_H

struct datagram;
struct object_class;
struct qp;

/* A datagram of a QP of type OHCA_QPT_SMI leaves; what is no management datagram is dropped. */
void smp_send(struct qp *src, const struct datagram *dg);

extern const struct object_class smp_class;

#endif
