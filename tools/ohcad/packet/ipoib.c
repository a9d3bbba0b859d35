// SPDX-License-Identifier: GPL-2.0
/* IP over InfiniBand. */

#include <netinet/in.h>
#include <string.h>

#include "base/csum.h"
#include "base/iov.h"
#include "packet/bytes.h"
#include "packet/eth_hdr.h"
#include "packet/ipoib.h"

#define IP OHCA_IPOIB_HDR_LEN /* offset of the IP header */
#define IPV4_LEN 20
#define IPV6_LEN 40

bool ipoib_csum_good(const struct iovec *iov, unsigned int num, size_t len)
{
	uint8_t hdr[IP + L4_MAX_IP_HEADER];
	struct l4 l4;

	/* The Ethernet type alone, first: most datagrams are something else. */
	if (len < IP + IPV4_LEN || iov_peek(iov, num, hdr, 2) < 2 ||
	    (get_be16(hdr) != ETH_TYPE_IPV4 && get_be16(hdr) != ETH_TYPE_IPV6))
		return false;
	return l4_find(&l4, get_be16(hdr), hdr, iov_peek(iov, num, hdr, sizeof(hdr)), IP, len) &&
	       l4_csum_good(&l4, iov, num);
}

/* Complete the checksum of IPv4's header, if all of that is among the first @avail bytes. */
static void make_ipv4_csum(uint8_t *head, size_t avail)
{
	uint8_t *ip = head + IP;
	size_t ihl = (ip[0] & 15) * 4;
	uint16_t sum;

	if (ip[0] >> 4 != 4 || ihl < IPV4_LEN || IP + ihl > avail)
		return;
	memset(ip + 10, 0, sizeof(sum));
	sum = ~csum_fold(csum_add(0, ip, ihl, false));
	memcpy(ip + 10, &sum, sizeof(sum));
}

bool ipoib_csum_make(struct iovec *iov, unsigned int *num, size_t len,
		     uint8_t head[IPOIB_MAX_HEADERS])
{
	size_t avail = iov_peek(iov, *num, head, IPOIB_MAX_HEADERS), field;
	uint16_t type, sum;
	struct l4 l4;

	if (avail < IP + IPV4_LEN)
		return false;
	type = get_be16(head);
	if (type == ETH_TYPE_IPV4)
		make_ipv4_csum(head, avail);
	*num = iov_replace(iov, *num, head, avail);
	if (!l4_find(&l4, type, head, avail, IP, len))
		return false;
	field = l4.off + l4_csum_offset(&l4);
	memset(head + field, 0, sizeof(sum));
	sum = ~csum_fold(csum_iov(l4.sum, iov, *num, l4.off, l4.end));
	/* 0 is "no checksum" in UDP, and as good as its complement in TCP. */
	if (!sum)
		sum = 0xffff;
	memcpy(head + field, &sum, sizeof(sum));
	return true;
}

bool ipoib_lso_start(struct tso *tso, uint16_t hdr_len, uint16_t mss, const struct iovec *iov,
		     unsigned int num, uint32_t len)
{
	struct tso_layout at = {.ip = IP, .hdr_len = hdr_len, .mss = mss};
	uint8_t hdr[IP + IPV4_LEN];
	uint16_t type;
	uint8_t proto;

	if (iov_peek(iov, num, hdr, sizeof(hdr)) < sizeof(hdr))
		return false;
	type = get_be16(hdr);
	if (type == ETH_TYPE_IPV4) {
		at.tcp = IP + (hdr[IP] & 15) * 4;
		proto = hdr[IP + 9];
	} else if (type == ETH_TYPE_IPV6) {
		at.tcp = IP + IPV6_LEN;
		proto = hdr[IP + 6];
	} else {
		return false;
	}
	if (proto != IPPROTO_TCP || !tso_start(tso, &at, iov, num, len) ||
	    tso_net_type(tso) != (type == ETH_TYPE_IPV4 ? OHCA_NET_IPV4 : OHCA_NET_IPV6))
		return false;
	tso_pseudo_made(tso);
	return true;
}
