/* SPDX-License-Identifier: GPL-2.0 */
/* Results as text: tables, and lines of a name and a value. */

#ifndef OHCACTL_PRINT_H
#define OHCACTL_PRINT_H

#include <json-c/json.h>

/*
 * Print an object.  Plain values are lines; an array of objects is a table with a row for each.
 * Nested values are printed below their row, indented.
 */
void print_object(struct json_object *obj, int indent);

#endif
