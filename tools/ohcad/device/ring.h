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
 * @gen: map->gen at which @chunks were resolved
 * @chunks: pointer to each 4 KiB of the ring, NULL where it was not used since @gen, or there is no memory
 * @only: the one of @chunks if it has no more
 * @num_chunks: number of them
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
 * ring_check().
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

/*
 * Is all of the memory of the ring there, from chunk *@next on?  Returns OHCA_CMD_OK or BAD_ADDR; or CMD_MORE when @end
 * (loop_clock()) has come, and *@next is where to go on.
 */
enum ohca_cmd_status ring_check(const struct ring *ring, uint32_t *next, uint64_t end);

/* The same in one piece, of rings that are not long */
static inline bool ring_is_mapped(const struct ring *ring)
{
	uint32_t next = 0;

	return ring_check(ring, &next, UINT64_MAX) == OHCA_CMD_OK;
}

/* Resolve a chunk that is not, or forget all if map->gen has changed.  Returns NULL if there is no memory. */
uint8_t *ring_resolve(struct ring *ring, uint32_t chunk);

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
	uint64_t off = (ring->offset & 4095) +
		       ((uint64_t)(index & ((1U << ring->log_size) - 1)) << ring->log_stride);
	uint8_t *chunk = ring->chunks[off >> 12];

	if (ring->gen != ring->map->gen || !chunk)
		chunk = ring_resolve(ring, off >> 12);
	return chunk ? chunk + (off & 4095) : 0;
}

#endif
