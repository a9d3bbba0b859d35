/* SPDX-License-Identifier: GPL-2.0 */
/* A listener without a socket, in place of the device's listener.c: only one exists at a time. */

#ifndef SELFTESTS_OHCAD_FUZZ_LISTENER_END_H
#define SELFTESTS_OHCAD_FUZZ_LISTENER_END_H

#include "base/listener.h"

/* A client connects; @fd is the device's end. */
void listener_end_accept(int fd);

#endif
