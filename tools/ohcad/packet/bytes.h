/* SPDX-License-Identifier: GPL-2.0 */
/* Big-endian numbers at any address. */

#ifndef OHCAD_BYTES_H
#define OHCAD_BYTES_H

#include <stdint.h>

static inline void put_be16(uint8_t *to, uint16_t val)
{
	to[0] = val >> 8;
	to[1] = val;
}

static inline void put_be32(uint8_t *to, uint32_t val)
{
	put_be16(to, val >> 16);
	put_be16(to + 2, val);
}

static inline void put_be64(uint8_t *to, uint64_t val)
{
	put_be32(to, val >> 32);
	put_be32(to + 4, val);
}

static inline uint16_t get_be16(const uint8_t *from)
{
	return from[0] << 8 | from[1];
}

static inline uint32_t get_be32(const uint8_t *from)
{
	return (uint32_t)get_be16(from) << 16 | get_be16(from + 2);
}

static inline uint64_t get_be64(const uint8_t *from)
{
	return (uint64_t)get_be32(from) << 32 | get_be32(from + 4);
}

#endif
