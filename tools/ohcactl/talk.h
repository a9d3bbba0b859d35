/* SPDX-License-Identifier: GPL-2.0 */
/* Requests to ohcad's control socket, one at a time. */

#ifndef OHCACTL_TALK_H
#define OHCACTL_TALK_H

#include <json-c/json.h>

/* Connect.  Returns a descriptor, or -1 and prints why. */
int talk_open(const char *path);

/*
 * One command with its arguments, which are taken.  The result is the caller's; NULL: it failed, and why
 * was printed.
 */
struct json_object *talk(int fd, const char *cmd, struct json_object *args);

/* The same for a result that comes in parts, which are put together. */
struct json_object *talk_all(int fd, const char *cmd, struct json_object *args);

#endif
