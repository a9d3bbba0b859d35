// SPDX-License-Identifier: GPL-2.0
/* Parts of the text of rules for faults. */

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject/rule_text.h"

#define NS_PER_S 1000000000ULL

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

bool rule_fits(const struct rule_error *error, const char *text)
{
	return strlen(text) <= RULE_MAX_TEXT ||
	       rule_bad(error, "a rule has at most %u bytes", RULE_MAX_TEXT);
}
