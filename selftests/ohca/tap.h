/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Test Anything Protocol, version 13, for test programs.
 *
 * A program has a table of tests; each prints one line "ok" or "not ok".  Inside of a test,
 * EXPECT*() print a diagnostic line and fail the test; they evaluate to the condition, so that a
 * test can return early.
 */

#ifndef SELFTEST_TAP_H
#define SELFTEST_TAP_H

#include <stdbool.h>
#include <stddef.h>

#define TAP_PASS 0
#define TAP_FAIL 1
#define TAP_SKIP 4

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/**
 * struct tap_test - one test
 * @name: its title
 * @fn: @arg is that of the table's entry
 * @arg: parameters, for tests that differ in numbers only
 */
struct tap_test {
	const char *name;
	void (*fn)(const void *arg);
	const void *arg;
};

/* Prints the version and the plan. */
void tap_start(unsigned int tests);

/*
 * One result line; a test that called tap_skip() is reported as skipped, one with a failed
 * expectation as failed.
 */
void tap_result(bool ok, const char *name);

/*
 * Run the tests of a table; returns the exit status: TAP_PASS, TAP_FAIL, or TAP_SKIP if all were
 * skipped.
 */
int tap_run(const struct tap_test *tests, unsigned int num);
/* Exit status so far. */
int tap_status(void);

/* The running test can't be done here: skip it. */
void tap_skip(const char *reason);
bool tap_skipped(void);

/* The running test failed; prints a diagnostic line. */
__attribute__((format(printf, 3, 4))) void tap_fail(const char *file, int line, const char *fmt,
						    ...);
/* Whether the running test has failed */
bool tap_failed(void);

__attribute__((format(printf, 1, 2))) void tap_diag(const char *fmt, ...);

/* Bail out: the whole program ends. */
__attribute__((format(printf, 1, 2), noreturn)) void tap_bail(const char *fmt, ...);
/* The whole program can't be done here: skip it. */
__attribute__((format(printf, 1, 2), noreturn)) void tap_skip_all(const char *fmt, ...);

/* Only diagnostics from now on: for the second process of a two-sided program. */
void tap_mute(void);
/* The runner calls this before each test. */
void tap_begin(void);

/* Limits of time are so many times as long: the environment's OHCA_SLOW, or 3. */
int tap_slow(void);

#define EXPECT(cond)                                                       \
	({                                                                 \
		bool _ok = (cond);                                         \
		if (!_ok)                                                  \
			tap_fail(__FILE__, __LINE__, "not so: %s", #cond); \
		_ok;                                                       \
	})

#define EXPECT_EQ(got, want)                                                                       \
	({                                                                                         \
		long long _got = (long long)(got), _want = (long long)(want);                      \
		if (_got != _want)                                                                 \
			tap_fail(__FILE__, __LINE__, "%s is %lld, expected %s = %lld", #got, _got, \
				 #want, _want);                                                    \
		_got == _want;                                                                     \
	})

/* For calls that return NULL and set errno. */
#define EXPECT_NULL(call, err)                                                                    \
	({                                                                                        \
		const void *_p = (errno = 0, (call));                                             \
		int _e = errno;                                                                   \
		if (_p || _e != (err))                                                            \
			tap_fail(__FILE__, __LINE__, "%s %s, errno %d, expected NULL, %s", #call, \
				 _p ? "succeeded" : "failed", _e, #err);                          \
		!_p &&_e == (err);                                                                \
	})

#endif
