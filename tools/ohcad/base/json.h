/* SPDX-License-Identifier: GPL-2.0 */
/* JSON texts from clients. */

#ifndef OHCAD_JSON_H
#define OHCAD_JSON_H

#include <stddef.h>
#include <json-c/json.h>

/* Parse @text as an object that is nested no deeper than @depth; NULL if it is anything else. */
struct json_object *json_parse_object(const char *text, size_t len, int depth);

#endif
