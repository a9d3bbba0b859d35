/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two honest HCAs beside the one that a fuzz target uses wrongly: messages between them, whose every byte, order and time are
 * watched.
 */

#ifndef SELFTESTS_OHCAD_FUZZ_NEIGHBOURS_H
#define SELFTESTS_OHCAD_FUZZ_NEIGHBOURS_H

#include "server.h"

/* They are the HCAs @first and @first + 1. */
void neighbours_open(const struct server *server, unsigned int first);
void neighbours_close(void);

/*
 * Send a few messages.  The program ends if one is lost, changed, out of order or not there after some rounds of the device,
 * or if an event reports an error.
 */
void neighbours_talk(void);

#endif
