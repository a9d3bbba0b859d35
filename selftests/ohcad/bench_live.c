// SPDX-License-Identifier: GPL-2.0
/*
 * Measures a running device (environment OHCAD) from a client that maps its queues like the
 * provider does: latencies, rates, cost while idle, and memory.  The client has one thread, which
 * plays both sides, and the device has one; each needs a processor of its own.
 *
 *	bench_live [--iterations N] [--objects N]
 */

#include <endian.h>
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define LEN (1ULL << 20) /* of a region */
#define ANSWER 4096 /* offset of the data that the second side writes to the first */
#define WINDOW 128 /* messages outstanding */
#define SIGNAL_EVERY 32
#define IDLE_S 2
#define HUGE_LEN (1U << 30) /* length of a message that other messages have to pass */
#define HUGE_PAGES 16384 /* number of different pages: more than a cache holds */

/**
 * struct live - two HCAs, and a connected pair of QPs
 * @busy: another QP, which always writes from @huge_a to @huge_b; or NULL
 */
struct live {
	struct server *server;
	struct rig *rig;
	struct rig_qp *a, *b;
	struct rig_mr *ma, *mb;
	struct rig_qp *busy;
	struct rig_mr *huge_a, *huge_b;
	unsigned int iterations;
	unsigned int objects;
};

static struct ohca_cqe spin(struct drv_cq *cq)
{
	struct ohca_cqe cqe;

	while (!drv_cq_poll(cq, &cqe))
		;
	if (cqe.status)
		abort();
	drv_cq_ack(cq);
	return cqe;
}

/* Post one more long message on the busy QP, if there is one. */
static void post_huge(struct live *l)
{
	struct ohca_sge sge = rig_sge(l->huge_a, BENCH_IOVA, HUGE_LEN);
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = BENCH_IOVA,
			    .rkey = l->huge_b->key};

	rig_post_send(l->busy, &wr);
}

/* Post another long message whenever one has completed. */
static void stay_busy(struct live *l)
{
	struct ohca_cqe cqe;

	if (!l->busy || !drv_cq_poll(l->busy->scq, &cqe))
		return;
	if (cqe.status)
		abort();
	drv_cq_ack(l->busy->scq);
	post_huge(l);
}

static void print_latency(const char *what, struct bench_values *ns)
{
	printf("latency what=%s samples=%u ns=%.0f p99_ns=%.0f p999_ns=%.0f\n", what, ns->num,
	       bench_percentile(ns, 50), bench_percentile(ns, 99), bench_percentile(ns, 99.9));
	bench_free(ns);
}

/* Write 8 bytes from the beginning of @from's memory to @off in @to's */
static struct rig_wr small_write(struct ohca_sge *sge, struct rig_mr *from, struct rig_mr *to,
				 uint64_t off)
{
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE,
			    .num_sge = 1,
			    .sge = sge,
			    .raddr = BENCH_IOVA + off,
			    .rkey = to->key};

	*sge = rig_sge(from, BENCH_IOVA, 8);
	return wr;
}

/* Half of the round trip time of sends. */
static void send_ping_pong(struct live *l, const char *what)
{
	struct bench_values ns = {0};
	struct ohca_sge sa, sb;
	struct rig_wr there = small_write(&sa, l->ma, l->mb, 0);
	struct rig_wr back = small_write(&sb, l->mb, l->ma, 0);
	unsigned int i;
	double start;

	there.opcode = OHCA_OP_SEND;
	back.opcode = OHCA_OP_SEND;
	for (i = 0; i < l->iterations; i++) {
		there.flags = i % 64 ? 0 : OHCA_WQE_SIGNALED;
		back.flags = there.flags;
		rig_post_recv(l->a, i, &sa, 1);
		rig_post_recv(l->b, i, &sb, 1);
		stay_busy(l);
		start = bench_clock();
		rig_post_send(l->a, &there);
		spin(l->b->rcq);
		rig_post_send(l->b, &back);
		spin(l->a->rcq);
		bench_add(&ns, (bench_clock() - start) / 2);
		if (there.flags) {
			spin(l->a->scq);
			spin(l->b->scq);
		}
	}
	print_latency(what, &ns);
}

static void wait_byte(struct rig_mr *mr, uint64_t page, uint8_t value)
{
	const uint8_t *byte = drv_ptr(mr->hca->drv, mr->pages[page]);

	while (__atomic_load_n(byte, __ATOMIC_ACQUIRE) != value)
		;
}

static void set_byte(struct rig_mr *mr, uint8_t value)
{
	*(uint8_t *)drv_ptr(mr->hca->drv, mr->pages[0]) = value;
}

/* The same for writes; each side polls its memory. */
static void write_ping_pong(struct live *l)
{
	struct bench_values ns = {0};
	struct ohca_sge sa, sb;
	struct rig_wr there = small_write(&sa, l->ma, l->mb, ANSWER);
	struct rig_wr back = small_write(&sb, l->mb, l->ma, ANSWER);
	unsigned int i;
	double start;

	for (i = 1; i <= l->iterations; i++) {
		there.flags = i % 64 ? 0 : OHCA_WQE_SIGNALED;
		back.flags = there.flags;
		start = bench_clock();
		set_byte(l->ma, i);
		rig_post_send(l->a, &there);
		wait_byte(l->mb, 1, i);
		set_byte(l->mb, i);
		rig_post_send(l->b, &back);
		wait_byte(l->ma, 1, i);
		bench_add(&ns, (bench_clock() - start) / 2);
		if (there.flags) {
			spin(l->a->scq);
			spin(l->b->scq);
		}
	}
	print_latency("write_half_round_trip", &ns);
}

/* From the posting of an operation to its completion. */
static void latency(struct live *l, const char *what, uint8_t op)
{
	struct bench_values ns = {0};
	struct ohca_sge sge;
	struct rig_wr wr = small_write(&sge, l->ma, l->mb, 0);
	unsigned int i;
	double start;

	wr.opcode = op;
	wr.flags = OHCA_WQE_SIGNALED;
	for (i = 0; i < l->iterations; i++) {
		stay_busy(l);
		start = bench_clock();
		rig_post_send(l->a, &wr);
		spin(l->a->scq);
		bench_add(&ns, bench_clock() - start);
	}
	print_latency(what, &ns);
}

/* Messages per second, with WINDOW of them under way. */
static void rate(struct live *l, const char *what, uint8_t op, uint32_t len)
{
	struct ohca_sge sge = rig_sge(l->ma, BENCH_IOVA, len);
	struct rig_wr wr = {
		.opcode = op, .num_sge = 1, .sge = &sge, .raddr = BENCH_IOVA, .rkey = l->mb->key};
	uint64_t n = 0, done = 0, todo = 1ULL * SIGNAL_EVERY * l->iterations;
	struct ohca_cqe cqe;
	double start = bench_clock(), t;

	while (done < todo) {
		while (n < todo && n - done < WINDOW) {
			wr.flags = ++n % SIGNAL_EVERY ? 0 : OHCA_WQE_SIGNALED;
			rig_put_send(l->a, &wr);
			if (wr.flags)
				rig_ring(l->a);
		}
		if (!drv_cq_poll(l->a->scq, &cqe))
			continue;
		if (cqe.status)
			abort();
		drv_cq_ack(l->a->scq);
		done += SIGNAL_EVERY;
	}
	t = bench_clock() - start;
	printf("rate what=%s size=%u mmsgs=%.3f gbytes=%.3f\n", what, len, done / t * 1e3,
	       done * (double)len / t);
}

static void nap(double seconds)
{
	struct timespec ts = {seconds, (seconds - (time_t)seconds) * 1e9};

	nanosleep(&ts, NULL);
}

/* Wait until the device sleeps, so that software has to wake it. */
static void until_asleep(struct live *l)
{
	while (!__atomic_load_n(&l->rig->hca[0].drv->shadow->asleep, __ATOMIC_ACQUIRE))
		nap(0.001);
	nap(0.001);
}

/* From a write to a sleeping device to the completion.  This thread polls, or sleeps as well. */
static void wake_up(struct live *l, bool event)
{
	struct drv *drv = l->rig->hca[0].drv;
	struct bench_values ns = {0};
	struct ohca_sge sge;
	struct rig_wr wr = small_write(&sge, l->ma, l->mb, 0);
	unsigned int i;
	double start;

	wr.flags = OHCA_WQE_SIGNALED;
	for (i = 0; i < l->iterations / 500 + 10; i++) {
		until_asleep(l);
		vu_irq_count(drv->vu, 2);
		if (event) {
			drv_cq_arm(l->a->scq, false);
			drv_eq_arm(l->rig->hca[0].comp);
		}
		start = bench_clock();
		rig_post_send(l->a, &wr);
		if (event) {
			vu_irq_wait(drv->vu, 2);
			drv_eq_wait(l->rig->hca[0].comp);
		}
		spin(l->a->scq);
		bench_add(&ns, bench_clock() - start);
	}
	print_latency(event ? "wake_up_to_interrupt" : "wake_up", &ns);
}

/**
 * struct sleeper - a thread that sleeps until an eventfd is written
 * @wakes: how often it has been woken
 */
struct sleeper {
	pthread_t thread;
	int fd;
	unsigned int wakes;
	bool end;
};

static void *sleep_on(void *arg)
{
	struct sleeper *s = arg;
	eventfd_t n;

	while (!eventfd_read(s->fd, &n) && !__atomic_load_n(&s->end, __ATOMIC_ACQUIRE))
		__atomic_fetch_add(&s->wakes, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void ring(const struct sleeper *s)
{
	if (eventfd_write(s->fd, 1))
		abort();
}

/* The wake-up latency of a plain thread on this host: no sleeping device can answer earlier. */
static void thread_wake_up(const struct live *l)
{
	struct sleeper s = {.fd = eventfd(0, EFD_CLOEXEC)};
	struct bench_values ns = {0};
	unsigned int i;
	double start;

	if (s.fd < 0 || pthread_create(&s.thread, NULL, sleep_on, &s))
		abort();
	for (i = 0; i < l->iterations / 500 + 10; i++) {
		nap(0.002);
		start = bench_clock();
		ring(&s);
		while (__atomic_load_n(&s.wakes, __ATOMIC_ACQUIRE) <= i)
			;
		bench_add(&ns, bench_clock() - start);
	}
	__atomic_store_n(&s.end, true, __ATOMIC_RELEASE);
	ring(&s);
	pthread_join(s.thread, NULL);
	close(s.fd);
	print_latency("thread_wake_up", &ns);
}

/* Processor time that the device has used, in seconds. */
static double device_time(const struct live *l)
{
	unsigned long long ns;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)l->server->pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu", &ns) != 1)
		abort();
	fclose(f);
	return ns / 1e9;
}

static void idle(struct live *l, unsigned int qps)
{
	double start;

	until_asleep(l);
	nap(0.1);
	start = device_time(l);
	nap(IDLE_S);
	printf("idle_cpu qps=%u percent=%.3f\n", qps, (device_time(l) - start) / IDLE_S * 100);
}

/* Private memory of the device, in bytes. */
static double device_memory(const struct live *l)
{
	char path[64], line[128];
	double kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)l->server->pid);
	f = fopen(path, "r");
	if (!f)
		abort();
	while (fgets(line, sizeof(line), f))
		sscanf(line, "RssAnon: %lf", &kib);
	fclose(f);
	return kib * 1024;
}

/* @num objects were created since: print the memory and time of each. */
static void print_object(struct live *l, const char *what, unsigned int num, double memory,
			 double start)
{
	printf("object what=%s num=%u bytes=%.0f ns=%.0f\n", what, num,
	       (device_memory(l) - memory) / num, (bench_clock() - start) / num);
}

/* Objects of each kind, created by commands one by one. */
static void objects(struct live *l)
{
	struct rig_hca *hca = &l->rig->hca[0];
	struct drv *drv = hca->drv;
	uint32_t *keys = calloc(l->objects, sizeof(*keys));
	struct ohca_create_mkey_in in = {
		.iova = htole64(BENCH_IOVA),
		.length = htole64(4096),
		.pdn = htole32(hca->pdn),
		.access = BENCH_ALL_ACCESS,
	};
	struct bench_crowd crowd;
	double memory, start;
	unsigned int i;

	if (!keys)
		abort();
	in.xlt = drv_xlt(drv, drv_alloc(drv, 4096), 4096, 12);
	memory = device_memory(l);
	start = bench_clock();
	for (i = 0; i < l->objects; i++)
		keys[i] = drv_create(drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
	print_object(l, "MR", i, memory, start);
	start = bench_clock();
	for (i = 0; i < l->objects; i++)
		drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, keys[i]);
	free(keys);
	print_object(l, "dereg", i, device_memory(l), start);

	memory = device_memory(l);
	start = bench_clock();
	for (i = 0; i < l->objects; i++)
		drv_cq_new(drv, 4, hca->comp->eqn);
	print_object(l, "CQ", i, memory, start);

	memory = device_memory(l);
	start = bench_clock();
	bench_crowd_init(&crowd, l->rig, l->objects / 2);
	print_object(l, "QP", 2 * crowd.num, memory, start);
	idle(l, 2 * crowd.num);
	bench_crowd_fini(&crowd);
}

/* Small messages of one QP while another QP sends only long ones. */
static void beside_huge(struct live *l)
{
	struct rig_qp_opts opts = {.log_size = 2, .max_sge = 1};
	struct rig_hca *hca = l->rig->hca;
	unsigned int i;

	l->huge_a = rig_mr_new(&hca[0], BENCH_IOVA, HUGE_LEN, BENCH_ALL_ACCESS, HUGE_PAGES);
	l->huge_b = rig_mr_new(&hca[1], BENCH_IOVA, HUGE_LEN, BENCH_ALL_ACCESS, HUGE_PAGES);
	l->busy = rig_qp_new(&hca[0], &opts);
	bench_connect(l->busy, rig_qp_new(&hca[1], &opts));
	for (i = 0; i < 2; i++)
		post_huge(l);
	send_ping_pong(l, "send_half_round_trip_beside");
	latency(l, "write_beside", OHCA_OP_RDMA_WRITE);
	latency(l, "read_beside", OHCA_OP_RDMA_READ);
	for (i = 0; i < 2; i++)
		spin(l->busy->scq);
	l->busy = NULL;
}

static void usage(void)
{
	fprintf(stderr, "usage: bench_live [--iterations N] [--objects N]\n");
	exit(2);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"iterations", 1, NULL, 'i'}, {"objects", 1, NULL, 'o'}, {NULL, 0, NULL, 0}};
	struct rig_qp_opts opts = {.log_size = 8, .max_sge = 1};
	struct live l = {.iterations = 50000, .objects = 10000};
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 'i')
			l.iterations = atoi(optarg);
		else if (opt == 'o')
			l.objects = atoi(optarg);
		else
			usage();
	}
	if (optind < argc)
		usage();
	l.server = server_start(2);
	l.rig = rig_open(l.server);
	l.a = rig_qp_new(&l.rig->hca[0], &opts);
	l.b = rig_qp_new(&l.rig->hca[1], &opts);
	l.ma = rig_mr_new(&l.rig->hca[0], BENCH_IOVA, LEN, BENCH_ALL_ACCESS, 0);
	l.mb = rig_mr_new(&l.rig->hca[1], BENCH_IOVA, LEN, BENCH_ALL_ACCESS, 0);
	bench_connect(l.a, l.b);
	send_ping_pong(&l, "send_half_round_trip");
	write_ping_pong(&l);
	latency(&l, "write", OHCA_OP_RDMA_WRITE);
	latency(&l, "read", OHCA_OP_RDMA_READ);
	latency(&l, "fetch_add", OHCA_OP_FETCH_ADD);
	rate(&l, "write", OHCA_OP_RDMA_WRITE, 64);
	rate(&l, "read", OHCA_OP_RDMA_READ, 64);
	rate(&l, "write", OHCA_OP_RDMA_WRITE, 65536);
	beside_huge(&l);
	thread_wake_up(&l);
	wake_up(&l, false);
	wake_up(&l, true);
	idle(&l, 2);
	objects(&l);
	rig_close(l.rig);
	return server_stop(l.server) ? 0 : 1;
}
