// SPDX-License-Identifier: GPL-2.0
/* Results as text. */

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "print.h"

#define MAX_COLUMNS 64
#define INDENT 4

/**
 * struct column - a column of a table
 * @number: it has only numbers
 */
struct column {
	const char *name;
	int width;
	bool number;
};

/* Whether the value is printed below the object that it belongs to */
static bool is_nested(struct json_object *value)
{
	return json_object_is_type(value, json_type_object) ||
	       json_object_is_type(value, json_type_array);
}

static const char *text_of(struct json_object *value)
{
	if (!value)
		return "-";
	if (json_object_is_type(value, json_type_boolean))
		return json_object_get_boolean(value) ? "yes" : "no";
	return json_object_get_string(value);
}

static void print_array(struct json_object *array, int indent);

static void print_nested(struct json_object *obj, int indent)
{
	json_object_object_foreach(obj, key, value)
	{
		if (!is_nested(value))
			continue;
		if (json_object_is_type(value, json_type_array) && !json_object_array_length(value))
			continue;
		if (indent || json_object_is_type(value, json_type_object))
			printf("%*s%s:\n", indent, "", key);
		if (json_object_is_type(value, json_type_array))
			print_array(value, indent ? indent + INDENT : 0);
		else
			print_object(value, indent + INDENT);
	}
}

void print_object(struct json_object *obj, int indent)
{
	int width = 0;

	json_object_object_foreach(obj, key, value)
	{
		if (!is_nested(value) && (int)strlen(key) > width)
			width = strlen(key);
	}
	json_object_object_foreach(obj, name, plain)
	{
		if (!is_nested(plain))
			printf("%*s%-*s  %s\n", indent, "", width, name, text_of(plain));
	}
	print_nested(obj, indent);
}

/* Find the columns of a table: the plain fields of its rows, in the order in which they appear. */
static int find_columns(struct json_object *array, struct column *columns)
{
	int i, len, num = 0;
	size_t row;

	for (row = 0; row < json_object_array_length(array); row++) {
		struct json_object *obj = json_object_array_get_idx(array, row);

		json_object_object_foreach(obj, key, value)
		{
			if (is_nested(value))
				continue;
			for (i = 0; i < num && strcmp(columns[i].name, key); i++)
				;
			if (i == MAX_COLUMNS)
				continue;
			if (i == num)
				columns[num++] = (struct column){key, strlen(key), true};
			len = strlen(text_of(value));
			if (len > columns[i].width)
				columns[i].width = len;
			columns[i].number &= json_object_is_type(value, json_type_int);
		}
	}
	return num;
}

static void print_cell(const struct column *column, const char *text, bool last)
{
	if (column->number)
		printf("%*s", column->width, text);
	else if (last)
		printf("%s", text);
	else
		printf("%-*s", column->width, text);
	printf("%s", last ? "\n" : "  ");
}

static void print_header(const struct column *columns, int num)
{
	char name[64];
	size_t c;
	int i;

	for (i = 0; i < num; i++) {
		for (c = 0; c < sizeof(name) - 1 && columns[i].name[c]; c++)
			name[c] = toupper((unsigned char)columns[i].name[c]);
		name[c] = '\0';
		print_cell(&columns[i], name, i == num - 1);
	}
}

/* Print a table, or plain values on a line each. */
static void print_array(struct json_object *array, int indent)
{
	struct column columns[MAX_COLUMNS];
	bool table = json_object_is_type(json_object_array_get_idx(array, 0), json_type_object);
	int i, num = table ? find_columns(array, columns) : 0;
	size_t row;

	if (num) {
		printf("%*s", indent, "");
		print_header(columns, num);
	}
	for (row = 0; row < json_object_array_length(array); row++) {
		struct json_object *obj = json_object_array_get_idx(array, row), *value;

		printf("%*s", indent, "");
		if (!table)
			printf("%s\n", text_of(obj));
		for (i = 0; i < num; i++) {
			value = NULL;
			json_object_object_get_ex(obj, columns[i].name, &value);
			print_cell(&columns[i], text_of(value), i == num - 1);
		}
		if (table)
			print_nested(obj, indent + INDENT);
	}
}
