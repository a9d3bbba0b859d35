// SPDX-License-Identifier: GPL-2.0
/*
 * bench_many [-n NUMBER] [-k KIND[,KIND...]] DEVICE...: measures many objects of each kind, in one
 * machine: the time to create and to destroy each of them, and the time until a process that has
 * them is gone after SIGKILL.  Each figure is a line "NAME=VALUE ..." for tools/bench.  The first
 * device must have so many; of a kind of which another one can't, a line says so.
 *
 * The devices alternate after each thousandth of a kind, so that changes of the host's speed affect
 * all of them.  Also prints the factor by which the first device is faster than the second one, from
 * neighbouring parts.
 * DEVICE: NAME/ADDRESS, an IPv4 address of its port
 * -n: of each kind, 10,000 by default
 * -k: the kinds, all by default
 */

#define _GNU_SOURCE
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_util.h"

#define MAX_PLACES 4
#define PARTS 100
#define PAGE 4096UL
#define PAGES 256

static unsigned int number = 10000;
static char *memory; /* PAGES of them, which regions are of */

/**
 * struct place - one of the devices
 * @cq: of its QPs
 * @objects: @number of them
 * @parts: nanoseconds for each object, of the parts
 * @out: it can't have so many of the kind that is measured
 */
struct place {
	struct vu_dev dev;
	struct ibv_cq *cq;
	void **objects;
	double parts[PARTS];
	bool out;
};

static struct place places[MAX_PLACES];
static unsigned int num_places;

/**
 * struct kind - a kind of objects
 * @create: create an object, or return NULL; @i is its number
 */
struct kind {
	const char *name;
	void *(*create)(struct place *p, unsigned int i);
	int (*destroy)(void *object);
};

static void *new_pd(struct place *p, unsigned int i)
{
	(void)i;
	return ibv_alloc_pd(p->dev.ctx);
}

static int free_pd(void *object)
{
	return ibv_dealloc_pd(object);
}

static void *new_mr(struct place *p, unsigned int i)
{
	return ibv_reg_mr(p->dev.pd, memory + i % PAGES * PAGE, PAGE, VU_RW);
}

static int free_mr(void *object)
{
	return ibv_dereg_mr(object);
}

static void *new_mw(struct place *p, unsigned int i)
{
	(void)i;
	return ibv_alloc_mw(p->dev.pd, IBV_MW_TYPE_2);
}

static int free_mw(void *object)
{
	return ibv_dealloc_mw(object);
}

static void *new_ah(struct place *p, unsigned int i)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.grh = {.dgid = p->dev.gid, .sgid_index = p->dev.gid_index, .hop_limit = 1},
		.port_num = VU_PORT,
	};

	(void)i;
	return ibv_create_ah(p->dev.pd, &attr);
}

static int free_ah(void *object)
{
	return ibv_destroy_ah(object);
}

static void *new_cq(struct place *p, unsigned int i)
{
	(void)i;
	return ibv_create_cq(p->dev.ctx, 1, NULL, NULL, 0);
}

static int free_cq(void *object)
{
	return ibv_destroy_cq(object);
}

static void *new_srq(struct place *p, unsigned int i)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 1, .max_sge = 1}};

	(void)i;
	return ibv_create_srq(p->dev.pd, &attr);
}

static int free_srq(void *object)
{
	return ibv_destroy_srq(object);
}

static void *new_qp(struct place *p, unsigned int i)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = p->cq,
		.recv_cq = p->cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	(void)i;
	return ibv_create_qp(p->dev.pd, &attr);
}

static int free_qp(void *object)
{
	return ibv_destroy_qp(object);
}

static const struct kind kinds[] = {
	{"pd", new_pd, free_pd}, {"mr", new_mr, free_mr}, {"mw", new_mw, free_mw},
	{"ah", new_ah, free_ah}, {"cq", new_cq, free_cq}, {"srq", new_srq, free_srq},
	{"qp", new_qp, free_qp},
};

static unsigned int part_begin(unsigned int part)
{
	return (unsigned long long)number * part / PARTS;
}

static void destroy(struct place *p, const struct kind *kind, unsigned int begin, unsigned int end)
{
	unsigned int i;

	for (i = begin; i < end; i++) {
		if (kind->destroy(p->objects[i]))
			tap_bail("%s is not destroyed: %s", kind->name, strerror(errno));
	}
}

static void destroy_part(struct place *p, const struct kind *kind, unsigned int part)
{
	unsigned int begin = part_begin(part), end = part_begin(part + 1);
	double start = bench_now();

	destroy(p, kind, begin, end);
	p->parts[part] = (bench_now() - start) / (end - begin);
}

/* Go on without this device, which has @i objects of the kind and does not get another one. */
static void leave_out(struct place *p, const struct kind *kind, unsigned int i)
{
	if (p == &places[0])
		tap_bail("%s: %s", kind->name, strerror(errno));
	printf("# %s: %u of %u %ss: %s\n", ibv_get_device_name(p->dev.ctx->device), i, number,
	       kind->name, strerror(errno));
	destroy(p, kind, 0, i);
	p->out = true;
}

static void create_part(struct place *p, const struct kind *kind, unsigned int part)
{
	unsigned int i, begin = part_begin(part), end = part_begin(part + 1);
	double start = bench_now();

	for (i = begin; i < end; i++) {
		p->objects[i] = kind->create(p, i);
		if (!p->objects[i]) {
			leave_out(p, kind, i);
			return;
		}
	}
	p->parts[part] = (bench_now() - start) / (end - begin);
}

static double mean(const double *parts)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < PARTS; i++)
		sum += parts[i];
	return sum / PARTS;
}

/* Print the mean time of each place, and the median of the parts' factors. */
static void report(const struct kind *kind, const char *what)
{
	double factors[PARTS];
	unsigned int i;

	for (i = 0; i < num_places; i++)
		if (!places[i].out)
			bench_figure(&places[i].dev, mean(places[i].parts) / 1e3,
				     "row=many what=%s_%s size=%u unit=us", kind->name, what,
				     number);
	if (num_places < 2 || places[1].out)
		return;
	for (i = 0; i < PARTS; i++)
		factors[i] = places[1].parts[i] / places[0].parts[i];
	bench_figure(&places[0].dev, bench_median(factors, PARTS),
		     "row=many what=%s_%s size=%u unit=times", kind->name, what, number);
}

static void measure(const struct kind *kind, const char *what,
		    void (*fn)(struct place *p, const struct kind *kind, unsigned int part))
{
	unsigned int part, i;

	for (part = 0; part < PARTS; part++) {
		for (i = 0; i < num_places; i++)
			if (!places[i].out)
				fn(&places[i], kind, part);
	}
	report(kind, what);
}

static void open_place(struct place *p, const char *device)
{
	bench_open(&p->dev, device);
	p->cq = bench_must(ibv_create_cq(p->dev.ctx, 1, NULL, NULL, 0), "CQ");
	p->objects = bench_must(calloc(number, sizeof(*p->objects)), "memory");
}

static void close_place(struct place *p)
{
	free(p->objects);
	ibv_destroy_cq(p->cq);
	vu_close(&p->dev);
}

/* The child's part: create all objects, notify the parent, and wait for the end. */
static void hold(const struct kind *kind, const char *device, int fd)
{
	unsigned int part;

	open_place(&places[0], device);
	for (part = 0; part < PARTS; part++)
		create_part(&places[0], kind, part);
	if (write(fd, "", 1) == 1)
		pause();
	_exit(1);
}

/* Nanoseconds for each object until a process that has @number of them is gone */
static double killed(const struct kind *kind, const char *device)
{
	int fds[2], status;
	double start;
	pid_t pid;
	char byte;

	if (pipe(fds))
		tap_bail("pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		close(fds[0]);
		hold(kind, device, fds[1]);
	}
	close(fds[1]);
	if (read(fds[0], &byte, 1) != 1)
		tap_bail("a process can't create %u %ss", number, kind->name);
	close(fds[0]);
	start = bench_now();
	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		tap_bail("the process was not killed");
	return (bench_now() - start) / number;
}

static void measure_killed(const struct kind *kind, char **devices)
{
	double each[MAX_PLACES] = {0};
	unsigned int i;

	for (i = 0; i < num_places; i++) {
		if (places[i].out)
			continue;
		each[i] = killed(kind, devices[i]);
		bench_figure(&places[i].dev, each[i] / 1e3,
			     "row=many what=%s_killed size=%u unit=us", kind->name, number);
	}
	if (num_places > 1 && !places[1].out)
		bench_figure(&places[0].dev, each[1] / each[0],
			     "row=many what=%s_killed size=%u unit=times", kind->name, number);
}

static void all_take_part(void)
{
	unsigned int i;

	for (i = 0; i < num_places; i++)
		places[i].out = false;
}

/* Whether the list of names, separated by commas, has this one */
static bool in_list(const char *list, const char *name)
{
	size_t len = strlen(name);
	const char *at;

	for (at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, name, len) && (!at[len] || at[len] == ','))
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	const char *list = NULL;
	unsigned int i;
	int opt;

	while ((opt = getopt(argc, argv, "n:k:")) != -1) {
		switch (opt) {
		case 'n':
			number = strtoul(optarg, NULL, 10);
			break;
		case 'k':
			list = optarg;
			break;
		default:
			return 2;
		}
	}
	if (number < PARTS || number > INT_MAX || optind == argc || argc - optind > MAX_PLACES)
		tap_bail("[-n NUMBER] [-k KIND[,KIND...]] DEVICE..., not this");
	memory = vu_alloc(PAGES * PAGE);
	for (; optind + num_places < (unsigned int)argc; num_places++)
		open_place(&places[num_places], argv[optind + num_places]);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (list && !in_list(list, kinds[i].name))
			continue;
		all_take_part();
		measure(&kinds[i], "create", create_part);
		measure(&kinds[i], "destroy", destroy_part);
		measure_killed(&kinds[i], argv + optind);
	}
	while (num_places)
		close_place(&places[--num_places]);
	vu_free(memory, PAGES * PAGE);
	return 0;
}
