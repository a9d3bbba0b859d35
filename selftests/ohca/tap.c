// SPDX-License-Identifier: GPL-2.0
/* Test Anything Protocol, version 13. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tap.h"

static struct {
	bool mute;
	bool failed; /* the running test */
	const char *skip; /* reason why the running test is skipped */
	unsigned int done, num_failed, num_skipped;
} tap;

static void say(const char *fmt, va_list ap)
{
	vprintf(fmt, ap);
	putchar('\n');
	fflush(stdout);
}

void tap_mute(void)
{
	tap.mute = true;
}

void tap_start(unsigned int tests)
{
	if (tap.mute)
		return;
	printf("TAP version 13\n1..%u\n", tests);
	fflush(stdout);
}

void tap_begin(void)
{
	tap.failed = false;
	tap.skip = NULL;
}

void tap_result(bool ok, const char *name)
{
	tap.done++;
	if (!ok)
		tap.num_failed++;
	else if (tap.skip)
		tap.num_skipped++;
	if (tap.mute)
		return;
	printf("%s %u %s", ok ? "ok" : "not ok", tap.done, name);
	if (ok && tap.skip)
		printf(" # SKIP %s", tap.skip);
	putchar('\n');
	fflush(stdout);
}

int tap_status(void)
{
	if (tap.num_failed)
		return TAP_FAIL;
	return tap.done && tap.num_skipped == tap.done ? TAP_SKIP : TAP_PASS;
}

int tap_run(const struct tap_test *tests, unsigned int num)
{
	unsigned int i;

	tap_start(num);
	for (i = 0; i < num; i++) {
		tap_begin();
		tests[i].fn(tests[i].arg);
		tap_result(!tap.failed, tests[i].name);
	}
	return tap_status();
}

void tap_skip(const char *reason)
{
	tap.skip = reason;
}

bool tap_skipped(void)
{
	return tap.skip;
}

void tap_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	tap.failed = true;
	printf("# %s:%d: ", file, line);
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

bool tap_failed(void)
{
	return tap.failed;
}

void tap_diag(const char *fmt, ...)
{
	va_list ap;

	fputs("# ", stdout);
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void tap_bail(const char *fmt, ...)
{
	va_list ap;

	fputs(tap.mute ? "# " : "Bail out! ", stdout);
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	exit(TAP_FAIL);
}

int tap_slow(void)
{
	const char *slow = getenv("OHCA_SLOW");

	return slow ? atoi(slow) : 3;
}

void tap_skip_all(const char *fmt, ...)
{
	va_list ap;

	if (!tap.mute) {
		fputs("TAP version 13\n1..0 # SKIP ", stdout);
		va_start(ap, fmt);
		say(fmt, ap);
		va_end(ap);
	}
	exit(TAP_SKIP);
}
