// SPDX-License-Identifier: GPL-2.0
/* RoCEv2 packets: making frames. */

#include <endian.h>
#include <string.h>

#include "packet/eth_hdr.h"
#include "packet/roce.h"

#define SPORT_MIN 0xc000
#define SPORT_MASK 0x3fff

/* As others derive it, so that what software finds in one place holds in the other. */
uint16_t roce_sport(const struct ohca_av *av, uint32_t src_qpn, uint32_t dest_qpn)
{
	uint64_t label = le32toh(av->flow_label);

	if (!label) {
		label = (uint64_t)src_qpn * dest_qpn;
		label ^= label >> 20;
		label ^= label >> 40;
		label &= 0xfffff;
	}
	return SPORT_MIN | ((label ^ label >> 14) & SPORT_MASK);
}

static uint8_t *put_ethernet(uint8_t *at, const struct roce_path *path)
{
	uint16_t type = roce_is_ipv4(path->from->gid) ? ETH_TYPE_IPV4 : ETH_TYPE_IPV6;

	memcpy(at, path->av->dmac, 6);
	memcpy(at + 6, path->from->mac, 6);
	at += 12;
	if (path->from->vlan != OHCA_VLAN_NONE) {
		put_be16(at, ETH_TYPE_VLAN);
		put_be16(at + 2, (path->av->sl & 7) << 13 | path->from->vlan);
		at += 4;
	}
	put_be16(at, type);
	return at + 2;
}

uint32_t roce_encode(uint8_t *frame, const struct roce_path *path, const struct pkt *pkt,
		     struct iov_pos *payload)
{
	bool ipv4 = roce_is_ipv4(path->from->gid);
	uint8_t *ip = put_ethernet(frame, path);
	uint8_t *udp = ip + (ipv4 ? ROCE_IPV4_LEN : ROCE_IPV6_LEN);
	uint8_t *at = bth_encode(udp + ROCE_UDP_LEN, &path->bth, pkt, payload);
	uint32_t crc;

	put_be16(udp, path->sport);
	put_be16(udp + 2, ROCE_UDP_PORT);
	put_be16(udp + 4, at + ICRC_LEN - udp);
	put_be16(udp + 6, 0);
	if (ipv4)
		roce_make_ipv4(ip, path->from, path->av, at + ICRC_LEN - udp);
	else
		roce_make_ipv6(ip, path->from, path->av, at + ICRC_LEN - udp);
	crc = htole32(roce_icrc(ip, udp - ip, at - ip));
	memcpy(at, &crc, ICRC_LEN);
	return at + ICRC_LEN - frame;
}
