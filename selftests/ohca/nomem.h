/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that the kernel can't allocate: an operation is done again and again, and its first
 * allocation fails, then its second, and so on (/proc/thread-self/fail-nth, see the kernel's
 * Documentation/fault-injection).
 */

#ifndef SELFTEST_NOMEM_H
#define SELFTEST_NOMEM_H

#include <stdbool.h>

/**
 * struct nomem_op - an operation and what undoes it; both return 0 or an errno
 * @act: calls of the kernel; if they fail, nothing is left of them
 * @undo: calls of the kernel; if they fail, they can be repeated.  It may be NULL
 * @ready: called after each of them, also after one that failed; false if something does not work
 *	as before.  It may be NULL
 */
struct nomem_op {
	int (*act)(void);
	int (*undo)(void);
	bool (*ready)(void);
};

/*
 * Skip all tests if this kernel can't inject failures.  Otherwise, allow those of allocations that
 * may sleep, without lines in the log; with the environment's NOMEM_VERBOSE=2, each is shown there.
 */
void nomem_init(void);
/*
 * A test: @arg is a struct nomem_op.  At most as many of its allocations fail as the environment's
 * OHCA_NOMEM says; all of them without it.
 */
void nomem_run(const void *arg);

#endif
