/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring and its record in guest memory, resolved to pointers in this process; or in memory of the
 * device.  Entries never straddle 4 KiB pages.
 */

#ifndef OHCAD_RING_H
#define OHCAD_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "device/xlt.h"

/**
 * struct ring - one ring of a queue object
 * @map: guest memory; an empty one that never changes if it is the device's
 * @xlt: the object's buffer, or NULL
 * @offset: of entry 0 from the start of the buffer's first page
 * @log_size: log2 of the number of entries
 * @log_stride: log2 of the bytes of an entry
 * @gen: map->gen at which @chunks was resolved
 * @chunks: pointer to each 4 KiB of the ring, NULL where there is no memory; resolved lazily
 * @only: the one of @chunks if it has no more
 * @num_chunks: number of them
 * @mapped: all chunks had memory when they were resolved last
 *
 * All of it must be readable and writable for the device, whichever the queue needs.
 */
struct ring {
	struct dma_map *map;
	const struct xlt *xlt;
	uint64_t offset;
	uint64_t gen;
	uint8_t **chunks;
	uint8_t *only;
	uint32_t num_chunks;
	uint8_t log_size;
	uint8_t log_stride;
	bool mapped;
};

/**
 * struct ring_rec - a record beside a ring, in the same buffer
 * @offset: from the start of the buffer
 * @gen, @ptr: where it is, as of struct ring
 */
struct ring_rec {
	uint64_t offset;
	uint64_t gen;
	void *ptr;
};

/*
 * The ring at @offset lies inside of the @size bytes of @xlt and each entry at a multiple of the
 * stride in its page, else OHCA_CMD_BAD_PARAM.  Memory that is not there is no error here: see
 * @mapped.
 */
enum ohca_cmd_status ring_init(struct ring *ring, struct dma_map *map, const struct xlt *xlt,
			       uint64_t size, uint64_t offset, uint8_t log_size,
			       uint8_t log_stride);
/* A ring in the device's own memory, which is there as long as the ring: 0 or -ENOMEM. */
int ring_init_own(struct ring *ring, uint8_t *mem, uint8_t log_size, uint8_t log_stride);
void ring_fini(struct ring *ring);

/* Bytes that its pointers take */
static inline size_t ring_memory(const struct ring *ring)
{
	return ring->num_chunks > 1 ? ring->num_chunks * sizeof(*ring->chunks) : 0;
}

/* Move @from to @to, which is empty; the buffer's translation has moved to @xlt already. */
void ring_move(struct ring *to, struct ring *from, const struct xlt *xlt);

/* Resolve again after map->gen changed. */
void ring_resolve(struct ring *ring);

/*
 * The record of @len bytes at @offset, which is a multiple of @len, beside @ring: the same as
 * ring_init().  No memory is no error: rec_ptr() is NULL then.
 */
enum ohca_cmd_status rec_init(struct ring_rec *rec, const struct ring *ring, uint64_t size,
			      uint64_t offset, uint32_t len);
void rec_resolve(struct ring_rec *rec, const struct ring *ring);

/* The record, or NULL if there is no memory (any more). */
static inline void *rec_ptr(struct ring_rec *rec, const struct ring *ring)
{
	if (rec->gen != ring->map->gen)
		rec_resolve(rec, ring);
	return rec->ptr;
}

/* Entry @index modulo size, or NULL if there is no memory (any more). */
static inline void *ring_entry(struct ring *ring, uint32_t index)
{
	uint64_t off;

	if (ring->gen != ring->map->gen)
		ring_resolve(ring);
	off = (ring->offset & 4095) +
	      ((uint64_t)(index & ((1U << ring->log_size) - 1)) << ring->log_stride);
	return ring->chunks[off >> 12] ? ring->chunks[off >> 12] + (off & 4095) : 0;
}

#endif
