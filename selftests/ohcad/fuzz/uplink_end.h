/* SPDX-License-Identifier: GPL-2.0 */
/* Uplinks that end here, in place of sockets (the device's uplink_sock.c). */

#ifndef SELFTESTS_OHCAD_FUZZ_UPLINK_END_H
#define SELFTESTS_OHCAD_FUZZ_UPLINK_END_H

#include "fabric/uplink_io.h"

/* Takes frames that an uplink sends; NULL: they are lost. */
extern void (*uplink_end)(struct uplink *from, const uint8_t *frame, size_t len);

#endif
