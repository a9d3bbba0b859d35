/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A test session of two sides: two processes of one machine (side 1 is forked), or one process in
 * each of two machines.  They communicate over a stream socket, which is independent of the tests.
 *
 * A test is one function that both sides run; they synchronize in sess_sync() and sess_xchg().
 * When one side leaves a test early, the other one's next call returns false, and it should leave
 * too.  A test passed if it passed on both sides.
 */

#ifndef SELFTEST_SESS_H
#define SELFTEST_SESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tap.h"

/**
 * struct sess - a session
 * @side: 0 or 1
 * @fd: socket to the other side
 * @child: side 0 of one machine: process of side 1
 * @test: number of the running test
 * @peer_done: the other side has left the running test, with the result @peer_ok
 */
struct sess {
	int side;
	int fd;
	pid_t child;
	uint32_t test;
	bool peer_done;
	bool peer_ok;
};

/*
 * Start: in one machine, or with @machines in two (environment OHCA_RANK and OHCA_PEER).  Bails out
 * if there is no peer. To be called before any device is opened.
 */
void sess_start(struct sess *s, bool machines);

/* Wait for the other side, and swap @len bytes.  False if it left the test. */
bool sess_xchg(struct sess *s, const void *out, void *in, size_t len);
bool sess_sync(struct sess *s);

/*
 * Run the tests of a table on both sides; @cleanup (or NULL) is called after each one on both
 * sides.  Returns the exit status of the program.
 */
int sess_run(struct sess *s, const struct tap_test *tests, unsigned int num, void (*cleanup)(void));

#endif
