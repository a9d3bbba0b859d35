/* SPDX-License-Identifier: GPL-2.0 */
/* Fields of objects in ohcad's replies. */

#ifndef OHCACTL_FIELD_H
#define OHCACTL_FIELD_H

#include <stdbool.h>
#include <stdint.h>
#include <json-c/json.h>

/* The value of a field; NULL, 0 or false: it is not there.  A string is the object's. */
static inline const char *field_string(struct json_object *obj, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(obj, name, &value) ? json_object_get_string(value) : NULL;
}

static inline uint64_t field_number(struct json_object *obj, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(obj, name, &value) ? json_object_get_uint64(value) : 0;
}

static inline bool field_bool(struct json_object *obj, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(obj, name, &value) && json_object_get_boolean(value);
}

/* The array in a field, and its length; 0: it is not there */
static inline unsigned int field_rows(struct json_object *obj, const char *name,
				      struct json_object **rows)
{
	return json_object_object_get_ex(obj, name, rows) ? json_object_array_length(*rows) : 0;
}

#endif
