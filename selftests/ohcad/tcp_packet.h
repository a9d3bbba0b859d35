/* SPDX-License-Identifier: GPL-2.0 */
/* A large packet of TCP behind the header of a link, and the segments that come of it, made in the plainest way. */

#ifndef SELFTESTS_OHCAD_TCP_PACKET_H
#define SELFTESTS_OHCAD_TCP_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "ohca/ohca_queue.h"

#define TCP_MAX_LEN (OHCA_TSO_MAX_HDR + OHCA_TSO_MAX_IP)

#define TCP_FIN 0x01
#define TCP_PSH 0x08
#define TCP_CWR 0x80

/**
 * struct tcp_shape - what the packet is like
 * @tags: VLAN tags, of a frame
 * @ip_more: bytes of IPv4 options, or of an IPv6 extension header
 * @options: bytes of TCP options
 */
struct tcp_shape {
	bool v6;
	unsigned int tags, ip_more, options;
	uint32_t data, mss;
	uint8_t tcp_flags;
};

/**
 * struct tcp_packet - its bytes, and what a work request says of them
 */
struct tcp_packet {
	uint8_t bytes[TCP_MAX_LEN];
	uint32_t len;
	uint16_t ip, tcp, hdr_len, mss;
	bool v6;
};

/* Behind @link_len bytes of @link.  In the place of TCP's checksum is the sum of the pseudo header. */
void tcp_packet_make(struct tcp_packet *f, const struct tcp_shape *s, const uint8_t *link,
		     unsigned int link_len);
/* Segment @index, made anew from all of it; returns its length. */
uint32_t tcp_packet_segment(const struct tcp_packet *f, unsigned int index, uint8_t *bytes);
unsigned int tcp_packet_segments(const struct tcp_packet *f);

#endif
