// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into perftest's programs.  Each of them measures the frequency of the processor, in loops
 * that ask for the time until so many microseconds are over.  That takes a quarter of a second, in which
 * an emulated machine keeps a processor of the host busy.  Here the loops sleep between their questions.
 * perftest calls this function there only: once for the begin, which it stores in one place, and then
 * for the end, in another place.
 */

#define _GNU_SOURCE
#include <sys/time.h>
#include <time.h>

#define PAUSE 200000 /* ns */

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	static const struct timespec pause = {.tv_nsec = PAUSE};
	static struct timeval *last;
	struct timespec now;

	(void)zone;
	if (tv == last)
		nanosleep(&pause, NULL);
	last = tv;
	clock_gettime(CLOCK_REALTIME, &now);
	tv->tv_sec = now.tv_sec;
	tv->tv_usec = now.tv_nsec / 1000;
	return 0;
}
