/* SPDX-License-Identifier: GPL-2.0 */
/* Uplinks without sockets, in place of the device's uplink_sock.c. */

#ifndef SELFTESTS_OHCAD_FUZZ_UPLINK_END_H
#define SELFTESTS_OHCAD_FUZZ_UPLINK_END_H

#include "fabric/uplink_io.h"

/* Receives the frames that an uplink sends; NULL: they are dropped. */
extern void (*uplink_end)(struct uplink *from, const uint8_t *frame, size_t len);

#endif
