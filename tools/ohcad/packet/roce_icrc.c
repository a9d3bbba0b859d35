// SPDX-License-Identifier: GPL-2.0
/*
 * The invariant CRC (A17.3.3): over eight bytes of ones in place of an LRH, the network header, UDP
 * and all that follows, with ones for what routers may change.  It is the CRC of Ethernet.
 */

#include <string.h>
#include <libdeflate.h>

#include "packet/roce.h"

#define LRH_LEN 8

#define BTH_ECN 4 /* FECN, BECN, and reserved bits */

uint32_t roce_icrc(const uint8_t *ip, size_t ip_len, size_t len)
{
	uint8_t head[LRH_LEN + ROCE_IPV6_LEN + ROCE_UDP_LEN + BTH_LEN];
	size_t head_len = ip_len + ROCE_UDP_LEN + BTH_LEN;
	uint8_t *masked = head + LRH_LEN;
	uint8_t *udp = masked + ip_len;
	uint32_t crc;

	memset(head, 0xff, LRH_LEN);
	memcpy(masked, ip, head_len);
	if (ip_len == ROCE_IPV4_LEN) {
		masked[1] = 0xff; /* type of service */
		masked[8] = 0xff; /* time to live */
		masked[10] = 0xff; /* checksum */
		masked[11] = 0xff;
	} else {
		masked[0] |= 0x0f; /* traffic class and flow label */
		memset(masked + 1, 0xff, 3);
		masked[7] = 0xff; /* hop limit */
	}
	udp[6] = 0xff; /* checksum */
	udp[7] = 0xff;
	udp[ROCE_UDP_LEN + BTH_ECN] = 0xff;
	crc = libdeflate_crc32(0, head, LRH_LEN + head_len);
	return libdeflate_crc32(crc, ip + head_len, len - head_len);
}
