// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the event loop. */

#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "base/cpus.h"
#include "harness.h"
#include "base/list.h"
#include "base/loop.h"

#define FOREVER 3600000000000ULL

/*
 * A clock that the tests of spinning have instead of the host's, whose processors may be busy with
 * something else: each reading of it takes a little time, and so does each look at the descriptors.
 * A wait for descriptors that are not ready takes until its end.
 */
#define READING 100 /* ns */
#define LOOK 1000

static bool own_clock;
static uint64_t clock_ns = 1;

int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_epoll_pwait2(int epfd, struct epoll_event *events, int max,
			const struct timespec *timeout, const sigset_t *mask);
int __real_epoll_pwait2(int epfd, struct epoll_event *events, int max,
			const struct timespec *timeout, const sigset_t *mask);
int __wrap_epoll_wait(int epfd, struct epoll_event *events, int max, int timeout);
int __real_epoll_wait(int epfd, struct epoll_event *events, int max, int timeout);

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	if (!own_clock)
		return __real_clock_gettime(id, ts);
	clock_ns += READING;
	ts->tv_sec = clock_ns / 1000000000;
	ts->tv_nsec = clock_ns % 1000000000;
	return 0;
}

int __wrap_epoll_pwait2(int epfd, struct epoll_event *events, int max,
			const struct timespec *timeout, const sigset_t *mask)
{
	int n;

	if (!own_clock)
		return __real_epoll_pwait2(epfd, events, max, timeout, mask);
	clock_ns += LOOK;
	n = __real_epoll_wait(epfd, events, max, 0);
	if (!n) {
		assert_non_null(timeout);
		clock_ns += timeout->tv_sec * 1000000000ULL + timeout->tv_nsec;
	}
	return n;
}

int __wrap_epoll_wait(int epfd, struct epoll_event *events, int max, int timeout)
{
	if (!own_clock)
		return __real_epoll_wait(epfd, events, max, timeout);
	assert_int_equal(timeout, 0);
	clock_ns += LOOK;
	return __real_epoll_wait(epfd, events, max, 0);
}

static int setup(void **state)
{
	*state = loop_new();
	return *state ? 0 : -1;
}

/* With a clock of its own */
static int setup_clock(void **state)
{
	own_clock = true;
	return setup(state);
}

static int teardown(void **state)
{
	loop_free(*state);
	own_clock = false;
	return 0;
}

/* Descriptors */

struct end {
	struct loop *loop;
	int fd;
	unsigned int calls;
	struct end *victim;
	bool stop;
};

static void on_end(void *arg, uint32_t events)
{
	struct end *end = arg;
	eventfd_t n;

	assert_true(events & EPOLLIN);
	assert_int_equal(eventfd_read(end->fd, &n), 0);
	end->calls++;
	if (end->victim)
		loop_del_fd(end->loop, end->victim->fd);
	if (end->stop)
		loop_stop(end->loop);
}

static void end_init(struct end *end, struct loop *loop)
{
	memset(end, 0, sizeof(*end));
	end->loop = loop;
	end->fd = eventfd(0, EFD_CLOEXEC);
	assert_true(end->fd >= 0);
	assert_int_equal(loop_add_fd(loop, end->fd, EPOLLIN, on_end, end), 0);
}

static void end_fini(struct end *end)
{
	loop_del_fd(end->loop, end->fd);
	close(end->fd);
}

static void test_fds(void **state)
{
	struct loop *loop = *state;
	struct end a, b;

	end_init(&a, loop);
	end_init(&b, loop);
	assert_int_equal(loop_step(loop, 0), 0);
	eventfd_write(a.fd, 1);
	assert_int_equal(loop_step(loop, FOREVER), 0);
	assert_int_equal(a.calls, 1);
	assert_int_equal(b.calls, 0);
	eventfd_write(a.fd, 1);
	eventfd_write(b.fd, 1);
	assert_int_equal(loop_step(loop, FOREVER), 0);
	assert_int_equal(a.calls, 2);
	assert_int_equal(b.calls, 1);
	loop_del_fd(loop, b.fd);
	loop_del_fd(loop, b.fd);
	eventfd_write(b.fd, 1);
	assert_int_equal(loop_step(loop, 0), 0);
	assert_int_equal(b.calls, 1);
	end_fini(&a);
	end_fini(&b);
	loop_del_fd(loop, -1);
	loop_del_fd(loop, 100000);
	assert_int_equal(loop_add_fd(loop, -1, EPOLLIN, on_end, &a), -EBADF);
	assert_int_equal(loop_add_fd(loop, 900, EPOLLIN, on_end, &a), -EBADF);
}

/* The first of two ready descriptors removes the other, whose callback is then not called. */
static void test_del_in_callback(void **state)
{
	struct loop *loop = *state;
	struct end a, b;

	end_init(&a, loop);
	end_init(&b, loop);
	a.victim = &b;
	b.victim = &a;
	eventfd_write(a.fd, 1);
	eventfd_write(b.fd, 1);
	assert_int_equal(loop_step(loop, FOREVER), 0);
	assert_int_equal(loop_step(loop, 0), 0);
	assert_int_equal(a.calls + b.calls, 1);
	end_fini(&a);
	end_fini(&b);
}

static void test_run(void **state)
{
	struct loop *loop = *state;
	struct end a;

	end_init(&a, loop);
	a.stop = true;
	eventfd_write(a.fd, 1);
	assert_int_equal(loop_run(loop), 0);
	assert_int_equal(a.calls, 1);
	end_fini(&a);
}

/* Timers */

struct alarm {
	struct timer timer;
	struct loop *loop;
	unsigned int calls;
	bool again;
	struct alarm *victim;
};

static uint64_t last_deadline;

static void on_alarm(struct timer *timer)
{
	struct alarm *alarm = (struct alarm *)timer;

	assert_int_equal(timer->pos, 0);
	assert_true(timer->deadline >= last_deadline);
	assert_true(timer->deadline <= loop_now(alarm->loop));
	last_deadline = timer->deadline;
	alarm->calls++;
	if (alarm->victim)
		loop_timer_cancel(alarm->loop, &alarm->victim->timer);
	if (alarm->again)
		loop_timer_arm(alarm->loop, timer, timer->deadline);
}

static void alarm_init(struct alarm *alarm, struct loop *loop)
{
	memset(alarm, 0, sizeof(*alarm));
	alarm->timer.fn = on_alarm;
	alarm->loop = loop;
}

static void test_timer(void **state)
{
	struct loop *loop = *state;
	struct alarm a, b;
	uint64_t deadline;

	last_deadline = 0;
	alarm_init(&a, loop);
	alarm_init(&b, loop);
	loop_timer_cancel(loop, &a.timer);
	deadline = loop_now(loop) + 1000000;
	loop_timer_arm(loop, &a.timer, deadline);
	while (!a.calls)
		assert_int_equal(loop_step(loop, FOREVER), 0);
	assert_true(loop_now(loop) >= deadline);
	/* A timer that arms itself for the past does not block the loop. */
	a.again = true;
	loop_timer_arm(loop, &a.timer, deadline);
	assert_int_equal(loop_step(loop, FOREVER), 0);
	assert_int_equal(a.calls, 2);
	assert_int_equal(loop_step(loop, FOREVER), 0);
	assert_int_equal(a.calls, 3);
	loop_timer_cancel(loop, &a.timer);
	/* A timer cancels another one that expires in the same round. */
	a.again = false;
	a.victim = &b;
	loop_timer_arm(loop, &a.timer, deadline);
	loop_timer_arm(loop, &b.timer, deadline + 1);
	assert_int_equal(loop_step(loop, 0), 0);
	assert_int_equal(loop_step(loop, 0), 0);
	assert_int_equal(a.calls, 4);
	assert_int_equal(b.calls, 0);
}

/* Many timers armed, re-armed and cancelled at random fire in order, each as often as it should. */
static void test_many_timers(void **state)
{
	enum {
		NUM = 1000,
		STEPS = 50000
	};
	static struct alarm alarms[NUM];
	struct loop *loop = *state;
	uint64_t base = loop_now(loop);
	bool armed[NUM] = {false};
	int i, n;

	srand(2);
	last_deadline = 0;
	for (i = 0; i < NUM; i++)
		alarm_init(&alarms[i], loop);
	for (n = 0; n < STEPS; n++) {
		i = rand() % NUM;
		if (rand() % 3) {
			loop_timer_arm(loop, &alarms[i].timer, base - rand() % 1000000);
			armed[i] = true;
		} else {
			loop_timer_cancel(loop, &alarms[i].timer);
			armed[i] = false;
		}
		assert_true((alarms[i].timer.pos != 0) == armed[i]);
	}
	/* A round serves timers for a limited time. */
	for (n = 0; n < NUM; n++)
		assert_int_equal(loop_step(loop, 0), 0);
	for (i = 0; i < NUM; i++)
		assert_int_equal(alarms[i].calls, armed[i]);
}

/* Poller */

struct work {
	struct loop *loop;
	struct end *end;
	unsigned int work, polls, sleeps, refuse;
};

static bool poll_work(void *arg)
{
	struct work *w = arg;

	w->polls++;
	if (!w->work)
		return false;
	w->work--;
	return true;
}

static bool sleep_work(void *arg)
{
	struct work *w = arg;

	w->sleeps++;
	if (w->refuse) {
		w->refuse--;
		return false;
	}
	eventfd_write(w->end->fd, 1);
	return true;
}

static unsigned int slow_calls;

static void fire_slowly(struct timer *timer)
{
	uint64_t end = loop_clock() + 10000;

	(void)timer;
	while (loop_clock() < end)
		;
	slow_calls++;
}

/* Many timers that are due at once do not keep the poller from its turns. */
static void test_timers_leave_turns(void **state)
{
	enum {
		NUM = 200
	};
	static struct timer timers[NUM];
	struct work work = {.loop = *state, .work = 1000};
	unsigned int before, rounds, i;

	loop_set_poller(work.loop, &(struct poller){poll_work, sleep_work, &work}, 0);
	slow_calls = 0;
	for (i = 0; i < NUM; i++) {
		timers[i] = (struct timer){.fn = fire_slowly};
		loop_timer_arm(work.loop, &timers[i], 1);
	}
	for (rounds = 0; slow_calls < NUM; rounds++) {
		before = slow_calls;
		assert_int_equal(loop_step(work.loop, 0), 0);
		assert_in_range(slow_calls - before, 1, NUM / 20);
	}
	assert_true(rounds >= 20);
	assert_int_equal(work.polls, rounds);
}

static void test_poller(void **state)
{
	struct loop *loop = *state;
	struct end a;
	struct work w = {.loop = loop, .end = &a, .work = 1000, .refuse = 3};
	const struct poller poller = {poll_work, sleep_work, &w};

	end_init(&a, loop);
	a.stop = true;
	loop_set_poller(loop, &poller, 0);
	assert_int_equal(loop_run(loop), 0);
	assert_int_equal(w.work, 0);
	/*
	 * One call for each piece of work, one more after it, and one for each time that it refused
	 * to sleep.
	 */
	assert_int_equal(w.polls, 1000 + 1 + 3);
	assert_int_equal(w.sleeps, 4);
	assert_int_equal(a.calls, 1);
	end_fini(&a);
}

#define LATE 3000000 /* ns */

/* Work that arrives by a descriptor, after the loop has gone to sleep, or while it spins. */
struct spin {
	struct loop *loop;
	int fd;
	unsigned int work, polls, periods, stop_after;
	bool early; /* work is there while the loop spins */
	bool expecting; /* more work is expected */
	bool slept; /* the loop slept in this idle period */
	bool in_pairs; /* work is early, then late by LATE, then early */
	bool is_late;
	unsigned int found; /* pieces of work found while spinning */
	struct timer late;
	unsigned int max_polls; /* in the idle periods without spinning */
	uint64_t idle_since, min_nap; /* between the first two polls, if the loop spins */
	uint64_t max_awake; /* ns from the first poll without work to sleep */
};

static bool enough_cpus;
static unsigned int hops;
static bool away;

bool __wrap_cpus_suffice(void);
void __wrap_cpus_hop(void);
void __real_cpus_hop(void);
void __wrap_cpus_any(void);
void __real_cpus_any(void);

bool __wrap_cpus_suffice(void)
{
	return enough_cpus;
}

void __wrap_cpus_hop(void)
{
	hops++;
	away = true;
}

void __wrap_cpus_any(void)
{
	away = false;
}

static bool poll_spin(void *arg)
{
	struct spin *s = arg;

	s->polls++;
	if (s->polls == 1)
		s->idle_since = loop_now(s->loop);
	if (s->polls == 2 && !s->work && loop_clock() - s->idle_since < s->min_nap)
		s->min_nap = loop_clock() - s->idle_since;
	if (s->polls == 3 && !s->slept && (s->early || (s->in_pairs && !s->is_late))) {
		s->work = 1;
		s->early = false;
		s->found++;
	}
	if (!s->work)
		return false;
	s->is_late = s->in_pairs && !s->is_late;
	s->work = 0;
	s->polls = 0;
	s->slept = false;
	if (s->expecting)
		loop_expect_more(s->loop);
	return true;
}

static bool sleep_spin(void *arg)
{
	struct spin *s = arg;

	if (s->polls > s->max_polls)
		s->max_polls = s->polls;
	if (!s->slept && loop_clock() - s->idle_since > s->max_awake)
		s->max_awake = loop_clock() - s->idle_since;
	if (!s->is_late)
		eventfd_write(s->fd, 1);
	else if (!s->slept)
		loop_timer_arm(s->loop, &s->late, loop_clock() + LATE);
	s->slept = true;
	return true;
}

static void ring_late(struct timer *timer)
{
	struct spin *s = list_entry(timer, struct spin, late);

	eventfd_write(s->fd, 1);
}

static void on_doorbell(void *arg, uint32_t events)
{
	struct spin *s = arg;
	eventfd_t n;

	assert_true(events & EPOLLIN);
	assert_int_equal(eventfd_read(s->fd, &n), 0);
	s->work = 1;
	if (++s->periods == s->stop_after)
		loop_stop(s->loop);
}

static void run_periods(struct spin *s, unsigned int num)
{
	s->periods = 0;
	s->stop_after = num;
	s->max_polls = 0;
	s->min_nap = FOREVER;
	s->max_awake = 0;
	assert_int_equal(loop_run(s->loop), 0);
}

/*
 * Create a loop with @s as its poller and doorbell.  It may spin for a millisecond, or two if more
 * is expected
 */
static void spin_begin(struct spin *s)
{
	const struct poller poller = {poll_spin, sleep_spin, s};

	s->fd = eventfd(0, EFD_CLOEXEC);
	s->late.fn = ring_late;
	assert_int_equal(loop_add_fd(s->loop, s->fd, EPOLLIN, on_doorbell, s), 0);
	loop_set_poller(s->loop, &poller, 1000000);
}

static void spin_end(struct spin *s)
{
	loop_timer_cancel(s->loop, &s->late);
	loop_del_fd(s->loop, s->fd);
	close(s->fd);
}

/*
 * A loop that spins in vain stops spinning, tries it again now and then, and goes on if it finds
 * work.
 */
static void test_spin(void **state)
{
	struct loop *loop = *state;
	struct spin s = {.loop = loop, .work = 1};

	spin_begin(&s);
	run_periods(&s, 8);
	assert_true(s.max_polls > 1);
	/* One poll after the work, then it sleeps; except in one of 32 periods. */
	run_periods(&s, 23);
	assert_int_equal(s.max_polls, 1);
	run_periods(&s, 1);
	assert_true(s.max_polls > 1);
	run_periods(&s, 31);
	assert_int_equal(s.max_polls, 1);
	/* This time it finds work: it spins in the next periods too. */
	s.early = true;
	while (s.early)
		assert_int_equal(loop_step(loop, FOREVER), 0);
	run_periods(&s, 8);
	assert_true(s.max_polls > 1);
	spin_end(&s);
}

/*
 * Spinning after work of which more is expected is adapted separately: it lasts longer, and is
 * given up separately.
 */
static void test_expect(void **state)
{
	struct loop *loop = *state;
	struct spin s = {.loop = loop, .work = 1};

	spin_begin(&s);
	run_periods(&s, 8);
	run_periods(&s, 8);
	assert_int_equal(s.max_polls, 1);
	s.expecting = true;
	run_periods(&s, 8);
	assert_true(s.max_awake >= 2000000);
	run_periods(&s, 8);
	assert_int_equal(s.max_polls, 1);
	s.expecting = false;
	run_periods(&s, 4);
	assert_int_equal(s.max_polls, 1);
	spin_end(&s);
}

/* Number of idle periods without spinning before two with it. */
static unsigned int until_spin(struct spin *s)
{
	unsigned int num = 0;

	run_periods(s, 1);
	assert_int_equal(s->max_polls, 1);
	enough_cpus = true;
	while (s->max_polls == 1) {
		run_periods(s, 1);
		num++;
	}
	enough_cpus = false; /* the thread stays on its processor */
	run_periods(s, 1);
	assert_true(s->max_polls > 1);
	return num;
}

/*
 * If more work is expected and comes right after the loop has gone to sleep, the loop spins again.
 */
static void test_resume(void **state)
{
	struct loop *loop = *state;
	struct spin s = {.loop = loop, .work = 1, .expecting = true};

	spin_begin(&s);
	run_periods(&s, 8);
	run_periods(&s, 8);
	assert_int_equal(s.max_polls, 1);
	/* Only with enough processors; and after each failure it takes twice as many. */
	assert_true(until_spin(&s) <= 3);
	assert_int_equal(until_spin(&s), 6);
	assert_int_equal(until_spin(&s), 12);
	spin_end(&s);
}

/* The same for work whose every second piece is late, if no piece comes after a pause. */
static void test_pairs(void **state)
{
	struct loop *loop = *state;
	struct spin s = {.loop = loop, .work = 1, .expecting = true};

	spin_begin(&s);
	run_periods(&s, 8);
	s.in_pairs = true;
	enough_cpus = true;
	run_periods(&s, 8);
	s.found = 0;
	run_periods(&s, 8);
	enough_cpus = false;
	s.in_pairs = false;
	assert_true(s.found >= 7);
	spin_end(&s);
}

/*
 * A thread that was woken and has a processor of its own naps before it spins, and moves to another
 * processor if work waits for the end of its spinning.
 */
static void test_room(void **state)
{
	struct loop *loop = *state;
	struct spin s = {.loop = loop, .work = 1};
	unsigned int i;

	enough_cpus = false;
	hops = 0;
	spin_begin(&s);
	run_periods(&s, 256);
	assert_int_equal(hops, 0);

	enough_cpus = true;
	for (i = 0; i < 100 && !hops; i++) {
		run_periods(&s, 64);
		assert_true(s.min_nap >= 10000);
	}
	assert_true(hops);
	assert_false(away);
	/*
	 * It has given up spinning, except in one of 32 periods; if it then moves, it spins once
	 * more.
	 */
	run_periods(&s, 16);
	run_periods(&s, 8);
	assert_int_equal(s.max_polls, 1);
	for (i = hops; hops == i;)
		run_periods(&s, 1);
	assert_true(s.max_polls > 1);
	run_periods(&s, 8);
	assert_int_equal(s.max_polls, 1);
	enough_cpus = false;
	spin_end(&s);
}

/*
 * During a series of commands it stays on the processor it moved to, until it does something else.
 */
static void test_stay(void **state)
{
	struct loop *loop = *state;
	struct spin s = {.loop = loop, .work = 1, .expecting = true};
	unsigned int i;

	spin_begin(&s);
	enough_cpus = true;
	hops = 0;
	for (i = 0; i < 100 && !hops; i++)
		run_periods(&s, 64);
	assert_true(hops);
	assert_true(away);
	s.expecting = false;
	run_periods(&s, 4);
	assert_false(away);
	enough_cpus = false;
	spin_end(&s);
}

/* Choice of a processor */
static void test_cpus(void **state)
{
	cpu_set_t before, set, other;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	__real_cpus_any();
	__real_cpus_hop();
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	if (CPU_COUNT(&before) > 1) {
		assert_int_equal(CPU_COUNT(&set), CPU_COUNT(&before) - 1);
		assert_true(CPU_ISSET(sched_getcpu(), &set));
		/* A thread whose affinity was changed meanwhile is left there. */
		CPU_XOR(&other, &before, &set);
		assert_int_equal(sched_setaffinity(0, sizeof(other), &other), 0);
		__real_cpus_any();
		assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
		assert_true(CPU_EQUAL(&set, &other));
		assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
		__real_cpus_hop();
	}
	__real_cpus_any();
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	assert_true(CPU_EQUAL(&set, &before));
}

/* A busy poller does not prevent descriptors and timers from being served. */
static void test_busy(void **state)
{
	struct loop *loop = *state;
	struct end a;
	struct alarm alarm;
	struct work w = {.loop = loop, .end = &a, .work = UINT32_MAX};
	const struct poller poller = {poll_work, sleep_work, &w};

	last_deadline = 0;
	end_init(&a, loop);
	alarm_init(&alarm, loop);
	a.stop = true;
	loop_set_poller(loop, &poller, 0);
	loop_timer_arm(loop, &alarm.timer, loop_now(loop));
	eventfd_write(a.fd, 1);
	assert_int_equal(loop_run(loop), 0);
	assert_int_equal(a.calls, 1);
	assert_int_equal(alarm.calls, 1);
	assert_int_equal(w.sleeps, 0);
	end_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_del_in_callback, setup, teardown),
		cmocka_unit_test_setup_teardown(test_run, setup, teardown),
		cmocka_unit_test_setup_teardown(test_timer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_timers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_timers_leave_turns, setup, teardown),
		cmocka_unit_test_setup_teardown(test_poller, setup, teardown),
		cmocka_unit_test_setup_teardown(test_spin, setup_clock, teardown),
		cmocka_unit_test_setup_teardown(test_expect, setup_clock, teardown),
		cmocka_unit_test_setup_teardown(test_resume, setup_clock, teardown),
		cmocka_unit_test_setup_teardown(test_pairs, setup_clock, teardown),
		cmocka_unit_test_setup_teardown(test_room, setup_clock, teardown),
		cmocka_unit_test_setup_teardown(test_stay, setup_clock, teardown),
		cmocka_unit_test(test_cpus),
		cmocka_unit_test_setup_teardown(test_busy, setup, teardown),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
