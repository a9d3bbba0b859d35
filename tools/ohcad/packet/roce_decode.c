// SPDX-License-Identifier: GPL-2.0
/* RoCEv2 packets: taking frames apart.  Nothing in a frame is trusted. */

#include <endian.h>
#include <netinet/in.h>
#include <string.h>

#include "base/csum.h"
#include "packet/eth_hdr.h"
#include "packet/roce.h"

#define IPV4_MORE_OR_OFFSET 0x3fff

static void map_ipv4(uint8_t gid[16], const uint8_t *ip)
{
	memset(gid, 0, 10);
	memset(gid + 10, 0xff, 2);
	memcpy(gid + 12, ip, 4);
}

/* UDP to the port of RoCEv2? */
static bool is_roce(const uint8_t *udp)
{
	return get_be16(udp + 2) == ROCE_UDP_PORT;
}

static enum packet_verdict peek_udp(struct roce_packet *p, size_t ip_payload)
{
	const uint8_t *udp = p->ip + p->ip_len;

	if (get_be16(udp + 4) != ip_payload || ip_payload < ROCE_UDP_LEN + BTH_LEN + ICRC_LEN)
		return PACKET_MALFORMED;
	p->bth.data = udp + ROCE_UDP_LEN;
	p->bth.len = ip_payload - ROCE_UDP_LEN;
	return PACKET_GOOD;
}

static enum packet_verdict peek_ipv4(struct roce_packet *p, const uint8_t *ip, size_t avail)
{
	size_t len;

	if (avail < ROCE_IPV4_LEN + ROCE_UDP_LEN || ip[0] >> 4 != 4 || ip[9] != IPPROTO_UDP ||
	    get_be16(ip + 6) & IPV4_MORE_OR_OFFSET)
		return PACKET_OTHER;
	/* Packets have no IP options (A17.3.1.2), so a header of another length is not RoCE. */
	if ((ip[0] & 15) * 4 != ROCE_IPV4_LEN || !is_roce(ip + ROCE_IPV4_LEN))
		return PACKET_OTHER;
	p->ip = ip;
	p->ip_len = ROCE_IPV4_LEN;
	p->tclass = ip[1];
	map_ipv4(p->sgid, ip + 12);
	map_ipv4(p->dgid, ip + 16);
	len = get_be16(ip + 2);
	if (len < ROCE_IPV4_LEN || len > avail ||
	    csum_fold(csum_add(0, ip, ROCE_IPV4_LEN, false)) != 0xffff)
		return PACKET_MALFORMED;
	return peek_udp(p, len - ROCE_IPV4_LEN);
}

static enum packet_verdict peek_ipv6(struct roce_packet *p, const uint8_t *ip, size_t avail)
{
	size_t len;

	if (avail < ROCE_IPV6_LEN + ROCE_UDP_LEN || ip[0] >> 4 != 6 || ip[6] != IPPROTO_UDP ||
	    !is_roce(ip + ROCE_IPV6_LEN))
		return PACKET_OTHER;
	p->ip = ip;
	p->ip_len = ROCE_IPV6_LEN;
	p->tclass = get_be16(ip) >> 4;
	memcpy(p->sgid, ip + 8, 16);
	memcpy(p->dgid, ip + 24, 16);
	len = get_be16(ip + 4);
	if (len > avail - ROCE_IPV6_LEN)
		return PACKET_MALFORMED;
	return peek_udp(p, len);
}

enum packet_verdict roce_peek(struct roce_packet *p, const uint8_t *frame, size_t len)
{
	size_t off = ETH_HDR_LEN;
	uint16_t type;

	if (len < ETH_HDR_LEN + 4)
		return PACKET_OTHER;
	p->dmac = frame;
	p->smac = frame + 6;
	p->vlan = OHCA_VLAN_NONE;
	p->sl = 0;
	type = get_be16(frame + 12);
	if (type == ETH_TYPE_VLAN) {
		uint16_t tag = get_be16(frame + 14);

		/* VLAN 0 is none, with a priority. */
		if (tag & 0xfff)
			p->vlan = tag & 0xfff;
		p->sl = tag >> 13;
		type = get_be16(frame + 16);
		off += 4;
	}
	if (type == ETH_TYPE_IPV4)
		return peek_ipv4(p, frame + off, len - off);
	if (type == ETH_TYPE_IPV6)
		return peek_ipv6(p, frame + off, len - off);
	return PACKET_OTHER;
}

enum packet_verdict roce_decode(struct roce_packet *p)
{
	const uint8_t *end = p->bth.data + p->bth.len - ICRC_LEN;
	uint32_t crc;

	memcpy(&crc, end, sizeof(crc));
	if (le32toh(crc) != roce_icrc(p->ip, p->ip_len, end - p->ip))
		return PACKET_BAD_CRC;
	return bth_decode(&p->bth);
}
