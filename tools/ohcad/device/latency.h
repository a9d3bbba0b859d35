/* SPDX-License-Identifier: GPL-2.0 */
/* Histograms of latencies: each bucket is for times of up to twice as long as the one before. */

#ifndef OHCAD_LATENCY_H
#define OHCAD_LATENCY_H

#include <stdint.h>

#define LATENCY_LOG_FIRST 6 /* the first bucket: up to 64 ns */
#define LATENCY_BUCKETS 28 /* the last one: more than 4.3 s */

/**
 * struct latency - a histogram
 * @count: number of times
 * @sum: of all, in ns
 * @bucket: number of times in each
 */
struct latency {
	uint64_t count;
	uint64_t sum;
	uint64_t bucket[LATENCY_BUCKETS];
};

/* The longest time of a bucket, in ns; 0: the last one, which has no limit */
static inline uint64_t latency_limit(unsigned int bucket)
{
	return bucket < LATENCY_BUCKETS - 1 ? 1ULL << (bucket + LATENCY_LOG_FIRST) : 0;
}

static inline void latency_add(struct latency *latency, uint64_t ns)
{
	unsigned int bucket = 0;

	if (ns > latency_limit(0))
		bucket = 64 - LATENCY_LOG_FIRST - __builtin_clzll(ns - 1);
	if (bucket >= LATENCY_BUCKETS)
		bucket = LATENCY_BUCKETS - 1;
	latency->count++;
	latency->sum += ns;
	latency->bucket[bucket]++;
}

#endif
