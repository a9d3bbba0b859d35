/* SPDX-License-Identifier: GPL-2.0 */
/* Results as text: tables, and lines of a name and a value. */

#ifndef OHCACTL_PRINT_H
#define OHCACTL_PRINT_H

#include <json-c/json.h>

/*
 * Plain values of an object are lines; an array of objects is a table with a row each; what is nested in
 * a row is printed below it, further right.
 */
void print_object(struct json_object *obj, int indent);

#endif
