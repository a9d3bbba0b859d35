// SPDX-License-Identifier: GPL-2.0
/*
 * scale [-f] [-p] [-s N]: many objects, and large ones.  The device can have as many as its limits
 * say, one more is refused, and none is slower or lost because of the others.
 *
 * -f: as many objects as the device's limits say.  That takes minutes, and a machine with 6 GiB.
 * -p: also a region with the maximum number of pages (2^24), which is pinned; 6 GiB too.
 * -s N: an Nth of all, for a short run, or for a kernel that searches all mappings of a page for
 * each of them.
 */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs_util.h"

#define PAGE 4096UL
#define LEN (64 * PAGE)
#define DEEP 16384
#define TOO_MANY_SGE 256
#define CHUNK (2UL << 20) /* of memory that is mapped repeatedly */

static struct vu_dev dev;
static struct ibv_mr *mr;
static struct ibv_cq *cq;
static bool full, pages;
static unsigned int share = 1; /* divisor of all numbers */

/**
 * struct kind - objects of one kind
 * @limit: how many the device can have, from struct vu_dev.attr
 * @few: how many to create without -f
 * @create: create number @i, or return NULL
 * @works: check the object; may be NULL
 */
struct kind {
	size_t limit;
	unsigned int few;
	void *(*create)(unsigned int i);
	bool (*works)(void *object, unsigned int i);
	int (*destroy)(void *object);
};

#define LIMIT(field) offsetof(struct ibv_device_attr, field)

static void *new_cq(unsigned int i)
{
	return ibv_create_cq(dev.ctx, 1 + i % 8, NULL, NULL, 0);
}

static int free_cq(void *object)
{
	return ibv_destroy_cq(object);
}

static void *new_srq(unsigned int i)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 1 + i % 8, .max_sge = 1}};

	return ibv_create_srq(dev.pd, &attr);
}

static int free_srq(void *object)
{
	return ibv_destroy_srq(object);
}

static void *new_qp(unsigned int i)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	struct vu_qp *q = calloc(1, sizeof(*q));
	struct vu_addr self;

	(void)i;
	q->qp = ibv_create_qp(dev.pd, &attr);
	if (!q->qp) {
		free(q);
		return NULL;
	}
	/* connected with itself */
	q->psn = i & 0xffffff;
	vu_qp_addr(&dev, q, &self);
	vu_connect(&dev, q, &self, &opts);
	return q;
}

static bool qp_works(void *object, unsigned int i)
{
	struct vu_qp *q = object;
	uint8_t *buf = mr->addr;
	struct ibv_wc wc;

	vu_fill(buf, 64, i);
	return EXPECT_EQ(vu_post_send(q, IBV_WR_RDMA_WRITE, i, IBV_SEND_SIGNALED, mr, buf, 64,
				      (uintptr_t)buf + PAGE, mr->rkey),
			 0) &&
	       vu_wait_wc(cq, &wc, i, IBV_WC_SUCCESS) && EXPECT_EQ(vu_check(buf + PAGE, 64, i), -1);
}

static int free_qp(void *object)
{
	struct vu_qp *q = object;
	int err = ibv_destroy_qp(q->qp);

	free(q);
	return err;
}

/* All of the same memory. */
static void *new_mr(unsigned int i)
{
	return ibv_reg_mr(dev.pd, mr->addr, 1 + i % LEN, VU_RW);
}

static int free_mr(void *object)
{
	return ibv_dereg_mr(object);
}

static uint64_t memory_free(void)
{
	char line[128];
	unsigned long kib = 0;
	FILE *f = fopen("/proc/meminfo", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %lu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib / 1024;
}

/* Create @num of them; if that is the device's limit, one more is refused. */
static void test_kind(const void *arg)
{
	const struct kind *kind = arg;
	unsigned int limit = *(const int *)((const uint8_t *)&dev.attr + kind->limit);
	unsigned int few = kind->few / share;
	unsigned int want = full || few > limit ? limit : few, num = 0, i;
	void **objects = calloc(want + 1, sizeof(*objects));
	uint64_t start = vu_now(), memory = memory_free(), created;

	while (num <= want && (objects[num] = kind->create(num)))
		num++;
	created = vu_now();
	/* objects of the driver itself, and of this test, count too */
	if (want < limit)
		EXPECT_EQ(num, want + 1);
	else
		EXPECT(num <= limit && num + 64 >= limit && errno == ENOMEM);
	tap_diag("%u of %u: %llu ms, %lld MiB of the machine's memory", num, limit,
		 (unsigned long long)(created - start), (long long)(memory - memory_free()));
	for (i = 0; kind->works && i < num && !tap_failed(); i += 1 + i / 16)
		kind->works(objects[i], i);
	/* from both ends */
	for (i = 0; i < num; i++)
		EXPECT_EQ(kind->destroy(objects[i % 2 ? num - 1 - i / 2 : i / 2]), 0);
	tap_diag("destroyed: %llu ms", (unsigned long long)(vu_now() - created));
	free(objects);
}

/* A queue is filled to the last entry before anything is polled. */
static void test_deep(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct vu_qp a, b = {};
	struct ibv_wc wc;
	int i;

	(void)arg;
	opts.send_wr = opts.recv_wr = DEEP;
	if (!vu_qp_create(&dev, &a, &opts) || !vu_qp_create(&dev, &b, &opts) ||
	    !vu_connect_pair(&dev, &a, &b, &opts))
		goto out;
	EXPECT(a.cap.max_send_wr >= DEEP && a.cap.max_recv_wr >= DEEP && a.scq->cqe >= DEEP);
	for (i = 0; i < DEEP; i++)
		if (!EXPECT_EQ(vu_post_recv(&b, i, mr, mr->addr, 64), 0))
			goto out;
	for (i = 0; i < DEEP; i++)
		if (!EXPECT_EQ(vu_post_send(&a, IBV_WR_SEND, i, IBV_SEND_SIGNALED, mr, mr->addr, 64,
					    0, 0),
			       0))
			goto out;
	for (i = 0; i < DEEP; i++)
		if (!vu_wait_wc(a.scq, &wc, i, IBV_WC_SUCCESS) ||
		    !vu_wait_wc(b.rcq, &wc, i, IBV_WC_SUCCESS))
			break;
out:
	vu_qp_destroy(&a);
	vu_qp_destroy(&b);
}

/* Map @len bytes of addresses to the same memory, of CHUNK bytes; NULL on failure. */
static uint8_t *map_again(size_t len)
{
	int fd = memfd_create("scale", 0);
	uint8_t *buf =
		mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t at;

	if (!EXPECT(fd >= 0) || !EXPECT(buf != MAP_FAILED) || !EXPECT_EQ(ftruncate(fd, CHUNK), 0))
		return NULL;
	for (at = 0; at < len; at += CHUNK)
		if (!EXPECT(mmap(buf + at, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
				 fd, 0) != MAP_FAILED))
			return NULL;
	close(fd);
	return buf;
}

/*
 * Data that are written to one of the region's addresses are read at another one with the same
 * memory.
 */
static void write_region(struct ibv_mr *region, size_t to, size_t from, struct vu_qp *q)
{
	uint8_t *buf = region->addr, *local = mr->addr;
	struct ibv_wc wc;

	vu_fill(local, PAGE, to);
	EXPECT_EQ(vu_post_send(q, IBV_WR_RDMA_WRITE, 1, IBV_SEND_SIGNALED, mr, local, PAGE,
			       (uintptr_t)buf + to, region->rkey),
		  0);
	vu_wait_wc(q->scq, &wc, 1, IBV_WC_SUCCESS);
	EXPECT_EQ(vu_check(buf + to, PAGE, to), -1);
	EXPECT_EQ(vu_post_send(q, IBV_WR_RDMA_READ, 2, IBV_SEND_SIGNALED, mr, local + 2 * PAGE,
			       PAGE, (uintptr_t)buf + from, region->rkey),
		  0);
	vu_wait_wc(q->scq, &wc, 2, IBV_WC_SUCCESS);
	EXPECT_EQ(vu_check(local + 2 * PAGE, PAGE, to), -1);
}

/* A region of so many pages, all of them different entries of its table. */
static void test_region(const void *arg)
{
	size_t len = (pages ? 1UL << 24 : *(const unsigned int *)arg / share) * PAGE;
	struct vu_qp_opts opts = VU_QP_OPTS;
	uint64_t start = vu_now();
	uint8_t *buf = map_again(len);
	struct ibv_mr *region;
	struct vu_qp a, b = {};

	if (!buf)
		return;
	region = ibv_reg_mr(dev.pd, buf, len, VU_RW);
	if (!EXPECT(region))
		return;
	tap_diag("%zu MiB registered: %llu ms", len >> 20, (unsigned long long)(vu_now() - start));
	if (vu_qp_create(&dev, &a, &opts) && vu_qp_create(&dev, &b, &opts) &&
	    vu_connect_pair(&dev, &a, &b, &opts)) {
		write_region(region, 0, len - CHUNK, &a);
		write_region(region, len - PAGE, CHUNK - PAGE, &a);
		write_region(region, len / 2 + 3 * PAGE, len / 4 + 3 * PAGE, &a);
		write_region(region, len / 3 / CHUNK * CHUNK + 77, 77, &a);
	}
	vu_qp_destroy(&a);
	vu_qp_destroy(&b);
	EXPECT_EQ(ibv_dereg_mr(region), 0);
	munmap(buf, len);
}

/* Lists longer than the device's limit, when a queue is created and when a request is posted. */
static void test_lists(const void *arg)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 1, .max_sge = TOO_MANY_SGE}};
	struct ibv_sge sge[TOO_MANY_SGE];
	struct ibv_send_wr wr = {.sg_list = sge, .num_sge = TOO_MANY_SGE, .opcode = IBV_WR_SEND};
	struct ibv_recv_wr recv = {.sg_list = sge, .num_sge = TOO_MANY_SGE}, *bad_recv;
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_send_wr *bad;
	struct vu_qp q, peer = {};
	int i;

	(void)arg;
	for (i = 0; i < 2; i++) {
		struct ibv_qp_init_attr attr = {
			.send_cq = cq,
			.recv_cq = cq,
			.cap = {1, 1, i ? TOO_MANY_SGE : 1, i ? 1 : TOO_MANY_SGE, 0},
			.qp_type = IBV_QPT_RC,
		};

		EXPECT_NULL(ibv_create_qp(dev.pd, &attr), EINVAL);
	}
	EXPECT_NULL(ibv_create_srq(dev.pd, &srq), EINVAL);
	for (i = 0; i < TOO_MANY_SGE; i++)
		sge[i] = (struct ibv_sge){(uintptr_t)mr->addr, 1, mr->lkey};
	opts.send_sge = dev.attr.max_sge;
	opts.recv_sge = dev.attr.max_sge;
	if (vu_qp_create(&dev, &q, &opts) && vu_qp_create(&dev, &peer, &opts) &&
	    vu_connect_pair(&dev, &q, &peer, &opts)) {
		EXPECT_EQ(ibv_post_send(q.qp, &wr, &bad), EINVAL);
		EXPECT(bad == &wr);
		EXPECT_EQ(ibv_post_recv(q.qp, &recv, &bad_recv), EINVAL);
		EXPECT(bad_recv == &recv);
	}
	vu_qp_destroy(&q);
	vu_qp_destroy(&peer);
}

static const struct kind cqs = {LIMIT(max_cq), 4000, new_cq, NULL, free_cq};
static const struct kind srqs = {LIMIT(max_srq), 4000, new_srq, NULL, free_srq};
static const struct kind qps = {LIMIT(max_qp), 4000, new_qp, qp_works, free_qp};
static const struct kind mrs = {LIMIT(max_mr), 40000, new_mr, NULL, free_mr};
static const unsigned int some_pages = 1 << 19;

static const struct tap_test tests[] = {
	{"completion queues", test_kind, &cqs},
	{"shared receive queues", test_kind, &srqs},
	{"queue pairs, connected", test_kind, &qps},
	{"memory regions", test_kind, &mrs},
	{"queues of 16384 entries, filled", test_deep, NULL},
	{"a region of many pages", test_region, &some_pages},
	{"lists of 256 elements are refused", test_lists, NULL},
};

int main(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "fps:")) != -1) {
		if (opt == '?')
			return 2;
		full |= opt == 'f';
		pages |= opt == 'p';
		share = opt == 's' ? strtoul(optarg, NULL, 10) : share;
	}
	if (!share)
		return 2;
	vu_open(&dev);
	mr = vu_alloc_mr(&dev, LEN);
	cq = ibv_create_cq(dev.ctx, 64, NULL, NULL, 0);
	if (!cq)
		tap_bail("no CQ");
	opt = tap_run(tests, ARRAY_SIZE(tests));
	tap_begin();
	EXPECT_EQ(ibv_destroy_cq(cq), 0);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
	vu_close(&dev);
	return tap_failed() ? TAP_FAIL : opt;
}
