// SPDX-License-Identifier: GPL-2.0
/* Requests to ohcad's control socket, one at a time. */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "talk.h"

int talk_open(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(addr.sun_path)) {
		fprintf(stderr, "ohcactl: %s: %s\n", path, strerror(ENAMETOOLONG));
		return -1;
	}
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		fprintf(stderr, "ohcactl: %s: %s\n", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

static bool send_line(int fd, const char *cmd, struct json_object *args)
{
	struct json_object *request = json_object_new_object();
	const char *text;
	size_t len;
	ssize_t n = 0;

	json_object_object_add(request, "cmd", json_object_new_string(cmd));
	json_object_object_add(request, "args", args);
	text = json_object_to_json_string_ext(request, JSON_C_TO_STRING_PLAIN);
	for (len = strlen(text); len && n >= 0; len -= n, text += n)
		n = send(fd, text, len, MSG_NOSIGNAL);
	json_object_put(request);
	return n >= 0 && send(fd, "\n", 1, MSG_NOSIGNAL) == 1;
}

/* Receive a whole line, without its newline.  Returns NULL at the end of the stream. */
static char *recv_line(int fd)
{
	size_t len = 0, size = 4096;
	char *line = malloc(size), *more;
	ssize_t n;

	while (line) {
		n = recv(fd, line + len, size - len, 0);
		if (n <= 0)
			break;
		len += n;
		if (line[len - 1] == '\n') {
			line[len - 1] = '\0';
			return line;
		}
		if (len < size)
			continue;
		size *= 2;
		more = realloc(line, size);
		if (!more)
			break;
		line = more;
	}
	free(line);
	return NULL;
}

static struct json_object *recv_object(int fd)
{
	char *line = recv_line(fd);
	struct json_object *obj = line ? json_tokener_parse(line) : NULL;

	free(line);
	return obj;
}

struct json_object *talk(int fd, const char *cmd, struct json_object *args)
{
	struct json_object *reply = NULL, *value = NULL;

	if (send_line(fd, cmd, args))
		reply = recv_object(fd);
	if (!reply) {
		fprintf(stderr, "ohcactl: ohcad has closed the connection\n");
		return NULL;
	}
	if (json_object_object_get_ex(reply, "result", &value)) {
		json_object_get(value);
	} else {
		json_object_object_get_ex(reply, "error", &value);
		fprintf(stderr, "ohcactl: %s\n", value ? json_object_get_string(value) : cmd);
		value = NULL;
	}
	json_object_put(reply);
	return value;
}

/* Append the arrays of @part to those in @result, and replace the mark where the list continues. */
static void append(struct json_object *result, struct json_object *part)
{
	struct json_object *array;
	size_t i;

	json_object_object_del(result, "next");
	json_object_object_foreach(part, key, value)
	{
		if (!json_object_object_get_ex(result, key, &array) ||
		    !json_object_is_type(array, json_type_array)) {
			json_object_object_add(result, key, json_object_get(value));
			continue;
		}
		for (i = 0; i < json_object_array_length(value); i++)
			json_object_array_add(array,
					      json_object_get(json_object_array_get_idx(value, i)));
	}
}

struct json_object *talk_all(int fd, const char *cmd, struct json_object *args)
{
	struct json_object *result = talk(fd, cmd, json_object_get(args)), *next, *part;

	while (result && json_object_object_get_ex(result, "next", &next)) {
		json_object_object_add(args, "from", json_object_get(next));
		part = talk(fd, cmd, json_object_get(args));
		if (part) {
			append(result, part);
			json_object_put(part);
		} else {
			json_object_put(result);
			result = NULL;
		}
	}
	json_object_put(args);
	return result;
}
