// SPDX-License-Identifier: GPL-2.0
/* Unit tests of libohca: blocks of chunks that small queues share. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ohca.h"
#include "tap.h"

#define CHUNK 64
#define MOST 16 /* pages of a block */
#define LEAST 128 /* bytes of a block */
#define BLOCKS 100
#define STEPS 20000
#define THREADS 4

/**
 * struct block - memory that is in use, or @addr NULL
 * @mark: its contents
 */
struct block {
	char *addr;
	size_t size;
	struct ohca_chunk *from;
	char mark;
};

static size_t page;

static bool block_get(struct block *b, size_t size, char mark)
{
	b->size = ohca_block_size(size);
	if (!EXPECT(b->size >= size))
		return false;
	b->addr = ohca_block_alloc(b->size, &b->from);
	if (!EXPECT(b->addr))
		return false;
	b->mark = mark;
	memset(b->addr, mark, b->size);
	return EXPECT_EQ((uintptr_t)b->addr % (b->size < page ? b->size : page), 0);
}

/* Free it, and check that its contents did not change. */
static bool block_put(struct block *b)
{
	size_t i;

	for (i = 0; i < b->size && b->addr[i] == b->mark; i++)
		;
	if (!EXPECT_EQ(i, b->size))
		return false;
	ohca_block_free(b->addr, b->size, b->from);
	b->addr = NULL;
	return true;
}

/* A power of two up to half a page, and whole pages */
static void test_sizes(const void *arg)
{
	(void)arg;
	EXPECT_EQ(ohca_block_size(1), LEAST);
	EXPECT_EQ(ohca_block_size(LEAST), LEAST);
	EXPECT_EQ(ohca_block_size(LEAST + 1), 2 * LEAST);
	EXPECT_EQ(ohca_block_size(page / 2), page / 2);
	EXPECT_EQ(ohca_block_size(page / 2 + 1), page);
	EXPECT_EQ(ohca_block_size(page), page);
	EXPECT_EQ(ohca_block_size(3 * page - 1), 3 * page);
}

/* Queues of a size are adjacent; a gap is used again. */
static void dense(size_t size)
{
	struct block all[CHUNK + 1], again;
	unsigned int i;

	for (i = 0; i < CHUNK + 1; i++)
		block_get(&all[i], size, i);
	for (i = 1; i < CHUNK; i++)
		EXPECT_EQ(all[i].addr - all[0].addr, (long)(i * size));
	EXPECT(all[CHUNK].from != all[0].from);
	/* The chunk was full. */
	again.addr = all[10].addr;
	block_put(&all[10]);
	EXPECT(block_get(&all[10], size, 3));
	EXPECT(all[10].addr == again.addr);
	for (i = 0; i < CHUNK + 1; i++)
		EXPECT(!all[i].addr || block_put(&all[i]));
}

static void test_dense(const void *arg)
{
	size_t size;

	(void)arg;
	for (size = LEAST; size <= page; size *= 2)
		dense(size);
}

/* A gap is used again if it is large enough. */
static void test_gap(const void *arg)
{
	struct block all[CHUNK], run;
	unsigned int i;

	(void)arg;
	for (i = 0; i < CHUNK; i++)
		block_get(&all[i], page, i);
	/* Two in the middle, and the first */
	run.addr = all[10].addr;
	block_put(&all[10]);
	block_put(&all[11]);
	block_put(&all[0]);
	EXPECT(block_get(&all[10], 2 * page, 3));
	EXPECT(all[10].addr == run.addr);
	EXPECT(block_get(&all[0], page, 4));
	EXPECT(all[0].from == all[10].from);
	for (i = 0; i < CHUNK; i++)
		EXPECT(!all[i].addr || block_put(&all[i]));
}

/* A whole chunk, and a request that is too large for the rest of one */
static void test_large(const void *arg)
{
	struct block whole, small, large;

	(void)arg;
	EXPECT(block_get(&whole, CHUNK * page, 1));
	EXPECT(block_get(&small, page, 2));
	EXPECT(small.from != whole.from);
	EXPECT(block_get(&large, CHUNK * page, 3));
	EXPECT(large.from != small.from && large.from != whole.from);
	EXPECT(block_put(&whole));
	EXPECT(block_put(&large));
	EXPECT(block_put(&small));
}

/* KiB of address space of this process */
static unsigned long address_space(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	if (!EXPECT(f))
		return 0;
	EXPECT_EQ(fscanf(f, "%lu", &pages), 1);
	fclose(f);
	return pages * page / 1024;
}

/* Pages of many queues are returned to the system, except for one chunk. */
static void test_given_back(const void *arg)
{
	static struct block b[20 * CHUNK];
	unsigned long before;
	unsigned int i;

	(void)arg;
	block_get(&b[0], page, 1);
	block_put(&b[0]);
	before = address_space();
	for (i = 0; i < ARRAY_SIZE(b); i++)
		block_get(&b[i], page, i);
	EXPECT(address_space() >= before + 19 * CHUNK * page / 1024);
	for (i = 0; i < ARRAY_SIZE(b); i++)
		block_put(&b[i]);
	/* The heap may have grown meanwhile. */
	EXPECT(address_space() < before + 4 * CHUNK * page / 1024);
}

/* A tenth of STEPS, which is the long form (OHCA_LONG=1) */
static unsigned int steps = STEPS / 10;

/* A few bytes, or a few pages */
static size_t random_size(unsigned int *seed)
{
	size_t most = rand_r(seed) % 2 ? MOST * page : page / 2;

	return 1 + rand_r(seed) % most;
}

/* Blocks of random sizes are allocated and freed. */
static void *churn(void *arg)
{
	struct block blocks[BLOCKS] = {};
	unsigned int seed = (uintptr_t)arg, i;

	for (i = 0; i < steps; i++) {
		struct block *b = &blocks[rand_r(&seed) % BLOCKS];

		if (b->addr ? !block_put(b) : !block_get(b, random_size(&seed), i + seed))
			break;
	}
	for (i = 0; i < BLOCKS; i++)
		EXPECT(!blocks[i].addr || block_put(&blocks[i]));
	return NULL;
}

static void test_churn(const void *arg)
{
	(void)arg;
	churn((void *)1);
}

static void test_threads(const void *arg)
{
	pthread_t thread[THREADS];
	uintptr_t i;

	(void)arg;
	for (i = 0; i < THREADS; i++)
		EXPECT_EQ(pthread_create(&thread[i], NULL, churn, (void *)(i + 1)), 0);
	for (i = 0; i < THREADS; i++)
		EXPECT_EQ(pthread_join(thread[i], NULL), 0);
}

static const struct tap_test tests[] = {
	{"sizes", test_sizes, NULL},
	{"side by side", test_dense, NULL},
	{"a gap", test_gap, NULL},
	{"as large as a chunk", test_large, NULL},
	{"given back", test_given_back, NULL},
	{"any size at any time", test_churn, NULL},
	{"threads", test_threads, NULL},
};

int main(void)
{
	page = sysconf(_SC_PAGESIZE);
	if (getenv("OHCA_LONG"))
		steps = STEPS;
	return tap_run(tests, ARRAY_SIZE(tests));
}
