// SPDX-License-Identifier: GPL-2.0
/*
 * Races of libohca: producers that ring shadow doorbells against a device that goes to sleep
 * repeatedly, with the code of the provider; and the lock of a queue.
 *
 * A lost wake-up is detected without a time-out: if the device sleeps, and a producer has returned
 * from ringing with work posted but no wake-up written, the wake-up is lost.
 */

#include <pthread.h>
#include <stdlib.h>

#include "doorbell.h"
#include "lock.h"
#include "tap.h"

#ifndef ROUNDS
#define ROUNDS 500000
#endif

#define PRODUCERS 3

/* A tenth of ROUNDS, which is the long form (OHCA_LONG=1) */
static unsigned int rounds = ROUNDS / 10;

/**
 * struct producer - a send queue
 * @rec: its record
 * @payload: represents the ring: not atomic, so that a sanitizer checks that the record orders it
 * @slot: its dirty bit
 * @rung: number of completed rings, wake-up included
 * @seen: number of requests that the device has consumed
 */
struct producer {
	struct ohca_wq_rec rec;
	uint32_t payload;
	unsigned int slot;
	_Atomic(uint32_t) rung __attribute__((aligned(64)));
	_Atomic(uint32_t) seen __attribute__((aligned(64)));
};

static struct ohca_shadow shadow __attribute__((aligned(4096)));
static atomic_uint wake; /* the register: writes not yet taken */
static struct producer producers[PRODUCERS];
static unsigned long sleeps, lost, corrupt;

static _Atomic(uint64_t) *word(unsigned int i)
{
	return (_Atomic(uint64_t) *)&shadow.direct[i];
}

/* Take all dirty bits and their work.  Returns whether there was any bit. */
static bool scan(void)
{
	unsigned int i, p;
	bool any = false;
	uint64_t bits;

	for (i = 0; i < 7; i++) {
		if (!atomic_load_explicit(word(i), memory_order_relaxed))
			continue;
		bits = le64toh(atomic_exchange(word(i), 0));
		any = true;
		for (p = 0; p < PRODUCERS; p++) {
			struct producer *pr = &producers[p];
			uint32_t pi;

			if (pr->slot / 64 != i || !(bits >> (pr->slot % 64) & 1))
				continue;
			pi = le32toh(atomic_load_explicit((_Atomic(uint32_t) *)&pr->rec.pi,
							  memory_order_acquire));
			if (pi != atomic_load_explicit(&pr->seen, memory_order_relaxed)) {
				corrupt += pr->payload != pi;
				atomic_store_explicit(&pr->seen, pi, memory_order_release);
			}
		}
	}
	return any;
}

/*
 * Whether a producer that has finished ringing has work that was not consumed.  Work may be
 * consumed before the producer has finished.
 */
static bool work_left(void)
{
	unsigned int p;

	for (p = 0; p < PRODUCERS; p++)
		if (atomic_load_explicit(&producers[p].rung, memory_order_acquire) >
		    atomic_load_explicit(&producers[p].seen, memory_order_relaxed))
			return true;
	return false;
}

static bool all_done(void)
{
	unsigned int p;

	for (p = 0; p < PRODUCERS; p++)
		if (atomic_load_explicit(&producers[p].seen, memory_order_relaxed) != rounds)
			return false;
	return true;
}

static void device_sleep(void)
{
	atomic_store((_Atomic(uint32_t) *)&shadow.asleep, htole32(1));
	ohca_full_barrier(); /* the store, then the loads of scan(), which may be relaxed */
	if (!scan()) {
		sleeps++;
		while (!all_done() && !atomic_load_explicit(&wake, memory_order_acquire)) {
			/*
			 * The wake-up is written before the producer says that it is done, and
			 * only this thread takes it.
			 */
			if (work_left() && !atomic_load_explicit(&wake, memory_order_acquire)) {
				lost++;
				break;
			}
			sched_yield();
		}
	}
	atomic_store((_Atomic(uint32_t) *)&shadow.asleep, 0);
	atomic_store_explicit(&wake, 0, memory_order_relaxed);
}

static void *device(void *arg)
{
	unsigned int idle = 0, limit = 0;

	while (!all_done()) {
		if (scan()) {
			idle = 0;
		} else if (++idle > limit) {
			device_sleep();
			/* From no time to long enough to stay awake. */
			limit = (limit + 7) % 61;
			idle = 0;
			scan();
		}
	}
	return arg;
}

static void *produce(void *arg)
{
	struct producer *pr = arg;
	uint32_t round, i;

	for (round = 1; round <= rounds; round++) {
		pr->payload = round;
		if (ohca_shadow_ring(&shadow, pr->slot, &pr->rec, round))
			atomic_store(&wake, 1);
		atomic_store_explicit(&pr->rung, round, memory_order_release);
		for (i = 1; atomic_load_explicit(&pr->seen, memory_order_acquire) != round; i++)
			if (i % 128 == 0)
				sched_yield();
		for (i = round % 97; i; i--)
			ohca_relax();
	}
	return NULL;
}

static void test_doorbells(const void *arg)
{
	const unsigned int *slots = arg;
	pthread_t threads[PRODUCERS + 1];
	unsigned int i;

	sleeps = 0;
	lost = 0;
	corrupt = 0;
	for (i = 0; i < PRODUCERS; i++) {
		producers[i] = (struct producer){.slot = slots[i]};
		pthread_create(&threads[i], NULL, produce, &producers[i]);
	}
	pthread_create(&threads[PRODUCERS], NULL, device, NULL);
	for (i = 0; i <= PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	tap_diag("%u rounds of %u producers, device slept %lu times", rounds, PRODUCERS, sleeps);
	EXPECT_EQ(lost, 0);
	EXPECT_EQ(corrupt, 0);
	EXPECT(sleeps > 0);
}

static struct {
	struct ohca_lock lock;
	unsigned long count;
} shared;

static void *locker(void *arg)
{
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		ohca_lock(&shared.lock);
		shared.count++;
		ohca_unlock(&shared.lock);
	}
	return arg;
}

static void test_lock(const void *arg)
{
	pthread_t threads[PRODUCERS];
	unsigned int i;

	(void)arg;
	ohca_lock_init(&shared.lock, false);
	shared.count = 0;
	for (i = 0; i < PRODUCERS; i++)
		pthread_create(&threads[i], NULL, locker, NULL);
	for (i = 0; i < PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(shared.count, (unsigned long)PRODUCERS * rounds);
}

static const unsigned int one_word[] = {5, 6, 63};
static const unsigned int own_words[] = {0, 64, 447};
static const unsigned int one_slot[] = {130, 130, 130};

static const struct tap_test tests[] = {
	{"doorbells: no wake-up is lost, slots in one word", test_doorbells, one_word},
	{"doorbells: no wake-up is lost, slots in words of their own", test_doorbells, own_words},
	{"doorbells: no wake-up is lost, one slot for all", test_doorbells, one_slot},
	{"lock: mutual exclusion", test_lock, NULL},
};

int main(void)
{
	if (getenv("OHCA_LONG"))
		rounds = ROUNDS;
	return tap_run(tests, ARRAY_SIZE(tests));
}
