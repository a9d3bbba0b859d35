// SPDX-License-Identifier: GPL-2.0
/*
 * Small queues share pages: the kernel pins and counts a page once, for as long as one of its
 * queues exists.  The pages are those of the process that created the queues.
 */

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "verbs_util.h"

#define NUM 64 /* even: of each kind of object */
#define LEN 64 /* bytes of a message */

static struct vu_dev dev;
static struct ibv_mr *mr;

/* Bytes of this process that are pinned; the kernel shows KiB. */
static unsigned long pinned(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	bool found = false;
	char line[256];

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "VmPin: %lu", &kib) == 1;
	if (!found)
		tap_bail("/proc/self/status does not show VmPin");
	fclose(f);
	return kib * 1024;
}

static const struct vu_qp_opts *small(void)
{
	static struct vu_qp_opts opts = VU_QP_OPTS;

	opts.send_wr = 1;
	opts.recv_wr = 1;
	return &opts;
}

/* A message from @a to @b, and the completions of both sides */
static bool works(struct vu_qp *a, struct vu_qp *b, uint64_t id)
{
	uint8_t *src = mr->addr, *dst = src + LEN;
	struct ibv_wc wc;

	vu_fill(src, LEN, id);
	memset(dst, 0, LEN);
	return EXPECT_EQ(vu_post_recv(b, id, mr, dst, LEN), 0) &&
	       EXPECT_EQ(vu_post_send(a, IBV_WR_SEND, id, IBV_SEND_SIGNALED, mr, src, LEN, 0, 0),
			 0) &&
	       vu_wait_wc(a->scq, &wc, id, IBV_WC_SUCCESS) &&
	       vu_wait_wc(b->rcq, &wc, id, IBV_WC_SUCCESS) && EXPECT_EQ(vu_check(dst, LEN, id), -1);
}

static bool both_work(struct vu_qp *pair, uint64_t id)
{
	return works(&pair[0], &pair[1], id) && works(&pair[1], &pair[0], id + 1);
}

static bool pair_up(struct vu_qp *pair)
{
	return vu_qp_create(&dev, &pair[0], small()) && vu_qp_create(&dev, &pair[1], small()) &&
	       vu_connect_pair(&dev, &pair[0], &pair[1], small());
}

static void pair_down(struct vu_qp *pair)
{
	vu_qp_destroy(&pair[0]);
	vu_qp_destroy(&pair[1]);
}

/* Queues, each of which is smaller than half a page, take as many pages as their bytes need. */
static void test_counted_once(const void *arg)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 1, .max_sge = 1}};
	unsigned long before = pinned(), most = 0;
	struct ibv_srq *srqs[NUM];
	struct ibv_cq *cqs[NUM];
	struct vu_qp qps[NUM];
	unsigned int i;

	(void)arg;
	for (i = 0; i < NUM; i++) {
		cqs[i] = ibv_create_cq(dev.ctx, 1, NULL, NULL, 0);
		srqs[i] = ibv_create_srq(dev.pd, &attr);
		if (!EXPECT(cqs[i]) || !EXPECT(srqs[i]) || !vu_qp_create(&dev, &qps[i], small()))
			return;
	}
	most = pinned();
	/* Each QP has two CQs of its own. */
	printf("# %u queues: %lu KiB are pinned\n", 5 * NUM, (most - before) / 1024);
	EXPECT(most > before);
	EXPECT(most - before <= 5 * NUM * VU_PAGE / 4);
	for (i = 0; i < NUM; i++) {
		vu_qp_destroy(&qps[i]);
		EXPECT_EQ(ibv_destroy_srq(srqs[i]), 0);
		EXPECT_EQ(ibv_destroy_cq(cqs[i]), 0);
	}
	EXPECT_EQ(pinned(), before);
}

/* Queues go, in any order, and those beside them work. */
static void test_neighbors(const void *arg)
{
	unsigned long before = pinned();
	struct vu_qp pairs[NUM / 2][2];
	unsigned int i, step;

	(void)arg;
	for (i = 0; i < NUM / 2; i++)
		if (!pair_up(pairs[i]))
			return;
	/* All but each second one go, then all but each fourth one, up to the last one. */
	for (step = 1; step < NUM / 2; step *= 2) {
		for (i = step; i < NUM / 2; i += 2 * step)
			pair_down(pairs[i]);
		for (i = 0; i < NUM / 2; i += 2 * step)
			if (!both_work(pairs[i], 2 * i))
				return;
	}
	EXPECT(pinned() > before);
	pair_down(pairs[0]);
	EXPECT_EQ(pinned(), before);
}

/* A place in a page is used again, while others in it have been used all the time. */
static void test_again(const void *arg)
{
	struct vu_qp first[2], pair[2];
	unsigned long before;
	int i;

	(void)arg;
	if (!pair_up(first))
		return;
	before = pinned();
	for (i = 0; i < NUM; i++) {
		if (!pair_up(pair) || !both_work(pair, 4 * i) || !both_work(first, 4 * i + 2))
			return;
		pair_down(pair);
	}
	EXPECT_EQ(pinned(), before);
	pair_down(first);
}

/* CQs and SRQs that grow out of a page, and into one again */
static void test_resize(const void *arg)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_srq_attr large = {.max_wr = 1000}, little = {.max_wr = 1};
	struct ibv_cq *cq = ibv_create_cq(dev.ctx, 1, NULL, NULL, 0);
	struct ibv_srq *srq = ibv_create_srq(dev.pd, &attr);
	unsigned long before;
	int i;

	(void)arg;
	if (!EXPECT(cq) || !EXPECT(srq))
		return;
	for (i = 0; i < 3; i++) {
		before = pinned();
		EXPECT_EQ(ibv_resize_cq(cq, 1000), 0);
		EXPECT_EQ(ibv_modify_srq(srq, &large, IBV_SRQ_MAX_WR), 0);
		EXPECT(pinned() > before);
		EXPECT_EQ(ibv_resize_cq(cq, 1), 0);
		EXPECT_EQ(ibv_modify_srq(srq, &little, IBV_SRQ_MAX_WR), 0);
		EXPECT(pinned() <= before + 2 * VU_PAGE);
	}
	EXPECT_EQ(ibv_destroy_srq(srq), 0);
	EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

/* Queues of a child that has this process's context; their messages are in its own memory, too. */
static bool child_works(void)
{
	struct ibv_mr *old = mr;
	struct vu_qp pair[2];
	bool ok;

	mr = vu_alloc_mr(&dev, VU_PAGE);
	ok = pair_up(pair) && both_work(pair, 3);
	if (ok)
		pair_down(pair);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
	mr = old;
	return ok && EXPECT_EQ(pinned(), 0);
}

/*
 * A child has its own copy of the pages.  Its queues are in these, at addresses that the parent's
 * queues have, too.
 */
static void test_child(const void *arg)
{
	unsigned long before = pinned();
	struct vu_qp pair[2];
	int status;
	pid_t pid;

	(void)arg;
	if (!dev.is_ohca) {
		tap_skip("the child of another device's process can't use it");
		return;
	}
	if (!pair_up(pair) || !both_work(pair, 1))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		status = !child_works() || tap_failed();
		fflush(stdout);
		_exit(status);
	}
	if (!EXPECT(pid > 0))
		return;
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	both_work(pair, 5);
	pair_down(pair);
	EXPECT_EQ(pinned(), before);
}

static const struct tap_test tests[] = {
	{"queues in a page pin it once", test_counted_once, NULL},
	{"queues go, and those beside them work", test_neighbors, NULL},
	{"a place in a page is used again", test_again, NULL},
	{"queues change their size", test_resize, NULL},
	{"a child's queues are in its own pages", test_child, NULL},
};

int main(void)
{
	vu_open(&dev);
	mr = vu_alloc_mr(&dev, VU_PAGE);
	return vu_main(&dev, mr, tests, ARRAY_SIZE(tests), NULL);
}
