// SPDX-License-Identifier: GPL-2.0
/* Copies between lists of pieces of memory. */

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/iov.h"
#include "harness.h"

#define PAGE 4096UL
#define PAGES 4096
#define LEN (PAGES * PAGE)

/* Memory that another mapping has filled, as a machine does, and this one has not accessed. */
static uint8_t *map_filled(void)
{
	int fd = memfd_create("guest", MFD_CLOEXEC);
	uint8_t *other, *map;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, LEN), 0);
	other = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	map = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(other != MAP_FAILED && map != MAP_FAILED);
	memset(other, 1, LEN);
	munmap(other, LEN);
	close(fd);
	return map;
}

static long faults(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_minflt;
}

/* Copy from @src to pieces of @piece bytes of new memory.  Returns the number of page faults. */
static long first_copy(const uint8_t *src, size_t piece)
{
	unsigned int num = LEN / piece, i;
	struct iovec *dst = calloc(num, sizeof(*dst));
	struct iovec from = {.iov_base = (void *)src, .iov_len = LEN};
	struct iov_pos pos = {.iov = &from};
	uint8_t *map = map_filled();
	long before;

	assert_non_null(dst);
	for (i = 0; i < num; i++)
		dst[i] = (struct iovec){.iov_base = map + i * piece, .iov_len = piece};
	before = faults();
	iov_copy_slow(dst, num, &pos, false);
	before = faults() - before;
	assert_memory_equal(map, src, LEN);
	munmap(map, LEN);
	free(dst);
	return before;
}

/* The first access to memory of a machine costs one page fault for many pages. */
static void test_first_touch(void **state)
{
	uint8_t *src = map_filled();
	size_t i;

	(void)state;
	for (i = 0; i < LEN; i++)
		src[i] = i % 251;
	assert_in_range(first_copy(src, PAGE), 1, PAGES / 4);
	assert_in_range(first_copy(src, 64 * PAGE), 1, PAGES / 4);
	munmap(src, LEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_touch),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
