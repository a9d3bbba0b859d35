// SPDX-License-Identifier: GPL-2.0
/* Memory that the kernel can't allocate: see nomem.h. */

#include "nomem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

#define FAILSLAB "/sys/kernel/debug/failslab/"
#define MANY 1000000 /* more allocations than an operation has */

static int fail_nth = -1;

static void set(const char *file, const char *value)
{
	int fd = open(file, O_WRONLY);

	if (fd < 0)
		tap_skip_all("the kernel can't inject failures of allocations: %s", file);
	if (write(fd, value, strlen(value)) < 0)
		tap_bail("%s: %s", file, strerror(errno));
	close(fd);
}

void nomem_init(void)
{
	set(FAILSLAB "ignore-gfp-wait", "N");
	set(FAILSLAB "verbose", getenv("NOMEM_VERBOSE") ?: "0");
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR);
	if (fail_nth < 0)
		tap_skip_all("the kernel can't let this thread's allocations fail");
}

/* The thread's allocation with that number fails, counted from 1; 0: none. */
static void arm(unsigned int num)
{
	char buf[16];
	int len = snprintf(buf, sizeof(buf), "%u", num);

	if (pwrite(fail_nth, buf, len, 0) != len)
		tap_bail("fail-nth: %s", strerror(errno));
}

/* Returns how many allocations were still to come up to the one that fails; 0: it has failed. */
static unsigned int disarm(void)
{
	char buf[16] = {};
	unsigned int left;

	if (pread(fail_nth, buf, sizeof(buf) - 1, 0) <= 0)
		tap_bail("fail-nth: %s", strerror(errno));
	left = strtoul(buf, NULL, 10);
	arm(0);
	return left;
}

/* The number of allocations of @call, without failures. */
static unsigned int count(int (*call)(void))
{
	int err;
	unsigned int left;

	arm(MANY);
	err = call();
	left = disarm();
	EXPECT_EQ(err, 0);
	return MANY - left;
}

/* Distance of the numbers that are tried: so that there are at most OHCA_NOMEM, or else 1. */
static unsigned int stride(unsigned int allocs)
{
	const char *most = getenv("OHCA_NOMEM");
	unsigned int num = most ? strtoul(most, NULL, 10) : 0;

	/* Odd, as the debug kernel's own allocations, for Kmemleak, are every second one. */
	return num && allocs > num ? ((allocs + num - 1) / num) | 1 : 1;
}

static bool ready(const struct nomem_op *op, const char *what, unsigned int num)
{
	if (tap_failed() || (op->ready && !EXPECT(op->ready()))) {
		tap_diag("after allocation %u of %s failed", num, what);
		return false;
	}
	return true;
}

static void act_fails(const struct nomem_op *op, unsigned int allocs)
{
	unsigned int i, failed = 0, step = stride(allocs);
	int err;

	/* Caches are filled meanwhile, so the number changes. */
	for (i = 1 + step / 2; i <= allocs; i += step) {
		arm(i);
		err = op->act();
		if (disarm() && !EXPECT_EQ(err, 0))
			return;
		if (err) {
			if (err != ENOMEM)
				tap_diag("allocation %u: %s", i, strerror(err));
			failed++;
		} else if (op->undo) {
			EXPECT_EQ(op->undo(), 0);
		}
		if (!ready(op, "it", i))
			return;
	}
	tap_diag("%u allocations, steps of %u, %u failures", allocs, step, failed);
}

static void undo_fails(const struct nomem_op *op, unsigned int allocs)
{
	unsigned int i, step = stride(allocs);
	int err;

	for (i = 1 + step / 2; i <= allocs; i += step) {
		if (!EXPECT_EQ(op->act(), 0))
			return;
		arm(i);
		err = op->undo();
		if (disarm() && !EXPECT_EQ(err, 0))
			return;
		if (err) {
			tap_diag("undone, allocation %u: %s", i, strerror(err));
			EXPECT_EQ(op->undo(), 0);
		}
		if (!ready(op, "what undoes it", i))
			return;
	}
}

void nomem_run(const void *arg)
{
	const struct nomem_op *op = arg;
	unsigned int act, undo = 0;

	act = count(op->act);
	if (!tap_failed() && op->undo)
		undo = count(op->undo);
	EXPECT(act > 0);
	if (!ready(op, "none", 0))
		return;
	act_fails(op, act);
	if (!tap_failed() && op->undo)
		undo_fails(op, undo);
}
