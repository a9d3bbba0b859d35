/* SPDX-License-Identifier: GPL-2.0 */
/* One more uplink of the first fabric, whose other end is a socket of the test. */

#ifndef SELFTESTS_OHCAD_OUTSIDER_H
#define SELFTESTS_OHCAD_OUTSIDER_H

#include <stddef.h>

struct uplink;

/*
 * Add the uplink, a stream that listens, with more @options (",link=ib" or ""), and connect to it.  Its path goes to the
 * @max bytes at @path.  Returns the socket.
 */
int outsider(char *path, size_t max, const char *options);
/* Connect again, after the socket was closed. */
int outsider_connect(const char *path);
/* The uplink */
struct uplink *outer(void);

#endif
