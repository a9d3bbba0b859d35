/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log lines on standard error: "ohcad: hca0: text".  Repeated misbehaviour of a guest is rate
 * limited by the caller's site.
 */

#ifndef OHCAD_LOG_H
#define OHCAD_LOG_H

#include <stdbool.h>

extern bool log_verbose; /* -v: log_debug() lines too */

__attribute__((format(printf, 2, 3))) void log_error(const char *who, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void log_info(const char *who, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void log_debug(const char *who, const char *fmt, ...);

#endif
