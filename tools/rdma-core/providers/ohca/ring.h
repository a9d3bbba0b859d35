/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Arithmetic of rings: free-running 32-bit indices over 2^n entries, and the owner bit of
 * completions.
 *
 * This file does not use libibverbs, so that the unit tests run the same code.
 */

#ifndef OHCA_RING_H
#define OHCA_RING_H

#include <endian.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ohca_queue.h"

/**
 * ohca_ring_full - whether entry @pi can't be written yet
 * @pi: producer index
 * @tail: index of the oldest entry that is still in use
 * @mask: number of entries less one
 */
static inline bool ohca_ring_full(uint32_t pi, uint32_t tail, uint32_t mask)
{
	return pi - tail > mask;
}

/**
 * ohca_owner - owner bit of entry @idx when the device has written it
 * @idx: free-running index
 * @log_size: log2 of the number of entries
 */
static inline uint8_t ohca_owner(uint32_t idx, uint8_t log_size)
{
	return ~(idx >> log_size) & 1;
}

/**
 * ohca_dma_rmb - order later reads of device-written data after the earlier read of its last byte
 */
static inline void ohca_dma_rmb(void)
{
#if defined(__x86_64__) || defined(__i386__)
	atomic_signal_fence(memory_order_acquire);
#elif defined(__aarch64__)
	asm volatile("dmb oshld" ::: "memory");
#else
	atomic_thread_fence(memory_order_acquire);
#endif
}

/**
 * struct ohca_cq_ring - software's view of a completion queue's ring
 * @cqe: the entries
 * @ci: index of the next one to take
 * @mask: number of entries less one
 * @log_size: log2 of the number of entries
 */
struct ohca_cq_ring {
	struct ohca_cqe *cqe;
	uint32_t ci;
	uint32_t mask;
	uint8_t log_size;
};

/**
 * ohca_cqe_at - entry @idx if the device has written it, else NULL
 * @ring: the ring
 * @idx: from ring->ci to ring->ci + ring->mask
 */
static inline struct ohca_cqe *ohca_cqe_at(const struct ohca_cq_ring *ring, uint32_t idx)
{
	struct ohca_cqe *cqe = &ring->cqe[idx & ring->mask];
	uint8_t owner;

	owner = atomic_load_explicit((_Atomic(uint8_t) *)&cqe->owner, memory_order_acquire);
	if ((owner & 1) != ohca_owner(idx, ring->log_size))
		return NULL;
	ohca_dma_rmb();
	return cqe;
}

#define OHCA_ANY_QP UINT32_MAX /* all QPs that receive from an SRQ */
#define OHCA_NO_SRQ UINT32_MAX

/**
 * ohca_cqe_of - whether a completion is for a QP or an SRQ
 * @cqe: the completion
 * @qpn: number of the QP, or OHCA_ANY_QP
 * @srqn: number of the SRQ, which is that of the QP, or OHCA_NO_SRQ
 *
 * A completion for another SRQ is that of an earlier QP with the same number, and stays.
 */
static inline bool ohca_cqe_of(const struct ohca_cqe *cqe, uint32_t qpn, uint32_t srqn)
{
	bool of_srq = cqe->flags & OHCA_CQE_F_SRQ;

	if (of_srq && le32toh(cqe->srqn) != srqn)
		return false;
	return qpn == OHCA_ANY_QP ? of_srq : le32toh(cqe->qpn) == qpn;
}

/**
 * ohca_ring_purge - remove the completions of one QP or SRQ from a ring; the others keep their
 * order
 * @ring: the ring; its ci advances by the number of removed entries
 * @qpn: as for ohca_cqe_of()
 * @srqn: likewise; the QP or SRQ writes no more completions
 *
 * The caller stores ring->ci in the record afterwards.
 */
static inline void ohca_ring_purge(struct ohca_cq_ring *ring, uint32_t qpn, uint32_t srqn)
{
	uint32_t end = ring->ci, from, to;

	while (end - ring->ci <= ring->mask && ohca_cqe_at(ring, end))
		end++;
	for (from = to = end; from != ring->ci;) {
		struct ohca_cqe *src = &ring->cqe[--from & ring->mask];
		struct ohca_cqe *dst;

		if (ohca_cqe_of(src, qpn, srqn))
			continue;
		dst = &ring->cqe[--to & ring->mask];
		if (dst == src)
			continue;
		memcpy(dst, src, offsetof(struct ohca_cqe, owner));
		dst->owner = ohca_owner(to, ring->log_size);
	}
	ring->ci = to;
}

#endif /* OHCA_RING_H */
