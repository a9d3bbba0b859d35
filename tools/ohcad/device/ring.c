// SPDX-License-Identifier: GPL-2.0
/* Rings and records in guest memory. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "device/cmd.h"
#include "device/ring.h"

#define CHUNK 4096
#define CHUNKS_AT_ONCE 64 /* between two looks at the clock */

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
	ring->gen = map->gen;
	return alloc_chunks(ring) ? OHCA_CMD_NO_RESOURCE : OHCA_CMD_OK;
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
	uint8_t *ptr = xlt_ptr_in_page(ring->xlt, ring->map, off, len, true);

	return ptr && xlt_ptr_in_page(ring->xlt, ring->map, off, len, false) ? ptr : NULL;
}

/* A chunk lies inside of a page, so either all of it is there or nothing.  Returns its first byte, or NULL. */
static uint8_t *resolve_chunk(const struct ring *ring, uint32_t chunk)
{
	uint64_t begin = ring->offset & ~(uint64_t)(CHUNK - 1);
	uint64_t end = ring->offset + (1ULL << (ring->log_size + ring->log_stride));
	uint64_t from = begin + (uint64_t)chunk * CHUNK, to = from + CHUNK;
	uint64_t pos = from > ring->offset ? from : ring->offset;
	uint8_t *ptr = resolve(ring, pos - ring->xlt->offset, (to < end ? to : end) - pos);

	return ptr ? ptr - (pos - from) : NULL;
}

uint8_t *ring_resolve(struct ring *ring, uint32_t chunk)
{
	if (ring->gen != ring->map->gen) {
		ring->gen = ring->map->gen;
		memset(ring->chunks, 0, ring->num_chunks * sizeof(*ring->chunks));
	}
	ring->chunks[chunk] = resolve_chunk(ring, chunk);
	return ring->chunks[chunk];
}

enum ohca_cmd_status ring_check(const struct ring *ring, uint32_t *next, uint64_t end)
{
	while (*next < ring->num_chunks) {
		if (!resolve_chunk(ring, (*next)++))
			return OHCA_CMD_BAD_ADDR;
		if (!(*next % CHUNKS_AT_ONCE) && loop_clock() >= end)
			return CMD_MORE;
	}
	return OHCA_CMD_OK;
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
