/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log lines on standard error: "ohcad: hca0: text".  Repeated misbehaviour of a guest is rate
 * limited by the caller's site.
 */

#ifndef OHCAD_LOG_H
#define OHCAD_LOG_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_LINES 256

/**
 * struct log_line - a line that was logged
 * @time: seconds since 1970
 * @text: without the name of the program; a long one is cut
 */
struct log_line {
	double time;
	char text[232];
};

/*
 * The first line after number *@since, which is set to its number, of the last LOG_LINES ones; the first of all has number 1.
 * A number that no line has had yet counts as 0.  NULL: there is none.
 */
const struct log_line *log_next(uint64_t *since);

extern bool log_verbose; /* -v: log_debug() lines too */

__attribute__((format(printf, 2, 3))) void log_error(const char *who, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void log_info(const char *who, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void log_debug(const char *who, const char *fmt, ...);

#endif
