// SPDX-License-Identifier: GPL-2.0
/* Large blocks of memory are cleared when they are used, not when they are allocated. */

#include <sys/mman.h>

#include "base/heap.h"
#include "harness.h"

#define SIZE (1 << 20)
#define TIMES 3

/* Pages of the block that are there, the first and the last one left out: the library writes to those. */
static unsigned int num_resident(const void *block)
{
	size_t page = sysconf(_SC_PAGESIZE), i, num = SIZE / page - 1;
	uintptr_t first = ((uintptr_t)block + 2 * page - 1) & ~(page - 1);
	unsigned char *there = calloc(num, 1);
	unsigned int count = 0;

	assert_non_null(there);
	num -= (first - (uintptr_t)block) / page;
	assert_int_equal(mincore((void *)first, num * page, there), 0);
	for (i = 0; i < num; i++)
		count += there[i] & 1;
	free(there);
	return count;
}

static void test_freed_before(void **state)
{
	unsigned int i;

	(void)state;
	heap_init();
	for (i = 0; i < TIMES; i++) {
		uint8_t *block = calloc(1, SIZE);

		assert_non_null(block);
		assert_int_equal(num_resident(block), 0);
		memset(block, 1, SIZE);
		assert_true(num_resident(block) > 0);
		free(block);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_freed_before),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
