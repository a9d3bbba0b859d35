/* SPDX-License-Identifier: GPL-2.0 */
/* Datagrams of QP 1 for an agent of the switch. */

#ifndef OHCAD_NET_GSI_H
#define OHCAD_NET_GSI_H

#include <stdint.h>

struct datagram;
struct qp;

/*
 * A datagram that no port has the LID of: if it is a general management datagram for the switch, the sender receives
 * the answer.  Returns the bytes that were copied.
 */
uint64_t gsi_ask_switch(struct qp *src, const struct datagram *dg);

#endif
