// SPDX-License-Identifier: GPL-2.0
/*
 * On-demand paging: pages that the device needs are mapped, pages that the process gives up are
 * unmapped, and a request for memory that does not exist fails.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "odp_util.h"

#define MIB (1UL << 20)
#define HUGE_LEN (2 * MIB)
#define STRETCH (64 * MIB) /* size of a chunk of memory in the driver */

static struct vu_qp from, to;

static void disconnect(void)
{
	vu_qp_destroy(&from);
	vu_qp_destroy(&to);
}

static bool to_reset(struct vu_qp *q)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	return EXPECT_EQ(ibv_modify_qp(q->qp, &attr, IBV_QP_STATE), 0);
}

/* The QPs are reused, so that no mapping is made where a test has unmapped memory. */
static bool reconnect(void)
{
	struct vu_qp_opts opts = VU_QP_OPTS;

	opts.access = ALL;
	if (from.qp)
		return to_reset(&from) && to_reset(&to) && vu_connect_pair(&dev, &from, &to, &opts);
	return vu_qp_create(&dev, &from, &opts) && vu_qp_create(&dev, &to, &opts) &&
	       vu_connect_pair(&dev, &from, &to, &opts);
}

/* No page of source and target is present. */
static bool begin(void)
{
	drop(src, LEN);
	drop(dst, LEN);
	return reconnect();
}

static bool op(enum ibv_wr_opcode opcode, struct ibv_mr *lmr, void *local, size_t len,
	       struct ibv_mr *rmr, void *remote, enum ibv_wc_status status)
{
	return odp_op(&from, opcode, lmr, local, len, rmr, remote, status);
}

static bool writes(struct ibv_mr *lmr, void *local, size_t len, struct ibv_mr *rmr, void *remote)
{
	return op(IBV_WR_RDMA_WRITE, lmr, local, len, rmr, remote, IBV_WC_SUCCESS);
}

static bool reads(struct ibv_mr *lmr, void *local, size_t len, struct ibv_mr *rmr, void *remote)
{
	return op(IBV_WR_RDMA_READ, lmr, local, len, rmr, remote, IBV_WC_SUCCESS);
}

static bool write_is(enum ibv_wc_status status, void *local, void *remote)
{
	return op(IBV_WR_RDMA_WRITE, src_mr, local, PAGE, dst_mr, remote, status);
}

static bool read_is(enum ibv_wc_status status, void *local, void *remote)
{
	return op(IBV_WR_RDMA_READ, src_mr, local, PAGE, dst_mr, remote, status);
}

/* What the device can do */

static void test_caps(const void *arg)
{
	struct ibv_device_attr_ex attr;
	uint32_t rc;

	(void)arg;
	if (!EXPECT_EQ(ibv_query_device_ex(dev.ctx, NULL, &attr), 0))
		return;
	rc = attr.odp_caps.per_transport_caps.rc_odp_caps;
	EXPECT(attr.odp_caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT);
	EXPECT(rc & IBV_ODP_SUPPORT_SEND && rc & IBV_ODP_SUPPORT_RECV);
	EXPECT(rc & IBV_ODP_SUPPORT_WRITE && rc & IBV_ODP_SUPPORT_READ);
	EXPECT(!(attr.odp_caps.per_transport_caps.ud_odp_caps & IBV_ODP_SUPPORT_RECV));
}

static void test_refused(const void *arg)
{
	struct ibv_mr *mr;
	int ret;

	(void)arg;
	EXPECT_NULL(ibv_reg_mr(dev.pd, dst, LEN, ODP | IBV_ACCESS_MW_BIND), EOPNOTSUPP);
	EXPECT_NULL(ibv_reg_mr(dev.pd, dst, 0, ODP), EINVAL);
	EXPECT_NULL(ibv_reg_mr(dev.pd, (void *)(~0UL - 2 * PAGE + 1), PAGE, ODP), EFAULT);
	EXPECT_NULL(ibv_reg_mr_iova(dev.pd, NULL, SIZE_MAX, PAGE, ODP), EINVAL);
	EXPECT_NULL(ibv_reg_mr(dev.pd, dst, LEN, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_REMOTE_WRITE),
		    EINVAL);

	mr = ibv_reg_mr(dev.pd, dst, LEN, ODP);
	if (!EXPECT(mr))
		return;
	ret = ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, src, LEN, 0);
	EXPECT(ret && errno == EOPNOTSUPP);
	ret = ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, VU_RW);
	EXPECT(ret && errno == EOPNOTSUPP);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

/* Rights and PD of a region change, its pages stay mapped. */
static void test_rereg(const void *arg)
{
	struct ibv_pd *pd = ibv_alloc_pd(dev.ctx);
	struct ibv_mr *mr = ibv_reg_mr(dev.pd, dst, LEN, ODP);

	(void)arg;
	if (!EXPECT(pd) || !EXPECT(mr) || !begin())
		goto out;
	writes(src_mr, src, LEN, mr, dst);
	EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND),
		  0);
	reads(src_mr, src, LEN, mr, dst);
	op(IBV_WR_RDMA_WRITE, src_mr, src, PAGE, mr, dst, IBV_WC_REM_ACCESS_ERR);
	EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, ODP), 0);
	if (reconnect())
		writes(src_mr, src, LEN, mr, dst);
	EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0), 0);
	op(IBV_WR_RDMA_WRITE, src_mr, src, PAGE, mr, dst, IBV_WC_REM_ACCESS_ERR);
out:
	if (mr)
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	if (pd)
		EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

/* Every operation uses pages that were never touched. */

static void test_untouched(const void *arg)
{
	const size_t len = LEN - 100;
	struct ibv_wc wc;

	(void)arg;
	if (!begin())
		return;
	vu_fill(src + 33, len, 1);
	EXPECT(writes(src_mr, src + 33, len, dst_mr, dst + 67));
	EXPECT_EQ(vu_check(dst + 67, len, 1), -1);
	EXPECT(all_zero(dst, 67));

	drop(src, LEN);
	EXPECT(reads(src_mr, src + 5, len, dst_mr, dst + 67));
	EXPECT_EQ(vu_check(src + 5, len, 1), -1);

	drop(dst, LEN);
	EXPECT_EQ(vu_post_recv(&to, 2, dst_mr, dst + 9, len), 0);
	op(IBV_WR_SEND, src_mr, src + 5, len, dst_mr, NULL, IBV_WC_SUCCESS);
	EXPECT(vu_wait_wc(to.rcq, &wc, 2, IBV_WC_SUCCESS));
	EXPECT_EQ(vu_check(dst + 9, len, 1), -1);

	/* an untouched source is zero */
	drop(src, LEN);
	EXPECT(writes(src_mr, src, LEN, dst_mr, dst));
	EXPECT(all_zero(dst, LEN));
}

static void test_atomics(const void *arg)
{
	struct ibv_sge sge = {.addr = (uintptr_t)src + 8, .length = 8, .lkey = src_mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED};
	uint64_t *remote = (uint64_t *)(dst + PAGE), *local = (uint64_t *)(src + 8);
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	unsigned int i;

	(void)arg;
	if (dev.attr.atomic_cap == IBV_ATOMIC_NONE) {
		tap_skip("the device can't");
		return;
	}
	if (!begin())
		return;
	wr.wr.atomic.rkey = dst_mr->rkey;
	wr.wr.atomic.remote_addr = (uintptr_t)remote;
	/* each is executed once, even if the page for its result is missing */
	for (i = 0; i < 100; i++) {
		drop(src, PAGE);
		wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr.wr.atomic.compare_add = 3;
		if (!EXPECT_EQ(ibv_post_send(from.qp, &wr, &bad), 0) ||
		    !vu_wait_wc(from.scq, &wc, 0, IBV_WC_SUCCESS) || !EXPECT_EQ(*local, 3 * i) ||
		    !EXPECT_EQ(*remote, 3 * (i + 1)))
			return;
	}
	drop(src, PAGE);
	drop(dst, LEN);
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr.wr.atomic.compare_add = 0;
	wr.wr.atomic.swap = 77;
	EXPECT_EQ(ibv_post_send(from.qp, &wr, &bad), 0);
	EXPECT(vu_wait_wc(from.scq, &wc, 0, IBV_WC_SUCCESS));
	EXPECT(*local == 0 && *remote == 77);
}

static void test_large(const void *arg)
{
	const size_t len = 33 * MIB + 5;
	uint8_t *a = vu_alloc(len), *b = vu_alloc(len);
	struct ibv_mr *amr = ibv_reg_mr(dev.pd, a, len, ODP);
	struct ibv_mr *bmr = ibv_reg_mr(dev.pd, b, len, ODP);

	(void)arg;
	if (!EXPECT(amr) || !EXPECT(bmr) || !begin())
		goto out;
	vu_fill(a, len, 3);
	EXPECT(writes(amr, a, len, bmr, b));
	EXPECT_EQ(vu_check(b, len, 3), -1);
	drop(a, len);
	EXPECT(reads(amr, a, len, bmr, b));
	EXPECT_EQ(vu_check(a, len, 3), -1);
out:
	if (amr)
		EXPECT_EQ(ibv_dereg_mr(amr), 0);
	if (bmr)
		EXPECT_EQ(ibv_dereg_mr(bmr), 0);
	vu_free(a, len);
	vu_free(b, len);
}

static void test_zero_based(const void *arg)
{
	struct ibv_mr *mr = ibv_reg_mr(dev.pd, dst, LEN, ODP | IBV_ACCESS_ZERO_BASED);

	(void)arg;
	if (!EXPECT(mr) || !begin())
		goto out;
	vu_fill(src, LEN, 8);
	EXPECT(writes(src_mr, src, 3 * PAGE, mr, (void *)(2 * PAGE)));
	EXPECT_EQ(vu_check(dst + 2 * PAGE, 3 * PAGE, 8), -1);
out:
	if (mr)
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

/* Pages are discarded while the device has them mapped. */

static void test_dontneed(const void *arg)
{
	unsigned int i;

	(void)arg;
	if (!begin())
		return;
	for (i = 0; i < 100; i++) {
		size_t len = 1 + i * 2600;

		vu_fill(src, len, i);
		if (!writes(src_mr, src, len, dst_mr, dst) || !EXPECT_EQ(vu_check(dst, len, i), -1))
			return;
		drop(i % 2 ? src : dst, LEN);
		if (!EXPECT(all_zero(i % 2 ? src : dst, LEN)))
			return;
	}
}

/* After a fork, the device uses the parent's pages, and the child's are unchanged. */
static void test_fork(const void *arg)
{
	int go[2], status;
	pid_t child;
	char c;

	(void)arg;
	if (!begin() || !EXPECT_EQ(pipe(go), 0))
		return;
	vu_fill(src, LEN, 1);
	vu_fill(dst, LEN, 2);
	/* the device has all of them mapped, for writing */
	EXPECT(writes(src_mr, src, LEN, dst_mr, dst));
	EXPECT(reads(src_mr, src, LEN, dst_mr, dst));
	vu_fill(dst, LEN, 2);
	child = fork();
	if (!child) {
		close(go[1]);
		status = read(go[0], &c, 1);
		_exit(vu_check(src, LEN, 1) != -1 || vu_check(dst, LEN, 2) != -1);
	}
	close(go[0]);
	/* by the device first, by the processor first */
	EXPECT(writes(src_mr, src + PAGE, 8 * PAGE, dst_mr, dst + PAGE));
	vu_fill(src + 9 * PAGE, 8 * PAGE, 3);
	EXPECT(writes(src_mr, src + 9 * PAGE, 8 * PAGE, dst_mr, dst + 9 * PAGE));
	EXPECT(!memcmp(dst + PAGE, src + PAGE, 16 * PAGE));
	EXPECT_EQ(vu_check(dst + 9 * PAGE, 8 * PAGE, 3), -1);
	vu_fill(dst + 20 * PAGE, PAGE, 4);
	EXPECT(reads(src_mr, src + 20 * PAGE, PAGE, dst_mr, dst + 20 * PAGE));
	EXPECT_EQ(vu_check(src + 20 * PAGE, PAGE, 4), -1);
	close(go[1]);
	EXPECT_EQ(waitpid(child, &status, 0), child);
	EXPECT_EQ(status, 0);
}

/* Rights of the mapping change under the region. */
static void test_protect(const void *arg)
{
	(void)arg;
	if (!begin())
		return;
	vu_fill(src, LEN, 1);
	vu_fill(dst, LEN, 2);
	write_is(IBV_WC_SUCCESS, src, dst);
	EXPECT_EQ(mprotect(dst, LEN, PROT_READ), 0);
	read_is(IBV_WC_SUCCESS, src, dst + PAGE);
	EXPECT(!memcmp(src, dst + PAGE, PAGE));
	write_is(IBV_WC_REM_OP_ERR, src, dst);
	if (!reconnect())
		goto out;
	EXPECT_EQ(mprotect(dst, LEN, PROT_NONE), 0);
	read_is(IBV_WC_REM_OP_ERR, src, dst);
	EXPECT_EQ(mprotect(dst, LEN, PROT_READ | PROT_WRITE), 0);
	EXPECT_EQ(mprotect(src, LEN, PROT_READ), 0);
	if (!reconnect())
		goto out;
	write_is(IBV_WC_SUCCESS, src + 2 * PAGE, dst);
	EXPECT(!memcmp(dst, src + 2 * PAGE, PAGE));
	read_is(IBV_WC_LOC_PROT_ERR, src, dst);
out:
	EXPECT_EQ(mprotect(src, LEN, PROT_READ | PROT_WRITE), 0);
	EXPECT_EQ(mprotect(dst, LEN, PROT_READ | PROT_WRITE), 0);
}

static bool map_again(uint8_t *mem, size_t len)
{
	return EXPECT(mmap(mem, len, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == mem);
}

/* The memory is unmapped, then other memory is mapped at the same address. */
static void test_unmap(const void *arg)
{
	struct ibv_wc wc;

	(void)arg;
	if (!begin())
		return;
	vu_fill(dst, LEN, 2);
	read_is(IBV_WC_SUCCESS, src, dst);
	EXPECT_EQ(munmap(dst, LEN), 0);
	read_is(IBV_WC_REM_OP_ERR, src, dst);
	if (reconnect())
		write_is(IBV_WC_REM_OP_ERR, src, dst + PAGE);
	map_again(dst, LEN);
	EXPECT_EQ(munmap(src, LEN), 0);
	if (reconnect())
		write_is(IBV_WC_LOC_PROT_ERR, src, dst);
	if (reconnect())
		read_is(IBV_WC_LOC_PROT_ERR, src, dst);
	/* a receive request without memory fails on both sides */
	map_again(src, LEN);
	EXPECT_EQ(munmap(dst, LEN), 0);
	if (reconnect()) {
		EXPECT_EQ(vu_post_recv(&to, 2, dst_mr, dst, LEN), 0);
		op(IBV_WR_SEND, src_mr, src, PAGE, dst_mr, NULL, IBV_WC_REM_OP_ERR);
		EXPECT(vu_wait_wc(to.rcq, &wc, 2, IBV_WC_LOC_PROT_ERR));
	}
	map_again(dst, LEN);
	if (!reconnect())
		return;
	vu_fill(src, LEN, 5);
	EXPECT(writes(src_mr, src, LEN, dst_mr, dst));
	EXPECT_EQ(vu_check(dst, LEN, 5), -1);
}

/*
 * A message with one page missing fails at that page, and the pages before and after it are right.
 */
static void test_hole(const void *arg)
{
	(void)arg;
	if (!begin())
		return;
	vu_fill(src, LEN, 6);
	EXPECT_EQ(munmap(dst + 7 * PAGE, PAGE), 0);
	op(IBV_WR_RDMA_WRITE, src_mr, src, LEN, dst_mr, dst, IBV_WC_REM_OP_ERR);
	if (reconnect()) {
		EXPECT(writes(src_mr, src, 7 * PAGE, dst_mr, dst));
		EXPECT(writes(src_mr, src + 8 * PAGE, LEN - 8 * PAGE, dst_mr, dst + 8 * PAGE));
		EXPECT_EQ(vu_check(dst, 7 * PAGE, 6), -1);
		EXPECT(!memcmp(dst + 8 * PAGE, src + 8 * PAGE, LEN - 8 * PAGE));
	}
	map_again(dst + 7 * PAGE, PAGE);
}

/* Other kinds of memory */

/* The file has the data that were written to its mapping; truncated pages are gone. */
static void check_file(int fd)
{
	uint8_t *mem, *copy = vu_alloc(LEN);
	struct ibv_mr *mr = NULL;

	mem = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!EXPECT(mem != MAP_FAILED))
		return;
	mr = ibv_reg_mr(dev.pd, mem, LEN, ODP);
	if (!EXPECT(mr) || !begin())
		goto out;
	vu_fill(src, LEN, 9);
	EXPECT(writes(src_mr, src, LEN, mr, mem));
	EXPECT_EQ(fsync(fd), 0);
	EXPECT_EQ(pread(fd, copy, LEN, 0), LEN);
	EXPECT_EQ(vu_check(copy, LEN, 9), -1);
	/* written back, it is clean: another write makes it dirty again */
	vu_fill(src, LEN, 10);
	EXPECT(writes(src_mr, src, LEN, mr, mem));
	EXPECT_EQ(fsync(fd), 0);
	EXPECT_EQ(madvise(mem, LEN, MADV_PAGEOUT), 0);
	EXPECT_EQ(posix_fadvise(fd, 0, LEN, POSIX_FADV_DONTNEED), 0);
	EXPECT_EQ(pread(fd, copy, LEN, 0), LEN);
	EXPECT_EQ(vu_check(copy, LEN, 10), -1);
	EXPECT(reads(dst_mr, dst, LEN, mr, mem));
	EXPECT_EQ(vu_check(dst, LEN, 10), -1);

	EXPECT_EQ(ftruncate(fd, LEN / 2), 0);
	EXPECT(reads(dst_mr, dst, LEN / 2, mr, mem));
	op(IBV_WR_RDMA_READ, dst_mr, dst, PAGE, mr, mem + LEN / 2, IBV_WC_REM_OP_ERR);
	EXPECT_EQ(ftruncate(fd, LEN), 0);
	if (reconnect()) {
		EXPECT(reads(dst_mr, dst, LEN, mr, mem));
		EXPECT(all_zero(dst + LEN / 2, LEN / 2));
	}
out:
	if (mr)
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	munmap(mem, LEN);
	vu_free(copy, LEN);
}

static void test_file(const void *arg)
{
	char path[] = "/var/tmp/odp.XXXXXX";
	int fd = arg ? memfd_create("odp", 0) : mkstemp(path);

	if (!EXPECT(fd >= 0))
		return;
	if (!arg)
		unlink(path);
	if (EXPECT_EQ(ftruncate(fd, LEN), 0))
		check_file(fd);
	close(fd);
}

/* The device reads memory that it may not write. */
static void test_read_only(const void *arg)
{
	struct ibv_mr *mr = NULL;
	uint8_t *mem;
	int fd;

	(void)arg;
	fd = memfd_create("odp", 0);
	if (!EXPECT(fd >= 0) || !begin())
		return;
	vu_fill(src, LEN, 11);
	EXPECT_EQ(pwrite(fd, src, LEN, 0), LEN);
	mem = mmap(NULL, LEN, PROT_READ, MAP_SHARED, fd, 0);
	mr = ibv_reg_mr(dev.pd, mem, LEN, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND);
	if (EXPECT(mr)) {
		EXPECT(reads(dst_mr, dst, LEN, mr, mem));
		EXPECT_EQ(vu_check(dst, LEN, 11), -1);
		/* also as a source of the region's own process */
		EXPECT(writes(mr, mem, LEN, src_mr, src));
		op(IBV_WR_RDMA_WRITE, src_mr, src, PAGE, mr, mem, IBV_WC_REM_ACCESS_ERR);
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	}
	munmap(mem, LEN);
	close(fd);
}

static void test_huge(const void *arg)
{
	uint8_t *mem = mmap(NULL, 2 * HUGE_LEN, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	struct ibv_mr *mr;
	int extra;

	(void)arg;
	if (mem == MAP_FAILED) {
		tap_skip("no huge pages");
		return;
	}
	for (extra = 0; extra <= IBV_ACCESS_HUGETLB; extra += IBV_ACCESS_HUGETLB) {
		drop(mem, 2 * HUGE_LEN);
		mr = ibv_reg_mr(dev.pd, mem, 2 * HUGE_LEN, ODP | extra);
		if (!EXPECT(mr) || !begin())
			break;
		vu_fill(mem, HUGE_LEN, 12);
		EXPECT(writes(mr, mem, HUGE_LEN, mr, mem + HUGE_LEN));
		EXPECT_EQ(vu_check(mem + HUGE_LEN, HUGE_LEN, 12), -1);
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	}
	munmap(mem, 2 * HUGE_LEN);
}

/* Small pages that the device has mapped become one huge page, at another address. */
static void test_collapse(const void *arg)
{
	uint8_t *map = vu_alloc(2 * HUGE_LEN);
	uint8_t *mem = (uint8_t *)(((uintptr_t)map + HUGE_LEN - 1) & ~(HUGE_LEN - 1));
	struct ibv_mr *mr = ibv_reg_mr(dev.pd, mem, HUGE_LEN, ODP);

	(void)arg;
	if (!EXPECT(mr) || !begin())
		goto out;
	madvise(map, 2 * HUGE_LEN, MADV_NOHUGEPAGE);
	vu_fill(mem, HUGE_LEN, 13);
	EXPECT(reads(mr, mem, HUGE_LEN / 2, mr, mem + HUGE_LEN / 2));
	vu_fill(mem, HUGE_LEN, 14);
	madvise(map, 2 * HUGE_LEN, MADV_HUGEPAGE);
	if (madvise(mem, HUGE_LEN, MADV_COLLAPSE)) {
		tap_skip("no transparent huge pages");
		goto out;
	}
	EXPECT_EQ(vu_check(mem, HUGE_LEN, 14), -1);
	vu_fill(src, LEN, 15);
	EXPECT(writes(src_mr, src, LEN, mr, mem));
	EXPECT_EQ(vu_check(mem, LEN, 15), -1);
	EXPECT(reads(dst_mr, dst, LEN, mr, mem + HUGE_LEN - LEN));
	EXPECT(!memcmp(dst, mem + HUGE_LEN - LEN, LEN));
out:
	if (mr)
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	vu_free(map, 2 * HUGE_LEN);
}

/* The whole address space */

static void test_implicit(const void *arg)
{
	struct ibv_mr *mr = ibv_reg_mr(dev.pd, NULL, SIZE_MAX, ODP);
	uint8_t *far[5], *edge, on_stack[300];
	static uint8_t in_data[300];
	unsigned int i;

	(void)arg;
	if (!EXPECT(mr) || !begin())
		goto out;
	/* later mappings, each at a distant address, and one across a chunk's end */
	for (i = 0; i < ARRAY_SIZE(far); i++) {
		far[i] = mmap((void *)(0x100000000000UL + i * (1UL << 40)), LEN,
			      PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (!EXPECT(far[i] != MAP_FAILED))
			goto out;
	}
	edge = mmap((void *)(0x180000000000UL - LEN / 2), LEN, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (!EXPECT(edge != MAP_FAILED))
		goto out;

	vu_fill(far[0], LEN, 16);
	for (i = 1; i < ARRAY_SIZE(far); i++)
		EXPECT(writes(mr, far[i - 1], LEN, mr, far[i]));
	EXPECT_EQ(vu_check(far[i - 1], LEN, 16), -1);
	EXPECT(writes(mr, far[0], LEN, mr, edge));
	EXPECT_EQ(vu_check(edge, LEN, 16), -1);
	EXPECT(reads(mr, on_stack, sizeof(on_stack), mr, edge));
	EXPECT_EQ(vu_check(on_stack, sizeof(on_stack), 16), -1);
	EXPECT(reads(mr, in_data, sizeof(in_data), mr, edge));
	EXPECT_EQ(vu_check(in_data, sizeof(in_data), 16), -1);

	EXPECT_EQ(munmap(far[2], LEN), 0);
	op(IBV_WR_RDMA_READ, mr, far[0], PAGE, mr, far[2], IBV_WC_REM_OP_ERR);
	/* addresses without memory: page 0, the end of user space, beyond it */
	if (reconnect())
		op(IBV_WR_RDMA_READ, mr, far[0], 8, mr, NULL, IBV_WC_REM_OP_ERR);
	if (reconnect())
		op(IBV_WR_RDMA_READ, mr, far[0], 8, mr, (void *)(1UL << 56), IBV_WC_REM_OP_ERR);
	if (reconnect())
		op(IBV_WR_RDMA_READ, mr, far[0], 8, mr, (void *)~7UL, IBV_WC_REM_ACCESS_ERR);
	munmap(edge, LEN);
	for (i = 0; i < ARRAY_SIZE(far); i++)
		munmap(far[i], LEN);
out:
	if (mr)
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

/* Memory at changing addresses: more chunks than the driver keeps. */
static void test_wander(const void *arg)
{
	struct ibv_mr *mr = ibv_reg_mr(dev.pd, NULL, SIZE_MAX, ODP);
	uint8_t *mem, *kept = NULL;
	unsigned int i;

	(void)arg;
	if (!EXPECT(mr) || !begin())
		goto out;
	for (i = 0; i < 200; i++) {
		mem = mmap((void *)(0x200000000000UL + i * STRETCH), PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (!EXPECT(mem != MAP_FAILED))
			goto out;
		vu_fill(src, PAGE, i);
		if (!writes(src_mr, src, PAGE, mr, mem) || !EXPECT_EQ(vu_check(mem, PAGE, i), -1))
			goto out;
		if (i == 10)
			kept = mem;
		else
			EXPECT_EQ(munmap(mem, PAGE), 0);
	}
	EXPECT(reads(dst_mr, dst, PAGE, mr, kept));
	EXPECT_EQ(vu_check(dst, PAGE, 10), -1);
	munmap(kept, PAGE);
out:
	if (mr)
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

/* Advice */

static int advise(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		  uint32_t lkey, const void *addr, size_t len)
{
	struct ibv_sge sge = {.addr = (uintptr_t)addr, .length = len, .lkey = lkey};

	return ibv_advise_mr(pd, advice, flags, &sge, 1);
}

static void test_advise(const void *arg)
{
	const uint32_t flush = IBV_ADVISE_MR_FLAG_FLUSH;
	struct ibv_mr *plain = ibv_reg_mr(dev.pd, src, LEN, VU_RW);
	struct ibv_mr *ro =
		ibv_reg_mr(dev.pd, dst, LEN, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND);
	struct ibv_pd *pd = ibv_alloc_pd(dev.ctx);
	uint32_t lkey = dst_mr->lkey;
	uint64_t deadline;

	(void)arg;
	if (!EXPECT(plain) || !EXPECT(ro) || !EXPECT(pd) || !begin())
		goto out;
	EXPECT_EQ(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, flush, lkey, dst, LEN), 0);
	EXPECT(!(pagemap(dst + PAGE) & PAGEMAP_PRESENT));
	EXPECT_EQ(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, flush, lkey, dst, LEN), 0);
	EXPECT(pagemap(dst) & pagemap(dst + LEN - PAGE) & PAGEMAP_PRESENT);
	drop(dst, LEN);
	EXPECT_EQ(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, flush, lkey, dst + 9, 3 * PAGE), 0);
	EXPECT(pagemap(dst + 3 * PAGE) & PAGEMAP_PRESENT);
	EXPECT(!(pagemap(dst + 4 * PAGE) & PAGEMAP_PRESENT));
	vu_fill(src, LEN, 17);
	EXPECT(writes(src_mr, src, LEN, dst_mr, dst));
	EXPECT_EQ(vu_check(dst, LEN, 17), -1);
	EXPECT_EQ(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, flush, lkey, dst, LEN), 0);

	drop(dst, LEN);
	EXPECT_EQ(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, lkey, dst, LEN), 0);
	deadline = vu_now() + vu_timeout_ms();
	while (!(pagemap(dst) & PAGEMAP_PRESENT) && EXPECT(vu_now() < deadline))
		sched_yield();

	EXPECT_EQ(advise(dev.pd, 77, flush, lkey, dst, LEN), EOPNOTSUPP);
	EXPECT_EQ(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, flush, 0x12345600, dst, LEN),
		  ENOENT);
	EXPECT_EQ(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, flush, plain->lkey, src, LEN),
		  ENOENT);
	EXPECT_EQ(advise(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, flush, lkey, dst, LEN), EPERM);
	EXPECT_EQ(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, flush, ro->lkey, dst, LEN),
		  EPERM);
	EXPECT_EQ(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, flush, ro->lkey, dst, LEN), 0);
	EXPECT_EQ(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, flush, lkey, dst, LEN + 1), EFAULT);
	EXPECT_EQ(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, flush, lkey, dst - 1, 2), EFAULT);

	EXPECT_EQ(munmap(dst, LEN), 0);
	EXPECT_EQ(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, flush, lkey, dst, LEN), EFAULT);
	EXPECT_EQ(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, flush, lkey, dst, LEN), 0);
	EXPECT_EQ(advise(dev.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, lkey, dst, LEN), 0);
	map_again(dst, LEN);
out:
	if (plain)
		EXPECT_EQ(ibv_dereg_mr(plain), 0);
	if (ro)
		EXPECT_EQ(ibv_dereg_mr(ro), 0);
	if (pd)
		EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

static const struct tap_test tests[] = {
	{"what it can do", test_caps, NULL},
	{"what is refused", test_refused, NULL},
	{"rights and protection domain change", test_rereg, NULL},
	{"memory that nobody has touched", test_untouched, NULL},
	{"atomics", test_atomics, NULL},
	{"large messages", test_large, NULL},
	{"a region that begins at zero", test_zero_based, NULL},
	{"pages that go and come", test_dontneed, NULL},
	{"copy on write after a fork", test_fork, NULL},
	{"memory that may not be written", test_protect, NULL},
	{"memory that is gone", test_unmap, NULL},
	{"a hole", test_hole, NULL},
	{"shared memory", test_file, "memfd"},
	{"a mapped file", test_file, NULL},
	{"a file that may only be read", test_read_only, NULL},
	{"huge pages", test_huge, NULL},
	{"small pages become a huge one", test_collapse, NULL},
	{"the whole address space", test_implicit, NULL},
	{"memory here and there", test_wander, NULL},
	{"advice", test_advise, NULL},
};

int main(void)
{
	odp_open();
	return odp_main(tests, ARRAY_SIZE(tests), disconnect);
}
