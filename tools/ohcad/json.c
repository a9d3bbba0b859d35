// SPDX-License-Identifier: GPL-2.0
/* JSON texts from others. */

#include <string.h>

#include "json.h"

struct json_object *json_parse_object(const char *text, size_t len, int depth)
{
	struct json_tokener *tok = json_tokener_new_ex(depth);
	struct json_object *obj = NULL;

	while (len && memchr(" \t\r\n", text[len - 1], 4))
		len--;
	if (!tok)
		return NULL;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	if (len)
		obj = json_tokener_parse_ex(tok, text, len);
	if (obj && (json_tokener_get_error(tok) != json_tokener_success ||
		    json_tokener_get_parse_end(tok) != len ||
		    !json_object_is_type(obj, json_type_object))) {
		json_object_put(obj);
		obj = NULL;
	}
	json_tokener_free(tok);
	return obj;
}
