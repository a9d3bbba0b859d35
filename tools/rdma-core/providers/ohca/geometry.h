/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Geometry of queues: rings, records and limits for the sizes that an application requests.
 *
 * This file does not use libibverbs, so that the unit tests run the same code.
 */

#ifndef OHCA_GEOMETRY_H
#define OHCA_GEOMETRY_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ohca_queue.h"

#define OHCA_LINE 64

/**
 * struct ohca_limits - limits of the device, from struct ohca_uctx_resp
 */
struct ohca_limits {
	uint32_t max_inline;
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
	uint32_t max_qp_wr;
	uint32_t max_cqe;
	uint32_t max_srq_wr;
};

/**
 * struct ohca_qp_cap - capacity of a QP, requested or actual; fields as in struct ibv_qp_cap
 */
struct ohca_qp_cap {
	uint32_t max_send_wr;
	uint32_t max_recv_wr;
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
	uint32_t max_inline_data;
};

/**
 * struct ohca_qp_geometry - a QP's buffer: send ring, receive ring, a cache line for each record
 * @size: bytes in all
 */
struct ohca_qp_geometry {
	uint64_t size;
	uint32_t sq_offset;
	uint32_t rq_offset;
	uint32_t sq_rec_offset;
	uint32_t rq_rec_offset;
	uint8_t sq_log_size;
	uint8_t sq_log_stride;
	uint8_t rq_log_size;
	uint8_t rq_log_stride;
};

/**
 * struct ohca_srq_geometry - buffer of an SRQ or a receive work queue: ring, record
 * @size: bytes in all
 */
struct ohca_srq_geometry {
	uint64_t size;
	uint32_t ring_offset;
	uint32_t rec_offset;
	uint8_t log_size;
	uint8_t log_stride;
};

/**
 * struct ohca_cq_geometry - a CQ's buffer: ring, record
 * @size: bytes in all
 */
struct ohca_cq_geometry {
	uint64_t size;
	uint32_t rec_offset;
	uint8_t log_size;
};

/**
 * ohca_log2_up - log2 of the smallest power of two that is not less than @n; 0 for 0
 */
static inline uint8_t ohca_log2_up(uint32_t n)
{
	return n <= 1 ? 0 : 32 - __builtin_clz(n - 1);
}

/**
 * ohca_stride_log - log2 of the stride of a work queue
 * @hdr: bytes before the scatter/gather list
 * @sge: elements of the list, at most OHCA_MAX_SGE
 * @data: bytes of inline data in place of the list
 * @min_log: log2 of the smallest stride
 */
static inline uint8_t ohca_stride_log(uint32_t hdr, uint32_t sge, uint32_t data, uint8_t min_log)
{
	uint32_t list = sge * sizeof(struct ohca_sge);
	uint8_t log = ohca_log2_up(hdr + (list > data ? list : data));

	return log > min_log ? log : min_log;
}

/**
 * ohca_log_fits - whether a queue may have 2^@log_size entries
 * @log_size: log2 of the number that was requested, rounded up
 * @limit: of the device; it need not be a power of two
 */
static inline bool ohca_log_fits(uint8_t log_size, uint32_t limit)
{
	return log_size <= 31 && 1U << log_size <= limit;
}

static inline uint32_t ohca_min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * Append 2^@log_size entries of 2^@log_stride bytes to a buffer of *@size bytes, at a multiple of a
 * cache line and of an entry, so that no entry crosses a page.
 */
static inline bool ohca_place(uint64_t *size, unsigned int log_size, unsigned int log_stride,
			      uint32_t *offset)
{
	uint64_t align = 1ULL << log_stride;

	if (log_size + log_stride > 40)
		return false;
	if (align < OHCA_LINE)
		align = OHCA_LINE;
	*size = (*size + align - 1) & ~(align - 1);
	if (*size > UINT32_MAX)
		return false;
	*offset = *size;
	return !__builtin_add_overflow(*size, 1ULL << (log_size + log_stride), size);
}

/*
 * Place a ring of receive requests at the end of a buffer, for at least *@max_wr requests of at
 * least *@max_sge elements; returns the actual numbers in them.
 */
static inline bool ohca_place_recv(const struct ohca_limits *lim, uint32_t wr_limit,
				   uint32_t *max_wr, uint32_t *max_sge, uint64_t *size,
				   uint8_t *log_size, uint8_t *log_stride, uint32_t *offset)
{
	uint32_t room;

	if (*max_wr > wr_limit || *max_sge > lim->max_recv_sge)
		return false;
	*log_size = ohca_log2_up(*max_wr);
	*log_stride = ohca_stride_log(OHCA_RQ_WQE_HDR, *max_sge, 0, 5);
	if (!ohca_log_fits(*log_size, wr_limit) || *log_stride > 11 ||
	    !ohca_place(size, *log_size, *log_stride, offset))
		return false;
	*max_wr = 1U << *log_size;
	room = (1U << *log_stride) - OHCA_RQ_WQE_HDR;
	*max_sge = ohca_min(room / sizeof(struct ohca_sge), lim->max_recv_sge);
	return true;
}

#define OHCA_GEO_EXT 0x1 /* send requests have a struct ohca_wqe_ext */
#define OHCA_GEO_NO_RQ 0x2 /* there is no receive queue */

/**
 * ohca_qp_geometry - lay out a QP
 * @lim: limits of the device
 * @flags: OHCA_GEO_*
 * @cap: the requested capacity; on return the actual one
 * @geo: result
 *
 * Return: 0, or EINVAL if a limit of the device is exceeded.
 */
static inline int ohca_qp_geometry(const struct ohca_limits *lim, unsigned int flags,
				   struct ohca_qp_cap *cap, struct ohca_qp_geometry *geo)
{
	uint32_t hdr = OHCA_SQ_WQE_HDR + (flags & OHCA_GEO_EXT ? OHCA_SQ_WQE_EXT : 0);
	uint32_t room;

	if (cap->max_send_wr > lim->max_qp_wr || cap->max_send_sge > lim->max_send_sge ||
	    cap->max_inline_data > lim->max_inline)
		return EINVAL;

	*geo = (struct ohca_qp_geometry){
		.sq_log_size = ohca_log2_up(cap->max_send_wr),
		.sq_log_stride = ohca_stride_log(hdr, cap->max_send_sge, cap->max_inline_data, 6),
	};
	if (!ohca_log_fits(geo->sq_log_size, lim->max_qp_wr) || geo->sq_log_stride > 11 ||
	    !ohca_place(&geo->size, geo->sq_log_size, geo->sq_log_stride, &geo->sq_offset))
		return EINVAL;
	if (flags & OHCA_GEO_NO_RQ) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
	} else if (!ohca_place_recv(lim, lim->max_qp_wr, &cap->max_recv_wr, &cap->max_recv_sge,
				    &geo->size, &geo->rq_log_size, &geo->rq_log_stride,
				    &geo->rq_offset)) {
		return EINVAL;
	}
	if (!ohca_place(&geo->size, 0, 6, &geo->sq_rec_offset) ||
	    (!(flags & OHCA_GEO_NO_RQ) && !ohca_place(&geo->size, 0, 6, &geo->rq_rec_offset)))
		return EINVAL;

	cap->max_send_wr = 1U << geo->sq_log_size;
	room = (1U << geo->sq_log_stride) - hdr;
	cap->max_send_sge = ohca_min(room / sizeof(struct ohca_sge), lim->max_send_sge);
	cap->max_inline_data = ohca_min(room, lim->max_inline);
	return 0;
}

/**
 * ohca_rq_geometry - lay out a receive queue that has a buffer of its own
 * @lim: limits of the device
 * @wr_limit: limit of requests
 * @max_wr: requested number of requests, at least 1; on return the actual one
 * @max_sge: elements of a scatter list, likewise
 * @geo: result
 *
 * Return: 0, or EINVAL if a limit of the device is exceeded.
 */
static inline int ohca_rq_geometry(const struct ohca_limits *lim, uint32_t wr_limit,
				   uint32_t *max_wr, uint32_t *max_sge,
				   struct ohca_srq_geometry *geo)
{
	*geo = (struct ohca_srq_geometry){};
	if (!*max_wr ||
	    !ohca_place_recv(lim, wr_limit, max_wr, max_sge, &geo->size, &geo->log_size,
			     &geo->log_stride, &geo->ring_offset) ||
	    !ohca_place(&geo->size, 0, 6, &geo->rec_offset))
		return EINVAL;
	return 0;
}

/**
 * ohca_srq_geometry - lay out an SRQ
 * @lim: limits of the device
 * @max_wr: requested number of requests, at least 1; on return the actual one
 * @max_sge: elements of a scatter list, likewise
 * @geo: result
 *
 * Return: 0, or EINVAL if a limit of the device is exceeded.
 */
static inline int ohca_srq_geometry(const struct ohca_limits *lim, uint32_t *max_wr,
				    uint32_t *max_sge, struct ohca_srq_geometry *geo)
{
	return ohca_rq_geometry(lim, lim->max_srq_wr, max_wr, max_sge, geo);
}

/**
 * ohca_cq_geometry - lay out a CQ
 * @lim: limits of the device
 * @cqe: requested entries, at least 1
 * @geo: result
 *
 * Return: 0, or EINVAL if a limit of the device is exceeded.
 */
static inline int ohca_cq_geometry(const struct ohca_limits *lim, uint32_t cqe,
				   struct ohca_cq_geometry *geo)
{
	uint32_t ring;

	if (!cqe || cqe > lim->max_cqe)
		return EINVAL;
	*geo = (struct ohca_cq_geometry){.log_size = ohca_log2_up(cqe)};
	if (!ohca_log_fits(geo->log_size, lim->max_cqe) ||
	    !ohca_place(&geo->size, geo->log_size, 6, &ring) ||
	    !ohca_place(&geo->size, 0, 6, &geo->rec_offset))
		return EINVAL;
	return 0;
}

#endif /* OHCA_GEOMETRY_H */
