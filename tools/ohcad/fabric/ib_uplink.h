/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An InfiniBand uplink: a cable from a port of this process' switch to a port of another process.  Both are nodes of one subnet
 * then.  The uplink carries packets from the LRH to the VCRC, each followed by the number of hops that it has passed.  On a
 * stream each packet follows its length; otherwise each packet is a datagram.  Hello messages between them carry the state
 * and the enabled speeds of the ports.
 *
 * A struct ib_port in this process stands for the port at the other end: the remote port.  The switch's port is connected to it,
 * and the functions of ib_link.h apply.  The remote port wants a link when the other side has said so in a hello, and has
 * acknowledged our last hello.  When the physical state of our port changes, or a connection starts, the number of our
 * training changes.  The other side notices that, and training starts again on both sides.
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

/* Connect each InfiniBand uplink without a cable to a switch, if there is one with a free port. */
void ib_uplinks_attach(struct fabric *fabric);
/* The port of the switch that the uplink is connected to, or NULL */
const struct ib_port *ib_uplink_port(const struct ib_uplink *ib);

/* Is it a hello message?  Ethernet uplinks recognize these too. */
static inline bool ib_uplink_is_hello(const uint8_t *bytes, size_t len)
{
	return len >= sizeof(uint32_t) && get_be32(bytes) == IB_HELLO_MAGIC;
}

#endif
