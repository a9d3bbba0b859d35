// SPDX-License-Identifier: GPL-2.0
/* Log lines on standard error. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"

#define MAX_LINE 1024

bool log_verbose;

/* One write per line, so that lines of several processes do not mix. */
static void vlog(const char *who, const char *fmt, va_list ap)
{
	char line[MAX_LINE];
	size_t len = 0;
	int n;

	n = who ? snprintf(line, sizeof(line), "ohcad: %s: ", who)
		: snprintf(line, sizeof(line), "ohcad: ");
	if (n > 0)
		len = (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1;
	n = vsnprintf(line + len, sizeof(line) - len, fmt, ap);
	if (n > 0)
		len += (size_t)n < sizeof(line) - len ? (size_t)n : sizeof(line) - len - 1;
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
