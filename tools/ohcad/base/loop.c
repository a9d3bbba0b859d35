// SPDX-License-Identifier: GPL-2.0
/*
 * Event loop: epoll, a heap of timers, and a poller that is called for as long as it finds work.
 *
 * Each round reads the clock once; loop_now() returns that reading.  Rounds that find work last
 * tens of microseconds, so the reading is never older than that.
 *
 * Spinning.  After the last work the loop polls on for a while, because more work often follows
 * soon, and a doorbell and a wake-up would cost both sides more.  But a thread that shares our
 * processor can't run before we sleep, so spinning only delays it.  (Yielding is no solution: it
 * costs us a time slice.)  The loop recognizes this case by work that arrives as soon as it has
 * gone to sleep.  Then it halves the time that it spins.  It spins longer again when that finds
 * work, and not at all after spinning has found nothing many times in a row.  From time to time it
 * tries again.
 *
 * All this is kept separately for work that is expected to be followed by more work, but later than
 * other work is.  There the loop also tries again after work that came so early that spinning might
 * have found it.  It needs more such cases the more often a try has found nothing.
 *
 * Processors.  Even while another processor is idle, the scheduler of the kernel tends to run a
 * thread that is woken where it ran before, or where its waker runs; and the loop, the thread that
 * takes its answers and the virtual machine wake each other.  So if there is a processor for each
 * of them, a loop that was woken naps before it spins, so that its answer can be taken.  If other
 * threads still had to wait for the end of the spinning, the loop moves to another processor.
 * There it spins at least once, even if it had stopped spinning: asleep, it would be woken on the
 * old processor.  Where more work is expected, it does not move back before there is other work, or
 * a pause.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

#include "base/cpus.h"
#include "base/log.h"
#include "base/loop.h"

#define NSEC_PER_SEC 1000000000ULL
#define MAX_EVENTS 64
#define FDS_EVERY_BUSY 20000 /* ns between looks at the descriptors while there is work */
#define FDS_EVERY_IDLE 2000 /* and while there is none */
#define TIMERS_MAX_NS \
	2000 /* of a round for timers that are due; the clock is looked at after so many: */
#define TIMERS_AT_ONCE 4
#define FOREVER UINT64_MAX
#define SPIN_MIN 2000 /* ns */
#define SPIN_HARM 50000 /* ns: work that comes so soon after going to sleep was delayed */
#define SPINS_IN_VAIN 8 /* stop spinning after so many in a row that found nothing */
#define SPIN_RETRY 32 /* try again after so many idle times */
#define SPIN_MISSED 3 /* or, at first, after so many in which it might have found something */
#define SPIN_PAUSE 10000000 /* ns: a longer pause makes earlier observations void */
#define SPIN_TRY 50000 /* ns: longest time to spin in a try */
#define SPIN_EXPECTING 2 /* factor where more work is expected; there it applies to tries, too */
#define SPIN_PROOF 20000 /* ns: a loop that spun for longer and delayed others should move */
#define NAP 10000 /* ns */
#define TIMER_SLACK 1000 /* ns: a nap may be longer by this */

/* A descriptor; gen distinguishes events of this registration from those of an earlier one. */
struct watch {
	void (*fn)(void *arg, uint32_t events);
	void *arg;
	uint32_t gen;
};

/**
 * struct spin - how long to spin after work of a kind
 * @expecting: more work after this
 * @max: ns at most
 * @trial: ns to spin in a try
 * @ns: to spin at present
 * @round: idle times since the last try
 * @in_vain: idle times in a row in which spinning found no work
 * @missed: idle times without spinning that were no longer than @trial, since the last pause
 * @retry_after: so many @missed make it try again
 * @moved: to another processor since the last try
 */
struct spin {
	bool expecting;
	uint64_t max, trial, ns;
	unsigned int round, in_vain;
	unsigned int missed, retry_after;
	bool moved;
};

/**
 * struct loop - the event loop
 * @watches: by descriptor, @fn NULL where there is none
 * @heap: armed timers, the earliest first
 * @now: the clock at the start of the round
 * @fds_due: when to look at the descriptors again
 * @spins: after work, and after work that more is expected to follow
 * @spin: the one of this idle time
 * @expecting: what the poller said of the work of this round
 * @idle: the poller has found nothing since @idle_since
 * @spin_until: end of the spinning in this idle time, 0: none
 * @slept: when the loop went to sleep in this idle time, 0: it has not
 * @nap: take a nap before spinning
 * @rounds: where rounds are counted; @own_rounds if nobody else looks
 * @no_pwait2: the kernel lacks epoll_pwait2()
 */
struct loop {
	int epfd;
	struct watch *watches;
	unsigned int num_watches;
	uint32_t gen;
	struct timer **heap;
	unsigned int num_timers, max_timers;
	uint64_t now;
	uint64_t fds_due;
	struct poller poller;
	struct spin spins[2], *spin;
	bool expecting;
	bool idle;
	uint64_t idle_since, spin_until, slept;
	bool nap;
	uint32_t *rounds, own_rounds;
	bool no_pwait2;
	bool stop;
};

uint64_t loop_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

struct loop *loop_new(void)
{
	struct loop *loop = calloc(1, sizeof(*loop));

	if (!loop)
		return NULL;
	loop->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epfd < 0) {
		free(loop);
		return NULL;
	}
	loop->rounds = &loop->own_rounds;
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK);
	loop->now = loop_clock();
	return loop;
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	close(loop->epfd);
	free(loop->watches);
	free(loop->heap);
	free(loop);
}

/* Descriptors */

static int watches_grow(struct loop *loop, unsigned int fd)
{
	unsigned int num = loop->num_watches ? loop->num_watches : 64;
	struct watch *watches;

	while (num <= fd)
		num *= 2;
	watches = realloc(loop->watches, num * sizeof(*watches));
	if (!watches)
		return -ENOMEM;
	memset(watches + loop->num_watches, 0, (num - loop->num_watches) * sizeof(*watches));
	loop->watches = watches;
	loop->num_watches = num;
	return 0;
}

int loop_add_fd(struct loop *loop, int fd, uint32_t events, void (*fn)(void *arg, uint32_t events),
		void *arg)
{
	struct epoll_event ev = {.events = events};
	struct watch *watch;
	int op, err;

	if (fd < 0)
		return -EBADF;
	if ((unsigned int)fd >= loop->num_watches) {
		err = watches_grow(loop, fd);
		if (err)
			return err;
	}
	watch = &loop->watches[fd];
	op = watch->fn ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
	ev.data.u64 = (uint64_t)++loop->gen << 32 | (uint32_t)fd;
	if (epoll_ctl(loop->epfd, op, fd, &ev))
		return -errno;
	watch->fn = fn;
	watch->arg = arg;
	watch->gen = loop->gen;
	return 0;
}

void loop_del_fd(struct loop *loop, int fd)
{
	if (fd < 0 || (unsigned int)fd >= loop->num_watches || !loop->watches[fd].fn)
		return;
	loop->watches[fd].fn = NULL;
	epoll_ctl(loop->epfd, EPOLL_CTL_DEL, fd, NULL);
}

static int epoll_wait_ns(struct loop *loop, struct epoll_event *events, uint64_t wait_ns)
{
	struct timespec ts = {wait_ns / NSEC_PER_SEC, wait_ns % NSEC_PER_SEC};
	uint64_t ms;
	int n;

	if (!wait_ns)
		return epoll_wait(loop->epfd, events, MAX_EVENTS, 0);
	if (!loop->no_pwait2) {
		n = epoll_pwait2(loop->epfd, events, MAX_EVENTS, wait_ns == FOREVER ? NULL : &ts,
				 NULL);
		if (n >= 0 || errno != ENOSYS)
			return n;
		loop->no_pwait2 = true;
	}
	if (wait_ns == FOREVER)
		return epoll_wait(loop->epfd, events, MAX_EVENTS, -1);
	ms = (wait_ns + 999999) / 1000000;
	return epoll_wait(loop->epfd, events, MAX_EVENTS, ms < 60000 ? ms : 60000);
}

/*
 * Look at the descriptors, wait for them @wait_ns at most.  Returns the number of events or -errno.
 */
static int serve_fds(struct loop *loop, uint64_t wait_ns)
{
	struct epoll_event events[MAX_EVENTS];
	struct watch *watch;
	int i, n;

	n = epoll_wait_ns(loop, events, wait_ns);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (wait_ns)
		loop->now = loop_clock();
	for (i = 0; i < n; i++) {
		watch = &loop->watches[(uint32_t)events[i].data.u64];
		if (watch->fn && watch->gen == events[i].data.u64 >> 32)
			watch->fn(watch->arg, events[i].events);
	}
	return n;
}

/* Timers: pos is the place in the heap plus one */

static void heap_put(struct loop *loop, unsigned int i, struct timer *timer)
{
	loop->heap[i] = timer;
	timer->pos = i + 1;
}

static void heap_up(struct loop *loop, unsigned int i, struct timer *timer)
{
	unsigned int parent;

	while (i) {
		parent = (i - 1) / 2;
		if (loop->heap[parent]->deadline <= timer->deadline)
			break;
		heap_put(loop, i, loop->heap[parent]);
		i = parent;
	}
	heap_put(loop, i, timer);
}

static void heap_down(struct loop *loop, unsigned int i, struct timer *timer)
{
	unsigned int child;

	for (;;) {
		child = 2 * i + 1;
		if (child >= loop->num_timers)
			break;
		if (child + 1 < loop->num_timers &&
		    loop->heap[child + 1]->deadline < loop->heap[child]->deadline)
			child++;
		if (timer->deadline <= loop->heap[child]->deadline)
			break;
		heap_put(loop, i, loop->heap[child]);
		i = child;
	}
	heap_put(loop, i, timer);
}

void loop_timer_cancel(struct loop *loop, struct timer *timer)
{
	unsigned int i;
	struct timer *last;

	if (!timer->pos)
		return;
	i = timer->pos - 1;
	timer->pos = 0;
	last = loop->heap[--loop->num_timers];
	if (last == timer)
		return;
	if (i && last->deadline < loop->heap[(i - 1) / 2]->deadline)
		heap_up(loop, i, last);
	else
		heap_down(loop, i, last);
}

/* Without memory for the heap there is no way to go on: the timer would never fire. */
static void heap_grow(struct loop *loop)
{
	unsigned int max = loop->max_timers ? 2 * loop->max_timers : 64;
	struct timer **heap = realloc(loop->heap, max * sizeof(struct timer *));

	if (!heap) {
		log_error(NULL, "out of memory for timers");
		abort();
	}
	loop->heap = heap;
	loop->max_timers = max;
}

void loop_timer_arm(struct loop *loop, struct timer *timer, uint64_t deadline)
{
	loop_timer_cancel(loop, timer);
	if (loop->num_timers == loop->max_timers)
		heap_grow(loop);
	timer->deadline = deadline;
	heap_up(loop, loop->num_timers++, timer);
}

/*
 * Those due now, but not for longer than TIMERS_MAX_NS; one that is armed again for the past waits for the next round, as
 * do those that there is no time for.  Returns whether there were any.
 */
static bool serve_timers(struct loop *loop)
{
	unsigned int budget = loop->num_timers, num = 0;
	struct timer *timer;
	bool fired = false;

	while (budget-- && loop->num_timers && loop->heap[0]->deadline <= loop->now) {
		timer = loop->heap[0];
		loop_timer_cancel(loop, timer);
		timer->fn(timer);
		fired = true;
		if (!(++num % TIMERS_AT_ONCE) && loop_clock() - loop->now >= TIMERS_MAX_NS)
			break;
	}
	return fired;
}

uint64_t loop_now(struct loop *loop)
{
	return loop->now;
}

/* Rounds */

static struct spin new_spin(bool expecting, uint64_t max, uint64_t trial)
{
	trial = trial < max ? trial : max;
	return (struct spin){
		.expecting = expecting,
		.max = max,
		.trial = trial,
		.ns = trial,
		.retry_after = SPIN_MISSED,
	};
}

void loop_set_poller(struct loop *loop, const struct poller *poller, uint64_t spin_ns)
{
	loop->poller = *poller;
	loop->spins[false] = new_spin(false, spin_ns, SPIN_TRY);
	loop->spins[true] = new_spin(true, SPIN_EXPECTING * spin_ns, SPIN_EXPECTING * spin_ns);
	loop->spin = &loop->spins[false];
	loop->idle = false;
}

void loop_expect_more(struct loop *loop)
{
	loop->expecting = true;
}

/* The poller found no more work: start to spin, for how long? */
static void idle_start(struct loop *loop)
{
	struct spin *spin = loop->spin;
	uint64_t ns = spin->in_vain < SPINS_IN_VAIN ? spin->ns : 0;

	if (++spin->round >= SPIN_RETRY) {
		spin->round = 0;
		spin->moved = false;
		ns = spin->trial;
	}
	loop->nap = ns && loop->slept && !loop->no_pwait2 && cpus_suffice();
	loop->idle = true;
	loop->idle_since = loop->now;
	loop->spin_until = ns ? loop->now + ns : 0;
	loop->slept = 0;
}

/* Move to another processor, and spin there at least once. */
static void move(struct spin *spin)
{
	cpus_hop();
	if (!spin->expecting)
		cpus_any();
	if (spin->moved)
		return;
	spin->moved = true;
	spin->ns = spin->trial;
	if (spin->in_vain == SPINS_IN_VAIN)
		spin->in_vain--;
}

/* Work after so many ns without spinning: would spinning have been better? */
static void did_not_spin(struct spin *spin, uint64_t took)
{
	if (took > spin->trial || ++spin->missed < spin->retry_after || !cpus_suffice())
		return;
	/* Two times, because always the second of two pieces of work may come late. */
	spin->missed = spin->round = 0;
	spin->moved = false;
	spin->in_vain = SPINS_IN_VAIN - 2;
	spin->ns = spin->trial;
	if (spin->retry_after < SPIN_RETRY)
		spin->retry_after *= 2;
}

/* There is work again: adapt the time to spin. */
static void idle_end(struct loop *loop)
{
	uint64_t took = loop->now - loop->idle_since;
	struct spin *spin = loop->spin;

	loop->idle = false;
	if (took > SPIN_PAUSE) {
		spin->missed = 0;
		spin->retry_after = SPIN_MISSED;
	}
	if (took > SPIN_PAUSE || !spin->expecting)
		cpus_any();
	if (!loop->spin_until) {
		if (spin->expecting)
			did_not_spin(spin, took);
		return;
	}
	if (!loop->slept) {
		spin->in_vain = 0;
		spin->moved = false;
		spin->retry_after = SPIN_MISSED;
		if (spin->ns < 4 * took)
			spin->ns = 4 * took < spin->max ? 4 * took : spin->max;
	} else if (loop->now - loop->slept < SPIN_HARM) {
		if (spin->ns > SPIN_MIN)
			spin->ns /= 2;
		if (loop->spin_until - loop->idle_since > SPIN_PROOF && cpus_suffice())
			move(spin);
	}
}

/* The poller's round, in which it may have said that more work is to be expected */
static bool poll_once(struct loop *loop)
{
	bool worked;

	loop->expecting = false;
	worked = loop->poller.poll(loop->poller.arg);
	if (worked && loop->idle)
		idle_end(loop);
	if (worked)
		loop->spin = &loop->spins[loop->expecting];
	else if (!loop->idle)
		idle_start(loop);
	return worked;
}

/* Whether the poller lets the loop sleep. */
static bool may_sleep(struct loop *loop)
{
	if (loop->now < loop->spin_until || !loop->poller.sleep(loop->poller.arg))
		return false;
	if (!loop->slept && loop->spin_until && loop->spin->in_vain < SPINS_IN_VAIN)
		loop->spin->in_vain++;
	if (!loop->slept)
		loop->slept = loop->now;
	return true;
}

/* How long this round may block: 0 if it was busy, or the poller might have work. */
static uint64_t may_wait(struct loop *loop, bool busy, uint64_t max_wait_ns)
{
	uint64_t wait = max_wait_ns, due;

	if (busy || loop->stop)
		return 0;
	if (loop->nap) {
		loop->nap = false;
		wait = NAP < wait ? NAP : wait;
	} else if (loop->poller.poll && !may_sleep(loop)) {
		return 0;
	}
	if (loop->num_timers) {
		due = loop->heap[0]->deadline;
		due = due > loop->now ? due - loop->now : 0;
		wait = due < wait ? due : wait;
	}
	return wait;
}

static int round_once(struct loop *loop, uint64_t max_wait_ns)
{
	bool worked = false, fired;
	uint64_t wait;
	int n;

	__atomic_store_n(loop->rounds, *loop->rounds + 1, __ATOMIC_RELAXED);
	loop->now = loop_clock();
	fired = serve_timers(loop);
	if (loop->poller.poll)
		worked = poll_once(loop);
	wait = may_wait(loop, worked || fired, max_wait_ns);
	if (!wait && loop->now < loop->fds_due)
		return 0;
	n = serve_fds(loop, wait);
	loop->fds_due = loop->now + (worked ? FDS_EVERY_BUSY : FDS_EVERY_IDLE);
	return n < 0 ? n : 0;
}

void loop_count_rounds(struct loop *loop, uint32_t *rounds)
{
	loop->rounds = rounds;
}

int loop_run(struct loop *loop)
{
	int err = 0;

	loop->stop = false;
	while (!loop->stop && !err)
		err = round_once(loop, FOREVER);
	return err;
}

int loop_step(struct loop *loop, uint64_t max_wait_ns)
{
	loop->fds_due = 0;
	return round_once(loop, max_wait_ns);
}

void loop_stop(struct loop *loop)
{
	loop->stop = true;
}
