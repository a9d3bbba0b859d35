// SPDX-License-Identifier: GPL-2.0
/* What commands of the control socket have in common: arguments, errors, replies. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <arpa/inet.h>

#include "control/control_cmd.h"

int control_error(struct control_call *call, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(call->error, sizeof(call->error), fmt, ap);
	va_end(ap);
	return -err;
}

int control_take_state(struct control_call *call, unsigned int arg, bool *up)
{
	const char *state = call->value[arg].string;

	*up = !strcmp(state, "up");
	if (!*up && strcmp(state, "down") != 0)
		return control_error(call, EINVAL, "state is neither up nor down");
	return 0;
}

/* Replies */

void control_put_string(struct json_object *obj, const char *name, const char *value)
{
	json_object_object_add(obj, name, json_object_new_string(value));
}

void control_put_number(struct json_object *obj, const char *name, uint64_t value)
{
	json_object_object_add(obj, name, json_object_new_uint64(value));
}

void control_put_bool(struct json_object *obj, const char *name, bool value)
{
	json_object_object_add(obj, name, json_object_new_boolean(value));
}

void control_put_mac(struct json_object *obj, const char *name, const uint8_t mac[6])
{
	char text[18];

	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
	control_put_string(obj, name, text);
}

void control_put_gid(struct json_object *obj, const char *name, const uint8_t gid[16])
{
	char text[INET6_ADDRSTRLEN];

	control_put_string(obj, name, inet_ntop(AF_INET6, gid, text, sizeof(text)));
}

struct json_object *control_put_array(struct json_object *obj, const char *name)
{
	struct json_object *array = json_object_new_array();

	json_object_object_add(obj, name, array);
	return array;
}

struct json_object *control_put_row(struct json_object *array)
{
	struct json_object *row = json_object_new_object();

	json_object_array_add(array, row);
	return row;
}

int control_text_len(const char *text)
{
	size_t len = strlen(text), last = len, size;

	while (last && (text[last - 1] & 0xc0) == 0x80)
		last--;
	if (!last || !(text[last - 1] & 0x80))
		return len;
	size = (unsigned char)text[--last] >= 0xf0 ? 4 : (unsigned char)text[last] >= 0xe0 ? 3 : 2;
	return len - last < size ? last : len;
}

struct json_object *control_refusal(int err, const char *text)
{
	struct json_object *reply = json_object_new_object();

	control_put_bool(reply, "ok", false);
	json_object_object_add(reply, "error",
			       json_object_new_string_len(text, control_text_len(text)));
	control_put_string(reply, "errno", strerrorname_np(err));
	return reply;
}
