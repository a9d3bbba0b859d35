/* SPDX-License-Identifier: GPL-2.0 */
/* Parts of the text of rules for faults: numbers, times. */

#ifndef OHCAD_RULE_TEXT_H
#define OHCAD_RULE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RULE_MAX_TEXT 1024 /* bytes, so that all rules can be shown at once */
#define RULE_MAX_WHY 288 /* what is wrong with one, with the zero at its end */
#define RULE_MAX_TIME_S 86400

/**
 * struct rule_error - where to store what is wrong with a text
 * @why: message, of @max bytes
 */
struct rule_error {
	char *why;
	size_t max;
};

/* Store the message.  Returns false. */
__attribute__((format(printf, 2, 3))) bool rule_bad(const struct rule_error *error, const char *fmt,
						    ...);

/*
 * Parse a number of at most @max, decimal or with 0x, at the beginning of @text; *@end is what
 * follows it.  Returns false if there is none.
 */
bool rule_get_number(const char *text, uint64_t max, uint64_t *val, const char **end);

/*
 * Parse the value of @what, a number of at most @max.  Returns false and stores a message if it is
 * invalid.
 */
bool rule_number(const struct rule_error *error, const char *what, const char *text, uint64_t max,
		 uint64_t *val);

/* The same for a number of at least @min */
bool rule_number_from(const struct rule_error *error, const char *what, const char *text,
		      uint64_t min, uint64_t max, uint64_t *val);

/* The same for a time from 1us to @max_s seconds; stores it in @ns. */
bool rule_time(const struct rule_error *error, const char *what, const char *text,
	       unsigned int max_s, uint64_t *ns);
/*
 * Parse the kind of link errors, as Documentation/faults.rst names it, into @kind, an enum ib_error.  @text is NULL if
 * @what has no value.  Returns false and stores a message if it is invalid.
 */
bool rule_link_error(const struct rule_error *error, const char *what, const char *text,
		     uint8_t *kind);
/*
 * Parse the conditions of a rule, "KEY=VALUE" separated by commas: the names of the keys are @keys, with NULL after the last
 * one, and @parse is called with @arg, the index of each key and its value.  Each is given once at most; *@given has a
 * bit for each.  Returns false and stores a message if one is invalid.
 */
bool rule_conditions(const struct rule_error *error, char *text, char *const *keys,
		     bool (*parse)(const struct rule_error *error, void *arg, unsigned int key,
				   char *value),
		     void *arg, unsigned int *given);
/* Whether the text begins with one of these actions; NULL is after the last one. */
bool rule_is(const char *text, char *const *actions);
/* Check the length of a rule's text. */
bool rule_fits(const struct rule_error *error, const char *text);

#endif
