// SPDX-License-Identifier: GPL-2.0
/* Rings and records in guest memory. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/ring.h"

#define CHUNK 4096

static int alloc_chunks(struct ring *ring)
{
	ring->chunks = &ring->only;
	if (ring->num_chunks > 1)
		ring->chunks = calloc(ring->num_chunks, sizeof(*ring->chunks));
	return ring->chunks ? 0 : -ENOMEM;
}

enum ohca_cmd_status ring_init(struct ring *ring, struct dma_map *map, const struct xlt *xlt,
			       uint64_t size, uint64_t offset, uint8_t log_size, uint8_t log_stride)
{
	uint64_t bytes = 1ULL << (log_size + log_stride);

	memset(ring, 0, sizeof(*ring));
	if (bytes > size || offset > size - bytes ||
	    ((xlt->offset + offset) & ((1ULL << log_stride) - 1)))
		return OHCA_CMD_BAD_PARAM;

	ring->map = map;
	ring->xlt = xlt;
	ring->offset = xlt->offset + offset;
	ring->log_size = log_size;
	ring->log_stride = log_stride;
	ring->num_chunks = ((ring->offset & (CHUNK - 1)) + bytes + CHUNK - 1) / CHUNK;
	if (alloc_chunks(ring))
		return OHCA_CMD_NO_RESOURCE;
	ring_resolve(ring);
	return OHCA_CMD_OK;
}

int ring_init_own(struct ring *ring, uint8_t *mem, uint8_t log_size, uint8_t log_stride)
{
	static struct dma_map none;
	uint32_t i;

	memset(ring, 0, sizeof(*ring));
	ring->map = &none;
	ring->log_size = log_size;
	ring->log_stride = log_stride;
	ring->num_chunks = ((1ULL << (log_size + log_stride)) + CHUNK - 1) / CHUNK;
	if (alloc_chunks(ring))
		return -ENOMEM;
	for (i = 0; i < ring->num_chunks; i++)
		ring->chunks[i] = mem + (size_t)i * CHUNK;
	ring->mapped = true;
	return 0;
}

void ring_fini(struct ring *ring)
{
	if (ring->chunks != &ring->only)
		free(ring->chunks);
	memset(ring, 0, sizeof(*ring));
}

void ring_move(struct ring *to, struct ring *from, const struct xlt *xlt)
{
	*to = *from;
	to->xlt = xlt;
	if (from->chunks == &from->only)
		to->chunks = &to->only;
	memset(from, 0, sizeof(*from));
}

/* The @len bytes at @off of the buffer, all of them in a page, if they can be read and written. */
static uint8_t *resolve(const struct ring *ring, uint64_t off, uint64_t len)
{
	uint64_t run;
	uint8_t *ptr = xlt_ptr(ring->xlt, ring->map, off, len, &run, true);

	return ptr && xlt_ptr(ring->xlt, ring->map, off, len, &run, false) ? ptr : NULL;
}

void ring_resolve(struct ring *ring)
{
	uint64_t end = ring->offset + (1ULL << (ring->log_size + ring->log_stride));
	uint64_t pos = ring->offset;
	uint32_t i;

	ring->gen = ring->map->gen;
	ring->mapped = true;
	for (i = 0; i < ring->num_chunks; i++) {
		uint64_t in_chunk = pos & (CHUNK - 1);
		uint64_t len = CHUNK - in_chunk;
		uint8_t *ptr;

		if (len > end - pos)
			len = end - pos;
		/* A chunk lies inside of a page, so either all of it is there or nothing. */
		ptr = resolve(ring, pos - ring->xlt->offset, len);
		ring->chunks[i] = ptr ? ptr - in_chunk : NULL;
		if (!ptr)
			ring->mapped = false;
		pos += len;
	}
}

enum ohca_cmd_status rec_init(struct ring_rec *rec, const struct ring *ring, uint64_t size,
			      uint64_t offset, uint32_t len)
{
	if (len > size || offset > size - len || (ring->xlt->offset + offset) % len)
		return OHCA_CMD_BAD_PARAM;
	rec->offset = offset;
	rec->gen = ~ring->map->gen;
	return OHCA_CMD_OK;
}

void rec_resolve(struct ring_rec *rec, const struct ring *ring)
{
	rec->gen = ring->map->gen;
	rec->ptr = resolve(ring, rec->offset, sizeof(uint64_t));
}
