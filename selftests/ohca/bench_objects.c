// SPDX-License-Identifier: GPL-2.0
/*
 * bench_objects times DEVICE...; bench_objects [-q] numbers DEVICE: measures the cost of objects,
 * in one machine.  Each figure is a line "NAME=VALUE ..." for tools/bench.
 *
 * times: the times of regions, CQs and QPs.  The devices alternate every few milliseconds, so that
 * changes of the host's speed affect all of them.  Also prints the factor by which the first device
 * is faster than the second one, from neighbouring intervals.
 * numbers: memory of many queue pairs, and traffic of some of them; messages of many regions
 * DEVICE: NAME/ADDRESS, an IPv4 address of its port
 * -q: smaller numbers
 */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench_util.h"

#define KIB 1024UL
#define PAGE (4 * KIB)
#define MIB (1024 * KIB)
#define CHUNK (16 * MIB) /* of memory that is mapped repeatedly in a longer region */
#define MAX_SAMPLES 1000
#define TURN_NS 5e6 /* time of a device until the next one continues */
#define ROUNDS_NS 1e9 /* total time of these turns, three rounds at least */
#define MAX_PLACES 4
#define CQ_SIZE 128
#define MANY_CQS 1000
#define MESSAGE 64
#define WINDOW 64 /* messages under way */
#define EACH 2 /* of one QP */
#define REGION_WINDOW 32 /* messages between many regions under way */

static struct vu_dev dev; /* of numbers */
static unsigned int most = 10000; /* number of queue pairs */
static unsigned int most_regions = 100000;
static int memfd; /* of CHUNK bytes */

/**
 * struct samples - samples of one figure, such as nanoseconds
 */
struct samples {
	double v[MAX_SAMPLES];
	unsigned int num;
};

static void add(struct samples *s, double v)
{
	s->v[s->num++] = v;
}

static double median(struct samples *s)
{
	return bench_median(s->v, s->num);
}

/* Map @len bytes of memory, in which a chunk repeats. */
static void *map_chunks(size_t len)
{
	char *base = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t pos;

	if (base == MAP_FAILED)
		return NULL;
	for (pos = 0; pos < len; pos += CHUNK) {
		size_t part = len - pos < CHUNK ? len - pos : CHUNK;

		if (mmap(base + pos, part, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memfd,
			 0) == MAP_FAILED)
			return NULL;
	}
	return base;
}

/**
 * struct times - times of an operation on a device
 * @turn: of this turn
 * @turns: the medians of all turns
 */
struct times {
	struct samples turn, turns;
};

/**
 * struct place - one of the alternating devices
 * @cq: of its QPs, to one of which, @peer, at @to all others are connected
 * @made, @ended: times of creating and destroying
 */
struct place {
	struct vu_dev dev;
	struct ibv_cq *cq;
	struct vu_qp peer;
	struct vu_addr to;
	struct times made, ended;
};

static struct place places[MAX_PLACES];
static unsigned int num_places;

/**
 * struct thing - an object whose creation and destruction are measured
 * @make: create one, and @end destroys it
 * @size: in bytes, or entries
 * @buf: of regions
 */
struct thing {
	const char *make_name, *end_name;
	void *(*make)(struct place *p, const struct thing *thing);
	int (*end)(void *object);
	size_t size;
	void *buf;
};

static void make_and_end(struct place *p, const struct thing *thing)
{
	double start = bench_now(), made;
	void *object = bench_must(thing->make(p, thing), thing->make_name);

	made = bench_now();
	if (thing->end(object))
		tap_bail("%s", thing->end_name);
	add(&p->made.turn, made - start);
	add(&p->ended.turn, bench_now() - made);
}

static void end_turn(struct times *t)
{
	add(&t->turns, median(&t->turn));
	t->turn.num = 0;
}

static void turn(struct place *p, const struct thing *thing)
{
	double start = bench_now();

	do {
		make_and_end(p, thing);
	} while (bench_now() - start < TURN_NS && p->made.turn.num < MAX_SAMPLES);
	end_turn(&p->made);
	end_turn(&p->ended);
}

/* The factor by which @second took longer in a turn than @first in the turn before */
static double times_faster(const struct times *first, const struct times *second)
{
	struct samples s = {0};
	unsigned int i;

	for (i = 0; i < first->turns.num; i++)
		add(&s, second->turns.v[i] / first->turns.v[i]);
	return median(&s);
}

static void report_times_faster(const char *what, size_t size, const struct times *first,
				const struct times *second)
{
	bench_figure(&places[0].dev, times_faster(first, second),
		     "row=objects what=%s size=%zu unit=times", what, size);
}

/* Called after all functions that need the turns in their order */
static void report(const struct place *p, const char *what, size_t size, struct times *t)
{
	bench_figure(&p->dev, median(&t->turns) / 1e3, "row=objects what=%s size=%zu unit=us", what,
		     size);
}

static void measure(const struct thing *thing)
{
	struct place *p, *first = &places[0], *second = &places[1];
	double start = bench_now();
	unsigned int round;

	for (p = places; p < places + num_places; p++)
		p->made.turns.num = p->ended.turns.num = 0;
	for (round = 0; round < 3 || (round < MAX_SAMPLES && bench_now() - start < ROUNDS_NS);
	     round++) {
		for (p = places; p < places + num_places; p++)
			turn(p, thing);
	}
	if (num_places > 1) {
		report_times_faster(thing->make_name, thing->size, &first->made, &second->made);
		report_times_faster(thing->end_name, thing->size, &first->ended, &second->ended);
	}
	for (p = places; p < places + num_places; p++) {
		report(p, thing->make_name, thing->size, &p->made);
		report(p, thing->end_name, thing->size, &p->ended);
	}
}

static void *make_region(struct place *p, const struct thing *thing)
{
	return ibv_reg_mr(p->dev.pd, thing->buf, thing->size, VU_RW);
}

static int end_region(void *mr)
{
	return ibv_dereg_mr(mr);
}

static void regions(void)
{
	static const size_t sizes[] = {4 * KIB, 64 * KIB, MIB, 16 * MIB, 256 * MIB, 1024 * MIB};
	unsigned int i;

	/*
	 * The smallest ones last: at first, the other machine polls often for the end of this
	 * program.
	 */
	for (i = sizeof(sizes) / sizeof(sizes[0]); i--;) {
		void *buf = bench_must(map_chunks(sizes[i]), "mmap");
		struct thing region = {"reg_mr",   "dereg_mr", make_region,
				       end_region, sizes[i],   buf};

		measure(&region);
		munmap(buf, sizes[i]);
	}
}

static void *make_cq(struct place *p, const struct thing *thing)
{
	return ibv_create_cq(p->dev.ctx, thing->size, NULL, NULL, 0);
}

static int end_cq(void *cq)
{
	return ibv_destroy_cq(cq);
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

/* Create a QP and move it through all transitions, connected to the peer. */
static void *make_qp(struct place *p, const struct thing *thing)
{
	static struct vu_qp qp;
	struct vu_qp_opts opts = small_qp(p->cq);

	(void)thing;
	if (!vu_qp_create(&p->dev, &qp, &opts) || !vu_connect(&p->dev, &qp, &p->to, &opts))
		return NULL;
	return &qp;
}

static int end_qp(void *qp)
{
	vu_qp_destroy(qp);
	return tap_failed();
}

/* Returns the value in KiB of a line of a file in /proc. */
static double proc_kib(const char *path, const char *name)
{
	FILE *f = bench_must(fopen(path, "r"), path);
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
 * struct memory - memory in use
 * @kernel: by the kernel's objects
 * @process: by this program, including its queues
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

	bench_figure(&dev, (after.process - before->process) / num,
		     "row=objects what=%s_process size=0 unit=B", what);
	bench_figure(&dev, (after.kernel - before->kernel) / num,
		     "row=objects what=%s_kernel size=0 unit=B", what);
}

/* Memory of CQs */
static void cq_memory(void)
{
	struct ibv_cq *cq[MANY_CQS];
	struct memory before = memory_now();
	unsigned int i;

	for (i = 0; i < MANY_CQS; i++)
		cq[i] = bench_must(ibv_create_cq(dev.ctx, CQ_SIZE, NULL, NULL, 0), "CQ");
	report_memory("cq", MANY_CQS, &before);
	for (i = 0; i < MANY_CQS; i++)
		ibv_destroy_cq(cq[i]);
}

/*
 * Wait for completions; decrements the QP's number of messages under way for each.  Returns their
 * number.
 */
static unsigned int take(struct ibv_cq *cq, unsigned char *under_way)
{
	struct ibv_wc wc[16];
	int i, n = ibv_poll_cq(cq, 16, wc);

	if (n < 0)
		tap_bail("ibv_poll_cq");
	for (i = 0; i < n; i++) {
		if (wc[i].status)
			tap_bail("%s", ibv_wc_status_str(wc[i].status));
		under_way[wc[i].wr_id]--;
	}
	return n;
}

/* Send @num messages in all over the first @active of the QPs, with a window of them under way. */
static double traffic(struct vu_qp *qp, unsigned int active, struct ibv_cq *cq, struct ibv_mr *mr,
		      unsigned int num)
{
	unsigned char *under_way = bench_must(calloc(active, 1), "memory");
	unsigned int sent = 0, done = 0, at = 0;
	double start = bench_now();

	while (done < num) {
		/*
		 * Whether the next QP has its maximum under way; it may be slower than the others.
		 */
		while (sent < num && sent - done < WINDOW && under_way[at] < EACH) {
			if (vu_post_send(&qp[at], IBV_WR_RDMA_WRITE, at, IBV_SEND_SIGNALED, mr,
					 mr->addr, MESSAGE, (uintptr_t)mr->addr, mr->rkey))
				tap_bail("ibv_post_send");
			under_way[at]++;
			at = (at + 1) % active;
			sent++;
		}
		done += take(cq, under_way);
	}
	free(under_way);
	return num / (bench_now() - start) * 1e3;
}

/* Connect @num QPs, some of which send to each other. */
static void many(struct ibv_cq *cq, struct ibv_mr *mr, unsigned int num, unsigned int messages)
{
	struct vu_qp *qp = bench_must(calloc(num, sizeof(*qp)), "memory");
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
		bench_figure(&dev, traffic(qp, active[i], cq, mr, messages),
			     "row=qps what=connected_%u_active_%u size=%u unit=Mmsg/s", num,
			     active[i], MESSAGE);
	}
	for (i = 0; i < num; i++)
		vu_qp_destroy(&qp[i]);
	free(qp);
}

/* Which regions a message uses */
enum pick {
	FIRST,
	LAST,
	RANDOM,
	PICKS
};

static unsigned int pick_region(enum pick pick, unsigned int num)
{
	if (pick == RANDOM)
		return random() % num;
	return pick == FIRST ? 0 : num - 1;
}

/*
 * Send @messages of a QP, each from a region of @mr to another one.  Returns millions per second.
 */
static double region_traffic(struct vu_qp *qp, struct ibv_cq *cq, struct ibv_mr **mr,
			     unsigned int num, enum pick pick, unsigned int messages)
{
	unsigned int sent = 0, done = 0;
	unsigned char under_way = 0;
	double start = bench_now();

	while (done < messages) {
		for (; sent < messages && under_way < REGION_WINDOW; sent++, under_way++) {
			struct ibv_mr *from = mr[pick_region(pick, num)];
			struct ibv_mr *to = mr[pick_region(pick, num)];

			if (vu_post_send(qp, IBV_WR_RDMA_WRITE, 0, IBV_SEND_SIGNALED, from,
					 from->addr, MESSAGE, (uintptr_t)to->addr, to->rkey))
				tap_bail("ibv_post_send");
		}
		done += take(cq, &under_way);
	}
	return messages / (bench_now() - start) * 1e3;
}

/* Register @num regions of a page: cost of one more, and messages between them. */
static void many_regions(struct vu_qp *qp, struct ibv_cq *cq, unsigned int num,
			 unsigned int messages)
{
	static const char *const names[PICKS] = {"first", "last", "random"};
	struct ibv_mr **mr = bench_must(calloc(num, sizeof(struct ibv_mr *)), "memory");
	char *pages = bench_must(map_chunks(CHUNK), "mmap");
	struct memory before = memory_now();
	struct samples reg = {0};
	unsigned int i, pick;

	for (i = 0; i < num; i++) {
		double start = bench_now();

		mr[i] = ibv_reg_mr(dev.pd, pages + i * PAGE % CHUNK, PAGE, VU_RW);
		if (!bench_must(mr[i], "ibv_reg_mr") || i + MAX_SAMPLES < num)
			continue;
		add(&reg, bench_now() - start);
	}
	if (num >= 1000)
		report_memory("mr", num, &before);
	/* One region is not measured. */
	if (num > 1)
		bench_figure(&dev, median(&reg) / 1e3,
			     "row=mrs what=reg_mr_number_%u size=%lu unit=us", num, PAGE);
	for (pick = 0; pick < PICKS; pick++) {
		region_traffic(qp, cq, mr, num, pick, messages / 4);
		bench_figure(&dev, region_traffic(qp, cq, mr, num, pick, messages),
			     "row=mrs what=write_%s_of_%u size=%u unit=Mmsg/s", names[pick], num,
			     MESSAGE);
	}
	for (i = 0; i < num; i++) {
		if (ibv_dereg_mr(mr[i]))
			tap_bail("ibv_dereg_mr");
	}
	munmap(pages, CHUNK);
	free(mr);
}

/* From few to as many as there may be. */
static void regions_in_numbers(struct ibv_cq *cq, unsigned int messages)
{
	struct vu_qp_opts opts = small_qp(cq);
	struct vu_qp qp[2];
	unsigned int num;

	opts.send_wr = REGION_WINDOW;
	if (!vu_qp_create(&dev, &qp[0], &opts) || !vu_qp_create(&dev, &qp[1], &opts) ||
	    !vu_connect_pair(&dev, &qp[0], &qp[1], &opts))
		tap_bail("no QPs");
	for (num = 1; num < most_regions; num *= 100)
		many_regions(qp, cq, num, messages);
	many_regions(qp, cq, most_regions, messages);
	vu_qp_destroy(&qp[0]);
	vu_qp_destroy(&qp[1]);
}

static void open_place(struct place *p, const char *device)
{
	struct vu_qp_opts opts;

	bench_open(&p->dev, device);
	p->cq = bench_must(ibv_create_cq(p->dev.ctx, 128, NULL, NULL, 0), "CQ");
	opts = small_qp(p->cq);
	if (!vu_qp_create(&p->dev, &p->peer, &opts))
		tap_bail("no QP");
	vu_qp_addr(&p->dev, &p->peer, &p->to);
}

static void close_place(struct place *p)
{
	vu_qp_destroy(&p->peer);
	ibv_destroy_cq(p->cq);
	vu_close(&p->dev);
}

static void times(char **devices, unsigned int num)
{
	static const struct thing cq = {"create_cq", "destroy_cq", make_cq, end_cq, CQ_SIZE, NULL};
	static const struct thing qp = {"qp_to_rts", "destroy_qp", make_qp, end_qp, 0, NULL};

	for (; num_places < num; num_places++)
		open_place(&places[num_places], devices[num_places]);
	regions();
	measure(&cq);
	measure(&qp);
	while (num_places)
		close_place(&places[--num_places]);
}

static void numbers(const char *device, unsigned int messages)
{
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	unsigned int num;

	bench_open(&dev, device);
	cq = bench_must(ibv_create_cq(dev.ctx, 2 * WINDOW, NULL, NULL, 0), "CQ");
	mr = vu_alloc_mr(&dev, 4096);
	cq_memory();
	for (num = 2; num <= most; num = num == 2 ? 10 : num * 10)
		many(cq, mr, num, messages);
	regions_in_numbers(cq, messages);
	ibv_dereg_mr(mr);
	ibv_destroy_cq(cq);
	vu_close(&dev);
}

int main(int argc, char **argv)
{
	unsigned int messages = 20000;

	if (argc > 1 && !strcmp(argv[1], "-q")) {
		most = 1000;
		most_regions = 10000;
		messages = 4000;
		argc--;
		argv++;
	}
	memfd = memfd_create("bench", 0);
	if (memfd < 0 || ftruncate(memfd, CHUNK))
		tap_bail("no memory");
	if (argc >= 3 && argc <= 2 + MAX_PLACES && !strcmp(argv[1], "times"))
		times(argv + 2, argc - 2);
	else if (argc == 3 && !strcmp(argv[1], "numbers"))
		numbers(argv[2], messages);
	else
		tap_bail("times DEVICE... or [-q] numbers DEVICE, not this");
	close(memfd);
	return 0;
}
