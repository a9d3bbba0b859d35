// SPDX-License-Identifier: GPL-2.0
/* A second implementation of the CRC of RoCEv2 packets. */

#include <string.h>

#include "icrc.h"
#include "packet/roce.h"

/* The CRC as the specification defines it, bit by bit */
static uint32_t crc_of(const uint8_t *bytes, size_t len)
{
	uint32_t crc = 0xffffffff;
	size_t i;
	int bit;

	for (i = 0; i < len; i++) {
		crc ^= bytes[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

uint32_t icrc_of(const uint8_t *frame, size_t len, size_t ip_off, bool ipv6)
{
	uint8_t buf[8 + ROCE_MAX_FRAME], *ip = buf + 8;
	uint8_t *udp = ip + (ipv6 ? 40 : 20);

	memset(buf, 0xff, 8);
	memcpy(ip, frame + ip_off, len - ip_off - 4);
	if (ipv6) {
		ip[0] = 0x6f;
		ip[1] = 0xff;
		ip[2] = 0xff;
		ip[3] = 0xff;
		ip[7] = 0xff;
	} else {
		ip[1] = 0xff;
		ip[8] = 0xff;
		ip[10] = 0xff;
		ip[11] = 0xff;
	}
	udp[6] = 0xff;
	udp[7] = 0xff;
	udp[8 + 4] = 0xff;
	return crc_of(buf, 8 + len - ip_off - 4);
}
