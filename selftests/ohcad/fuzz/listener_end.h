/* SPDX-License-Identifier: GPL-2.0 */
/* A listener without a socket, in place of the device's listener.c: there is one at a time. */

#ifndef SELFTESTS_OHCAD_FUZZ_LISTENER_END_H
#define SELFTESTS_OHCAD_FUZZ_LISTENER_END_H

#include "base/listener.h"

/* A client connects, whose other end is @fd. */
void listener_end_accept(int fd);

#endif
