// SPDX-License-Identifier: GPL-2.0
/* The headers of an Ethernet frame. */

#include <endian.h>
#include <netinet/in.h>
#include <string.h>

#include "base/iov.h"
#include "packet/eth_hdr.h"
#include "packet/frame.h"

#define IPV4_MORE 0x20 /* in the byte of the flags: more fragments follow */

static void parse_l4(struct frame *frame, const uint8_t *hdr, size_t avail, size_t off, bool whole)
{
	struct ohca_flow_match *m = &frame->match.fields;

	if ((m->ip_proto != IPPROTO_TCP && m->ip_proto != IPPROTO_UDP) || off + 4 > avail)
		return;
	memcpy(&m->src_port, hdr + off, 2);
	memcpy(&m->dst_port, hdr + off + 2, 2);
	frame->ports = whole;
}

static void parse_ip(struct frame *frame, const uint8_t *hdr, size_t avail, size_t off)
{
	struct ohca_flow_match *m = &frame->match.fields;

	if (be16toh(m->ether_type) == ETH_TYPE_IPV4 && off + 20 <= avail && hdr[off] >> 4 == 4) {
		m->ip_version = 4;
		m->ip_tos = hdr[off + 1];
		m->ip_ttl = hdr[off + 8];
		m->ip_proto = hdr[off + 9];
		memcpy(m->src_ip, hdr + off + 12, 4);
		memcpy(m->dst_ip, hdr + off + 16, 4);
		/* Ports are in the first fragment only. */
		if (!(hdr[off + 6] & 0x1f) && !hdr[off + 7])
			parse_l4(frame, hdr, avail, off + (hdr[off] & 15) * 4,
				 !(hdr[off + 6] & IPV4_MORE));
	} else if (be16toh(m->ether_type) == ETH_TYPE_IPV6 && off + 40 <= avail &&
		   hdr[off] >> 4 == 6) {
		m->ip_version = 6;
		m->ip_tos = (hdr[off] & 15) << 4 | hdr[off + 1] >> 4;
		m->ip_ttl = hdr[off + 7];
		m->ip_proto = hdr[off + 6];
		memcpy(m->src_ip, hdr + off + 8, 16);
		memcpy(m->dst_ip, hdr + off + 24, 16);
		parse_l4(frame, hdr, avail, off + 40, true);
	}
}

void frame_parse(struct frame *frame, const struct iovec *iov, unsigned int num)
{
	struct ohca_flow_match *m = &frame->match.fields;
	uint8_t hdr[ETH_MAX_HEADERS + 4];
	size_t avail = iov_peek(iov, num, hdr, sizeof(hdr));
	size_t off = ETH_HDR_LEN;

	memset(frame, 0, sizeof(*frame));
	memcpy(m->dmac, hdr, 6);
	memcpy(m->smac, hdr + 6, 6);
	memcpy(&m->ether_type, hdr + 12, 2);
	if (be16toh(m->ether_type) == ETH_TYPE_VLAN && avail >= off + 4) {
		memcpy(&m->vlan, hdr + 14, 2);
		memcpy(&m->ether_type, hdr + 16, 2);
		off += 4;
	}
	parse_ip(frame, hdr, avail, off);
}
