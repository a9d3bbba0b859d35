// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the frequency of this processor's time-stamp counter, in kHz; nothing if there is none.
 *
 * The frequency of a machine without KVM is the host's.  A machine that measures it by a timer may
 * get a wrong value if the host is busy, and then its clock is wrong.
 */

#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define NS_PER_S 1000000000ULL
#define PERIOD 50000000ULL /* ns to measure for */

#ifdef __x86_64__

#include <x86intrin.h>

struct moment {
	uint64_t ns, tsc;
};

static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* Read both clocks: of many tries, the one that took least time. */
static struct moment look(void)
{
	struct moment best = {0};
	uint64_t least = UINT64_MAX;
	int i;

	for (i = 0; i < 100; i++) {
		uint64_t before = clock_ns(), tsc = __rdtsc(), took = clock_ns() - before;

		if (took >= least)
			continue;
		least = took;
		best.ns = before + took / 2;
		best.tsc = tsc;
	}
	return best;
}

int main(void)
{
	const struct timespec period = {.tv_nsec = PERIOD};
	struct moment first = look(), last;

	nanosleep(&period, NULL);
	last = look();
	printf("%llu\n", (unsigned long long)((double)(last.tsc - first.tsc) * 1e6 /
					      (double)(last.ns - first.ns)));
	return 0;
}

#else

int main(void)
{
	return 0;
}

#endif
