// SPDX-License-Identifier: GPL-2.0
/* A client of the control socket. */

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "ctl.h"

#define MAX_LINE (1 << 20)

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "ctl: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	abort();
}

/* A server that has begun a moment ago may not have its socket yet. */
int ctl_open(const struct server *server)
{
	time_t end = time(NULL) + 20;
	int fd;

	while ((fd = vu_socket(server->control)) == -ENOENT || fd == -ECONNREFUSED) {
		if (time(NULL) > end)
			break;
		sched_yield();
	}
	if (fd < 0)
		die("%s: %s", server->control, strerror(-fd));
	return fd;
}

void ctl_send(int fd, const char *text)
{
	if (vu_send(fd, text, strlen(text), NULL, 0))
		die("hung up at: %s", text);
}

struct json_object *ctl_recv(int fd)
{
	static char line[MAX_LINE];
	struct json_object *obj;
	size_t len = 0;

	for (;;) {
		if (len == sizeof(line))
			die("a line of more than %d bytes", MAX_LINE);
		if (vu_recv(fd, line + len, 1))
			return NULL;
		if (line[len] == '\n')
			break;
		len++;
	}
	line[len] = '\0';
	obj = json_tokener_parse(line);
	if (!json_object_is_type(obj, json_type_object))
		die("no object: %s", line);
	return obj;
}

struct json_object *ctl_field(struct json_object *obj, const char *name)
{
	struct json_object *value = NULL;

	if (!json_object_object_get_ex(obj, name, &value))
		die("no %s in %s", name, json_object_to_json_string(obj));
	return value;
}

const char *ctl_string(struct json_object *obj, const char *name)
{
	return json_object_get_string(ctl_field(obj, name));
}

uint64_t ctl_number(struct json_object *obj, const char *name)
{
	return json_object_get_uint64(ctl_field(obj, name));
}

bool ctl_bool(struct json_object *obj, const char *name)
{
	return json_object_get_boolean(ctl_field(obj, name));
}

struct json_object *ctl_row(struct json_object *obj, const char *name, const char *key,
			    const char *value)
{
	struct json_object *rows = ctl_field(obj, name), *row;
	size_t i;

	for (i = 0; i < json_object_array_length(rows); i++) {
		row = json_object_array_get_idx(rows, i);
		if (!strcmp(ctl_string(row, key), value))
			return row;
	}
	return NULL;
}

static struct json_object *ask(const struct server *server, const char *cmd, const char *args)
{
	struct json_object *reply;
	int fd = ctl_open(server);

	ctl_send(fd, "{\"cmd\":\"");
	ctl_send(fd, cmd);
	ctl_send(fd, "\",\"args\":");
	ctl_send(fd, args ? args : "{}");
	ctl_send(fd, "}\n");
	reply = ctl_recv(fd);
	if (!reply)
		die("no reply to %s", cmd);
	close(fd);
	return reply;
}

struct json_object *ctl_call(const struct server *server, const char *cmd, const char *args)
{
	struct json_object *reply = ask(server, cmd, args), *result;

	if (!ctl_bool(reply, "ok"))
		die("%s %s: %s", cmd, args ? args : "", ctl_string(reply, "error"));
	result = json_object_get(ctl_field(reply, "result"));
	json_object_put(reply);
	return result;
}

void ctl_do(const struct server *server, const char *cmd, const char *args)
{
	json_object_put(ctl_call(server, cmd, args));
}

bool ctl_fails(const struct server *server, const char *cmd, const char *args, const char *name,
	       const char *text)
{
	struct json_object *reply = ask(server, cmd, args);
	bool as_told = !ctl_bool(reply, "ok") && !strcmp(ctl_string(reply, "errno"), name) &&
		       strstr(ctl_string(reply, "error"), text);

	if (!as_told)
		fprintf(stderr, "# %s: %s\n", cmd, json_object_to_json_string(reply));
	json_object_put(reply);
	return as_told;
}
