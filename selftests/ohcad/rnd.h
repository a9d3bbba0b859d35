/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers from a seed (environment SEED, else 1), for tests that can be repeated. */

#ifndef SELFTESTS_OHCAD_RND_H
#define SELFTESTS_OHCAD_RND_H

#include <stdint.h>
#include <stdlib.h>

static uint64_t rnd_state;

static inline void rnd_seed(void)
{
	const char *seed = getenv("SEED");

	rnd_state = (seed ? strtoull(seed, NULL, 0) : 1) * 0x9e3779b97f4a7c15ULL | 1;
}

/* A number below @n. */
static inline uint32_t rnd(uint32_t n)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return (rnd_state >> 16) % n;
}

#endif
