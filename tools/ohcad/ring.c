// SPDX-License-Identifier: GPL-2.0
/* Rings and records in guest memory. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ring.h"

#define CHUNK 4096

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
	ring->chunks = calloc(ring->num_chunks, sizeof(*ring->chunks));
	if (!ring->chunks)
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
	ring->chunks = calloc(ring->num_chunks, sizeof(*ring->chunks));
	if (!ring->chunks)
		return -ENOMEM;
	for (i = 0; i < ring->num_chunks; i++)
		ring->chunks[i] = mem + (size_t)i * CHUNK;
	ring->mapped = true;
	return 0;
}

void ring_fini(struct ring *ring)
{
	free(ring->chunks);
	memset(ring, 0, sizeof(*ring));
}

void ring_move(struct ring *to, struct ring *from, const struct xlt *xlt)
{
	*to = *from;
	to->xlt = xlt;
	memset(from, 0, sizeof(*from));
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
		uint64_t run;
		uint8_t *ptr;

		if (len > end - pos)
			len = end - pos;
		/* A chunk is inside of a page, so it is all there or not at all. */
		ptr = xlt_ptr(ring->xlt, ring->map, pos - ring->xlt->offset, len, &run, true);
		if (ptr &&
		    !xlt_ptr(ring->xlt, ring->map, pos - ring->xlt->offset, len, &run, false))
			ptr = NULL;
		ring->chunks[i] = ptr ? ptr - in_chunk : NULL;
		if (!ptr)
			ring->mapped = false;
		pos += len;
	}
}
