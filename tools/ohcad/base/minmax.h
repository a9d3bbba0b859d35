/* SPDX-License-Identifier: GPL-2.0 */
/* The smaller and the larger one of two numbers. */

#ifndef OHCAD_MINMAX_H
#define OHCAD_MINMAX_H

#include <stdint.h>

static inline uint64_t min_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
