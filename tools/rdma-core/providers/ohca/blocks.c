// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Blocks of memory for small queues, in chunks that queues share.  Mapping, touching and unmapping
 * memory takes the kernel longer than everything else when a queue is created.  A block of less
 * than a page is aligned to its size, so that no entry of a ring crosses a page.  The heap would
 * waste almost as much for the alignment.
 */

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ccan/list.h>
#include <util/util.h>

#include "ohca.h"

#define CHUNK_UNITS 64 /* the bits of a word */
#define ALL_FREE UINT64_MAX
#define MIN_SHIFT 7 /* the smallest queue: an entry and a record, with a cache line each */
#define MAX_SHIFT 24 /* more than that of any page */

/**
 * struct ohca_chunk - CHUNK_UNITS units
 * @node: in the list of its kind's chunks with free units, if it has any
 * @addr: first unit
 * @free: a bit for each free unit
 * @shift: log2 of the size of a unit: a page, or one of the smaller powers of two
 */
struct ohca_chunk {
	struct list_node node;
	char *addr;
	uint64_t free;
	unsigned int shift;
};

/* Chunks with free units, by log2 of the unit's size; a list is initialized by its first chunk. */
static struct list_head chunks[MAX_SHIFT];
static pthread_mutex_t chunks_lock = PTHREAD_MUTEX_INITIALIZER;

size_t ohca_block_size(uint64_t size)
{
	size_t page = getpagesize();
	unsigned int shift;

	if (size > page / 2)
		return align(size, page);
	shift = ohca_log2_up(size);
	return 1UL << (shift > MIN_SHIFT ? shift : MIN_SHIFT);
}

static size_t ohca_chunk_size(unsigned int shift)
{
	return (size_t)CHUNK_UNITS << shift;
}

static struct ohca_chunk *ohca_chunk_new(unsigned int shift)
{
	struct ohca_chunk *chunk = malloc(sizeof(*chunk));

	if (!chunk)
		return NULL;
	chunk->addr = mmap(NULL, ohca_chunk_size(shift), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (chunk->addr == MAP_FAILED) {
		free(chunk);
		return NULL;
	}
	chunk->free = ALL_FREE;
	chunk->shift = shift;
	list_add(&chunks[shift], &chunk->node);
	return chunk;
}

static void ohca_chunk_free(struct ohca_chunk *chunk)
{
	list_del(&chunk->node);
	munmap(chunk->addr, ohca_chunk_size(chunk->shift));
	free(chunk);
}

/* The first of @num free units, from 1 on, or 0 */
static int ohca_chunk_find(const struct ohca_chunk *chunk, unsigned int num)
{
	uint64_t runs = chunk->free;

	while (--num)
		runs &= runs >> 1;
	return ffsll(runs);
}

static uint64_t ohca_chunk_mask(unsigned int first, unsigned int num)
{
	return ALL_FREE >> (CHUNK_UNITS - num) << first;
}

/* A chunk with @num free units in a row; @first is the first one, from 1 on. */
static struct ohca_chunk *ohca_chunk_get(unsigned int shift, unsigned int num, int *first)
{
	struct ohca_chunk *chunk;

	if (!chunks[shift].n.next)
		list_head_init(&chunks[shift]);
	list_for_each(&chunks[shift], chunk, node)
	{
		*first = ohca_chunk_find(chunk, num);
		if (*first)
			return chunk;
	}
	*first = 1;
	return ohca_chunk_new(shift);
}

void *ohca_block_alloc(size_t size, struct ohca_chunk **from)
{
	size_t page = getpagesize();
	unsigned int shift = __builtin_ctzl(size < page ? size : page);
	unsigned int num = size >> shift;
	struct ohca_chunk *chunk;
	void *addr = NULL;
	int first;

	pthread_mutex_lock(&chunks_lock);
	chunk = ohca_chunk_get(shift, num, &first);
	if (chunk) {
		first--;
		chunk->free &= ~ohca_chunk_mask(first, num);
		if (!chunk->free)
			list_del(&chunk->node);
		addr = chunk->addr + ((size_t)first << shift);
		*from = chunk;
	}
	pthread_mutex_unlock(&chunks_lock);
	return addr;
}

void ohca_block_free(void *addr, size_t size, struct ohca_chunk *from)
{
	unsigned int first = (size_t)((char *)addr - from->addr) >> from->shift;
	struct list_head *list = &chunks[from->shift];

	pthread_mutex_lock(&chunks_lock);
	if (!from->free)
		list_add(list, &from->node);
	from->free |= ohca_chunk_mask(first, size >> from->shift);
	/* One free chunk is kept for the next queue. */
	if (from->free == ALL_FREE &&
	    list_top(list, struct ohca_chunk, node) != list_tail(list, struct ohca_chunk, node))
		ohca_chunk_free(from);
	pthread_mutex_unlock(&chunks_lock);
}
