// SPDX-License-Identifier: GPL-2.0
/*
 * What a message costs the device: two HCAs in this program, one thread that posts a batch and
 * runs the device until it has completed.  The time of each part is known, so that posting and
 * polling are not in the device's.  What a copy of as many bytes takes is measured in turn with it.
 *
 *	bench_ops [--slice MS] [--runs N] [--op NAME] [--size N] [--capture FILE] [--latency]
 *	bench_ops --links [--slice MS] [--runs N] [--op NAME] [--size N]
 *	bench_ops --hops [--slice MS] [--runs N] [--op NAME] [--size N]
 *	bench_ops --count N [--links | --hops] [--op NAME] [--size N] [--latency]
 *
 * With --op and --size there are only the operations of that name (of any type of QP), and only
 * messages of that size.  Each figure is the median of RUNS slices.  With --capture there is a capture to FILE (its value
 * is that of ohcad's option), and with --latency latencies are measured.  --count runs each operation for N batches and measures nothing: it
 * is for callgrind, which is to collect in bench_device(), zero before bench_begin() and dump after
 * bench_end().  --links does the same things between two Ethernet and between two InfiniBand ports, in turn, and compares
 * them.  --hops does so between two InfiniBand ports with one cable, and two with five switches between them.
 */

#include <endian.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "capture/capture.h"
#include "fabric/fabric.h"
#include "fabric/ib_link.h"
#include "fabric/ib_node.h"
#include "fabric/ib_switch.h"
#include "inproc.h"
#include "qp/qp_latency.h"

#define LEN (64ULL << 20) /* length of a region: two of them are larger than any cache */
#define BATCH 64
#define BATCH_BYTES (4U << 20) /* about: a slice should end before the thread is preempted */
#define GRH 40
#define LONG 65536 /* shorter messages are only measured in the cache */
#define PAGE 4096

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/**
 * struct op - an operation
 * @name, @qp: for the tables
 * @all: all of a batch are signaled, not only the last one
 * @receives: consumes a receive
 * @max: longest message, 0: any
 */
struct op {
	const char *name;
	const char *qp;
	uint8_t type;
	uint8_t opcode;
	bool all;
	bool receives;
	bool inl;
	uint32_t max;
};

static const struct op ops[] = {
	{"WRITE", "RC", OHCA_QPT_RC, OHCA_OP_RDMA_WRITE, .all = false},
	{"WRITE", "RC", OHCA_QPT_RC, OHCA_OP_RDMA_WRITE, .all = true},
	{"WRITE_INLINE", "RC", OHCA_QPT_RC, OHCA_OP_RDMA_WRITE, .inl = true, .max = 64},
	{"READ", "RC", OHCA_QPT_RC, OHCA_OP_RDMA_READ, .all = true},
	{"SEND", "RC", OHCA_QPT_RC, OHCA_OP_SEND, .all = true, .receives = true},
	{"CMP_SWAP", "RC", OHCA_QPT_RC, OHCA_OP_CMP_SWAP, .all = true, .max = 8},
	{"FETCH_ADD", "RC", OHCA_QPT_RC, OHCA_OP_FETCH_ADD, .all = true, .max = 8},
	{"WRITE", "UC", OHCA_QPT_UC, OHCA_OP_RDMA_WRITE, .all = false},
	{"SEND", "UC", OHCA_QPT_UC, OHCA_OP_SEND, .all = true, .receives = true},
	{"SEND", "UD", OHCA_QPT_UD, OHCA_OP_SEND, .all = true, .receives = true, .max = 4096},
};

static const uint32_t sizes[] = {8, 64, 4096, 65536, 1 << 20};
static const uint32_t link_sizes[] = {64, 65536, 1 << 20};

/**
 * struct bench - what lines are made of
 * @ma, @mb: regions of LEN bytes, of which no two pages are neighbours
 * @row_a, @row_b: the same of pages in a row
 * @slice: how long a slice is, in nanoseconds
 * @table, @name: of the records of a comparison, and of this one in them
 * @count: batches to count in place of measuring, 0: measure
 * @op: only this one, NULL: all
 * @size: only messages of that size, 0: all
 * @latency: latencies are measured
 */
struct bench {
	struct rig *rig;
	struct rig_mr *ma, *mb, *row_a, *row_b;
	const char *table, *name;
	double slice;
	unsigned int runs;
	unsigned int count;
	const char *op;
	uint32_t size;
	bool latency;
};

/**
 * struct line - an operation with messages of one size
 * @cold: each message has another place in the regions; else all have the same place
 * @batch: messages of a batch
 * @pos: place of the next one
 * @device: time that the device has run so far
 */
struct line {
	const struct op *op;
	uint32_t len;
	bool cold;
	unsigned int batch;
	struct rig_qp *a, *b;
	struct rig_mr *ma, *mb;
	uint64_t pos;
	double device;
};

__attribute__((noinline)) static void bench_device(void)
{
	inproc_poll();
}

__attribute__((noinline)) static void bench_begin(void)
{
	__asm__ volatile("" : : "r"(1));
}

__attribute__((noinline)) static void bench_end(void)
{
	__asm__ volatile("" : : "r"(2));
}

/* Run the device until there are @expect completions. */
static void take(struct drv_cq *cq, unsigned int expect, double *device)
{
	struct ohca_cqe cqe;
	double start;

	while (expect) {
		while (expect && drv_cq_poll(cq, &cqe)) {
			if (cqe.status)
				abort();
			expect--;
		}
		drv_cq_ack(cq);
		if (!expect)
			break;
		start = bench_clock();
		bench_device();
		*device += bench_clock() - start;
	}
}

static bool is_row(const struct line *line)
{
	return line->ma->pages[0] < line->ma->pages[1];
}

/* Address of the next message in both regions */
static uint64_t next_place(struct line *line)
{
	uint64_t pos = line->pos;

	if (line->cold)
		line->pos = (line->pos + line->len) % LEN;
	return BENCH_IOVA + pos;
}

static void post(struct line *line, unsigned int i)
{
	const struct op *op = line->op;
	uint64_t at = next_place(line);
	struct ohca_sge sge = rig_sge(line->ma, at, line->len);
	struct rig_wr wr = {.opcode = op->opcode,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = at,
			    .rkey = line->mb->key};

	if (op->all || i == line->batch - 1)
		wr.flags = OHCA_WQE_SIGNALED;
	if (op->inl) {
		wr.inl = drv_ptr(line->ma->hca->drv, line->ma->pages[0]);
		wr.inl_len = line->len;
	}
	if (op->type == OHCA_QPT_UD) {
		wr.av = &line->a->attr.av;
		wr.dest_qpn = line->b->qpn;
		wr.qkey = RIG_QKEY;
	}
	if (op->receives) {
		struct ohca_sge into = rig_sge(line->mb, at, line->len);

		if (op->type == OHCA_QPT_UD)
			into.length = htole32(line->len + GRH);
		rig_post_recv(line->b, i, &into, 1);
	}
	rig_put_send(line->a, &wr);
}

static void batch(struct line *line)
{
	unsigned int i;

	for (i = 0; i < line->batch; i++)
		post(line, i);
	rig_ring(line->a);
	take(line->a->scq, line->op->all ? line->batch : 1, &line->device);
	if (line->op->receives)
		take(line->b->rcq, line->batch, &line->device);
}

/* Batches for the time of a slice: nanoseconds of the device per message, and of all. */
static double slice(struct line *line, double ns, double *total)
{
	double start, t;
	uint64_t n = 0;

	inproc_step();
	line->device = 0;
	start = bench_clock();
	do {
		batch(line);
		n += line->batch;
		t = bench_clock() - start;
	} while (t < ns);
	*total = t / n;
	return line->device / n;
}

/* Copy the same bytes by memcpy(), page by page unless the pages are consecutive. */
static void copy_message(struct line *line, uint64_t at)
{
	void *(*volatile copy)(void *, const void *, size_t) = memcpy;
	uint32_t piece = is_row(line) || line->len < PAGE ? line->len : PAGE;
	uint64_t pos;

	for (pos = at; pos < at + line->len; pos += piece)
		copy(drv_ptr(line->mb->hca->drv, line->mb->pages[pos / PAGE]),
		     drv_ptr(line->ma->hca->drv, line->ma->pages[pos / PAGE]), piece);
}

static double copy_slice(struct line *line, double ns)
{
	double start = bench_clock(), t;
	unsigned int i;
	uint64_t n = 0;

	do {
		for (i = 0; i < line->batch; i++)
			copy_message(line, next_place(line) - BENCH_IOVA);
		n += line->batch;
		t = bench_clock() - start;
	} while (t < ns);
	return t / n;
}

/* Use all of the memory once, so that no page fault is measured. */
static void warm_up(struct line *line)
{
	line->pos = 0;
	do
		batch(line);
	while (line->pos);
}

static void print_line(struct bench *b, struct line *line)
{
	struct bench_values device = {0}, total = {0}, copy = {0}, ratio = {0};
	double t, d, c;
	unsigned int i;

	warm_up(line);
	for (i = 0; i < b->runs; i++) {
		c = copy_slice(line, b->slice / 2);
		d = slice(line, b->slice, &t);
		bench_add(&device, d);
		bench_add(&total, t);
		bench_add(&copy, c);
		bench_add(&ratio, c / d);
	}
	printf("op qp=%s op=%s signaled=%s size=%u pages=%s buffers=%s device_ns=%.1f low_ns=%.1f "
	       "high_ns=%.1f total_ns=%.1f memcpy_ns=%.1f of_memcpy=%.3f\n",
	       line->op->qp, line->op->name, line->op->all ? "all" : "last", line->len,
	       is_row(line) ? "row" : "scattered", line->cold ? "cold" : "hot",
	       bench_percentile(&device, 50), bench_percentile(&device, 25),
	       bench_percentile(&device, 75), bench_percentile(&total, 50),
	       bench_percentile(&copy, 50), bench_percentile(&ratio, 50));
	bench_free(&device);
	bench_free(&total);
	bench_free(&copy);
	bench_free(&ratio);
}

static void count_line(struct bench *b, struct line *line)
{
	unsigned int i;

	warm_up(line);
	bench_begin();
	for (i = 0; i < b->count; i++)
		batch(line);
	bench_end();
	printf("count link=%s qp=%s op=%s signaled=%s size=%u messages=%u\n", b->name, line->op->qp,
	       line->op->name, line->op->all ? "all" : "last", line->len, b->count * line->batch);
}

/* @line: the same operation of both.  Which of them is first alternates. */
static void compare_line(const struct bench b[2], struct line line[2])
{
	struct bench_values device[2] = {{0}, {0}}, ratio = {0};
	unsigned int i, j;
	double ns[2], total;

	for (j = 0; j < 2; j++)
		warm_up(&line[j]);
	for (i = 0; i < b->runs; i++) {
		for (j = 0; j < 2; j++)
			ns[(i + j) % 2] = slice(&line[(i + j) % 2], b->slice, &total);
		for (j = 0; j < 2; j++)
			bench_add(&device[j], ns[j]);
		bench_add(&ratio, ns[0] / ns[1]);
	}
	printf("%s qp=%s op=%s signaled=%s size=%u %s_ns=%.1f %s_ns=%.1f ratio=%.3f\n", b->table,
	       line[0].op->qp, line[0].op->name, line[0].op->all ? "all" : "last", line[0].len,
	       b[0].name, bench_percentile(&device[0], 50), b[1].name,
	       bench_percentile(&device[1], 50), bench_percentile(&ratio, 50));
	for (j = 0; j < 2; j++)
		bench_free(&device[j]);
	bench_free(&ratio);
}

static struct line line_new(struct bench *b, const struct op *op)
{
	struct rig_qp_opts opts = {.type = op->type, .log_size = 8, .max_sge = 1};
	struct line line = {.op = op, .ma = b->ma, .mb = b->mb};

	opts.max_inline = op->inl ? op->max : 0;
	line.a = rig_qp_new(&b->rig->hca[0], &opts);
	line.b = rig_qp_new(&b->rig->hca[1], &opts);
	bench_connect(line.a, line.b);
	return line;
}

static void set_size(struct line *line, uint32_t len)
{
	line->len = len;
	line->batch = len * BATCH > BATCH_BYTES ? BATCH_BYTES / len : BATCH;
}

static void run_op(struct bench *b, const struct op *op)
{
	struct line line;
	unsigned int i;

	if (b->op && strcmp(b->op, op->name) != 0)
		return;
	line = line_new(b, op);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (op->max && sizes[i] > op->max)
			break;
		if (b->size && b->size != sizes[i])
			continue;
		set_size(&line, sizes[i]);
		line.cold = false;
		if (b->count) {
			count_line(b, &line);
			continue;
		}
		print_line(b, &line);
		if (sizes[i] < LONG)
			continue;
		line.cold = true;
		print_line(b, &line);
		line.ma = b->row_a;
		line.mb = b->row_b;
		print_line(b, &line);
		line.cold = false;
		print_line(b, &line);
		line.ma = b->ma;
		line.mb = b->mb;
	}
}

/* @b: those that are compared */
static void compare_op(struct bench b[2], const struct op *op)
{
	struct line line[2];
	unsigned int i, j;

	if (b->op && strcmp(b->op, op->name) != 0)
		return;
	for (j = 0; j < 2; j++)
		line[j] = line_new(&b[j], op);
	for (i = 0; i < ARRAY_SIZE(link_sizes); i++) {
		if ((op->max && link_sizes[i] > op->max) || (b->size && b->size != link_sizes[i]))
			continue;
		for (j = 0; j < 2; j++) {
			set_size(&line[j], link_sizes[i]);
			if (b->count)
				count_line(&b[j], &line[j]);
		}
		if (!b->count)
			compare_line(b, line);
	}
}

/* Send one message on each of the first @num QPs, and run the device until all have completed. */
static double crowd_round(struct bench *b, struct bench_crowd *crowd, unsigned int num)
{
	struct ohca_sge sge = rig_sge(b->ma, BENCH_IOVA, 64);
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = BENCH_IOVA,
			    .rkey = b->mb->key};
	double device = 0;
	unsigned int i;

	for (i = 0; i < num; i++)
		rig_post_send(crowd->a[i], &wr);
	take(crowd->cq[0], num, &device);
	return device / num;
}

static void crowd_line(struct bench *b, struct bench_crowd *crowd, unsigned int num)
{
	struct bench_values device = {0};
	unsigned int i;

	crowd_round(b, crowd, num);
	for (i = 0; i < b->runs; i++) {
		inproc_step();
		bench_add(&device, crowd_round(b, crowd, num));
	}
	printf("spread qps=%u device_ns=%.1f low_ns=%.1f high_ns=%.1f\n", num,
	       bench_percentile(&device, 50), bench_percentile(&device, 25),
	       bench_percentile(&device, 75));
	bench_free(&device);
}

static void idle_line(struct bench *b, struct line *line, const char *when, unsigned int idle)
{
	struct bench_values device = {0};
	double total;
	unsigned int i;

	for (i = 0; i < 2 * b->runs; i++)
		bench_add(&device, slice(line, b->slice, &total));
	printf("idle when=%s qps=%u device_ns=%.1f low_ns=%.1f high_ns=%.1f\n", when, idle,
	       bench_percentile(&device, 50), bench_percentile(&device, 25),
	       bench_percentile(&device, 75));
	bench_free(&device);
}

/* One QP while the other ones are idle, and all of them busy */
static void run_crowd(struct bench *b, unsigned int num)
{
	struct line line = line_new(b, &ops[0]);
	struct bench_crowd crowd;

	set_size(&line, 64);
	idle_line(b, &line, "before", 0);
	bench_crowd_init(&crowd, b->rig, num);
	idle_line(b, &line, "beside", num);
	crowd_line(b, &crowd, 64);
	crowd_line(b, &crowd, num / 10);
	crowd_line(b, &crowd, num);
	bench_crowd_fini(&crowd);
	idle_line(b, &line, "after", 0);
}

static void capture(const char *text)
{
	struct capture_options opts;

	if (capture_parse(&opts, text) ||
	    capture_start(&inproc_fabric(0)->captures, inproc_hca(0)->loop, &opts))
		abort();
	capture_options_free(&opts);
}

static void usage(void)
{
	fprintf(stderr, "usage: bench_ops [--slice MS] [--runs N] [--count N] [--links | --hops] "
			"[--op "
			"NAME] "
			"[--size N] [--capture FILE] [--latency]\n");
	exit(2);
}

static void open_rig(struct bench *b, struct rig *rig)
{
	b->rig = rig;
	b->ma = rig_mr_new(&rig->hca[0], BENCH_IOVA, LEN, BENCH_ALL_ACCESS, 0);
	b->mb = rig_mr_new(&rig->hca[1], BENCH_IOVA, LEN, BENCH_ALL_ACCESS, 0);
}

/* All operations on one link layer */
static void measure(struct bench *b, const char *file)
{
	struct server *server = server_start(2);
	unsigned int i;

	open_rig(b, rig_open(server));
	b->name = b->rig->infiniband ? "ib" : "eth";
	b->row_a = bench_mr_in_row(b->ma);
	b->row_b = bench_mr_in_row(b->mb);
	if (file)
		capture(file);
	for (i = 0; b->latency && i < 2; i++)
		qp_latency_measure(inproc_hca(i), true);
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		run_op(b, &ops[i]);
	if (!b->count && !b->op && !b->size)
		run_crowd(b, 10000);
	captures_fini(&inproc_fabric(0)->captures);
	rig_close(b->rig);
	server_stop(server);
}

/* The operations on both, in turn */
static void compare(struct server *server, struct bench b[2])
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		compare_op(b, &ops[i]);
	for (i = 0; i < 2; i++)
		rig_close(b[i].rig);
	server_stop(server);
}

static void compare_links(const struct bench *options)
{
	struct server *server = inproc_start_both(2, 2);
	struct bench b[2] = {*options, *options};
	unsigned int i;

	for (i = 0; i < 2; i++) {
		b[i].table = "link";
		b[i].name = i ? "ib" : "eth";
		open_rig(&b[i], rig_open_some(server, 2 * i, 2, i));
	}
	compare(server, b);
}

/* As a subnet manager: of each pair of HCAs, the first one has LID 1, and is where port 1 of switches leads to. */
static void route(struct fabric *fabric)
{
	struct list *link;
	struct ib_node *node;
	unsigned int state, i;

	for (state = IB_PORT_ARMED; state <= IB_PORT_ACTIVE; state++) {
		for (link = fabric->ib_nodes.next; link != &fabric->ib_nodes; link = link->next) {
			node = list_entry(link, struct ib_node, link);
			for (i = 1; i <= node->num_ports; i++)
				ib_link_set_state(node->ports[i], state);
		}
	}
	for (link = fabric->ib_nodes.next; link != &fabric->ib_nodes; link = link->next) {
		node = list_entry(link, struct ib_node, link);
		for (i = 1; node->sw && i <= 2; i++)
			*ib_switch_linear_room(node->sw, i, 1) = i;
		if (node->sw)
			node->sw->linear_top = 2;
	}
	for (i = 0; i < 4; i++)
		ib_port_set_lid(inproc_hca(i)->ports[0]->ib, i % 2 + 1, 0);
	inproc_settle();
}

static void compare_hops(const struct bench *options)
{
	static const char net[] = "Switch 2 \"S1\"\n[1] \"C\"[1]\n[2] \"S2\"[1]\n"
				  "Switch 2 \"S2\"\n[1] \"S1\"[2]\n[2] \"S3\"[1]\n"
				  "Switch 2 \"S3\"\n[1] \"S2\"[2]\n[2] \"S4\"[1]\n"
				  "Switch 2 \"S4\"\n[1] \"S3\"[2]\n[2] \"S5\"[1]\n"
				  "Switch 2 \"S5\"\n[1] \"S4\"[2]\n[2] \"D\"[1]\n"
				  "Ca 1 \"A\"\n[1] \"B\"[1]\nCa 1 \"B\"\n[1] \"A\"[1]\n"
				  "Ca 1 \"C\"\n[1] \"S1\"[1]\nCa 1 \"D\"\n[1] \"S5\"[2]\n";
	struct server *server = inproc_start_topology(4, net);
	struct bench b[2] = {*options, *options};
	struct rig *rig[2];
	unsigned int i;

	for (i = 0; i < 2; i++)
		rig[i] = rig_open_bare(server, 2 * i, 2, true);
	route(inproc_fabric(0));
	for (i = 0; i < 2; i++) {
		rig_take_lids(rig[i]);
		b[i].table = "hops";
		b[i].name = i ? "five" : "none";
		open_rig(&b[i], rig[i]);
	}
	compare(server, b);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"slice", 1, NULL, 's'}, {"runs", 1, NULL, 'r'}, {"count", 1, NULL, 'c'},
		{"op", 1, NULL, 'o'},	 {"size", 1, NULL, 'l'}, {"capture", 1, NULL, 'p'},
		{"links", 0, NULL, 'b'}, {"hops", 0, NULL, 'h'}, {"latency", 0, NULL, 't'},
		{NULL, 0, NULL, 0}};
	struct bench b = {.slice = 4e5, .runs = 201};
	const char *file = NULL;
	bool links = false, hops = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 's')
			b.slice = atof(optarg) * 1e6;
		else if (opt == 'r')
			b.runs = atoi(optarg);
		else if (opt == 'c')
			b.count = atoi(optarg);
		else if (opt == 'o')
			b.op = optarg;
		else if (opt == 'l')
			b.size = atoi(optarg);
		else if (opt == 'p')
			file = optarg;
		else if (opt == 'b')
			links = true;
		else if (opt == 't')
			b.latency = true;
		else if (opt == 'h')
			hops = true;
		else
			usage();
	}
	if (optind < argc || !b.runs || (links && hops) || ((links || hops) && (file || b.latency)))
		usage();
	if (links)
		compare_links(&b);
	else if (hops)
		compare_hops(&b);
	else
		measure(&b, file);
	return 0;
}
