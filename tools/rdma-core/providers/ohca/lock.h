/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The lock of a queue.  It does nothing while the process has one thread, or if the application
 * serializes access itself.  Without contention it is one atomic exchange.  A waiter yields its
 * processor, because the holder may need it.
 */

#ifndef OHCA_LOCK_H
#define OHCA_LOCK_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define OHCA_ALONE __libc_single_threaded
#endif
#endif
#ifndef OHCA_ALONE
#define OHCA_ALONE 0
#endif

#define OHCA_LOCK_SPINS 100

/**
 * struct ohca_lock - lock of a queue
 * @held: the lock is held
 * @off: never needed: the application serializes access
 */
struct ohca_lock {
	atomic_bool held;
	bool off;
};

static inline void ohca_lock_init(struct ohca_lock *lock, bool off)
{
	atomic_init(&lock->held, false);
	lock->off = off;
}

static inline void ohca_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/**
 * ohca_lock_across - lock, for a section that returns to the application before it ends
 */
static inline void ohca_lock_across(struct ohca_lock *lock)
{
	unsigned int spins = 0;

	if (lock->off)
		return;
	while (atomic_exchange_explicit(&lock->held, true, memory_order_acquire)) {
		while (atomic_load_explicit(&lock->held, memory_order_relaxed)) {
			if (++spins % OHCA_LOCK_SPINS == 0)
				sched_yield();
			else
				ohca_relax();
		}
	}
}

/**
 * ohca_lock - lock, for a section that starts no thread: a single-threaded process stays so until
 * the end of the section
 */
static inline void ohca_lock(struct ohca_lock *lock)
{
	if (!OHCA_ALONE)
		ohca_lock_across(lock);
}

/**
 * ohca_trylock - lock, as ohca_lock(), unless somebody else holds the lock
 */
static inline bool ohca_trylock(struct ohca_lock *lock)
{
	return OHCA_ALONE || lock->off ||
	       !atomic_exchange_explicit(&lock->held, true, memory_order_acquire);
}

/**
 * ohca_unlock - unlock; also correct if the process became single-threaded meanwhile
 */
static inline void ohca_unlock(struct ohca_lock *lock)
{
	atomic_store_explicit(&lock->held, false, memory_order_release);
}

#endif /* OHCA_LOCK_H */
