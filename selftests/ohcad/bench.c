// SPDX-License-Identifier: GPL-2.0
/* Functions for all benchmarks. */

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"

static double read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

double bench_clock(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

double bench_cpu_clock(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static void *must_alloc(void *old, size_t size)
{
	void *p = realloc(old, size);

	if (!p)
		abort();
	return p;
}

void bench_add(struct bench_values *values, double v)
{
	if (values->num == values->max) {
		values->max = values->max ? 2 * values->max : 64;
		values->v = must_alloc(values->v, values->max * sizeof(v));
	}
	values->v[values->num++] = v;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

double bench_percentile(struct bench_values *values, double percent)
{
	qsort(values->v, values->num, sizeof(*values->v), compare);
	return values->v[(unsigned int)((values->num - 1) * percent / 100)];
}

void bench_free(struct bench_values *values)
{
	free(values->v);
	*values = (struct bench_values){0};
}

static void prepare(struct rig_qp *qp)
{
	qp->attr.path_mtu = 5;
	if (qp->type == OHCA_QPT_RC)
		qp->attr.access |= OHCA_ACCESS_REMOTE_ATOMIC;
}

void bench_connect(struct rig_qp *a, struct rig_qp *b)
{
	prepare(a);
	prepare(b);
	rig_connect(a, b);
}

struct rig_mr *bench_mr_in_row(const struct rig_mr *mr)
{
	struct drv *drv = mr->hca->drv;
	struct rig_mr *row = drv_own(drv, sizeof(*row));
	struct ohca_create_mkey_in in = {
		.iova = htole64(mr->iova),
		.length = htole64(mr->length),
		.pdn = htole32(mr->hca->pdn),
		.access = BENCH_ALL_ACCESS,
	};
	uint64_t i;

	*row = *mr;
	row->pages = drv_own(drv, mr->num_pages * sizeof(*row->pages));
	for (i = 0; i < mr->num_pages; i++)
		row->pages[i] = mr->pages[i ^ 1];
	row->xlt = drv_xlt(drv, row->pages[0], mr->length, 12);
	in.xlt = row->xlt;
	row->key = drv_create(drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
	return row;
}

void bench_crowd_init(struct bench_crowd *crowd, struct rig *rig, unsigned int num)
{
	struct rig_qp_opts opts[2] = {{.log_size = 1, .max_sge = 1}, {.log_size = 1, .max_sge = 1}};
	unsigned int i;

	crowd->num = num;
	crowd->a = must_alloc(NULL, num * sizeof(*crowd->a));
	crowd->b = must_alloc(NULL, num * sizeof(*crowd->b));
	for (i = 0; i < 2; i++) {
		crowd->cq[i] = drv_cq_new(rig->hca[i].drv, 14, rig->hca[i].comp->eqn);
		opts[i].cq = crowd->cq[i];
	}
	for (i = 0; i < num; i++) {
		crowd->a[i] = rig_qp_new(&rig->hca[0], &opts[0]);
		crowd->b[i] = rig_qp_new(&rig->hca[1], &opts[1]);
		bench_connect(crowd->a[i], crowd->b[i]);
	}
}

void bench_crowd_fini(struct bench_crowd *crowd)
{
	unsigned int i;

	for (i = 0; i < crowd->num; i++) {
		if (rig_qp_destroy(crowd->a[i]) || rig_qp_destroy(crowd->b[i]))
			abort();
	}
	free(crowd->a);
	free(crowd->b);
}
