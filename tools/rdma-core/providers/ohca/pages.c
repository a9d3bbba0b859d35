// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Chunks of pages that small queues share.  Mapping, touching and unmapping memory takes the kernel
 * longer than everything else when a queue is created.  Page-aligned blocks of the heap would waste
 * almost a page each.
 */

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ccan/list.h>

#include "ohca.h"

#define CHUNK_PAGES 64 /* the bits of a word */
#define ALL_FREE UINT64_MAX

/**
 * struct ohca_chunk - CHUNK_PAGES pages
 * @node: in the list of chunks with free pages, if it has any
 * @addr: first page
 * @free: a bit for each free page
 */
struct ohca_chunk {
	struct list_node node;
	char *addr;
	uint64_t free;
};

static LIST_HEAD(chunks);
static pthread_mutex_t chunks_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t ohca_chunk_size(void)
{
	return CHUNK_PAGES * (size_t)sysconf(_SC_PAGESIZE);
}

static struct ohca_chunk *ohca_chunk_new(void)
{
	struct ohca_chunk *chunk = malloc(sizeof(*chunk));

	if (!chunk)
		return NULL;
	chunk->addr = mmap(NULL, ohca_chunk_size(), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (chunk->addr == MAP_FAILED) {
		free(chunk);
		return NULL;
	}
	chunk->free = ALL_FREE;
	list_add(&chunks, &chunk->node);
	return chunk;
}

static void ohca_chunk_free(struct ohca_chunk *chunk)
{
	list_del(&chunk->node);
	munmap(chunk->addr, ohca_chunk_size());
	free(chunk);
}

/* The first of @num free pages, from 1 on, or 0 */
static int ohca_chunk_find(const struct ohca_chunk *chunk, unsigned int num)
{
	uint64_t runs = chunk->free;

	while (--num)
		runs &= runs >> 1;
	return ffsll(runs);
}

static uint64_t ohca_chunk_mask(unsigned int first, unsigned int num)
{
	return ALL_FREE >> (CHUNK_PAGES - num) << first;
}

void *ohca_pages_alloc(unsigned int num, struct ohca_chunk **from)
{
	struct ohca_chunk *chunk;
	void *addr = NULL;
	int first = 0;

	pthread_mutex_lock(&chunks_lock);
	list_for_each(&chunks, chunk, node)
	{
		first = ohca_chunk_find(chunk, num);
		if (first)
			break;
	}
	if (!first) {
		chunk = ohca_chunk_new();
		first = 1;
	}
	if (chunk) {
		first--;
		chunk->free &= ~ohca_chunk_mask(first, num);
		if (!chunk->free)
			list_del(&chunk->node);
		addr = chunk->addr + first * ohca_chunk_size() / CHUNK_PAGES;
		*from = chunk;
	}
	pthread_mutex_unlock(&chunks_lock);
	return addr;
}

void ohca_pages_free(void *addr, unsigned int num, struct ohca_chunk *from)
{
	unsigned int first = ((char *)addr - from->addr) / (ohca_chunk_size() / CHUNK_PAGES);

	pthread_mutex_lock(&chunks_lock);
	if (!from->free)
		list_add(&chunks, &from->node);
	from->free |= ohca_chunk_mask(first, num);
	/* One free chunk is kept for the next queue. */
	if (from->free == ALL_FREE && list_top(&chunks, struct ohca_chunk, node) !=
					      list_tail(&chunks, struct ohca_chunk, node))
		ohca_chunk_free(from);
	pthread_mutex_unlock(&chunks_lock);
}
