// SPDX-License-Identifier: GPL-2.0
/*
 * A timer sends a signal, whose handler does nothing but start the timer again if the process is
 * in a guarded call.  The timer is not stopped after the call: many calls use one start, and the
 * last one costs one signal.
 */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "base/guard.h"

#define GUARD_NS 2000000

static timer_t timer;
static bool exists;
static volatile sig_atomic_t running, inside;

static void start(void)
{
	const struct itimerspec once = {.it_value.tv_nsec = GUARD_NS};

	running = 1;
	timer_settime(timer, 0, &once, NULL);
}

static void handler(int sig)
{
	(void)sig;
	running = 0;
	if (inside)
		start();
}

/* For the first call.  A process that can't have a timer can't be guarded, so it ends. */
static void create(void)
{
	struct sigaction action = {.sa_handler = handler};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};

	sigemptyset(&action.sa_mask);
	if (sigaction(SIGRTMIN, &action, NULL) || timer_create(CLOCK_MONOTONIC, &event, &timer))
		abort();
	exists = true;
}

void guard_begin(void)
{
	if (!exists)
		create();
	inside = 1;
	if (!running)
		start();
}

void guard_end(void)
{
	inside = 0;
}
