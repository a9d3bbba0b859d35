/* SPDX-License-Identifier: GPL-2.0 */
/* Requests to ohcad's control socket, one at a time. */

#ifndef OHCACTL_TALK_H
#define OHCACTL_TALK_H

#include <json-c/json.h>

/* Connect.  Returns a descriptor, or prints the error and returns -1. */
int talk_open(const char *path);

/*
 * Execute one command with its arguments, which are freed.  Returns the result, which the caller
 * owns, or prints the error and returns NULL.
 */
struct json_object *talk(int fd, const char *cmd, struct json_object *args);

/* The same for a result in several parts, which are joined. */
struct json_object *talk_all(int fd, const char *cmd, struct json_object *args);

#endif
