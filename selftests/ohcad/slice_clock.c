// SPDX-License-Identifier: GPL-2.0
/*
 * The device's clock is the processor time of this program: what it does in a round depends on when another HCA was last
 * active, and this program may have to wait for a processor in between.  A host that is a virtual machine may wait for one
 * itself, which counts as processor time: between two readings, not more than STEP_NS pass.
 */

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS 10000
#define NSEC_PER_SEC 1000000000ULL

static int processor_time(struct timespec *ts)
{
	static uint64_t last, now;
	uint64_t time;

	if (syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, ts))
		return -1;
	time = ts->tv_sec * NSEC_PER_SEC + ts->tv_nsec;
	now += time - last < STEP_NS ? time - last : STEP_NS;
	last = time;
	ts->tv_sec = now / NSEC_PER_SEC;
	ts->tv_nsec = now % NSEC_PER_SEC;
	return 0;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	return id == CLOCK_MONOTONIC ? processor_time(ts) : syscall(SYS_clock_gettime, id, ts);
}
