/* SPDX-License-Identifier: GPL-2.0 */
/* Requests to ohcad's control socket, one at a time. */

#ifndef OHCACTL_TALK_H
#define OHCACTL_TALK_H

#include <stdbool.h>
#include <json-c/json.h>

/* Connect.  Returns a descriptor, or prints the error and returns -1. */
int talk_open(const char *path);

/*
 * Execute one command with its arguments, which are freed.  Returns the result, which the caller
 * owns, or prints the error and returns NULL.
 */
struct json_object *talk(int fd, const char *cmd, struct json_object *args);

/*
 * The two halves of that.  @passed: a descriptor that goes with the request, -1: none; it stays the caller's.  Returns false after
 * an error, which is printed.
 */
bool talk_send(int fd, const char *cmd, struct json_object *args, int passed);
struct json_object *talk_receive(int fd, const char *cmd);

/* After an error of a command: the exit status.  It is that of a wrong command line if the arguments were wrong. */
int talk_status(void);

/* The same for a result in several parts, which are joined. */
struct json_object *talk_all(int fd, const char *cmd, struct json_object *args);

#endif
