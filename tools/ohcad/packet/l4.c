// SPDX-License-Identifier: GPL-2.0
/* TCP segments and UDP datagrams in packets of IP. */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>

#include "base/csum.h"
#include "packet/bytes.h"
#include "packet/eth_hdr.h"
#include "packet/l4.h"

static bool parse_ipv4(const uint8_t *hdr, size_t avail, size_t off, struct l4 *l4)
{
	size_t ihl = (hdr[off] & 15) * 4;

	if (hdr[off] >> 4 != 4 || ihl < sizeof(struct iphdr) || off + ihl > avail)
		return false;
	if (csum_fold(csum_add(0, hdr + off, ihl, false)) != 0xffff)
		return false;
	if (get_be16(hdr + off + 6) & 0x3fff)
		return false;
	l4->off = off + ihl;
	l4->end = off + get_be16(hdr + off + 2);
	l4->proto = hdr[off + 9];
	l4->sum = csum_add(0, hdr + off + 12, 8, false);
	return true;
}

static bool parse_ipv6(const uint8_t *hdr, size_t avail, size_t off, struct l4 *l4)
{
	if (hdr[off] >> 4 != 6 || off + sizeof(struct ip6_hdr) > avail)
		return false;
	l4->off = off + sizeof(struct ip6_hdr);
	l4->end = l4->off + get_be16(hdr + off + 4);
	l4->proto = hdr[off + 6];
	l4->sum = csum_add(0, hdr + off + 8, 32, false);
	return true;
}

bool l4_find(struct l4 *l4, uint16_t type, const uint8_t *hdr, size_t avail, size_t off, size_t len)
{
	if (off + sizeof(struct iphdr) > avail)
		return false;
	if (type == ETH_TYPE_IPV4 ? !parse_ipv4(hdr, avail, off, l4)
				  : type != ETH_TYPE_IPV6 || !parse_ipv6(hdr, avail, off, l4))
		return false;
	if (l4->end > len || l4->off > l4->end)
		return false;
	if (l4->proto != IPPROTO_TCP && l4->proto != IPPROTO_UDP)
		return false;
	if (l4->end - l4->off < (l4->proto == IPPROTO_TCP ? L4_MIN_TCP : L4_MIN_UDP))
		return false;
	l4->sum += htons(l4->proto) + (uint64_t)htonl(l4->end - l4->off);
	return true;
}

size_t l4_csum_offset(const struct l4 *l4)
{
	return l4->proto == IPPROTO_TCP ? L4_TCP_CSUM : L4_UDP_CSUM;
}

bool l4_csum_good(const struct l4 *l4, const struct iovec *iov, unsigned int num)
{
	/* UDP without a checksum: nothing was verified. */
	if (l4->proto == IPPROTO_UDP && !csum_iov(0, iov, num, l4->off + 6, l4->off + 8))
		return false;
	return csum_fold(csum_iov(l4->sum, iov, num, l4->off, l4->end)) == 0xffff;
}
