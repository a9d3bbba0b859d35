// SPDX-License-Identifier: GPL-2.0
/* Parts of the text of rules for faults. */

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/ib_error.h"
#include "inject/rule_text.h"

#define NS_PER_S 1000000000ULL

static const char *const link_errors[IB_NUM_ERRORS] = {
	[IB_ERROR_SYMBOL] = "symbol",
	[IB_ERROR_RECOVERY] = "recovery",
	[IB_ERROR_DOWNED] = "downed",
	[IB_ERROR_RCV] = "rcv",
	[IB_ERROR_RCV_REMOTE] = "rcv-remote",
	[IB_ERROR_OVERRUN] = "overrun",
	[IB_ERROR_FLOW_CONTROL] = "flow-control",
};

bool rule_bad(const struct rule_error *error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(error->why, error->max, fmt, ap);
	va_end(ap);
	return false;
}

bool rule_get_number(const char *text, uint64_t max, uint64_t *val, const char **end)
{
	bool hex = text[0] == '0' && text[1] == 'x';
	char *stop;

	if (!isdigit((unsigned char)*text) || (hex && !isxdigit((unsigned char)text[2])))
		return false;
	errno = 0;
	*val = strtoull(text, &stop, hex ? 16 : 10);
	*end = stop;
	return !errno && *val <= max;
}

bool rule_number(const struct rule_error *error, const char *what, const char *text, uint64_t max,
		 uint64_t *val)
{
	const char *end;

	if (rule_get_number(text, max, val, &end) && !*end)
		return true;
	return rule_bad(error, "%s: '%s' is not a number from 0 to %llu", what, text,
			(unsigned long long)max);
}

bool rule_number_from(const struct rule_error *error, const char *what, const char *text,
		      uint64_t min, uint64_t max, uint64_t *val)
{
	const char *end;

	if (rule_get_number(text, max, val, &end) && !*end && *val >= min)
		return true;
	return rule_bad(error, "%s: '%s' is not a number from %llu to %llu", what, text,
			(unsigned long long)min, (unsigned long long)max);
}

bool rule_time(const struct rule_error *error, const char *what, const char *text,
	       unsigned int max_s, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"us", 1000}, {"ms", 1000000}, {"s", NS_PER_S}};
	uint64_t max = max_s * NS_PER_S, val;
	const char *end;
	size_t i;

	if (rule_get_number(text, max, &val, &end)) {
		for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
			if (strcmp(end, units[i].name) || !val || val > max / units[i].ns)
				continue;
			*ns = val * units[i].ns;
			return true;
		}
	}
	return rule_bad(error, "%s: '%s' is not a time from 1us to %us, with us, ms or s", what,
			text, max_s);
}

bool rule_link_error(const struct rule_error *error, const char *what, const char *text,
		     uint8_t *kind)
{
	uint8_t i = 0;

	if (!text)
		return rule_bad(error, "%s needs the kind of the errors", what);
	while (i < IB_NUM_ERRORS && strcmp(text, link_errors[i]) != 0)
		i++;
	*kind = i;
	return i < IB_NUM_ERRORS || rule_bad(error, "%s: there is no '%s'", what, text);
}

bool rule_conditions(const struct rule_error *error, char *text, char *const *keys,
		     bool (*parse)(const struct rule_error *error, void *arg, unsigned int key,
				   char *value),
		     void *arg, unsigned int *given)
{
	char *value, *word;
	int key;

	while (*text) {
		word = text;
		key = getsubopt(&text, keys, &value);
		if (key < 0)
			return rule_bad(error, "unknown '%s'", word);
		if (!value || !*value)
			return rule_bad(error, "%s needs a value", keys[key]);
		if (*given & 1U << key)
			return rule_bad(error, "%s is given twice", keys[key]);
		*given |= 1U << key;
		if (!parse(error, arg, key, value))
			return false;
	}
	return true;
}

bool rule_is(const char *text, char *const *actions)
{
	size_t len = strcspn(text, "=,");

	for (; *actions; actions++) {
		if (!strncmp(text, *actions, len) && !(*actions)[len])
			return true;
	}
	return false;
}

bool rule_fits(const struct rule_error *error, const char *text)
{
	return strlen(text) <= RULE_MAX_TEXT ||
	       rule_bad(error, "a rule has at most %u bytes", RULE_MAX_TEXT);
}
