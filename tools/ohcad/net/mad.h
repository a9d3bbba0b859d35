/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Management datagrams of InfiniBand ports: those of QP 0, to the port's link and from it, and those of QP 1 for nodes
 * without a host.
 */

#ifndef OHCAD_NET_MAD_H
#define OHCAD_NET_MAD_H

#include <stdbool.h>
#include <stdint.h>

struct datagram;
struct object_class;
struct qp;

/* A datagram of a QP of type OHCA_QPT_SMI leaves; what is no management datagram is dropped. */
void smp_send(struct qp *src, const struct datagram *dg);

/*
 * A datagram of an InfiniBand port that is for no HCA with a host: does it come to another node?  If it is a general management
 * datagram then, the sender receives the answer; *@received: the bytes that were copied for that.
 */
bool gsi_ask_node(struct qp *src, const struct datagram *dg, uint64_t *received);

extern const struct object_class smp_class;

#endif
