/* SPDX-License-Identifier: GPL-2.0 */
/* Little-endian numbers of up to 8 bytes, in memory at any address. */

#ifndef OHCAD_LE_H
#define OHCAD_LE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t le_load(const void *at, unsigned int len)
{
	uint64_t val = 0;

	memcpy(&val, at, len);
	return le64toh(val);
}

/* The lower bytes of @val */
static inline void le_store(void *at, unsigned int len, uint64_t val)
{
	val = htole64(val);
	memcpy(at, &val, len);
}

#endif
