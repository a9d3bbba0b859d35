/* SPDX-License-Identifier: GPL-2.0 */
/* Inputs of fuzz targets: bytes that are consumed in order; and inputs that are built. */

#ifndef SELFTESTS_OHCAD_FUZZ_INPUT_H
#define SELFTESTS_OHCAD_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct input - the rest of an input
 */
struct input {
	const uint8_t *at;
	size_t left;
};

/* The next @len bytes; zeros after the end of the input.  False: the input had ended before. */
static inline bool input_get(struct input *in, void *to, size_t len)
{
	size_t got = len < in->left ? len : in->left;

	memset(to, 0, len);
	memcpy(to, in->at, got);
	in->at += got;
	in->left -= got;
	return got;
}

/* The next bytes, *@len at most; sets *@len to their number. */
static inline const uint8_t *input_bytes(struct input *in, size_t *len)
{
	const uint8_t *at = in->at;

	if (*len > in->left)
		*len = in->left;
	in->at += *len;
	in->left -= *len;
	return at;
}

#define SEED_MAX (64U << 10)

/**
 * struct seed - an input that is being built
 */
struct seed {
	uint8_t bytes[SEED_MAX];
	size_t len;
};

static inline void seed_put(struct seed *seed, const void *from, size_t len)
{
	if (len > SEED_MAX - seed->len) {
		fprintf(stderr, "a seed is too long\n");
		abort();
	}
	if (len)
		memcpy(seed->bytes + seed->len, from, len);
	seed->len += len;
}

#endif
