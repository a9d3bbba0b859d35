/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event loop: one thread does everything in ohcad, so no part of it needs a lock.  The loop serves
 * file descriptors and timers, and polls one poller (the HCAs' queues) for as long as that finds
 * work, then a little longer, then sleeps.
 */

#ifndef OHCAD_LOOP_H
#define OHCAD_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop;

/**
 * struct timer - a one-shot timer, embedded in what it serves; zero-initialised is disarmed
 * @fn: called in the loop with the timer disarmed; may arm it again or free its owner
 * @deadline: loop time in ns
 * @pos: place in the loop's heap plus one, 0 while disarmed; the loop's own
 */
struct timer {
	void (*fn)(struct timer *timer);
	uint64_t deadline;
	unsigned int pos;
};

/**
 * struct poller - what the loop polls when it has nothing else to do
 * @poll: do a bounded amount of work (tens of microseconds at most); returns whether there was any
 * @sleep: ask to be woken through a file descriptor; returns false (and is awake again) if there is
 *	work after all
 */
struct poller {
	bool (*poll)(void *arg);
	bool (*sleep)(void *arg);
	void *arg;
};

struct loop *loop_new(void);
void loop_free(struct loop *loop);

/*
 * Serve @fd (not owned): @fn is called when one of the epoll @events is ready.  Returns 0 or
 * -errno.
 */
int loop_add_fd(struct loop *loop, int fd, uint32_t events, void (*fn)(void *arg, uint32_t events),
		void *arg);
void loop_del_fd(struct loop *loop, int fd);

/* Arm or re-arm @timer for @deadline (loop_now() + ns).  A disarmed timer may be cancelled. */
void loop_timer_arm(struct loop *loop, struct timer *timer, uint64_t deadline);
void loop_timer_cancel(struct loop *loop, struct timer *timer);

/* Monotonic time in ns, cheap enough for every packet. */
uint64_t loop_now(struct loop *loop);
/* Read the clock of loop_now() now. */
uint64_t loop_clock(void);

/* @spin_ns: longest time to poll on after the last work. */
void loop_set_poller(struct loop *loop, const struct poller *poller, uint64_t spin_ns);

/*
 * Called by the poller when it has done work of which more is likely to follow, but later than
 * after other work: if that was the last of it, the loop goes on polling for up to twice as long.
 */
void loop_expect_more(struct loop *loop);

/*
 * Count each round at *@rounds, in shared memory, so that another process sees that the loop goes on.
 * It is the caller's, and stays while there is a loop.
 */
void loop_count_rounds(struct loop *loop, uint32_t *rounds);

/* Runs until loop_stop(); returns 0 or -errno. */
int loop_run(struct loop *loop);
/* One round without blocking longer than @max_wait_ns: for tests that drive the loop themselves. */
int loop_step(struct loop *loop, uint64_t max_wait_ns);
void loop_stop(struct loop *loop);

#endif
