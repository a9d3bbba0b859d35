// SPDX-License-Identifier: GPL-2.0
/* Captures: what the command line says of them. */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"

#define MAX_SNAPLEN (256U << 10)
#define MIN_LIMIT (64U << 10)

/* A number, and a unit if @units. */
static bool parse_number(uint64_t *to, const char *text, bool units)
{
	static const char names[] = "kMG";
	const char *unit;
	char *end;

	errno = 0;
	*to = strtoull(text, &end, 10);
	if (errno || *text < '0' || *text > '9')
		return false;
	unit = units && *end ? strchr(names, *end) : NULL;
	if (unit) {
		unsigned int shift = 10 * (unit - names + 1);

		if (*to > UINT64_MAX >> shift)
			return false;
		*to <<= shift;
		end++;
	}
	return !*end;
}

const char *capture_check(const struct capture_options *opts)
{
	if (opts->snaplen > MAX_SNAPLEN)
		return "snaplen is more than 262144";
	if (opts->limit && opts->limit < MIN_LIMIT)
		return "limit is less than 64k";
	return NULL;
}

static const char *parse_words(struct capture_options *opts, char *text)
{
	enum {
		SNAPLEN,
		LIMIT
	};
	static char *const tokens[] = {
		[SNAPLEN] = (char *)"snaplen",
		[LIMIT] = (char *)"limit",
		NULL,
	};
	bool given[2] = {};
	uint64_t number;
	char *value;
	int token;

	while (*text) {
		token = getsubopt(&text, tokens, &value);
		if (token < 0)
			return "after the file come snaplen= and limit=";
		if (given[token])
			return "a word is given twice";
		given[token] = true;
		if (!value || !parse_number(&number, value, token == LIMIT))
			return "that is no number";
		if (token == LIMIT)
			opts->limit = number;
		else
			opts->snaplen = number < UINT32_MAX ? number : UINT32_MAX;
	}
	return capture_check(opts);
}

const char *capture_parse(struct capture_options *opts, const char *text)
{
	char *comma;

	memset(opts, 0, sizeof(*opts));
	opts->path = strdup(text);
	if (!opts->path)
		return "out of memory";
	comma = strchr(opts->path, ',');
	if (comma)
		*comma++ = '\0';
	if (!*opts->path)
		return "a file is missing";
	opts->fd = STDOUT_FILENO;
	return comma ? parse_words(opts, comma) : NULL;
}

void capture_options_free(struct capture_options *opts)
{
	free(opts->path);
}
