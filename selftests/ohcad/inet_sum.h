/* SPDX-License-Identifier: GPL-2.0 */
/* The checksum of IP, TCP and UDP as RFC 1071 has it, in the plainest way: what the device's is compared with. */

#ifndef SELFTESTS_OHCAD_INET_SUM_H
#define SELFTESTS_OHCAD_INET_SUM_H

#include <stddef.h>
#include <stdint.h>

/* A sum of 16 bit words, with its carries */
static inline uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* The words of so many bytes, the last of which may have a byte only */
static inline uint32_t sum16(const uint8_t *p, size_t len)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < len; i++)
		sum += i & 1 ? p[i] : p[i] << 8;
	return sum;
}

#endif
