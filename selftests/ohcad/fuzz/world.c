// SPDX-License-Identifier: GPL-2.0
/* A world in which everything happens again. */

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/types.h>

#include "base/log.h"
#include "world.h"

#define NSEC_PER_SEC 1000000000ULL
#define READING_NS 1000 /* that a look at the clock takes */

static uint64_t now;

bool log_verbose;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned int flags);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	now += READING_NS;
	ts->tv_sec = now / NSEC_PER_SEC;
	ts->tv_nsec = now % NSEC_PER_SEC;
	return 0;
}

ssize_t __wrap_getrandom(void *buf, size_t len, unsigned int flags)
{
	(void)flags;
	memset(buf, 0x5a, len);
	return len;
}

/*
 * Never back.  What an input may have armed is over by then, and its beginning does not show in any
 * difference of two times.
 */
void world_begin(void)
{
	now += NSEC_PER_SEC;
	now -= now % NSEC_PER_SEC;
}

void world_sleep(uint64_t ns)
{
	now += ns;
}

/* In place of the device's log.c. */

void log_error(const char *who, const char *fmt, ...)
{
	(void)who;
	(void)fmt;
}

void log_info(const char *who, const char *fmt, ...)
{
	(void)who;
	(void)fmt;
}

void log_debug(const char *who, const char *fmt, ...)
{
	(void)who;
	(void)fmt;
}
