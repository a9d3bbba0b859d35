/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The checksum of IP, TCP and UDP of RFC 1071 in its simplest form, to compare the device's
 * checksum with.
 */

#ifndef SELFTESTS_OHCAD_INET_SUM_H
#define SELFTESTS_OHCAD_INET_SUM_H

#include <stddef.h>
#include <stdint.h>

/* A sum of 16 bit words, with the carries added */
static inline uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Sum of the words of @len bytes; the last word may have only one byte */
static inline uint32_t sum16(const uint8_t *p, size_t len)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < len; i++)
		sum += i & 1 ? p[i] : p[i] << 8;
	return sum;
}

#endif
