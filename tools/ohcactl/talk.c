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
#include "usage.h"

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

static bool wrong_usage;

int talk_status(void)
{
	return wrong_usage ? EXIT_USAGE : EXIT_FAILURE;
}

/* Send the text; a descriptor goes with its first byte. */
static bool send_text(int fd, const char *text, size_t len, int passed)
{
	union {
		struct cmsghdr hdr;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {.hdr = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec iov = {(char *)text, len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	if (passed >= 0) {
		memcpy(CMSG_DATA(&control.hdr), &passed, sizeof(passed));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
	}
	while (iov.iov_len) {
		n = sendmsg(fd, &msg, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		msg.msg_control = NULL;
		msg.msg_controllen = 0;
		iov.iov_base = (char *)iov.iov_base + n;
		iov.iov_len -= n;
	}
	return true;
}

static void closed(void)
{
	fprintf(stderr, "ohcactl: ohcad has closed the connection\n");
}

bool talk_send(int fd, const char *cmd, struct json_object *args, int passed)
{
	struct json_object *request = json_object_new_object();
	const char *text;
	bool good;

	json_object_object_add(request, "cmd", json_object_new_string(cmd));
	json_object_object_add(request, "args", args ?: json_object_new_object());
	text = json_object_to_json_string_ext(request, JSON_C_TO_STRING_PLAIN);
	good = send_text(fd, text, strlen(text), passed) && send_text(fd, "\n", 1, -1);
	json_object_put(request);
	if (!good)
		closed();
	return good;
}

/* Receive a whole line, without its newline.  Returns NULL at the end of the stream. */
static char *recv_line(int fd)
{
	size_t len = 0, size = 4096;
	char *line = malloc(size), *more;
	ssize_t n;

	while (line) {
		n = recv(fd, line + len, size - len, 0);
		if (n < 0 && errno == EINTR)
			continue;
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

struct json_object *talk_receive(int fd, const char *cmd)
{
	struct json_object *reply = recv_object(fd), *value = NULL;

	wrong_usage = false;
	if (!reply) {
		closed();
		return NULL;
	}
	if (json_object_object_get_ex(reply, "result", &value)) {
		json_object_get(value);
	} else {
		wrong_usage = json_object_object_get_ex(reply, "usage", NULL);
		json_object_object_get_ex(reply, "error", &value);
		fprintf(stderr, "ohcactl: %s\n", value ? json_object_get_string(value) : cmd);
		value = NULL;
	}
	json_object_put(reply);
	return value;
}

struct json_object *talk(int fd, const char *cmd, struct json_object *args)
{
	return talk_send(fd, cmd, args, -1) ? talk_receive(fd, cmd) : NULL;
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
