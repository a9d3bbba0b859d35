/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An uplink of InfiniBand: a cable from a port of this process' switch to one of another process.  Both are nodes of one
 * subnet then.  It carries packets from the LRH to the VCRC, with the number of hops behind that, each after its length on
 * a stream, each in a datagram, and between them hellos, by which the ports know of each other.
 *
 * In this process a port stands for that at the other end: the far port.  The port of the switch is cabled to it, and
 * what is true of a cable in the process is true of this one: ib_link.h.  The far port wants a link when the other side
 * has said so, and has heard our last hello.  When our port is to be in another physical state, or a connection begins,
 * our number changes, which the other side notices, and the training begins anew on both sides.
 */

#ifndef OHCAD_IB_UPLINK_H
#define OHCAD_IB_UPLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packet/bytes.h"

struct fabric;
struct ib_port;
struct ib_uplink;
struct uplink_layer;

#define IB_HELLO_MAGIC 0x4f484942U /* LVer 15: no packet begins with it */

extern const struct uplink_layer ib_uplink_layer;

/* Each uplink of InfiniBand that has no cable to the switch gets one, if there is a switch. */
void ib_uplinks_attach(struct fabric *fabric);
/* The port of the switch that it is a cable of, or NULL */
const struct ib_port *ib_uplink_port(const struct ib_uplink *ib);

/* Are the bytes a hello?  On an uplink of Ethernet too. */
static inline bool ib_uplink_is_hello(const uint8_t *bytes, size_t len)
{
	return len >= sizeof(uint32_t) && get_be32(bytes) == IB_HELLO_MAGIC;
}

#endif
