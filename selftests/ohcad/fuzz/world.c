// SPDX-License-Identifier: GPL-2.0
/* An environment in which a program has the same result each time. */

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/types.h>

#include "base/log.h"
#include "world.h"

#define NSEC_PER_SEC 1000000000ULL
#define READING_NS 1000 /* time that reading the clock takes */

#define SEED 0x5a5a5a5aU

static uint64_t now;
static uint32_t random_state;

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
	uint8_t *at = buf;
	size_t i;

	(void)flags;
	for (i = 0; i < len; i++) {
		random_state = random_state * 1664525 + 1013904223;
		at[i] = random_state >> 24;
	}
	return len;
}

/*
 * Random numbers begin anew.  The clock never goes back.  All timers of an input have expired by then, and the absolute time
 * has no effect on time differences.
 */
void world_begin(void)
{
	random_state = SEED;
	now += NSEC_PER_SEC;
	now -= now % NSEC_PER_SEC;
}

void world_sleep(uint64_t ns)
{
	now += ns;
}

/* In place of the device's log.c. */

const struct log_line *log_next(uint64_t *since)
{
	static const struct log_line line = {.time = 1, .text = "hca0: a line"};

	if (*since == 1)
		return NULL;
	*since = 1;
	return &line;
}

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
