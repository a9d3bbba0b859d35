/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The producer's side of the doorbell protocol: see struct ohca_shadow.
 *
 * This file does not use libibverbs, so that the unit tests run the same code.
 */

#ifndef OHCA_DOORBELL_H
#define OHCA_DOORBELL_H

#include <endian.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ohca_queue.h"
#include "ohca_regs.h"

/**
 * ohca_dma_mb - order earlier loads and stores before later stores, as the device sees them
 *
 * The device may be outside of the processors' inner shareable domain, for which C11's barriers are.
 */
static inline void ohca_dma_mb(void)
{
#if defined(__x86_64__) || defined(__i386__)
	atomic_signal_fence(memory_order_release);
#elif defined(__aarch64__)
	asm volatile("dmb osh" ::: "memory");
#else
	atomic_thread_fence(memory_order_release);
#endif
}

/**
 * ohca_rec_store - store a record's index, after all earlier stores
 * @field: &rec->pi or &rec->ci
 * @value: the free-running index
 */
static inline void ohca_rec_store(__le32 *field, uint32_t value)
{
	ohca_dma_mb();
	atomic_store_explicit((_Atomic(uint32_t) *)field, htole32(value), memory_order_release);
}

/**
 * ohca_full_barrier - order earlier stores before later loads, as the device sees them
 *
 * Compilers for x86 use locked instructions for that.  These need not be barriers towards
 * an emulated device if the machine has only one processor.
 */
static inline void ohca_full_barrier(void)
{
#if defined(__x86_64__) || defined(__i386__)
	asm volatile("mfence" ::: "memory");
#elif defined(__aarch64__)
	asm volatile("dmb osh" ::: "memory");
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

/**
 * ohca_shadow_ring - notify the device of new work through the shadow page
 * @shadow: the UAR's shadow page
 * @slot: the send queue's slot, below OHCA_SHADOW_DIRECT_SLOTS
 * @rec: the send queue's record
 * @pi: its new producer index; the work queue entries before it are written
 *
 * Return: true if the device sleeps and OHCA_UAR_WAKE must be written.
 */
static inline bool ohca_shadow_ring(struct ohca_shadow *shadow, unsigned int slot,
				    struct ohca_wq_rec *rec, uint32_t pi)
{
	_Atomic(uint64_t) *dirty = (_Atomic(uint64_t) *)&shadow->direct[slot / 64];

	ohca_rec_store(&rec->pi, pi);
	ohca_dma_mb(); /* the record before the dirty bit */
	atomic_fetch_or_explicit(dirty, htole64(1ULL << (slot % 64)), memory_order_seq_cst);
	ohca_full_barrier();
	return atomic_load_explicit((_Atomic(uint32_t) *)&shadow->asleep, memory_order_relaxed);
}

/**
 * ohca_sq_db - value of OHCA_UAR_SQ_DB
 * @qpn: number of the QP
 * @pi: producer index of its send queue
 */
static inline uint64_t ohca_sq_db(uint32_t qpn, uint32_t pi)
{
	return ((uint64_t)qpn << OHCA_SQ_DB_QPN_SHIFT & OHCA_SQ_DB_QPN_MASK) | pi;
}

#endif /* OHCA_DOORBELL_H */
