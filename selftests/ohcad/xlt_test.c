// SPDX-License-Identifier: GPL-2.0
/* Translation tables and rings. */

#include <endian.h>
#include <sys/mman.h>

#include "harness.h"
#include "base/loop.h"
#include "device/cmd.h"
#include "device/ring.h"
#include "device/xlt.h"

#define BASE 0x10000000ULL
#define PAGES 1024ULL
#define SIZE (PAGES * 4096)
#define HIGH 0x4000000000ULL /* more memory, in another region */
#define RO 0x5000000000ULL /* memory that the device may only read */

static struct dma_map map;
static uint8_t *mem;
static int memfd;
static struct quota quota = {.max = UINT64_MAX};

static void *at(uint64_t addr)
{
	return mem + (addr - BASE);
}

static int setup(void **state)
{
	(void)state;
	memfd = memfd_create("xlt", 0);
	assert_true(memfd >= 0);
	assert_int_equal(ftruncate(memfd, 2 * SIZE), 0);
	mem = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	assert_ptr_not_equal(mem, MAP_FAILED);
	dma_map_init(&map);
	assert_int_equal(dma_map_add(&map, BASE, SIZE, memfd, 0, true, true), 0);
	assert_int_equal(dma_map_add(&map, BASE + SIZE, SIZE, memfd, SIZE, true, true), 0);
	assert_int_equal(dma_map_add(&map, HIGH, SIZE, memfd, 0, true, true), 0);
	assert_int_equal(dma_map_add(&map, RO, SIZE, memfd, 0, true, false), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dma_map_fini(&map);
	munmap(mem, SIZE);
	close(memfd);
	return 0;
}

static struct ohca_xlt desc(uint64_t addr, uint32_t npages, uint32_t offset, uint8_t shift,
			    uint8_t levels)
{
	struct ohca_xlt d = {
		.addr = htole64(addr),
		.npages = htole32(npages),
		.offset = htole32(offset),
		.page_shift = shift,
		.levels = levels,
	};

	return d;
}

static int load(struct ohca_xlt d, uint64_t size)
{
	struct xlt xlt;
	int status = xlt_load(&xlt, &quota, &map, &d, size);

	xlt_free(&xlt, &quota);
	return status;
}

static void test_one_page(void **state)
{
	struct ohca_xlt d = desc(BASE + 4096, 1, 128, 12, 0);
	struct xlt xlt;
	uint64_t run;

	(void)state;
	assert_int_equal(xlt_load(&xlt, &quota, &map, &d, 4096 - 128), OHCA_CMD_OK);
	((uint8_t *)at(BASE))[4096 + 128 + 5] = 77;
	assert_int_equal(*(uint8_t *)xlt_ptr(&xlt, &map, 5, 100, &run, true), 77);
	assert_int_equal(run, 100);
	xlt_free(&xlt, &quota);
}

static void test_bad_descriptions(void **state)
{
	struct ohca_xlt d;

	(void)state;
	assert_int_equal(load(desc(BASE, 1, 0, 12, 0), 4096), OHCA_CMD_OK);
	assert_int_equal(load(desc(BASE, 1, 0, 11, 0), 2048), OHCA_CMD_BAD_PARAM);
	assert_int_equal(load(desc(BASE, 1, 0, 12, 0), 0), OHCA_CMD_BAD_PARAM);
	assert_int_equal(load(desc(BASE, 1, 0, 41, 0), 4096), OHCA_CMD_BAD_PARAM);
	assert_int_equal(load(desc(BASE, 1, 0, 255, 0), 4096), OHCA_CMD_BAD_PARAM);
	assert_int_equal(load(desc(0, 1, 0, 40, 0), 4096), OHCA_CMD_OK);
	assert_int_equal(load(desc(BASE, 1, 4096, 12, 0), 1), OHCA_CMD_BAD_PARAM);
	assert_int_equal(load(desc(BASE, 1, 1, 12, 0), 4096), OHCA_CMD_BAD_PARAM);
	assert_int_equal(load(desc(BASE, 2, 0, 12, 1), 4096), OHCA_CMD_BAD_PARAM);
	assert_int_equal(load(desc(BASE, 0, 0, 12, 0), 4096), OHCA_CMD_BAD_PARAM);
	assert_int_equal(load(desc(BASE, 1, 0, 12, 1), 4096), OHCA_CMD_BAD_PARAM);
	assert_int_equal(load(desc(BASE, 2, 0, 12, 2), 8192), OHCA_CMD_BAD_PARAM);
	assert_int_equal(load(desc(BASE, 2, 0, 12, 255), 8192), OHCA_CMD_BAD_PARAM);
	assert_int_equal(load(desc(BASE + 1, 1, 0, 12, 0), 4096), OHCA_CMD_BAD_PARAM);
	assert_int_equal(load(desc(BASE + 4096, 1, 0, 13, 0), 4096), OHCA_CMD_BAD_PARAM);
	assert_int_equal(load(desc(BASE, UINT32_MAX, 0, 12, 3), 1ULL << 44), OHCA_CMD_BAD_PARAM);
	assert_int_equal(load(desc(BASE, 1, 0, 12, 0), UINT64_MAX), OHCA_CMD_BAD_PARAM);
	d = desc(BASE, 1, 0, 12, 0);
	d.rsvd[5] = 1;
	assert_int_equal(load(d, 4096), OHCA_CMD_BAD_PARAM);
}

/* A table at @addr with @n entries from @first, @step apart. */
static void fill(uint64_t addr, uint32_t n, uint64_t first, uint64_t step)
{
	__le64 *to = at(addr);
	uint32_t i;

	for (i = 0; i < n; i++)
		to[i] = htole64(first + i * step);
}

static void test_levels(void **state)
{
	struct ohca_xlt d;
	struct xlt xlt;
	uint64_t run, i;

	(void)state;
	/* 512 pages: one table.  513 pages: two, and a root. */
	fill(BASE, 512, HIGH, 4096);
	d = desc(BASE, 512, 0, 12, 1);
	assert_int_equal(xlt_load(&xlt, &quota, &map, &d, 512 * 4096), OHCA_CMD_OK);
	assert_non_null(xlt_ptr(&xlt, &map, 0, 512 * 4096, &run, true));
	assert_int_equal(run, 512 * 4096);
	xlt_free(&xlt, &quota);

	fill(BASE + 4096, 1, HIGH + 512 * 4096, 0);
	fill(BASE + 8192, 2, BASE, 4096);
	d = desc(BASE + 8192, 513, 0, 12, 2);
	assert_int_equal(xlt_load(&xlt, &quota, &map, &d, 513 * 4096), OHCA_CMD_OK);
	for (i = 0; i < 513; i++)
		assert_int_equal(xlt.pages[i], HIGH + i * 4096);
	xlt_free(&xlt, &quota);

	/* The deepest possible table: each of its pages is the same one, for 2^24 pages. */
	fill(BASE, 512, HIGH, 0);
	fill(BASE + 4096, 512, BASE, 0);
	fill(BASE + 8192, 64, BASE + 4096, 0);
	d = desc(BASE + 8192, 1 << 24, 0, 12, 3);
	assert_int_equal(xlt_load(&xlt, &quota, &map, &d, 1ULL << 36), OHCA_CMD_OK);
	assert_int_equal(xlt.pages[(1 << 24) - 1], HIGH);
	xlt_free(&xlt, &quota);
}

/* In a slice that is over, a quarter of a table is read; in a long one, all of the tables. */
static void test_parts(void **state)
{
	struct ohca_xlt d = desc(BASE + 8192, 600, 0, 12, 2);
	struct xlt xlt;
	uint32_t i;

	(void)state;
	fill(BASE, 512, HIGH, 4096);
	fill(BASE + 4096, 88, HIGH + 512 * 4096, 4096);
	fill(BASE + 8192, 2, BASE, 4096);
	assert_int_equal(xlt_begin(&xlt, &quota, &d, 600 * 4096), OHCA_CMD_OK);
	for (i = 128; i < 600; i += 128) {
		assert_int_equal(xlt_load_part(&xlt, &map, &d, loop_clock()), CMD_MORE);
		assert_int_equal(xlt.npages, i);
	}
	assert_int_equal(xlt_load_part(&xlt, &map, &d, loop_clock()), OHCA_CMD_OK);
	assert_int_equal(xlt.npages, 600);
	for (i = 0; i < 600; i++)
		assert_int_equal(xlt.pages[i], HIGH + i * 4096);
	xlt_free(&xlt, &quota);
	assert_int_equal(xlt_begin(&xlt, &quota, &d, 600 * 4096), OHCA_CMD_OK);
	assert_int_equal(xlt_load_part(&xlt, &map, &d, UINT64_MAX), OHCA_CMD_OK);
	assert_int_equal(xlt.npages, 600);
	xlt_free(&xlt, &quota);
}

/* One table for each call; a description that has changed meanwhile does not go on. */
static void test_reload(void **state)
{
	struct ohca_xlt d = desc(BASE + 8192, 600, 0, 12, 2), other = desc(BASE, 512, 0, 12, 1);
	struct xlt xlt;

	(void)state;
	fill(BASE, 512, HIGH, 4096);
	fill(BASE + 4096, 88, HIGH + 512 * 4096, 4096);
	fill(BASE + 8192, 2, BASE, 4096);
	assert_int_equal(xlt_reserve(&xlt, &quota, 600), OHCA_CMD_OK);
	assert_int_equal(xlt_reload(&xlt, &map, &d, 600 * 4096, true), CMD_MORE);
	assert_int_equal(xlt.npages, 512);
	assert_int_equal(xlt_reload(&xlt, &map, &d, 600 * 4096, false), OHCA_CMD_OK);
	assert_int_equal(xlt.npages, 600);
	/* All that it has is there. */
	assert_int_equal(xlt_reload(&xlt, &map, &d, 600 * 4096, false), OHCA_CMD_BAD_PARAM);
	assert_int_equal(xlt.npages, 0);
	assert_int_equal(xlt_reload(&xlt, &map, &d, 600 * 4096, true), CMD_MORE);
	assert_int_equal(xlt_reload(&xlt, &map, &other, 512 * 4096, false), OHCA_CMD_BAD_PARAM);
	assert_int_equal(xlt.npages, 0);
	xlt_free(&xlt, &quota);
}

static void test_unreadable_tables(void **state)
{
	(void)state;
	fill(BASE, 512, HIGH, 4096);
	assert_int_equal(load(desc(BASE - 4096, 2, 0, 12, 1), 8192), OHCA_CMD_BAD_ADDR);
	assert_int_equal(load(desc(BASE + 1024, 2, 0, 12, 1), 8192), OHCA_CMD_BAD_PARAM);
	/* The table does not check whether a page is mapped. */
	fill(BASE, 2, 0x1000, 4096);
	assert_int_equal(load(desc(BASE, 2, 0, 12, 1), 8192), OHCA_CMD_OK);
	/* An entry that is not a page address */
	fill(BASE, 2, 0x1800, 4096);
	assert_int_equal(load(desc(BASE, 2, 0, 12, 1), 8192), OHCA_CMD_BAD_PARAM);
	/* Only used entries are read */
	fill(BASE, 512, 1, 0);
	fill(BASE, 2, HIGH, 4096);
	assert_int_equal(load(desc(BASE, 2, 0, 12, 1), 8192), OHCA_CMD_OK);
	/* Second level unreadable, or not aligned */
	fill(BASE + 4096, 2, BASE, 0x1000000000ULL);
	fill(BASE, 512, HIGH, 4096);
	assert_int_equal(load(desc(BASE + 4096, 513, 0, 12, 2), 513 * 4096), OHCA_CMD_BAD_ADDR);
	fill(BASE + 4096, 2, BASE, 8);
	assert_int_equal(load(desc(BASE + 4096, 513, 0, 12, 2), 513 * 4096), OHCA_CMD_BAD_PARAM);
}

/* Later writes of software to the table have no effect. */
static void test_table_is_copied(void **state)
{
	struct ohca_xlt d = desc(BASE, 2, 0, 12, 1);
	struct xlt xlt;
	uint64_t run;

	(void)state;
	fill(BASE, 2, BASE + 0x4000, 4096);
	assert_int_equal(xlt_load(&xlt, &quota, &map, &d, 8192), OHCA_CMD_OK);
	fill(BASE, 2, BASE + 0x8000, 4096);
	*(uint8_t *)at(BASE + 0x5000) = 1;
	*(uint8_t *)at(BASE + 0x9000) = 2;
	assert_int_equal(*(uint8_t *)xlt_ptr(&xlt, &map, 4096, 1, &run, true), 1);
	xlt_free(&xlt, &quota);
}

static void test_runs(void **state)
{
	struct ohca_xlt d;
	struct xlt xlt;
	uint64_t run;
	__le64 *table = at(BASE);

	(void)state;
	/* Two consecutive pages, a page elsewhere, an unmapped page */
	table[0] = htole64(HIGH);
	table[1] = htole64(HIGH + 4096);
	table[2] = htole64(HIGH + 16384);
	table[3] = htole64(0x1000);
	d = desc(BASE, 4, 100, 12, 1);
	assert_int_equal(xlt_load(&xlt, &quota, &map, &d, 4 * 4096 - 100), OHCA_CMD_OK);
	assert_non_null(xlt_ptr(&xlt, &map, 0, 10000, &run, true));
	assert_int_equal(run, 8192 - 100);
	assert_non_null(xlt_ptr(&xlt, &map, 4000, 10, &run, true));
	assert_int_equal(run, 10);
	assert_non_null(xlt_ptr(&xlt, &map, 8192 - 100, 8000, &run, true));
	assert_int_equal(run, 4096);
	assert_null(xlt_ptr(&xlt, &map, 12288 - 100, 1, &run, true));
	xlt_free(&xlt, &quota);

	/* Consecutive for the host, but two regions for the device */
	table[0] = htole64(BASE + SIZE - 4096);
	table[1] = htole64(BASE + SIZE);
	d = desc(BASE, 2, 0, 12, 1);
	assert_int_equal(xlt_load(&xlt, &quota, &map, &d, 8192), OHCA_CMD_OK);
	assert_non_null(xlt_ptr(&xlt, &map, 0, 8192, &run, true));
	assert_int_equal(run, 4096);
	xlt_free(&xlt, &quota);

	d = desc(RO, 1, 0, 12, 0);
	assert_int_equal(xlt_load(&xlt, &quota, &map, &d, 4096), OHCA_CMD_OK);
	assert_non_null(xlt_ptr(&xlt, &map, 0, 8, &run, false));
	assert_null(xlt_ptr(&xlt, &map, 0, 8, &run, true));
	xlt_free(&xlt, &quota);
}

static uint8_t *ptr_of(uint64_t addr)
{
	return dma_ptr(&map, addr, 1, false);
}

static void test_gather(void **state)
{
	const uint64_t pages[] = {HIGH, HIGH + 4096, HIGH + 16384, HIGH + 20480, HIGH, 0x1000};
	__le64 *table = at(BASE);
	struct iovec iov[4];
	unsigned int i, num;
	struct ohca_xlt d;
	struct xlt xlt;

	(void)state;
	for (i = 0; i < 6; i++)
		table[i] = htole64(pages[i]);
	d = desc(BASE, 6, 100, 12, 1);
	assert_int_equal(xlt_load(&xlt, &quota, &map, &d, 6 * 4096 - 100), OHCA_CMD_OK);

	/* Consecutive pages are one element, the ends are parts of pages; earlier elements stay. */
	num = 1;
	assert_int_equal(xlt_gather(&xlt, &map, 10, 17000, true, iov, &num, 4), 17000);
	assert_int_equal(num, 4);
	assert_ptr_equal(iov[1].iov_base, ptr_of(HIGH + 110));
	assert_int_equal(iov[1].iov_len, 8192 - 110);
	assert_ptr_equal(iov[2].iov_base, ptr_of(HIGH + 16384));
	assert_int_equal(iov[2].iov_len, 8192);
	assert_ptr_equal(iov[3].iov_base, ptr_of(HIGH));
	assert_int_equal(iov[3].iov_len, 17000 - (16384 - 110));

	/* There are no more elements, except that the last one can be extended. */
	num = 0;
	assert_int_equal(xlt_gather(&xlt, &map, 0, 20000, true, iov, &num, 2), 16384 - 100);
	assert_int_equal(num, 2);
	assert_int_equal(xlt_gather(&xlt, &map, 0, 1, true, iov, &num, 2), 0);

	/* Unmapped memory, or no page */
	num = 0;
	assert_int_equal(xlt_gather(&xlt, &map, 0, 5 * 4096, true, iov, &num, 4), -1);
	xlt.npages = 5;
	assert_int_equal(xlt_gather(&xlt, &map, 0, 5 * 4096, true, iov, &num, 4), -1);
	xlt_free(&xlt, &quota);

	/* No elements for pages that must not be written */
	d = desc(RO, 1, 0, 12, 0);
	assert_int_equal(xlt_load(&xlt, &quota, &map, &d, 4096), OHCA_CMD_OK);
	num = 0;
	assert_int_equal(xlt_gather(&xlt, &map, 0, 8, true, iov, &num, 4), -1);
	assert_int_equal(xlt_gather(&xlt, &map, 0, 8, false, iov, &num, 4), 8);
	xlt_free(&xlt, &quota);
}

static void test_ring_bounds(void **state)
{
	struct ohca_xlt d = desc(BASE, 1, 0, 12, 0);
	struct ring ring;
	struct xlt xlt;

	(void)state;
	assert_int_equal(xlt_load(&xlt, &quota, &map, &d, 4096), OHCA_CMD_OK);
	assert_int_equal(ring_init(&ring, &map, &xlt, 4096, 0, 6, 6), OHCA_CMD_OK);
	assert_true(ring_is_mapped(&ring));
	assert_ptr_equal(ring_entry(&ring, 65), (uint8_t *)ring_entry(&ring, 0) + 64);
	ring_fini(&ring);
	assert_int_equal(ring_init(&ring, &map, &xlt, 4096, 64, 6, 6), OHCA_CMD_BAD_PARAM);
	assert_int_equal(ring_init(&ring, &map, &xlt, 4096, 0, 7, 6), OHCA_CMD_BAD_PARAM);
	assert_int_equal(ring_init(&ring, &map, &xlt, 4096, 32, 0, 6), OHCA_CMD_BAD_PARAM);
	assert_int_equal(ring_init(&ring, &map, &xlt, 4096, UINT32_MAX - 63, 0, 6),
			 OHCA_CMD_BAD_PARAM);
	xlt_free(&xlt, &quota);
}

static void test_record(void **state)
{
	struct ohca_xlt d = desc(HIGH, 1, 0, 12, 0);
	struct ring_rec rec = {0};
	struct ring ring;
	struct xlt xlt;

	(void)state;
	assert_int_equal(xlt_load(&xlt, &quota, &map, &d, 4096), OHCA_CMD_OK);
	assert_int_equal(ring_init(&ring, &map, &xlt, 4096, 0, 4, 6), OHCA_CMD_OK);
	assert_int_equal(rec_init(&rec, &ring, 4096, 4096, 64), OHCA_CMD_BAD_PARAM);
	assert_int_equal(rec_init(&rec, &ring, 4096, UINT64_MAX - 63, 64), OHCA_CMD_BAD_PARAM);
	assert_int_equal(rec_init(&rec, &ring, 4096, 1024 + 32, 64), OHCA_CMD_BAD_PARAM);
	assert_int_equal(rec_init(&rec, &ring, 32, 0, 64), OHCA_CMD_BAD_PARAM);
	assert_int_equal(rec_init(&rec, &ring, 4096, 4032, 64), OHCA_CMD_OK);
	assert_ptr_equal(rec_ptr(&rec, &ring), ptr_of(HIGH + 4032));

	/* It follows changes of the memory map, like the ring. */
	assert_int_equal(dma_map_del(&map, HIGH, SIZE), 0);
	assert_null(rec_ptr(&rec, &ring));
	assert_int_equal(dma_map_add(&map, HIGH, SIZE, memfd, 0, true, true), 0);
	assert_ptr_equal(rec_ptr(&rec, &ring), ptr_of(HIGH + 4032));
	ring_fini(&ring);
	xlt_free(&xlt, &quota);
}

static void test_ring_pages(void **state)
{
	__le64 *table = at(BASE);
	struct ohca_xlt d;
	struct ring ring;
	struct xlt xlt;
	unsigned int i;

	(void)state;
	/* Entries of 2 KiB from byte 2048 of a page on, in pages in reverse order */
	for (i = 0; i < 5; i++)
		table[i] = htole64(HIGH + (10 - i) * 4096);
	d = desc(BASE, 5, 2048, 12, 1);
	assert_int_equal(xlt_load(&xlt, &quota, &map, &d, 5 * 4096 - 2048), OHCA_CMD_OK);
	assert_int_equal(ring_init(&ring, &map, &xlt, 5 * 4096 - 2048, 0, 3, 11), OHCA_CMD_OK);
	for (i = 0; i < 8; i++) {
		uint64_t pos = 2048 + i * 2048;

		memset(ring_entry(&ring, i), i + 1, 2048);
		assert_int_equal(mem[(10 - pos / 4096) * 4096 + pos % 4096], i + 1);
		assert_int_equal(mem[(10 - pos / 4096) * 4096 + pos % 4096 + 2047], i + 1);
	}
	ring_fini(&ring);
	xlt_free(&xlt, &quota);
}

static void test_ring_memory_goes_and_comes(void **state)
{
	struct ohca_xlt d = desc(HIGH, 1, 0, 12, 0);
	struct ring ring;
	struct xlt xlt;

	(void)state;
	assert_int_equal(xlt_load(&xlt, &quota, &map, &d, 4096), OHCA_CMD_OK);
	assert_int_equal(ring_init(&ring, &map, &xlt, 4096, 0, 6, 6), OHCA_CMD_OK);
	*(uint32_t *)ring_entry(&ring, 3) = 42;
	assert_int_equal(dma_map_del(&map, HIGH, SIZE), 0);
	assert_null(ring_entry(&ring, 3));
	assert_false(ring_is_mapped(&ring));
	assert_int_equal(dma_map_add(&map, HIGH, SIZE, memfd, 0, true, true), 0);
	assert_non_null(ring_entry(&ring, 3));
	assert_int_equal(*(uint32_t *)ring_entry(&ring, 3), 42);
	assert_int_equal(dma_map_del(&map, HIGH, SIZE), 0);
	assert_int_equal(dma_map_add(&map, HIGH, SIZE, memfd, 0, true, false), 0);
	assert_null(ring_entry(&ring, 3));
	assert_int_equal(dma_map_del(&map, HIGH, SIZE), 0);
	assert_int_equal(dma_map_add(&map, HIGH, SIZE, memfd, 0, true, true), 0);
	ring_fini(&ring);
	xlt_free(&xlt, &quota);
}

/* Pages of the host's memory that entries from @first on are in, but for the last one */
static unsigned int resident(const struct xlt *xlt, uint32_t first, uint32_t end)
{
	uintptr_t begin = ((uintptr_t)&xlt->pages[first] + 4095) & ~4095UL;
	uintptr_t last = (uintptr_t)&xlt->pages[end] & ~4095UL;
	unsigned char in_core[4096];
	unsigned int i, num = 0;

	assert_true(last - begin <= sizeof(in_core) * 4096);
	assert_int_equal(mincore((void *)begin, last - begin, in_core), 0);
	for (i = 0; i < (last - begin) / 4096; i++)
		num += in_core[i] & 1;
	return num;
}

/* A table that shrinks gives back all of the memory that it does not need any more. */
static void test_shrink(void **state)
{
	const uint32_t num = 1 << 20;
	uint64_t used = quota.used;
	struct xlt xlt;

	(void)state;
	assert_int_equal(xlt_reserve(&xlt, &quota, num), OHCA_CMD_OK);
	memset(xlt.pages, 1, num * sizeof(*xlt.pages));
	assert_int_equal(resident(&xlt, 8192, num), (num - 8192) / 512 - 1);
	while (!xlt_shrink(&xlt, &quota, 0))
		;
	assert_true(xlt.room <= 8192);
	assert_int_equal(quota.used, used + xlt.room);
	assert_int_equal(resident(&xlt, 8192, num), 0);
	xlt_free(&xlt, &quota);
	assert_int_equal(quota.used, used);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_page),
		cmocka_unit_test(test_bad_descriptions),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_reload),
		cmocka_unit_test(test_unreadable_tables),
		cmocka_unit_test(test_table_is_copied),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_gather),
		cmocka_unit_test(test_ring_bounds),
		cmocka_unit_test(test_record),
		cmocka_unit_test(test_ring_pages),
		cmocka_unit_test(test_ring_memory_goes_and_comes),
		cmocka_unit_test(test_shrink),
	};

	return RUN_TESTS(tests, setup, teardown);
}
