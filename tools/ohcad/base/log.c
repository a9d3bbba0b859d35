// SPDX-License-Identifier: GPL-2.0
/* Log lines on standard error. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

#define MAX_LINE 1024
#define NAME "ohcad: "

bool log_verbose;

/* The last lines: number n at n modulo LOG_LINES */
static struct log_line lines[LOG_LINES];
static uint64_t num_lines;

static void keep(const char *text)
{
	struct log_line *line = &lines[++num_lines % LOG_LINES];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	line->time = now.tv_sec + now.tv_nsec / 1e9;
	snprintf(line->text, sizeof(line->text), "%.*s", (int)sizeof(line->text) - 1, text);
}

const struct log_line *log_next(uint64_t *since)
{
	uint64_t oldest = num_lines < LOG_LINES ? 1 : num_lines - LOG_LINES + 1;

	if (*since > num_lines)
		*since = 0;
	if (*since == num_lines)
		return NULL;
	*since = *since + 1 < oldest ? oldest : *since + 1;
	return &lines[*since % LOG_LINES];
}

/* One write per line, so that lines of several processes do not mix. */
static void vlog(const char *who, const char *fmt, va_list ap)
{
	char line[MAX_LINE];
	size_t len = 0;
	int n;

	n = who ? snprintf(line, sizeof(line), NAME "%s: ", who)
		: snprintf(line, sizeof(line), NAME);
	if (n > 0)
		len = (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1;
	n = vsnprintf(line + len, sizeof(line) - len, fmt, ap);
	if (n > 0)
		len += (size_t)n < sizeof(line) - len ? (size_t)n : sizeof(line) - len - 1;
	line[len] = '\0';
	keep(line + strlen(NAME));
	line[len++] = '\n';
	while (write(STDERR_FILENO, line, len) < 0 && errno == EINTR)
		;
}

void log_error(const char *who, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vlog(who, fmt, ap);
	va_end(ap);
}

void log_info(const char *who, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vlog(who, fmt, ap);
	va_end(ap);
}

void log_debug(const char *who, const char *fmt, ...)
{
	va_list ap;

	if (!log_verbose)
		return;
	va_start(ap, fmt);
	vlog(who, fmt, ap);
	va_end(ap);
}
