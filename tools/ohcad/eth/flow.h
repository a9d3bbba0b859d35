/* SPDX-License-Identifier: GPL-2.0 */
/* Flows: which raw packet QPs receive a frame that reaches the port. */

#ifndef OHCAD_FLOW_H
#define OHCAD_FLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "device/hca.h"

/*
 * Give a frame to the QPs of all flows of @port that match it.  Returns whether there was any such
 * flow: then the netdev does not get the frame.
 */
bool flow_deliver(struct port *port, const struct iovec *iov, unsigned int num, uint32_t len);

extern const struct object_class flow_class;

#endif
