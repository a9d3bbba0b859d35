// SPDX-License-Identifier: GPL-2.0
/* Guest memory: unit tests of the DMA map. */

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/magic.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include "base/loop.h"
#include "vfio/dma.h"
#include "vfio/dma_sync.h"
#include "emulated.h"
#include "harness.h"

#define PAGE 4096ULL

#define LARGE_PAGE 65536ULL
#define HUGE_PAGE 0x200000ULL

/* The size that pages of this host seem to have; 0: that which they have */
static size_t host_page;

long __real_sysconf(int name);
long __wrap_sysconf(int name);
long __wrap_sysconf(int name)
{
	return name == _SC_PAGESIZE && host_page ? (long)host_page : __real_sysconf(name);
}

/* As on such a host: files are mapped from the beginning of a page on, to the beginning of one */
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	uintptr_t room;

	if (!host_page || addr)
		return __real_mmap(addr, len, prot, flags, fd, offset);
	if (offset % host_page) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	room = (uintptr_t)__real_mmap(NULL, len + host_page, PROT_NONE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true((void *)room != MAP_FAILED);
	return __real_mmap((void *)((room + host_page - 1) / host_page * host_page), len, prot,
			   flags | MAP_FIXED, fd, offset);
}

/* The clock, which seems to stand still or goes */
static bool clock_stands;

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (!clock_stands)
		return __real_clock_gettime(clock, ts);
	*ts = (struct timespec){1, 0};
	return 0;
}

/* On big-endian processors, qemu-user gives a SIGBUS the halves of the address in the wrong order. */
static void skip_without_address(void)
{
	if (BYTE_ORDER == BIG_ENDIAN)
		skip_emulated("a SIGBUS has the wrong address");
}

static int new_file(uint64_t size)
{
	int fd = memfd_create("guest", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	return fd;
}

static int setup(void **state)
{
	static struct dma_map map;

	dma_map_init(&map);
	*state = &map;
	return 0;
}

static int teardown(void **state)
{
	dma_map_fini(*state);
	return 0;
}

static void test_pointers(void **state)
{
	struct dma_map *map = *state;
	int fd = new_file(4 * PAGE);
	uint8_t *p;

	assert_null(dma_ptr(map, 0, 1, false));
	assert_int_equal(dma_map_add(map, 0x10000, 4 * PAGE, fd, 0, true, true), 0);
	close(fd);
	p = dma_ptr(map, 0x10000, 4 * PAGE, true);
	assert_non_null(p);
	assert_ptr_equal(dma_ptr(map, 0x10000 + PAGE, 3 * PAGE, false), p + PAGE);
	assert_ptr_equal(dma_ptr(map, 0x10000 + 4 * PAGE - 1, 1, true), p + 4 * PAGE - 1);
	assert_null(dma_ptr(map, 0x10000, 4 * PAGE + 1, true));
	assert_null(dma_ptr(map, 0x10000 + 4 * PAGE, 1, true));
	assert_null(dma_ptr(map, 0xffff, 2, true));
	assert_null(dma_ptr(map, 0x10000, UINT64_MAX, true));
	assert_null(dma_ptr(map, UINT64_MAX, 1, true));
	assert_null(dma_ptr(map, UINT64_MAX, UINT64_MAX, true));
	memset(p, 0xab, 4 * PAGE);
}

static void test_refused(void **state)
{
	struct dma_map *map = *state;
	int fd = new_file(4 * PAGE);
	uint64_t gen = map->gen;

	assert_int_equal(dma_map_add(map, 0, 0, fd, 0, true, true), -EINVAL);
	assert_int_equal(dma_map_add(map, UINT64_MAX, 2, fd, 0, true, true), -EINVAL);
	assert_int_equal(dma_map_add(map, PAGE, UINT64_MAX, fd, 0, true, true), -EINVAL);
	assert_int_equal(dma_map_add(map, 0, 5 * PAGE, fd, 0, true, true), -EINVAL);
	assert_int_equal(dma_map_add(map, 0, 4 * PAGE, fd, 1, true, true), -EINVAL);
	assert_int_equal(dma_map_add(map, 0, PAGE, fd, UINT64_MAX, true, true), -EINVAL);
	assert_int_equal(dma_map_add(map, 0, PAGE, fd, UINT64_MAX - PAGE + 1, true, true), -EINVAL);
	assert_int_equal(map->num, 0);
	assert_int_equal(map->gen, gen);
	close(fd);
	assert_int_equal(dma_map_add(map, 0, PAGE, fd, 0, true, true), -EBADF);
}

static void test_overlap(void **state)
{
	struct dma_map *map = *state;

	assert_int_equal(dma_map_add(map, 0x4000, 0x4000, -1, 0, true, true), 0);
	assert_int_equal(dma_map_add(map, 0x4000, 0x4000, -1, 0, true, true), -EEXIST);
	assert_int_equal(dma_map_add(map, 0x5000, 0x1000, -1, 0, true, true), -EEXIST);
	assert_int_equal(dma_map_add(map, 0x3000, 0x1001, -1, 0, true, true), -EEXIST);
	assert_int_equal(dma_map_add(map, 0x7fff, 1, -1, 0, true, true), -EEXIST);
	assert_int_equal(dma_map_add(map, 0, UINT64_MAX, -1, 0, true, true), -EEXIST);
	assert_int_equal(dma_map_add(map, 0x3000, 0x1000, -1, 0, true, true), 0);
	assert_int_equal(dma_map_add(map, 0x8000, 0x1000, -1, 0, true, true), 0);
	assert_int_equal(dma_map_add(map, UINT64_MAX - 0xfff, 0x1000, -1, 0, true, true), 0);
	assert_int_equal(map->num, 4);
	assert_null(dma_ptr(map, 0x4000, 1, false));
	/* A part of a region is not removed, several whole ones are. */
	assert_int_equal(dma_map_del(map, 0x4000, 0x1000), -ENOENT);
	assert_int_equal(dma_map_del(map, 0x5000, 0x3000), -ENOENT);
	assert_int_equal(dma_map_del(map, 0, 0), -ENOENT);
	assert_int_equal(map->num, 4);
	assert_int_equal(dma_map_del(map, 0x3800, 0x5800), 0);
	assert_int_equal(map->num, 2);
	assert_int_equal(dma_map_del(map, 0, UINT64_MAX), 0);
	assert_int_equal(map->num, 1);
	assert_int_equal(dma_map_del(map, 1, UINT64_MAX), 0);
	assert_int_equal(map->num, 0);
	assert_int_equal(dma_map_del(map, 1, UINT64_MAX), -ENOENT);
}

static void test_access(void **state)
{
	struct dma_map *map = *state;
	int fd = new_file(2 * PAGE), ro, pipes[2];
	char path[64];

	assert_int_equal(dma_map_add(map, 0, PAGE, fd, 0, true, false), 0);
	assert_non_null(dma_ptr(map, 0, PAGE, false));
	assert_null(dma_ptr(map, 0, PAGE, true));
	assert_int_equal(dma_map_add(map, PAGE, PAGE, fd, 0, false, true), 0);
	assert_null(dma_ptr(map, PAGE, PAGE, false));
	assert_non_null(dma_ptr(map, PAGE, PAGE, true));
	/* Adjacent regions are still two regions. */
	assert_null(dma_ptr(map, PAGE - 1, 2, false));
	assert_int_equal(dma_map_add(map, 2 * PAGE, PAGE, fd, 0, false, false), 0);
	assert_null(dma_ptr(map, 2 * PAGE, 1, false));
	/* Memory that can't be written to is not mapped writable. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ro = open(path, O_RDONLY);
	assert_true(ro >= 0);
	assert_int_equal(dma_map_add(map, 3 * PAGE, PAGE, ro, 0, true, true), -EACCES);
	assert_int_equal(dma_map_add(map, 3 * PAGE, PAGE, ro, 0, true, false), 0);
	close(ro);
	/* A descriptor that is not a file can be added, but the region is not accessible. */
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(dma_map_add(map, 4 * PAGE, PAGE, pipes[0], 0, true, false), 0);
	assert_null(dma_ptr(map, 4 * PAGE, 1, false));
	close(pipes[0]);
	close(pipes[1]);
	close(fd);
}

static void test_offset(void **state)
{
	struct dma_map *map = *state;
	int fd = new_file(4 * PAGE);
	char *whole, *part;

	assert_int_equal(dma_map_add(map, 0, 4 * PAGE, fd, 0, true, true), 0);
	assert_int_equal(dma_map_add(map, 0x100000, 2 * PAGE, fd, PAGE + 100, true, true), 0);
	close(fd);
	whole = dma_ptr(map, 0, 4 * PAGE, true);
	part = dma_ptr(map, 0x100000, 2 * PAGE, true);
	strcpy(whole + PAGE + 100, "hello");
	assert_string_equal(part, "hello");
	assert_int_equal(dma_map_del(map, 0x100000, 2 * PAGE), 0);
}

/* Random regions, compared with an array of pages. */
static void test_model(void **state)
{
	enum {
		PAGES = 256,
		STEPS = 20000
	};
	struct dma_map *map = *state;
	int owner[PAGES], fd = new_file(PAGES * PAGE), err, want, i, step;
	unsigned int first, num, at;
	uint8_t *p;

	srand(1);
	for (i = 0; i < PAGES; i++)
		owner[i] = -1;
	for (step = 0; step < STEPS; step++) {
		first = rand() % PAGES;
		num = 1 + rand() % 8;
		if (first + num > PAGES)
			num = PAGES - first;
		if (rand() % 2) {
			for (want = 0, i = first; i < (int)(first + num); i++)
				want = owner[i] >= 0 ? -EEXIST : want;
			err = dma_map_add(map, first * PAGE, num * PAGE, fd, first * PAGE, true,
					  true);
			assert_int_equal(err, want);
			for (i = first; !err && i < (int)(first + num); i++)
				owner[i] = first;
		} else if (owner[first] >= 0) {
			first = owner[first];
			for (num = 0; first + num < PAGES && owner[first + num] == (int)first;)
				owner[first + num++] = -1;
			assert_int_equal(dma_map_del(map, first * PAGE, num * PAGE), 0);
		}
		at = rand() % PAGES;
		p = dma_ptr(map, at * PAGE + 17, 1, true);
		assert_true((p != NULL) == (owner[at] >= 0));
		if (p)
			*p = at;
	}
	close(fd);
}

static void test_limit(void **state)
{
	struct dma_map *map = *state;
	uint64_t i;
	int err = 0;

	for (i = 0; !err && i < 100000; i++)
		err = dma_map_add(map, i * 2 * PAGE, PAGE, -1, 0, true, true);
	assert_int_equal(err, -ENOSPC);
	assert_int_equal(i, 4097);
}

/* Regions that begin anywhere in a page of the host, and share it with others */
static void test_large_pages(void **state)
{
	struct dma_map *map = *state;
	int fd = new_file(4 * LARGE_PAGE);
	char *whole, *parts[3];
	unsigned int i;

	host_page = LARGE_PAGE;
	assert_int_equal(dma_map_add(map, 0, 4 * LARGE_PAGE, fd, 0, true, true), 0);
	whole = dma_ptr(map, 0, 4 * LARGE_PAGE, true);
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		uint64_t addr = 0x100000 + i * 3 * PAGE;

		assert_int_equal(
			dma_map_add(map, addr, 3 * PAGE, fd, (15 + 3 * i) * PAGE, true, true), 0);
		parts[i] = dma_ptr(map, addr, 3 * PAGE, true);
		memset(parts[i], 'a' + i, 3 * PAGE);
	}
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		assert_int_equal(whole[(15 + 3 * i) * PAGE], 'a' + i);
		assert_int_equal(whole[(18 + 3 * i) * PAGE - 1], 'a' + i);
	}
	assert_int_equal(dma_map_del(map, 0x100000 + 3 * PAGE, 3 * PAGE), 0);
	assert_int_equal(parts[0][3 * PAGE - 1], 'a');
	assert_int_equal(parts[2][0], 'c');
	assert_int_equal(whole[18 * PAGE], 'b');
	dma_map_clear(map);
	host_page = 0;
	close(fd);
}

/* A guest that truncates its memory causes errors only for itself. */
static void test_truncate(void **state)
{
	struct dma_map *map = *state;
	int fd = new_file(8 * PAGE);
	volatile uint8_t *p;

	skip_without_address();
	assert_int_equal(dma_map_add(map, 0, 8 * PAGE, fd, 0, true, true), 0);
	p = dma_ptr(map, 0, 8 * PAGE, true);
	p[0] = 1;
	p[5 * PAGE] = 5;
	assert_int_equal(ftruncate(fd, PAGE), 0);
	assert_int_equal(p[0], 1);
	assert_int_equal(p[5 * PAGE], 0);
	p[5 * PAGE + 1] = 7;
	p[7 * PAGE] = 8;
	assert_int_equal(p[5 * PAGE + 1], 7);
	assert_int_equal(p[7 * PAGE], 8);
	memset((void *)p, 0xff, 8 * PAGE);
	assert_int_equal(ftruncate(fd, 0), 0);
	memset((void *)p, 0x11, 8 * PAGE);
	close(fd);
	assert_int_equal(dma_map_del(map, 0, 8 * PAGE), 0);
}

/* The same for more pages than a process can have mappings, from the end and with gaps. */
static void test_truncate_large(void **state)
{
	const uint64_t pages = 200000;
	struct dma_map *map = *state;
	int fd = new_file(pages * PAGE);
	const volatile uint8_t *p;
	uint64_t i;

	skip_without_address();
	assert_int_equal(dma_map_add(map, 0, pages * PAGE, fd, 0, true, true), 0);
	p = dma_ptr(map, 0, pages * PAGE, true);
	assert_int_equal(ftruncate(fd, 0), 0);
	for (i = pages; i >= 2; i -= 2)
		assert_int_equal(p[(i - 1) * PAGE], 0);
	close(fd);
	assert_int_equal(dma_map_del(map, 0, pages * PAGE), 0);
}

/* A regular file that is no memory of this computer, as one of a file server would be */
static void test_other_file_system(void **state)
{
	struct dma_map *map = *state;
	int fd = open("/proc/version", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(dma_map_add(map, 0, PAGE, fd, 0, true, false), -EPERM);
	assert_int_equal(map->num, 0);
	close(fd);
}

static int file_on_disk(uint64_t size)
{
	char name[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", name, sizeof(name) - sizeof(".XXXXXX"));
	int fd;

	assert_true(len > 0);
	strcpy(name + len, ".XXXXXX");
	fd = mkstemp(name);
	assert_true(fd >= 0);
	unlink(name);
	assert_int_equal(ftruncate(fd, size), 0);
	return fd;
}

/* A file on the disk may be memory: a guest's storage, for example. */
static void test_disk(void **state)
{
	struct dma_map *map = *state;
	int fd = file_on_disk(2 * PAGE);

	assert_int_equal(dma_map_add(map, 0, 3 * PAGE, fd, 0, true, true), -EINVAL);
	assert_int_equal(dma_map_add(map, 0, 2 * PAGE, fd, 0, true, true), 0);
	*(uint8_t *)dma_ptr(map, 0, 1, true) = 1;
	close(fd);
	assert_int_equal(dma_map_del(map, 0, 2 * PAGE), 0);
}

/* It is written back by a thread; memory that is no file of a disk has nothing to write back. */
static void test_write_back(void **state)
{
	struct dma_map *map = *state;
	int memory, disk = file_on_disk(2 * PAGE);
	uint64_t first, second;
	struct loop *loop;
	struct statfs at;

	assert_int_equal(fstatfs(disk, &at), 0);
	if (at.f_type == TMPFS_MAGIC) {
		print_message("# the program is in a tmpfs\n");
		close(disk);
		skip();
	}
	loop = loop_new();
	assert_non_null(loop);
	memory = new_file(PAGE);
	assert_int_equal(dma_map_add(map, 0, PAGE, memory, 0, true, true), 0);
	assert_int_equal(dma_sync_ask(map, loop), 0);
	assert_int_equal(dma_map_add(map, PAGE, 2 * PAGE, disk, 0, true, true), 0);
	*(uint8_t *)dma_ptr(map, PAGE, 1, true) = 1;
	first = dma_sync_ask(map, loop);
	assert_true(first);
	/* One that waits is for all that ask before it begins. */
	second = dma_sync_ask(map, loop);
	assert_int_equal(second, first + 1);
	assert_int_equal(dma_sync_ask(map, loop), second);
	while (dma_sync_state(map, second) == DMA_SYNC_PENDING)
		assert_int_equal(loop_step(loop, 1000000), 0);
	assert_int_equal(dma_sync_state(map, first), DMA_SYNC_DONE);
	assert_int_equal(dma_sync_state(map, second), DMA_SYNC_DONE);
	close(memory);
	close(disk);
	loop_free(loop);
}

static bool is_mapped(const void *p)
{
	unsigned char resident;

	return !mincore((void *)p, PAGE, &resident);
}

/* A large region is unmapped in parts, from its beginning. */
static void test_unmap_in_parts(void **state)
{
	struct dma_map *map = *state;
	const uint64_t pages = 4096;
	int fd = new_file(pages * PAGE);
	unsigned int parts = 0;
	uint8_t *p;

	assert_int_equal(dma_map_add(map, 0, pages * PAGE, fd, 0, true, true), 0);
	p = dma_ptr(map, 0, pages * PAGE, true);
	memset(p, 1, pages * PAGE);
	assert_int_equal(dma_map_del(map, 0, pages * PAGE), 0);
	assert_null(dma_ptr(map, 0, 1, false));
	assert_true(is_mapped(p + (pages - 1) * PAGE));
	while (dma_unmap_some(0))
		parts++;
	assert_true(parts >= 4);
	assert_false(is_mapped(p));
	assert_false(is_mapped(p + (pages - 1) * PAGE));
	close(fd);
}

/* However little time that takes, parts stay small: memory that is used may follow. */
static void test_unmap_limit(void **state)
{
	struct dma_map *map = *state;
	const uint64_t size = 1ULL << 30, most = 2 << 20;
	int fd = new_file(size);
	uint8_t *p;

	assert_int_equal(dma_map_add(map, 0, size, fd, 0, true, true), 0);
	p = dma_ptr(map, 0, size, true);
	assert_int_equal(dma_map_del(map, 0, size), 0);
	clock_stands = true;
	for (uint64_t left = size; dma_unmap_some(0); left = left > most ? left - most : 0)
		assert_true(left <= most || is_mapped(p + size - left + most));
	clock_stands = false;
	assert_false(is_mapped(p + size - PAGE));
	close(fd);
}

/*
 * A file in huge pages is mapped and unmapped in whole ones, wherever a region begins and ends.  That needs no free huge
 * page: what can't be had is replaced by zeroes, as what vanishes is.
 */
static void test_huge_pages(void **state)
{
	static const uint64_t offsets[] = {PAGE, 0, HUGE_PAGE + 100, 2 * HUGE_PAGE - PAGE};
	int fd = memfd_create("guest", MFD_CLOEXEC | MFD_HUGETLB | MFD_HUGE_2MB);
	const uint64_t size = 3 * PAGE;
	struct dma_map *map = *state;
	unsigned int i;
	uint8_t *p;

	if (fd < 0) {
		print_message("# no huge pages of 2 MiB: %s\n", strerror(errno));
		skip();
	}
	skip_emulated("an mmap() of huge pages is not as the kernel's");
	assert_int_equal(ftruncate(fd, 3 * HUGE_PAGE), 0);
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		assert_int_equal(dma_map_add(map, 0x1000, size, fd, offsets[i], true, true), 0);
		p = dma_ptr(map, 0x1000, size, true);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % HUGE_PAGE, offsets[i] % HUGE_PAGE);
		assert_null(dma_ptr(map, 0x1000, size + 1, true));
		memset(p, 0x11, size);
		assert_int_equal(p[size - 1], 0x11);
		assert_int_equal(dma_map_del(map, 0x1000, size), 0);
		while (dma_unmap_some(0))
			;
		assert_false(is_mapped(p - (uintptr_t)p % PAGE));
		assert_false(is_mapped(p + size - 1 - (uintptr_t)(p + size - 1) % PAGE));
	}
	/* As much as the file has, and no more */
	assert_int_equal(dma_map_add(map, 0, 3 * HUGE_PAGE - PAGE + 1, fd, PAGE, true, true),
			 -EINVAL);
	assert_int_equal(dma_map_add(map, 0, 3 * HUGE_PAGE - PAGE, fd, PAGE, true, true), 0);
	p = dma_ptr(map, 0, 3 * HUGE_PAGE - PAGE, true);
	assert_int_equal(dma_map_del(map, 0, 3 * HUGE_PAGE - PAGE), 0);
	while (dma_unmap_some(0))
		;
	for (i = 0; i < 3; i++)
		assert_false(is_mapped(p - PAGE + i * HUGE_PAGE));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pointers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_overlap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_access, setup, teardown),
		cmocka_unit_test_setup_teardown(test_offset, setup, teardown),
		cmocka_unit_test_setup_teardown(test_large_pages, setup, teardown),
		cmocka_unit_test_setup_teardown(test_model, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_truncate, setup, teardown),
		cmocka_unit_test_setup_teardown(test_truncate_large, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_file_system, setup, teardown),
		cmocka_unit_test_setup_teardown(test_disk, setup, teardown),
		cmocka_unit_test_setup_teardown(test_write_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unmap_in_parts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unmap_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_huge_pages, setup, teardown),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
