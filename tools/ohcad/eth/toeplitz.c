// SPDX-License-Identifier: GPL-2.0
/*
 * The Toeplitz hash: for each bit of the data that is set, the 32 bits of the key that begin at the
 * same place, added without carry.
 */

#include "eth/toeplitz.h"

uint32_t toeplitz(const uint8_t key[OHCA_RSS_KEY_LEN], const uint8_t *data, size_t len)
{
	/* The 40 bits of the key that the bits of a byte meet are the lowest ones. */
	uint64_t window = (uint32_t)key[0] << 24 | key[1] << 16 | key[2] << 8 | key[3];
	uint32_t hash = 0;
	size_t i;
	int bit;

	for (i = 0; i < len; i++) {
		window = window << 8 | key[i + 4];
		for (bit = 7; bit >= 0; bit--)
			hash ^= (uint32_t)(window >> (bit + 1)) & -(uint32_t)(data[i] >> bit & 1);
	}
	return hash;
}
