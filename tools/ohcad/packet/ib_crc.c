// SPDX-License-Identifier: GPL-2.0
/* The CRCs of InfiniBand packets. */

#include <string.h>
#include <libdeflate.h>

#include "packet/ib.h"

#define BTH_ECN 4 /* FECN, BECN, and reserved bits */

/* x^16 + x^12 + x^3 + x + 1, the lowest power first */
#define VCRC_POLY 0xd008

/* With ones for what switches and routers may change; without a GRH they change less. */
uint32_t ib_icrc(const uint8_t *lrh, size_t len)
{
	bool grh = (lrh[1] & LNH_MASK) == LNH_GRH;
	size_t head_len = LRH_LEN + (grh ? OHCA_GRH_LEN : 0) + BTH_LEN;
	uint8_t head[LRH_LEN + OHCA_GRH_LEN + BTH_LEN];
	uint32_t crc;

	memcpy(head, lrh, head_len);
	head[0] |= 0xf0; /* virtual lane */
	if (grh) {
		uint8_t *at = head + LRH_LEN;

		memset(head, 0xff, LRH_LEN);
		at[0] |= 0x0f; /* traffic class and flow label */
		memset(at + 1, 0xff, 3);
		at[7] = 0xff; /* hop limit */
	}
	head[head_len - BTH_LEN + BTH_ECN] = 0xff;
	crc = libdeflate_crc32(0, head, head_len);
	return libdeflate_crc32(crc, lrh + head_len, len - head_len);
}

uint16_t ib_vcrc(const uint8_t *lrh, size_t len)
{
	static uint16_t table[256];
	uint16_t crc = 0xffff;
	unsigned int i, bit;

	if (!table[1]) {
		for (i = 0; i < 256; i++) {
			uint16_t entry = i;

			for (bit = 0; bit < 8; bit++)
				entry = entry >> 1 ^ (entry & 1 ? VCRC_POLY : 0);
			table[i] = entry;
		}
	}
	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *lrh++) & 0xff];
	return ~crc;
}
