/* SPDX-License-Identifier: GPL-2.0 */
/* What an IP packet carries: a TCP segment or a UDP datagram, and its checksum. */

#ifndef OHCAD_L4_H
#define OHCAD_L4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define L4_MAX_IP_HEADER 60 /* IPv4 with all options; IPv6 has 40 */
#define L4_MIN_TCP 20 /* bytes of TCP's header */
#define L4_MIN_UDP 8 /* of UDP's */
#define L4_TCP_CSUM 16 /* offset of the checksum in TCP's header */
#define L4_UDP_CSUM 6 /* in UDP's */

/**
 * struct l4 - the transport part of a packet
 * @off: its first byte
 * @end: one past its last byte
 * @sum: of the pseudo header
 * @proto: IPPROTO_TCP or IPPROTO_UDP
 */
struct l4 {
	size_t off, end;
	uint64_t sum;
	uint8_t proto;
};

/*
 * Find it in a packet of @len bytes, the first @avail of which are at @hdr: the packet of IP begins
 * at @off and is of the Ethernet type @type.  False if that is neither IPv4 nor IPv6, a checksum of
 * IPv4 is wrong, it is a fragment, or has no whole TCP segment or UDP datagram.
 */
bool l4_find(struct l4 *l4, uint16_t type, const uint8_t *hdr, size_t avail, size_t off,
	     size_t len);

/* Offset of its checksum in it */
size_t l4_csum_offset(const struct l4 *l4);
/* Is its checksum there and good? */
bool l4_csum_good(const struct l4 *l4, const struct iovec *iov, unsigned int num);

#endif
