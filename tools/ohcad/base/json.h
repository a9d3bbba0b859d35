/* SPDX-License-Identifier: GPL-2.0 */
/* JSON texts from others. */

#ifndef OHCAD_JSON_H
#define OHCAD_JSON_H

#include <stddef.h>
#include <json-c/json.h>

/* The object that @text is, no more than @depth deep; NULL if it is anything else. */
struct json_object *json_parse_object(const char *text, size_t len, int depth);

#endif
