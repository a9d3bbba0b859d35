/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client of the control socket.  An error that only a broken test or device can cause ends the
 * program with a message.
 */

#ifndef SELFTESTS_OHCAD_CTL_H
#define SELFTESTS_OHCAD_CTL_H

#include <json-c/json.h>

#include "server.h"

int ctl_open(const struct server *server);
void ctl_send(int fd, const char *text);
/*
 * The next line that arrives, as an object that the caller has to put; NULL at the end of the
 * stream.
 */
struct json_object *ctl_recv(int fd);

/* A field; the program ends if it is missing. */
struct json_object *ctl_field(struct json_object *obj, const char *name);
const char *ctl_string(struct json_object *obj, const char *name);
uint64_t ctl_number(struct json_object *obj, const char *name);
bool ctl_bool(struct json_object *obj, const char *name);
/* The row of array @name of which field @key is @value; NULL if there is none. */
struct json_object *ctl_row(struct json_object *obj, const char *name, const char *key,
			    const char *value);

/*
 * Execute a command on a new connection; @args is JSON text, or NULL for none.  Returns the result,
 * which the caller has to put; an error reply ends the program.
 */
struct json_object *ctl_call(const struct server *server, const char *cmd, const char *args);
/* The same without the result. */
void ctl_do(const struct server *server, const char *cmd, const char *args);
/* The same for an error: is the errno @name, and does the message contain @text? */
bool ctl_fails(const struct server *server, const char *cmd, const char *args, const char *name,
	       const char *text);

#endif
