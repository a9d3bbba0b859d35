/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions for all benchmarks.  They print one line for each figure, "TABLE name=value ...", of
 * which tools/bench makes tables.  Times are in nanoseconds.
 */

#ifndef SELFTESTS_OHCAD_BENCH_H
#define SELFTESTS_OHCAD_BENCH_H

#include "rig.h"

#define BENCH_IOVA 0x10000000ULL
#define BENCH_ALL_ACCESS (RIG_ALL_ACCESS | OHCA_ACCESS_REMOTE_ATOMIC)

/*
 * Wall clock time, and processor time of this thread, which excludes the time of other processes.
 */
double bench_clock(void);
double bench_cpu_clock(void);

/**
 * struct bench_values - samples of one figure
 */
struct bench_values {
	double *v;
	unsigned int num, max;
};

void bench_add(struct bench_values *values, double v);
/* The value that @percent of the samples do not exceed; sorts them. 50: the median. */
double bench_percentile(struct bench_values *values, double percent);
void bench_free(struct bench_values *values);

/*
 * A connected pair of QPs of HCAs 0 and 1: of the largest path MTU, with all rights.  @opts as for
 * rig_qp_new().
 */
void bench_connect(struct rig_qp *a, struct rig_qp *b);

/* The memory of @mr as another region whose pages are physically consecutive. */
struct rig_mr *bench_mr_in_row(const struct rig_mr *mr);

/**
 * struct bench_crowd - many connected pairs with small queues, which share a CQ on each side
 * @a, @b: @num QPs each; @a[i] is connected with @b[i]
 */
struct bench_crowd {
	unsigned int num;
	struct rig_qp **a, **b;
	struct drv_cq *cq[2];
};

void bench_crowd_init(struct bench_crowd *crowd, struct rig *rig, unsigned int num);
void bench_crowd_fini(struct bench_crowd *crowd);

#endif
