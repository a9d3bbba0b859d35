// SPDX-License-Identifier: GPL-2.0
/*
 * The limits of the host: measurements of two programs that share memory.  One is a copy from
 * memory that one program shares to memory that the other one shares, by the size of the message,
 * either at one place, as perftest does it, or at another place each time.  One is a word to a
 * polling program and back.  One is a loop that reads the clock, which every benchmark does.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEN (256UL << 20) /* bytes of each memory, larger than most caches */
#define SLICES 31
#define SLICE_NS 1e7
#define BETWEEN 65536 /* bytes between reads of the clock, about */
#define TRIPS 20000

/* Returns nanoseconds of a clock. */
static double now(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* Returns the processor time of this program; other programs do not affect it. */
static double cpu_now(void)
{
	return now(CLOCK_PROCESS_CPUTIME_ID);
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double median(double *v, unsigned int num)
{
	qsort(v, num, sizeof(*v), compare);
	return v[num / 2];
}

static void *share(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
		       -1, 0);

	if (p == MAP_FAILED)
		abort();
	memset(p, 1, len);
	return p;
}

static void copies(bool cold)
{
	static const size_t sizes[] = {2, 64, 1024, 4096, 65536, 1 << 20, 8 << 20};
	void *(*volatile copy)(void *, const void *, size_t) = memcpy;
	char *from = share(LEN), *to = share(LEN);
	size_t i, pos, step = 0;
	double start, t;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double mbytes[SLICES];
		unsigned int n, slice;

		pos = 0;
		if (cold)
			step = sizes[i] < 64 ? 64 : sizes[i];
		for (slice = 0; slice < SLICES; slice++) {
			n = 0;
			start = cpu_now();
			do {
				unsigned int k;

				for (k = 0; !k || k * sizes[i] < BETWEEN; k++) {
					copy(to + pos, from + pos, sizes[i]);
					pos = pos + 2 * step > LEN ? 0 : pos + step;
				}
				n += k;
				t = cpu_now() - start;
			} while (t < SLICE_NS);
			mbytes[slice] = n * (double)sizes[i] / t * 1e3;
		}
		printf("limit what=memcpy%s size=%zu unit=MB/s value=%.1f\n",
		       cold ? "_elsewhere" : "", sizes[i], median(mbytes, SLICES));
	}
	munmap(from, LEN);
	munmap(to, LEN);
}

static void ping_pong(void)
{
	unsigned int *there = share(4096), *back = there + 256, i;
	static double ns[TRIPS];
	pid_t child;

	*there = 0;
	*back = 0;
	child = fork();
	if (child < 0)
		abort();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (i = 1; i <= TRIPS; i++) {
			while (__atomic_load_n(there, __ATOMIC_ACQUIRE) != i)
				;
			__atomic_store_n(back, i, __ATOMIC_RELEASE);
		}
		_exit(0);
	}
	for (i = 1; i <= TRIPS; i++) {
		double start = now(CLOCK_MONOTONIC);

		__atomic_store_n(there, i, __ATOMIC_RELEASE);
		while (__atomic_load_n(back, __ATOMIC_ACQUIRE) != i)
			;
		ns[i - 1] = now(CLOCK_MONOTONIC) - start;
	}
	waitpid(child, NULL, 0);
	printf("limit what=there_and_back size=8 unit=us value=%.3f\n", median(ns, TRIPS) / 1e3);
}

static void empty_loop(void)
{
	double start = cpu_now();
	unsigned int n;

	for (n = 0; n < TRIPS; n++)
		now(CLOCK_MONOTONIC);
	printf("limit what=empty_loop size=0 unit=us value=%.4f\n", (cpu_now() - start) / n / 1e3);
}

int main(void)
{
	copies(false);
	copies(true);
	ping_pong();
	empty_loop();
	return 0;
}
