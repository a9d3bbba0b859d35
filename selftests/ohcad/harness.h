/* SPDX-License-Identifier: GPL-2.0 */
/* Included by every test program: cmocka, and a time limit for hanging tests. */

#ifndef SELFTESTS_OHCAD_HARNESS_H
#define SELFTESTS_OHCAD_HARNESS_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "emulated.h"

/* All packets between HCAs are sent over uplinks: inproc.h. */
#define ON_WIRE (getenv("OHCAD_WIRE") != NULL)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Tests that take minutes on a busy machine define a longer limit before they include this. */
#ifndef HANG_SECONDS
#define HANG_SECONDS 300
#endif

/*
 * Run a group of tests with TAP on standard output; SIGALRM ends a program that hangs.  An emulated processor is slow.
 */
#define RUN_TESTS(tests, setup, teardown)                                                          \
	(setvbuf(stdout, NULL, _IOLBF, 0), alarm(is_emulated() ? 6 * HANG_SECONDS : HANG_SECONDS), \
	 cmocka_set_message_output(CM_OUTPUT_TAP), cmocka_run_group_tests(tests, setup, teardown))

#endif
