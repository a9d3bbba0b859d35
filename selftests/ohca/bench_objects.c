// SPDX-License-Identifier: GPL-2.0
/*
 * bench_objects [-q]: what objects cost in time and memory, and what many queue pairs cost those
 * that work.  One machine, all by itself; each figure is a line "NAME=VALUE ..." for tools/bench.
 *
 * -q: fewer of all.
 */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "verbs_util.h"

#define KIB 1024UL
#define MIB (1024 * KIB)
#define CHUNK (16 * MIB) /* of memory that is mapped again and again in a region longer than it */
#define MAX_SAMPLES 201
#define SAMPLE_NS 3e8 /* a figure has as many samples as fit, but three at least */
#define MESSAGE 64
#define WINDOW 64 /* messages under way */

static struct vu_dev dev;
static unsigned int most = 10000; /* queue pairs */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/**
 * struct samples - of one figure, in nanoseconds
 */
struct samples {
	double v[MAX_SAMPLES];
	unsigned int num;
	double sum;
};

static void add(struct samples *s, double ns)
{
	s->v[s->num++] = ns;
	s->sum += ns;
}

static bool enough(const struct samples *s)
{
	return s->num == MAX_SAMPLES || (s->num >= 3 && s->sum > SAMPLE_NS);
}

static void report(const char *what, unsigned long size, struct samples *s)
{
	qsort(s->v, s->num, sizeof(s->v[0]), compare);
	printf("row=objects what=%s size=%lu unit=us value=%.3f\n", what, size,
	       s->v[s->num / 2] / 1e3);
	fflush(stdout);
}

static void *must(void *p, const char *what)
{
	if (!p)
		tap_bail("%s: %s", what, strerror(errno));
	return p;
}

/* @len bytes of memory, of which a chunk repeats. */
static void *map_chunks(int fd, size_t len)
{
	char *base = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t pos;

	if (base == MAP_FAILED)
		return NULL;
	for (pos = 0; pos < len; pos += CHUNK) {
		size_t part = len - pos < CHUNK ? len - pos : CHUNK;

		if (mmap(base + pos, part, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
		    MAP_FAILED)
			return NULL;
	}
	return base;
}

static void regions(void)
{
	static const size_t sizes[] = {4 * KIB, 64 * KIB, MIB, 16 * MIB, 256 * MIB, 1024 * MIB};
	int fd = memfd_create("bench", 0);
	unsigned int i;

	if (fd < 0 || ftruncate(fd, CHUNK))
		tap_bail("no memory");
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		void *buf = must(map_chunks(fd, sizes[i]), "mmap");
		struct samples reg = {0}, dereg = {0};

		while (!enough(&reg)) {
			double start = now(), made;
			struct ibv_mr *mr = ibv_reg_mr(dev.pd, buf, sizes[i], VU_RW);

			must(mr, "ibv_reg_mr");
			made = now();
			if (ibv_dereg_mr(mr))
				tap_bail("ibv_dereg_mr");
			add(&reg, made - start);
			add(&dereg, now() - made);
		}
		report("reg_mr", sizes[i], &reg);
		report("dereg_mr", sizes[i], &dereg);
		munmap(buf, sizes[i]);
	}
	close(fd);
}

static void cqs(void)
{
	struct samples create = {0}, destroy = {0};

	while (!enough(&create)) {
		double start = now(), made;
		struct ibv_cq *cq = must(ibv_create_cq(dev.ctx, 128, NULL, NULL, 0), "CQ");

		made = now();
		if (ibv_destroy_cq(cq))
			tap_bail("ibv_destroy_cq");
		add(&create, made - start);
		add(&destroy, now() - made);
	}
	report("create_cq", 128, &create);
	report("destroy_cq", 128, &destroy);
}

static struct vu_qp_opts small_qp(struct ibv_cq *cq)
{
	struct vu_qp_opts opts = VU_QP_OPTS;

	opts.send_cq = cq;
	opts.recv_cq = cq;
	opts.send_wr = 4;
	opts.recv_wr = 1;
	return opts;
}

/* Creation of a QP and all its transitions, towards another one. */
static void qps(struct ibv_cq *cq)
{
	struct vu_qp_opts opts = small_qp(cq);
	struct samples rts = {0}, destroy = {0};
	struct vu_addr to = {0};
	struct vu_qp a, peer;

	if (!vu_qp_create(&dev, &peer, &opts))
		tap_bail("no QP");
	vu_qp_addr(&dev, &peer, &to);
	while (!enough(&rts)) {
		double start = now(), made;

		if (!vu_qp_create(&dev, &a, &opts) || !vu_connect(&dev, &a, &to, &opts))
			tap_bail("no connected QP");
		made = now();
		vu_qp_destroy(&a);
		add(&rts, made - start);
		add(&destroy, now() - made);
	}
	vu_qp_destroy(&peer);
	report("qp_to_rts", 0, &rts);
	report("destroy_qp", 0, &destroy);
}

/* The value in KiB of a line of a file in /proc. */
static double proc_kib(const char *path, const char *name)
{
	FILE *f = must(fopen(path, "r"), path);
	char line[128];
	double kib = 0;

	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, name, strlen(name)))
			kib = atof(line + strlen(name));
	}
	fclose(f);
	return kib;
}

/**
 * struct memory - that is in use
 * @kernel: by the kernel's objects
 * @process: by this program, its queues included
 */
struct memory {
	double kernel, process;
};

static struct memory memory_now(void)
{
	return (struct memory){
		.kernel = 1024 * proc_kib("/proc/meminfo", "SUnreclaim:"),
		.process = 1024 * (proc_kib("/proc/self/status", "RssAnon:") +
				   proc_kib("/proc/self/status", "RssShmem:")),
	};
}

static void report_memory(const char *what, unsigned int num, const struct memory *before)
{
	struct memory after = memory_now();

	printf("row=objects what=%s_process size=0 unit=B value=%.0f\n", what,
	       (after.process - before->process) / num);
	printf("row=objects what=%s_kernel size=0 unit=B value=%.0f\n", what,
	       (after.kernel - before->kernel) / num);
}

/* Messages of the first @active of the QPs, a window of them under way: @num in all. */
static double traffic(struct vu_qp *qp, unsigned int active, struct ibv_cq *cq, struct ibv_mr *mr,
		      unsigned int num)
{
	unsigned int sent = 0, done = 0;
	double start = now();
	struct ibv_wc wc[16];
	int i, n;

	while (done < num) {
		/* At most two of one QP, if there are few. */
		for (; sent < num && sent - done < WINDOW && sent - done < 2 * active; sent++) {
			if (vu_post_send(&qp[sent % active], IBV_WR_RDMA_WRITE, 0,
					 IBV_SEND_SIGNALED, mr, mr->addr, MESSAGE,
					 (uintptr_t)mr->addr, mr->rkey))
				tap_bail("ibv_post_send");
		}
		n = ibv_poll_cq(cq, 16, wc);
		for (i = 0; i < n; i++) {
			if (wc[i].status)
				tap_bail("status %d", wc[i].status);
		}
		done += n;
	}
	return num / (now() - start) * 1e3;
}

/* @num connected QPs, of which some send to each other. */
static void many(struct ibv_cq *cq, struct ibv_mr *mr, unsigned int num, unsigned int messages)
{
	struct vu_qp *qp = must(calloc(num, sizeof(*qp)), "memory");
	unsigned int active[] = {1, 10, num}, i;
	struct vu_qp_opts opts = small_qp(cq);
	struct memory before = memory_now();

	for (i = 0; i < num; i += 2) {
		if (!vu_qp_create(&dev, &qp[i], &opts) || !vu_qp_create(&dev, &qp[i + 1], &opts) ||
		    !vu_connect_pair(&dev, &qp[i], &qp[i + 1], &opts))
			tap_bail("no QP %u", i);
	}
	if (num >= 1000)
		report_memory("qp", num, &before);
	for (i = 0; i < 3; i++) {
		if (active[i] > num || (i == 2 && num <= 10))
			continue;
		traffic(qp, active[i], cq, mr, active[i]);
		printf("row=qps what=connected_%u_active_%u size=%u unit=Mmsg/s value=%.4f\n", num,
		       active[i], MESSAGE, traffic(qp, active[i], cq, mr, messages));
		fflush(stdout);
	}
	for (i = 0; i < num; i++)
		vu_qp_destroy(&qp[i]);
	free(qp);
}

int main(int argc, char **argv)
{
	unsigned int num, messages = 20000;
	struct ibv_mr *mr;
	struct ibv_cq *cq;

	if (argc > 1 && !strcmp(argv[1], "-q")) {
		most = 1000;
		messages = 4000;
	}
	vu_open(&dev);
	mr = vu_alloc_mr(&dev, 4096);
	cq = must(ibv_create_cq(dev.ctx, 2 * WINDOW, NULL, NULL, 0), "CQ");
	regions();
	cqs();
	qps(cq);
	for (num = 2; num <= most; num = num == 2 ? 10 : num * 10)
		many(cq, mr, num, messages);
	ibv_destroy_cq(cq);
	ibv_dereg_mr(mr);
	vu_close(&dev);
	return 0;
}
