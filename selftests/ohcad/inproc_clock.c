// SPDX-License-Identifier: GPL-2.0
/* A clock that the test program controls. */

#include <stddef.h>
#include <time.h>

#include "inproc.h"
#include "inproc_clock.h"

#define ROUND 1000 /* ns that pass in a round of the device */

static uint64_t now = MS;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	ts->tv_sec = now / 1000000000;
	ts->tv_nsec = now % 1000000000;
	return 0;
}

static void tick(void)
{
	now += ROUND;
}

void inproc_clock_start(void)
{
	inproc_hook = tick;
}

void inproc_clock_stop(void)
{
	inproc_hook = NULL;
}

uint64_t inproc_clock(void)
{
	return now;
}

void inproc_elapse(uint64_t ns)
{
	uint64_t end = now + ns;

	while (now < end)
		inproc_step();
}
