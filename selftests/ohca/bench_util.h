/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions for the benchmarks of objects: time, figures for tools/bench, devices by name and
 * address.
 */

#ifndef SELFTEST_BENCH_UTIL_H
#define SELFTEST_BENCH_UTIL_H

#include "verbs_util.h"

/* Nanoseconds of a monotonic clock. */
double bench_now(void);
/* The median of @num values, which are sorted. */
double bench_median(double *values, unsigned int num);
/* Print the line of a figure of a device: its name, further fields, and its value. */
__attribute__((format(printf, 3, 4))) void bench_figure(const struct vu_dev *of, double value,
							const char *what, ...);
/* Returns @p; bails out if it is NULL. */
void *bench_must(void *p, const char *what);
/* Open the device NAME/ADDRESS, or bail out. */
void bench_open(struct vu_dev *dev, const char *device);

#endif
