// SPDX-License-Identifier: GPL-2.0
/* Functions for the benchmarks of objects. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_util.h"

double bench_now(void)
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

double bench_median(double *values, unsigned int num)
{
	qsort(values, num, sizeof(values[0]), compare);
	return values[num / 2];
}

void bench_figure(const struct vu_dev *of, double value, const char *what, ...)
{
	va_list args;

	printf("ibdev=%s ", ibv_get_device_name(of->ctx->device));
	va_start(args, what);
	vprintf(what, args);
	va_end(args);
	printf(" value=%.4f\n", value);
	fflush(stdout);
}

void *bench_must(void *p, const char *what)
{
	if (!p)
		tap_bail("%s: %s", what, strerror(errno));
	return p;
}

void bench_open(struct vu_dev *dev, const char *device)
{
	char *name = bench_must(strdup(device), "memory"), *address = strchr(name, '/');

	if (!address)
		tap_bail("%s: not NAME/ADDRESS", device);
	*address++ = '\0';
	setenv("OHCA_IBDEV", name, true);
	setenv("OHCA_IP", address, true);
	vu_open(dev);
	free(name);
}
