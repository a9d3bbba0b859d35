// SPDX-License-Identifier: GPL-2.0
/* JSON texts from clients. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define MAX_GROWTH 3 /* of a character that is escaped: two bytes become six */

/* The character at @at and its length; 0: this is not UTF-8. */
static size_t get_char(const char *at, size_t left, uint32_t *code)
{
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
	const unsigned char *byte = (const unsigned char *)at;
	size_t more = 0, i;

	while (more < 4 && *byte & 0x40 >> more && *byte & 0x80)
		more++;
	*code = *byte & (more ? 0x3f >> more : 0x7f);
	if (more == 4 || more >= left || (!more && *byte & 0x80))
		return 0;
	for (i = 1; i <= more; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (byte[i] & 0x3f);
	}
	/* In its shortest form, and no half of a pair */
	if (*code < least[more] || *code > 0x10ffff || *code >> 11 == 0xd800 >> 11)
		return 0;
	return more + 1;
}

static size_t put_escape(char *to, uint32_t code)
{
	if (code < 0x10000)
		return sprintf(to, "\\u%04x", code);
	code -= 0x10000;
	return sprintf(to, "\\u%04x\\u%04x", 0xd800 | code >> 10, 0xdc00 | (code & 0x3ff));
}

/*
 * A copy of @text, whose new length is in @len, with escapes for all that is not ASCII; NULL if it
 * is not UTF-8.  json-c (0.17, 0.18) takes that for control characters when it is strict.
 */
static char *to_ascii(const char *text, size_t *len)
{
	char *copy = malloc(MAX_GROWTH * *len + 1), *to = copy;
	bool escaped = false;
	size_t at = 0, step;
	uint32_t code;

	for (; copy && at < *len; at += step) {
		step = get_char(text + at, *len - at, &code);
		if (!step || (code >= 0x80 && escaped)) {
			free(copy);
			return NULL;
		}
		escaped = code == '\\' && !escaped;
		if (code < 0x80)
			*to++ = code;
		else
			to += put_escape(to, code);
	}
	*len = to - copy;
	return copy;
}

static struct json_object *parse(struct json_tokener *tok, const char *text, size_t len)
{
	struct json_object *obj = NULL;

	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	if (len)
		obj = json_tokener_parse_ex(tok, text, len);
	if (obj && (json_tokener_get_error(tok) != json_tokener_success ||
		    json_tokener_get_parse_end(tok) != len ||
		    !json_object_is_type(obj, json_type_object))) {
		json_object_put(obj);
		obj = NULL;
	}
	return obj;
}

struct json_object *json_parse_object(const char *text, size_t len, int depth)
{
	struct json_tokener *tok = json_tokener_new_ex(depth);
	struct json_object *obj = NULL;
	char *ascii;

	while (len && memchr(" \t\r\n", text[len - 1], 4))
		len--;
	ascii = to_ascii(text, &len);
	if (tok && ascii)
		obj = parse(tok, ascii, len);
	free(ascii);
	if (tok)
		json_tokener_free(tok);
	return obj;
}
