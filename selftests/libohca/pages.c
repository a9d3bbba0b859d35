// SPDX-License-Identifier: GPL-2.0
/* Unit tests of libohca: chunks of pages that small queues share. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ohca.h"
#include "tap.h"

#define CHUNK 64
#define MOST 16 /* pages of a block */
#define BLOCKS 100
#define STEPS 20000
#define THREADS 4

/**
 * struct block - pages that are in use, or @addr NULL
 * @mark: their contents
 */
struct block {
	char *addr;
	unsigned int num;
	struct ohca_chunk *from;
	char mark;
};

static size_t page;

static bool block_get(struct block *b, unsigned int num, char mark)
{
	b->addr = ohca_pages_alloc(num, &b->from);
	if (!EXPECT(b->addr))
		return false;
	b->num = num;
	b->mark = mark;
	memset(b->addr, mark, num * page);
	return EXPECT_EQ((uintptr_t)b->addr % page, 0);
}

/* Free it, and check that its contents did not change. */
static bool block_put(struct block *b)
{
	size_t i;

	for (i = 0; i < b->num * page && b->addr[i] == b->mark; i++)
		;
	if (!EXPECT_EQ(i, b->num * page))
		return false;
	ohca_pages_free(b->addr, b->num, b->from);
	b->addr = NULL;
	return true;
}

/* Queues of a page are adjacent; a gap is used again if it is large enough. */
static void test_dense(const void *arg)
{
	struct block all[CHUNK + 1], run;
	unsigned int i;

	(void)arg;
	for (i = 0; i < CHUNK + 1; i++)
		block_get(&all[i], 1, i);
	for (i = 1; i < CHUNK; i++)
		EXPECT_EQ(all[i].addr - all[0].addr, (long)(i * page));
	EXPECT(all[CHUNK].from != all[0].from);
	/* Two in the middle, and the first; the chunk was full. */
	run.addr = all[10].addr;
	block_put(&all[10]);
	block_put(&all[11]);
	block_put(&all[0]);
	EXPECT(block_get(&all[10], 2, 3));
	EXPECT(all[10].addr == run.addr);
	EXPECT(block_get(&all[0], 1, 4));
	EXPECT(all[0].from == all[10].from);
	for (i = 0; i < CHUNK + 1; i++)
		EXPECT(!all[i].addr || block_put(&all[i]));
}

/* A whole chunk, and a request that is too large for the rest of one */
static void test_large(const void *arg)
{
	struct block whole, small, large;

	(void)arg;
	EXPECT(block_get(&whole, CHUNK, 1));
	EXPECT(block_get(&small, 1, 2));
	EXPECT(small.from != whole.from);
	EXPECT(block_get(&large, CHUNK, 3));
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
	block_get(&b[0], 1, 1);
	block_put(&b[0]);
	before = address_space();
	for (i = 0; i < ARRAY_SIZE(b); i++)
		block_get(&b[i], 1, i);
	EXPECT(address_space() >= before + 19 * CHUNK * page / 1024);
	for (i = 0; i < ARRAY_SIZE(b); i++)
		block_put(&b[i]);
	/* The heap may have grown meanwhile. */
	EXPECT(address_space() < before + 4 * CHUNK * page / 1024);
}

/* A tenth of STEPS, which is the long form (OHCA_LONG=1) */
static unsigned int steps = STEPS / 10;

/* Blocks of random sizes are allocated and freed. */
static void *churn(void *arg)
{
	struct block blocks[BLOCKS] = {};
	unsigned int seed = (uintptr_t)arg, i;

	for (i = 0; i < steps; i++) {
		struct block *b = &blocks[rand_r(&seed) % BLOCKS];

		if (b->addr ? !block_put(b) : !block_get(b, 1 + rand_r(&seed) % MOST, i + seed))
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
	{"side by side", test_dense, NULL},    {"as large as a chunk", test_large, NULL},
	{"given back", test_given_back, NULL}, {"any size at any time", test_churn, NULL},
	{"threads", test_threads, NULL},
};

int main(void)
{
	page = sysconf(_SC_PAGESIZE);
	if (getenv("OHCA_LONG"))
		steps = STEPS;
	return tap_run(tests, ARRAY_SIZE(tests));
}
