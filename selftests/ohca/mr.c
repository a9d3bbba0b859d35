// SPDX-License-Identifier: GPL-2.0
/*
 * Protection domains and memory regions: valid and invalid registrations.  Each region moves data
 * through its key, which also checks its translation.
 */

#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs_util.h"

#define PAGE VU_PAGE
#define MIB (1UL << 20)
#define SINK (17 * MIB)

static struct vu_dev dev;
static struct vu_qp qp, peer;
static uint8_t *sink; /* where data that were read back go */
static struct ibv_mr *sink_mr;

static void disconnect(void)
{
	vu_qp_destroy(&qp);
	vu_qp_destroy(&peer);
}

static bool reconnect(void)
{
	struct vu_qp_opts opts = VU_QP_OPTS;

	disconnect();
	return vu_qp_create(&dev, &qp, &opts) && vu_qp_create(&dev, &peer, &opts) &&
	       vu_connect_pair(&dev, &qp, &peer, &opts);
}

/* Read back the memory at @mem by the key and the address, and compare. */
static bool reads_back(struct ibv_mr *mr, uint64_t addr, const void *mem, size_t len)
{
	struct ibv_wc wc;

	memset(sink, 0, len);
	return EXPECT_EQ(vu_post_send(&qp, IBV_WR_RDMA_READ, 1, IBV_SEND_SIGNALED, sink_mr, sink,
				      len, addr, mr->rkey),
			 0) &&
	       vu_wait_wc(qp.scq, &wc, 1, IBV_WC_SUCCESS) && EXPECT(!memcmp(sink, mem, len));
}

/* Register, move data both ways, deregister. */
static bool try_region(void *mem, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(dev.pd, mem, len, access);
	struct ibv_wc wc;
	bool ok;

	if (!mr) {
		tap_fail(__FILE__, __LINE__, "%zu bytes at %p: %s", len, mem, strerror(errno));
		return false;
	}
	ok = EXPECT(mr->addr == mem) && EXPECT_EQ(mr->length, len) && EXPECT(mr->lkey) &&
	     EXPECT(mr->rkey);
	if (access & IBV_ACCESS_REMOTE_READ)
		ok = ok && reads_back(mr, (uintptr_t)mem, mem, len);
	if (ok && access & IBV_ACCESS_REMOTE_WRITE) {
		vu_fill(sink, len, len);
		ok = EXPECT_EQ(vu_post_send(&qp, IBV_WR_RDMA_WRITE, 2, IBV_SEND_SIGNALED, sink_mr,
					    sink, len, (uintptr_t)mem, mr->rkey),
			       0) &&
		     vu_wait_wc(qp.scq, &wc, 2, IBV_WC_SUCCESS) &&
		     EXPECT_EQ(vu_check(mem, len, len), -1);
	}
	return EXPECT_EQ(ibv_dereg_mr(mr), 0) && ok;
}

static void test_sizes(const void *arg)
{
	static const size_t sizes[] = {1,    2,		  63,	       64,	4095,
				       4096, 4097,	  8192,	       65536,	100003,
				       MIB,  2 * MIB - 1, 2 * MIB + 1, 16 * MIB};
	static const size_t offsets[] = {0, 1, 63, 64, 2048, 4095};
	uint8_t *mem = vu_alloc(SINK);
	size_t i, j;

	(void)arg;
	if (!reconnect())
		return;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (j = 0; j < ARRAY_SIZE(offsets); j++) {
			vu_fill(mem + offsets[j], sizes[i], i + j);
			if (!try_region(mem + offsets[j], sizes[i], VU_RW))
				return;
		}
	}
	vu_free(mem, SINK);
}

/* Every page has another address: pages of a file, mapped in the opposite order. */
static void test_scattered(const void *arg)
{
	const unsigned int num = SINK / PAGE < 700 ? SINK / PAGE : 700;
	int fd = memfd_create("scattered", 0);
	uint8_t *mem;
	unsigned int i;

	(void)arg;
	if (!EXPECT(fd >= 0) || !EXPECT_EQ(ftruncate(fd, num * PAGE), 0) || !reconnect())
		return;
	mem = vu_alloc(num * PAGE);
	for (i = 0; i < num; i++)
		EXPECT(mmap(mem + i * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			    fd, (num - 1 - i) * PAGE) != MAP_FAILED);
	vu_fill(mem, num * PAGE, 5);
	try_region(mem + 17, num * PAGE - 40, VU_RW);
	vu_free(mem, num * PAGE);
	close(fd);
}

static void test_hugepages(const void *arg)
{
	const size_t len = 8 * MIB;
	uint8_t *mem = mmap(NULL, len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE, -1, 0);

	(void)arg;
	if (mem == MAP_FAILED) {
		tap_skip("no huge pages");
		return;
	}
	if (!reconnect())
		return;
	vu_fill(mem, len, 6);
	try_region(mem, len, VU_RW);
	vu_fill(mem, len, 7);
	try_region(mem + 12345, len - 23456, VU_RW);
	vu_fill(mem, len, 8);
	try_region(mem, len, VU_RW | IBV_ACCESS_HUGETLB);
	munmap(mem, len);
}

/* Memory that can't be written can be registered for reading. */
static void test_read_only(const void *arg)
{
	uint8_t *mem = vu_alloc(4 * PAGE);
	struct ibv_mr *mr;

	(void)arg;
	if (!reconnect())
		return;
	vu_fill(mem, 4 * PAGE, 1);
	mprotect(mem, 4 * PAGE, PROT_READ);
	mr = ibv_reg_mr(dev.pd, mem, 4 * PAGE, IBV_ACCESS_REMOTE_READ);
	if (EXPECT(mr)) {
		reads_back(mr, (uintptr_t)mem, mem, 4 * PAGE);
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	}
	EXPECT_NULL(ibv_reg_mr(dev.pd, mem, 4 * PAGE, IBV_ACCESS_LOCAL_WRITE), EFAULT);
	vu_free(mem, 4 * PAGE);
}

static void test_kinds_of_memory(const void *arg)
{
	static uint8_t data[3 * 4096];
	uint8_t stack[2 * 4096];
	uint8_t *heap = malloc(10 * PAGE);

	(void)arg;
	if (!reconnect())
		return;
	vu_fill(data, sizeof(data), 1);
	vu_fill(stack, sizeof(stack), 2);
	vu_fill(heap, 10 * PAGE, 3);
	try_region(data + 3, sizeof(data) - 3, VU_RW);
	try_region(stack + 3, sizeof(stack) - 3, VU_RW);
	try_region(heap + 3, 10 * PAGE - 3, VU_RW);
	free(heap);
}

static void test_access(const void *arg)
{
	uint8_t *mem = vu_alloc(PAGE);
	int access;

	(void)arg;
	if (!reconnect())
		return;
	for (access = 0; access < 16; access++) {
		struct ibv_mr *mr;

		/* Remote write and remote atomic need local write. */
		if (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) &&
		    !(access & IBV_ACCESS_LOCAL_WRITE)) {
			EXPECT_NULL(ibv_reg_mr(dev.pd, mem, PAGE, access), EINVAL);
			continue;
		}
		mr = ibv_reg_mr(dev.pd, mem, PAGE, access);
		if (!EXPECT(mr))
			continue;
		if (access & IBV_ACCESS_REMOTE_READ)
			reads_back(mr, (uintptr_t)mem, mem, PAGE);
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	}
	/* a hint that may be ignored, but not refused */
	try_region(mem, PAGE, VU_RW | IBV_ACCESS_RELAXED_ORDERING);
	/* an undefined flag */
	if (dev.is_ohca)
		EXPECT_NULL(ibv_reg_mr(dev.pd, mem, PAGE, 1 << 15), EINVAL);
	vu_free(mem, PAGE);
}

static void test_refused(const void *arg)
{
	uint8_t *mem = vu_alloc(16 * PAGE);

	(void)arg;
	EXPECT_NULL(ibv_reg_mr(dev.pd, mem, 0, VU_RW), EINVAL);
	munmap(mem + 8 * PAGE, PAGE);
	EXPECT_NULL(ibv_reg_mr(dev.pd, mem + 8 * PAGE, 1, VU_RW), EFAULT);
	EXPECT_NULL(ibv_reg_mr(dev.pd, mem, 16 * PAGE, VU_RW), EFAULT);
	EXPECT_NULL(ibv_reg_mr(dev.pd, mem + 8 * PAGE - 1, 2, VU_RW), EFAULT);
	mprotect(mem, PAGE, PROT_NONE);
	EXPECT_NULL(ibv_reg_mr(dev.pd, mem, PAGE, VU_RW), EFAULT);
	/* Older kernels pin what a region only reads whatever its protection is. */
	if (!vu_kernel_before(6, 2))
		EXPECT_NULL(ibv_reg_mr(dev.pd, mem, PAGE, 0), EFAULT);
	EXPECT_NULL(ibv_reg_mr(dev.pd, (void *)-PAGE, 2 * PAGE, VU_RW), EINVAL);
	EXPECT_NULL(ibv_reg_mr(dev.pd, mem + PAGE, -1UL, VU_RW), EINVAL);
	EXPECT(!ibv_reg_mr(dev.pd, (void *)0xffff888000000000UL, PAGE, VU_RW));
	EXPECT(!ibv_reg_mr(dev.pd, mem + PAGE, 1UL << 60, VU_RW));
	/* the memory beside it can still be registered */
	if (reconnect())
		try_region(mem + PAGE, 7 * PAGE, VU_RW);
	vu_free(mem, 16 * PAGE);
}

/* A region whose iova is not its address in memory. */
static void test_iova(const void *arg)
{
	const uint64_t iovas[] = {0, PAGE, 0x123456780000, 1ULL << 63};
	uint8_t *mem = vu_alloc(8 * PAGE);
	struct ibv_mr *mr;
	struct ibv_wc wc;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(iovas); i++) {
		if (!reconnect())
			return;
		vu_fill(mem, 8 * PAGE, i);
		mr = ibv_reg_mr_iova(dev.pd, mem + 100, 7 * PAGE, iovas[i] + 100, VU_RW);
		if (!EXPECT(mr))
			continue;
		reads_back(mr, iovas[i] + 100, mem + 100, 7 * PAGE);
		reads_back(mr, iovas[i] + 100 + 3 * PAGE + 5, mem + 100 + 3 * PAGE + 5, 1000);
		/* its address in memory is not in it */
		EXPECT_EQ(vu_post_send(&qp, IBV_WR_RDMA_READ, 3, IBV_SEND_SIGNALED, sink_mr, sink,
				       8, (uintptr_t)mem + 100, mr->rkey),
			  0);
		vu_wait_wc(qp.scq, &wc, 3, IBV_WC_REM_ACCESS_ERR);
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	}
	EXPECT_NULL(ibv_reg_mr_iova(dev.pd, mem + 100, PAGE, 101, VU_RW), EINVAL);
	vu_free(mem, 8 * PAGE);
}

/* A region whose addresses begin at 0, regardless of its address in memory. */
static void test_zero_based(const void *arg)
{
	uint8_t *mem = vu_alloc(8 * PAGE);
	struct ibv_mr *mr;
	struct ibv_wc wc;

	(void)arg;
	if (!reconnect())
		return;
	vu_fill(mem, 8 * PAGE, 3);
	mr = ibv_reg_mr(dev.pd, mem + 100, 6 * PAGE, VU_RW | IBV_ACCESS_ZERO_BASED);
	if (EXPECT(mr)) {
		reads_back(mr, 0, mem + 100, 6 * PAGE);
		reads_back(mr, 2 * PAGE - 1, mem + 2 * PAGE + 99, 5000);
		EXPECT_EQ(vu_post_send(&qp, IBV_WR_RDMA_READ, 3, IBV_SEND_SIGNALED, sink_mr, sink,
				       8, 6 * PAGE - 7, mr->rkey),
			  0);
		vu_wait_wc(qp.scq, &wc, 3, IBV_WC_REM_ACCESS_ERR);
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	}
	vu_free(mem, 8 * PAGE);
}

static int compare_keys(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Thousands of regions of the same memory: different keys, all of which work. */
static void test_thousands(const void *arg)
{
	const unsigned int num = 4000;
	struct ibv_mr **mrs = calloc(num, sizeof(*mrs));
	uint32_t *keys = calloc(num, sizeof(*keys));
	uint8_t *mem = vu_alloc(16 * PAGE);
	unsigned int i;

	(void)arg;
	if (!reconnect())
		return;
	vu_fill(mem, 16 * PAGE, 9);
	for (i = 0; i < num; i++) {
		mrs[i] = ibv_reg_mr(dev.pd, mem + i % PAGE, 15 * PAGE, VU_RW);
		if (!EXPECT(mrs[i]))
			break;
		keys[i] = mrs[i]->rkey;
	}
	for (i = 0; i < num && mrs[i]; i += 97)
		if (!reads_back(mrs[i], (uintptr_t)mem + i % PAGE, mem + i % PAGE, 5000))
			break;
	qsort(keys, num, sizeof(*keys), compare_keys);
	for (i = 1; i < num; i++)
		if (!EXPECT(keys[i] != keys[i - 1]))
			break;
	for (i = 0; i < num && mrs[i]; i++)
		if (!EXPECT_EQ(ibv_dereg_mr(mrs[i]), 0))
			break;
	vu_free(mem, 16 * PAGE);
	free(keys);
	free(mrs);
}

/* A key is not used again soon. */
static void test_keys_change(const void *arg)
{
	enum {
		NUM = 200
	};
	uint32_t keys[NUM];
	unsigned int i, j;

	(void)arg;
	for (i = 0; i < NUM; i++) {
		struct ibv_mr *mr = ibv_reg_mr(dev.pd, sink, PAGE, VU_RW);

		if (!EXPECT(mr))
			return;
		keys[i] = mr->rkey;
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
		for (j = 0; j < i; j++)
			if (!EXPECT(keys[i] != keys[j]))
				return;
	}
}

/*
 * A region is deregistered while reads of it are under way: each of them succeeds with the right
 * data, or fails; none hangs.
 */
static void test_dereg_under_traffic(const void *arg)
{
	const size_t len = 256 * 1024;
	struct ibv_wc wc;
	int round, i;

	(void)arg;
	for (round = 0; round < 8; round++) {
		uint8_t *mem = vu_alloc(len);
		struct ibv_mr *mr;

		if (!reconnect())
			return;
		vu_fill(mem, len, round);
		mr = ibv_reg_mr(dev.pd, mem, len, VU_RW);
		if (!EXPECT(mr))
			return;
		for (i = 0; i < 32; i++)
			EXPECT_EQ(vu_post_send(&qp, IBV_WR_RDMA_READ, i, IBV_SEND_SIGNALED, sink_mr,
					       sink + i * len, len, (uintptr_t)mem, mr->rkey),
				  0);
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
		memset(mem, 0xff, len); /* no reads are under way any more */
		vu_free(mem, len);
		for (i = 0; i < 32; i++) {
			enum ibv_wc_status want = i && wc.status ? IBV_WC_WR_FLUSH_ERR
								 : IBV_WC_SUCCESS;

			if (!vu_wait(qp.scq, &wc, 1))
				return;
			EXPECT_EQ(wc.wr_id, i);
			if (want == IBV_WC_SUCCESS && wc.status == IBV_WC_REM_ACCESS_ERR)
				continue;
			EXPECT_EQ(wc.status, want);
			if (wc.status == IBV_WC_SUCCESS)
				EXPECT_EQ(vu_check(sink + i * len, len, round), -1);
		}
	}
}

/* Registered memory is pinned: it can be unmapped, and the region still works. */
static void test_unmapped_later(const void *arg)
{
	uint8_t *mem = vu_alloc(16 * PAGE), *copy = malloc(16 * PAGE);
	struct ibv_mr *mr;

	(void)arg;
	if (!reconnect())
		return;
	vu_fill(mem, 16 * PAGE, 3);
	memcpy(copy, mem, 16 * PAGE);
	mr = ibv_reg_mr(dev.pd, mem, 16 * PAGE, VU_RW);
	if (!EXPECT(mr))
		return;
	vu_free(mem, 16 * PAGE);
	reads_back(mr, (uintptr_t)mem, copy, 16 * PAGE);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
	free(copy);
}

static void test_pd_busy(const void *arg)
{
	struct ibv_pd *pd = ibv_alloc_pd(dev.ctx);
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct vu_qp q;
	struct ibv_mr *mr;

	(void)arg;
	if (!EXPECT(pd))
		return;
	mr = ibv_reg_mr(pd, sink, PAGE, VU_RW);
	if (EXPECT(mr)) {
		EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	}
	opts.pd = pd;
	if (vu_qp_create(&dev, &q, &opts)) {
		EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);
		vu_qp_destroy(&q);
	}
	EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

static void test_many_pds(const void *arg)
{
	enum {
		NUM = 1000
	};
	struct ibv_pd *pds[NUM] = {};
	unsigned int i;

	(void)arg;
	for (i = 0; i < NUM; i++) {
		pds[i] = ibv_alloc_pd(dev.ctx);
		if (!EXPECT(pds[i]))
			break;
	}
	for (i = 0; i < NUM && pds[i]; i++)
		if (!EXPECT_EQ(ibv_dealloc_pd(pds[i]), 0))
			break;
}

static void *reg_loop(void *arg)
{
	uint8_t *mem = arg;
	long failed = 0;
	int i;

	for (i = 0; i < 300; i++) {
		struct ibv_mr *mr = ibv_reg_mr(dev.pd, mem + i, PAGE * (1 + i % 40), VU_RW);

		if (!mr || ibv_dereg_mr(mr))
			failed++;
	}
	return (void *)failed;
}

/* Several threads register and deregister at once. */
static void test_threads(const void *arg)
{
	uint8_t *mem = vu_alloc(64 * PAGE);
	pthread_t threads[8];
	unsigned int i;
	void *failed;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		EXPECT_EQ(pthread_create(&threads[i], NULL, reg_loop, mem), 0);
	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		pthread_join(threads[i], &failed);
		EXPECT(!failed);
	}
	vu_free(mem, 64 * PAGE);
}

static const struct tap_test tests[] = {
	{"sizes and alignments", test_sizes, NULL},
	{"pages in any order", test_scattered, NULL},
	{"huge pages", test_hugepages, NULL},
	{"read-only memory", test_read_only, NULL},
	{"data, stack and heap", test_kinds_of_memory, NULL},
	{"access flags", test_access, NULL},
	{"refused registrations", test_refused, NULL},
	{"address of the application's choosing", test_iova, NULL},
	{"zero based", test_zero_based, NULL},
	{"thousands of regions", test_thousands, NULL},
	{"keys change", test_keys_change, NULL},
	{"deregistered under traffic", test_dereg_under_traffic, NULL},
	{"unmapped after registration", test_unmapped_later, NULL},
	{"PD in use is busy", test_pd_busy, NULL},
	{"many PDs", test_many_pds, NULL},
	{"registration by several threads", test_threads, NULL},
};

int main(void)
{
	vu_open(&dev);
	sink_mr = vu_alloc_mr(&dev, SINK);
	sink = sink_mr->addr;
	return vu_main(&dev, sink_mr, tests, ARRAY_SIZE(tests), disconnect);
}
