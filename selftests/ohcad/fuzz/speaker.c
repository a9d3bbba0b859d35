// SPDX-License-Identifier: GPL-2.0
/* Clients of the control socket. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <json-c/json.h>

#include "control/control.h"
#include "speaker.h"

#define MAX_REPLY (4U << 20)

static void must(bool good, const char *what, const char *reply, size_t len)
{
	if (good)
		return;
	fprintf(stderr, "client: %s: %.*s\n", what, (int)len, reply);
	abort();
}

void speaker_begin(struct speaker *speaker, int fd, bool extra)
{
	memset(speaker, 0, sizeof(*speaker));
	speaker->fd = fd;
	speaker->extra = extra;
}

void speaker_end(struct speaker *speaker)
{
	if (speaker->fd < 0)
		return;
	close(speaker->fd);
	free(speaker->reply);
	memset(speaker, 0, sizeof(*speaker));
	speaker->fd = -1;
}

void speaker_shut(struct speaker *speaker)
{
	if (speaker->fd < 0)
		return;
	shutdown(speaker->fd, SHUT_WR);
	speaker->shut = true;
}

/* Number of replies to the lines sent that have not arrived. */
static size_t owed(const struct speaker *speaker)
{
	return speaker->requests + speaker->too_long;
}

static void sent(struct speaker *speaker, size_t len)
{
	size_t i;

	for (i = 0; i < len && !speaker->too_long; i++) {
		if (speaker->said[i] == '\n') {
			speaker->requests++;
			speaker->line_len = 0;
		} else if (++speaker->line_len == CONTROL_MAX_LINE) {
			speaker->too_long = true;
		}
	}
}

bool speaker_flush(struct speaker *speaker)
{
	ssize_t n = -1;

	if (speaker->fd >= 0 && !speaker->shut)
		n = send(speaker->fd, speaker->said, speaker->said_len,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n > 0) {
		sent(speaker, n);
		speaker->said_len -= n;
		memmove(speaker->said, speaker->said + n, speaker->said_len);
	} else if (n < 0 && errno != EAGAIN) {
		speaker->said_len = 0;
	}
	return speaker->said_len;
}

/* Check the format that Documentation/control.rst describes. */
static void check_reply(const char *reply, size_t len)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *root, *ok = NULL, *field;

	json_tokener_set_flags(tok, JSON_TOKENER_VALIDATE_UTF8);
	root = json_tokener_parse_ex(tok, reply, len);
	must(root && json_tokener_get_parse_end(tok) == len, "no JSON", reply, len);
	must(json_object_object_get_ex(root, "ok", &ok) &&
		     json_object_is_type(ok, json_type_boolean),
	     "no ok", reply, len);
	if (json_object_get_boolean(ok))
		must(json_object_object_get_ex(root, "result", &field) &&
			     json_object_is_type(field, json_type_object),
		     "no result", reply, len);
	else
		must(json_object_object_get_ex(root, "error", NULL) &&
			     json_object_object_get_ex(root, "errno", &field) &&
			     json_object_is_type(field, json_type_string),
		     "no error", reply, len);
	json_object_put(root);
	json_tokener_free(tok);
}

/* Process received bytes. */
static void take(struct speaker *speaker, const char *bytes, size_t len)
{
	const char *end;
	size_t part;

	for (; len; bytes += part, len -= part) {
		end = memchr(bytes, '\n', len);
		part = end ? (size_t)(end - bytes) + 1 : len;
		must(speaker->reply_len + part <= MAX_REPLY, "a long one", bytes, 80);
		speaker->reply = realloc(speaker->reply, speaker->reply_len + part);
		must(speaker->reply, "no memory", "", 0);
		memcpy(speaker->reply + speaker->reply_len, bytes, part);
		speaker->reply_len += part;
		if (!end)
			continue;
		check_reply(speaker->reply, speaker->reply_len - 1);
		speaker->reply_len = 0;
		speaker->replies++;
		must(speaker->replies <= owed(speaker), "nobody asked", bytes, part);
	}
}

/* The device may disconnect a client that does not read, or after the last reply. */
static void hung_up(struct speaker *speaker)
{
	bool last = (speaker->shut || speaker->too_long) && speaker->replies == owed(speaker);

	must(last || speaker->was_deaf || speaker->extra, "hung up on", "", 0);
	speaker_end(speaker);
}

void speaker_listen(struct speaker *speaker)
{
	static char bytes[65536];
	ssize_t n;

	while (speaker->fd >= 0 && !speaker->deaf) {
		n = recv(speaker->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n > 0)
			take(speaker, bytes, n);
		else
			hung_up(speaker);
	}
}

bool speaker_waits(const struct speaker *speaker)
{
	if (speaker->fd < 0 || speaker->deaf)
		return false;
	return speaker->shut || speaker->too_long || speaker->replies < owed(speaker);
}
