/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: work queues: their layout in a buffer, and the rings of the kernel's queues.
 *
 * The message path takes only a work queue's lock or a CQ's lock, never one under the other.  There
 * are two exceptions: for a completion of a shared receive queue, and with a fenced device, a work
 * queue's lock is taken under a CQ's.
 */

#ifndef _OHCA_WQ_H
#define _OHCA_WQ_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include <ohca/ohca_queue.h>

#include "buf.h"

struct ohca_umem;
struct ohca_dev;

#define OHCA_SQ_MIN_LOG_STRIDE 6
#define OHCA_RQ_MIN_LOG_STRIDE 5
#define OHCA_WQ_MAX_LOG_STRIDE 11

#define OHCA_WR_NO_LEN U64_MAX
#define OHCA_WR_NONE U32_MAX
#define OHCA_WR_POSTED (U32_MAX - 1)

/**
 * struct ohca_wq_shape - layout of a work queue in its buffer
 * @offset: of the ring
 * @rec_offset: of the record
 * @log_size: log2 of the number of entries
 * @log_stride: log2 of the bytes of an entry
 */
struct ohca_wq_shape {
	u32 offset;
	u32 rec_offset;
	u8 log_size;
	u8 log_stride;
};

/**
 * struct ohca_wr - what is kept of a work request.  It never passes through the device
 * @id: struct ib_send_wr.wr_id or struct ib_recv_wr.wr_id
 * @len: bytes of a receive's list, OHCA_WR_NO_LEN for a send
 */
struct ohca_wr {
	u64 id;
	u64 len;
};

/**
 * struct ohca_wq - a work queue of the kernel
 * @lock: protects the ring and the record, @wrs to @pi; taken in interrupts
 * @ring: first entry
 * @rec: record
 * @wrs: the requests.  Those of a queue pair are found by the request's place in the ring
 * @next: for a shared receive queue, whose requests complete in any order: the device gets an
 *	index of @wrs in place of the wr_id.  Of an index that is free, the next free one; else
 *	OHCA_WR_POSTED
 * @free: first free index, or OHCA_WR_NONE
 * @pi: work requests posted
 * @ci: work requests whose entries are free again.  For a queue pair: written under the CQ's lock
 *	(while the QP is in RESET: under @lock); for a shared receive queue: by ohca_wq_taken()
 * @max_sge: elements of a list
 * @log_size: log2 of the number of entries
 * @log_stride: log2 of the bytes of an entry
 */
struct ohca_wq {
	spinlock_t lock; /* ring, record, wrs, pi */
	void *ring;
	struct ohca_wq_rec *rec;
	struct ohca_wr *wrs;
	u32 *next;
	u32 free;
	u32 pi;
	u32 ci;
	u16 max_sge;
	u8 log_size;
	u8 log_stride;
};

/**
 * ohca_rq_wqe_size() - bytes that an entry of a receive queue needs
 * @max_sge: elements of its list
 *
 * Return: bytes
 */
static inline u32 ohca_rq_wqe_size(u32 max_sge)
{
	return OHCA_RQ_WQE_HDR + max_sge * sizeof(struct ohca_sge);
}

/**
 * ohca_wq_place() - lay out a queue of the kernel in a buffer
 * @shape: result
 * @end: bytes of the buffer in use before the queue
 * @wr: minimum number of entries
 * @wqe_size: minimum bytes of an entry
 * @min_log_stride: OHCA_SQ_MIN_LOG_STRIDE or OHCA_RQ_MIN_LOG_STRIDE
 *
 * Return: bytes of the buffer in use, with the queue
 */
size_t ohca_wq_place(struct ohca_wq_shape *shape, size_t end, u32 wr, u32 wqe_size,
		     u8 min_log_stride);

/**
 * ohca_wq_init() - initialize a queue of the kernel
 * @wq: queue
 * @shape: its layout
 * @buf: the buffer, zeroed
 * @max_sge: elements of a list
 * @shared: it is a shared receive queue
 *
 * Return: 0, or -ENOMEM, and there is nothing to free
 */
int ohca_wq_init(struct ohca_wq *wq, const struct ohca_wq_shape *shape, void *buf, u32 max_sge,
		 bool shared);

/**
 * ohca_wq_fini() - free what ohca_wq_init() allocated
 * @wq: queue; nothing is done for one that was not initialized, but is zero
 */
void ohca_wq_fini(struct ohca_wq *wq);

/**
 * ohca_wq_valid() - whether the layout of a user's queue is valid for its entries and its buffer
 * @shape: its layout
 * @wr: minimum number of entries
 * @max_wr: maximum number of entries
 * @wqe_size: minimum bytes of an entry
 * @min_log_stride: OHCA_SQ_MIN_LOG_STRIDE or OHCA_RQ_MIN_LOG_STRIDE
 * @buf_addr: user address of the buffer
 * @buf_size: bytes of the buffer
 *
 * Return: true if so
 */
bool ohca_wq_valid(const struct ohca_wq_shape *shape, u32 wr, u32 max_wr, u32 wqe_size,
		   u8 min_log_stride, u64 buf_addr, u64 buf_size);

/**
 * ohca_rq_pin() - pin the buffer of a user's receive queue, if its layout is valid
 * @dev: device
 * @shape: the queue's layout
 * @wr: minimum number of entries
 * @max_wr: maximum number of entries
 * @max_sge: elements of a list
 * @buf_addr: user address of the buffer
 * @buf_size: bytes of the buffer
 * @udata: of the verb
 * @umem: result; released by ohca_umem_release()
 *
 * Return: 0 or a negative errno
 */
int ohca_rq_pin(struct ohca_dev *dev, const struct ohca_wq_shape *shape, u32 wr, u32 max_wr,
		u32 max_sge, u64 buf_addr, u64 buf_size, struct ib_udata *udata,
		struct ohca_umem *umem);

/**
 * ohca_rq_pin_request() - the same, for a user's request to create an SRQ or a WQ
 * @dev: device
 * @shape: result: the queue's layout
 * @wr: minimum number of entries
 * @max_wr: maximum number of entries
 * @max_sge: elements of a list
 * @udata: struct ohca_create_srq_req or struct ohca_create_wq_req
 * @umem: result; released by ohca_umem_release()
 *
 * Return: 0 or a negative errno
 */
int ohca_rq_pin_request(struct ohca_dev *dev, struct ohca_wq_shape *shape, u32 wr, u32 max_wr,
			u32 max_sge, struct ib_udata *udata, struct ohca_umem *umem);

/**
 * ohca_wq_reset() - drop all posted requests
 * @wq: queue, of a QP in RESET
 */
void ohca_wq_reset(struct ohca_wq *wq);

/**
 * ohca_wq_entry() - an entry of the ring
 * @wq: queue
 * @idx: free-running index
 *
 * Return: its address
 */
static inline void *ohca_wq_entry(struct ohca_wq *wq, u32 idx)
{
	return wq->ring + ohca_ring_off(idx, wq->log_size, wq->log_stride);
}

/**
 * ohca_wq_full() - whether all entries are in use
 * @wq: queue, locked
 * @pi: entries filled
 *
 * Return: true if so
 */
static inline bool ohca_wq_full(struct ohca_wq *wq, u32 pi)
{
	return pi - READ_ONCE(wq->ci) >= 1U << wq->log_size;
}

/**
 * ohca_wq_wr() - what is kept of a request
 * @wq: queue, not a shared one
 * @idx: free-running index
 *
 * Return: where it is stored
 */
static inline struct ohca_wr *ohca_wq_wr(struct ohca_wq *wq, u32 idx)
{
	return &wq->wrs[idx & ((1U << wq->log_size) - 1)];
}

/**
 * ohca_wq_is_posted() - whether a request is in a queue pair's queue
 * @wq: queue, not a shared one; its CQ is locked
 * @idx: free-running index, as the device reported it
 *
 * Return: true if so
 */
static inline bool ohca_wq_is_posted(struct ohca_wq *wq, u32 idx)
{
	u32 ci = READ_ONCE(wq->ci);

	return idx - ci < READ_ONCE(wq->pi) - ci;
}

/**
 * ohca_wq_put_wr() - take an index of a shared receive queue for a request
 * @wq: queue, locked
 * @wr: the request
 * @idx: result
 *
 * Return: 0, or -ENOMEM if too many requests have not completed
 */
static inline int ohca_wq_put_wr(struct ohca_wq *wq, struct ohca_wr wr, u32 *idx)
{
	*idx = wq->free;
	if (*idx == OHCA_WR_NONE)
		return -ENOMEM;
	wq->free = wq->next[*idx];
	wq->next[*idx] = OHCA_WR_POSTED;
	wq->wrs[*idx] = wr;
	return 0;
}

/**
 * ohca_wq_get_wr() - a request of a shared receive queue has completed
 * @wq: queue
 * @idx: its index, as the device reported it; free after this
 * @wr: result
 *
 * Callable in any context.
 *
 * Return: false if there is no such request
 */
bool ohca_wq_get_wr(struct ohca_wq *wq, u64 idx, struct ohca_wr *wr);

/**
 * ohca_wq_produce() - make entries visible to the device
 * @wq: queue, locked
 * @pi: entries filled
 */
static inline void ohca_wq_produce(struct ohca_wq *wq, u32 pi)
{
	WRITE_ONCE(wq->pi, pi); /* before a completion can be checked against it */
	dma_wmb(); /* entries before index */
	WRITE_ONCE(wq->rec->pi, cpu_to_le32(pi));
}

/**
 * ohca_wq_taken() - free the entries that the device has taken from a shared receive queue
 * @wq: queue
 * @taken: how many, free-running; a lower number than the last one is ignored, and so is one of
 *	more than were posted
 *
 * Callable in any context.
 */
void ohca_wq_taken(struct ohca_wq *wq, u32 taken);

#endif /* _OHCA_WQ_H */
