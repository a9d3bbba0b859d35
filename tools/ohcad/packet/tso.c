// SPDX-License-Identifier: GPL-2.0
/*
 * Segmentation.
 *
 * The headers are copied once and looked at in that copy; data stay where they are, each segment is
 * a list of pieces.
 */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <string.h>

#include "base/csum.h"
#include "base/minmax.h"
#include "packet/bytes.h"
#include "packet/l4.h"
#include "packet/tso.h"

/* Offsets in TCP's header, and flags */
#define TCP_SEQ 4
#define TCP_DATA_OFF 12
#define TCP_FLAGS 13
#define FLAG_FIN 0x01
#define FLAG_PSH 0x08
#define FLAG_CWR 0x80

static bool is_ipv4(const struct tso *tso)
{
	return tso->hdr[tso->at.ip] >> 4 == 4;
}

uint8_t tso_net_type(const struct tso *tso)
{
	return is_ipv4(tso) ? OHCA_NET_IPV4 : OHCA_NET_IPV6;
}

/* Are the headers of IP and TCP consistent with their lengths? */
static bool headers_fit(const struct tso *tso)
{
	const struct tso_layout *at = &tso->at;
	const uint8_t *hdr = tso->hdr;
	uint32_t ip_len = at->tcp - at->ip, tcp_len = at->hdr_len - at->tcp;

	if (tcp_len < sizeof(struct tcphdr) || (hdr[at->tcp + TCP_DATA_OFF] >> 4) * 4U != tcp_len)
		return false;
	if (is_ipv4(tso))
		return ip_len >= sizeof(struct iphdr) && (hdr[at->ip] & 15) * 4U == ip_len;
	return hdr[at->ip] >> 4 == 6 && ip_len >= sizeof(struct ip6_hdr);
}

bool tso_start(struct tso *tso, const struct tso_layout *at, const struct iovec *iov,
	       unsigned int num, uint32_t len)
{
	tso->at = *at;
	tso->len = len;
	if (at->tcp <= at->ip || at->hdr_len <= at->tcp || at->hdr_len > OHCA_TSO_MAX_HDR ||
	    at->hdr_len >= len || len - at->ip > OHCA_TSO_MAX_IP || !at->mss)
		return false;
	iov_peek(iov, num, tso->hdr, at->hdr_len);
	if (!headers_fit(tso))
		return false;
	memcpy(&tso->csum, tso->hdr + at->tcp + L4_TCP_CSUM, sizeof(tso->csum));
	memset(tso->hdr + at->tcp + L4_TCP_CSUM, 0, sizeof(tso->csum));
	tso->data = (struct iov_pos){.iov = iov};
	iov_skip(&tso->data, at->hdr_len);
	tso->left = len - at->hdr_len;
	return true;
}

/* It contains the length of the whole packet: subtract that. */
void tso_pseudo_given(struct tso *tso)
{
	tso->sum = (uint64_t)tso->csum + (uint16_t)~htons(tso->len - tso->at.tcp);
}

void tso_pseudo_made(struct tso *tso)
{
	const uint8_t *ip = tso->hdr + tso->at.ip;

	tso->sum = htons(IPPROTO_TCP);
	tso->sum = is_ipv4(tso) ? csum_add(tso->sum, ip + 12, 8, false)
				: csum_add(tso->sum, ip + 8, 32, false);
}

/* IP's header of segment @index, with so much behind it. */
static void set_ip(const struct tso *tso, uint8_t *ip, uint32_t index, uint32_t len)
{
	size_t ip_len = tso->at.tcp - tso->at.ip;
	uint16_t sum;

	if (!is_ipv4(tso)) {
		put_be16(ip + 4, ip_len - sizeof(struct ip6_hdr) + len);
		return;
	}
	put_be16(ip + 2, ip_len + len);
	put_be16(ip + 4, get_be16(ip + 4) + index);
	memset(ip + 10, 0, sizeof(sum));
	sum = ~csum_fold(csum_add(0, ip, ip_len, false));
	memcpy(ip + 10, &sum, sizeof(sum));
}

/* TCP's header but for the checksum, data from @off on. */
static void set_tcp(const struct tso *tso, uint8_t *tcp, uint32_t off)
{
	put_be32(tcp + TCP_SEQ, get_be32(tcp + TCP_SEQ) + off);
	if (off)
		tcp[TCP_FLAGS] &= ~FLAG_CWR;
	if (tso->left)
		tcp[TCP_FLAGS] &= ~(FLAG_FIN | FLAG_PSH);
}

uint32_t tso_next(struct tso *tso, struct iovec *iov, unsigned int *num)
{
	const struct tso_layout *at = &tso->at;
	uint32_t off = tso->len - at->hdr_len - tso->left;
	uint32_t data = tso->left < at->mss ? tso->left : at->mss;
	uint32_t tcp_len = at->hdr_len - at->tcp + data;
	uint64_t sum = tso->sum + htons(tcp_len);
	uint8_t *head = tso->head;
	uint16_t folded;

	if (!data)
		return 0;
	iov[0].iov_base = head;
	iov[0].iov_len = at->hdr_len;
	*num = 1 + iov_take(&tso->data, data, iov + 1);
	tso->left -= data;

	memcpy(head, tso->hdr, at->hdr_len);
	set_ip(tso, head + at->ip, off / at->mss, tcp_len);
	set_tcp(tso, head + at->tcp, off);
	folded = ~csum_fold(csum_iov(sum, iov, *num, at->tcp, at->hdr_len + data));
	memcpy(head + at->tcp + L4_TCP_CSUM, &folded, sizeof(folded));
	return at->hdr_len + data;
}

void tso_skip(struct tso *tso, uint32_t num)
{
	uint32_t data = min_of((uint64_t)num * tso->at.mss, tso->left);

	iov_skip(&tso->data, data);
	tso->left -= data;
}

uint32_t tso_segments(const struct tso *tso)
{
	return (tso->left + tso->at.mss - 1) / tso->at.mss;
}

uint32_t tso_whole(struct tso *tso, struct iovec *iov)
{
	const struct tso_layout *at = &tso->at;
	uint32_t tcp_len = tso->len - at->tcp;
	uint8_t *head = tso->head;

	iov[0].iov_base = head;
	iov[0].iov_len = at->hdr_len;
	iov_take(&tso->data, tso->left, iov + 1);
	tso->left = 0;
	memcpy(head, tso->hdr, at->hdr_len);
	set_ip(tso, head + at->ip, 0, tcp_len);
	memcpy(head + at->tcp + L4_TCP_CSUM, &tso->csum, sizeof(tso->csum));
	return tso->len;
}
