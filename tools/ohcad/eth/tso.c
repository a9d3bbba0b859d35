// SPDX-License-Identifier: GPL-2.0
/*
 * Segmentation.
 *
 * The headers are copied once and looked at in that copy; data stay where they are, each segment is
 * a list of pieces.
 */

#include <arpa/inet.h>
#include <endian.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <string.h>

#include "base/csum.h"
#include "eth/eth.h"
#include "fabric/port.h"
#include "eth/tso.h"

/* Offsets in TCP's header, and flags */
#define TCP_SEQ 4
#define TCP_DATA_OFF 12
#define TCP_FLAGS 13
#define TCP_CSUM 16
#define FLAG_FIN 0x01
#define FLAG_PSH 0x08
#define FLAG_CWR 0x80

static void put16(uint8_t *at, uint16_t value)
{
	value = htons(value);
	memcpy(at, &value, sizeof(value));
}

static bool is_ipv4(const struct tso *tso)
{
	return tso->hdr[tso->ip] >> 4 == 4;
}

uint8_t tso_net_type(const struct tso *tso)
{
	return is_ipv4(tso) ? OHCA_NET_IPV4 : OHCA_NET_IPV6;
}

/* Are the headers of IP and TCP consistent with their lengths? */
static bool headers_fit(const struct tso *tso)
{
	const uint8_t *hdr = tso->hdr;
	uint32_t ip_len = tso->tcp - tso->ip, tcp_len = tso->hdr_len - tso->tcp;

	if (tcp_len < sizeof(struct tcphdr) || (hdr[tso->tcp + TCP_DATA_OFF] >> 4) * 4U != tcp_len)
		return false;
	if (is_ipv4(tso))
		return ip_len >= sizeof(struct iphdr) && (hdr[tso->ip] & 15) * 4U == ip_len;
	return hdr[tso->ip] >> 4 == 6 && ip_len >= sizeof(struct ip6_hdr);
}

int tso_start(struct tso *tso, const struct ohca_sq_wqe *wqe, const struct iovec *iov,
	      unsigned int num, uint32_t len)
{
	tso->len = len;
	tso->ip = le16toh(wqe->eth.ip_start);
	tso->tcp = le16toh(wqe->eth.csum_start);
	tso->hdr_len = le16toh(wqe->eth.hdr_len);
	tso->mss = le16toh(wqe->eth.mss);
	if (tso->ip < ETH_HDR_LEN || tso->tcp <= tso->ip || tso->hdr_len <= tso->tcp ||
	    tso->hdr_len > OHCA_TSO_MAX_HDR || tso->hdr_len >= len ||
	    len - tso->ip > OHCA_TSO_MAX_IP)
		return OHCA_VENDOR_ERR_LENGTH;
	if (le16toh(wqe->eth.csum_offset) != TCP_CSUM || tso->mss < OHCA_TSO_MIN_MSS ||
	    tso->hdr_len + tso->mss > PORT_MAX_FRAME)
		return OHCA_VENDOR_ERR_LENGTH;
	iov_peek(iov, num, tso->hdr, tso->hdr_len);
	if (!headers_fit(tso))
		return OHCA_VENDOR_ERR_LENGTH;

	/*
	 * The host's sum of the pseudo header contains the length of the whole frame: subtract it.
	 */
	memcpy(&tso->csum, tso->hdr + tso->tcp + TCP_CSUM, sizeof(tso->csum));
	tso->sum = (uint64_t)tso->csum + (uint16_t)~htons(len - tso->tcp);
	memset(tso->hdr + tso->tcp + TCP_CSUM, 0, sizeof(tso->csum));
	tso->data = (struct iov_pos){.iov = iov};
	iov_skip(&tso->data, tso->hdr_len);
	tso->left = len - tso->hdr_len;
	return 0;
}

/* The pieces of the next @len bytes of data. */
static unsigned int take_data(struct tso *tso, uint32_t len, struct iovec *iov)
{
	unsigned int num = 0;

	while (len) {
		const struct iovec *from = tso->data.iov;
		size_t part = from->iov_len - tso->data.off;

		if (part > len)
			part = len;
		iov[num].iov_base = (uint8_t *)from->iov_base + tso->data.off;
		iov[num++].iov_len = part;
		len -= part;
		iov_skip(&tso->data, part);
	}
	return num;
}

/* IP's header of segment @index, with so much behind it. */
static void set_ip(const struct tso *tso, uint8_t *ip, uint32_t index, uint32_t len)
{
	size_t ip_len = tso->tcp - tso->ip;
	uint16_t id, sum;

	if (!is_ipv4(tso)) {
		put16(ip + 4, ip_len - sizeof(struct ip6_hdr) + len);
		return;
	}
	memcpy(&id, ip + 4, sizeof(id));
	put16(ip + 2, ip_len + len);
	put16(ip + 4, ntohs(id) + index);
	memset(ip + 10, 0, sizeof(sum));
	sum = ~csum_fold(csum_add(0, ip, ip_len, false));
	memcpy(ip + 10, &sum, sizeof(sum));
}

/* TCP's header but for the checksum, data from @off on. */
static void set_tcp(const struct tso *tso, uint8_t *tcp, uint32_t off)
{
	uint32_t seq;

	memcpy(&seq, tcp + TCP_SEQ, sizeof(seq));
	seq = htonl(ntohl(seq) + off);
	memcpy(tcp + TCP_SEQ, &seq, sizeof(seq));
	if (off)
		tcp[TCP_FLAGS] &= ~FLAG_CWR;
	if (tso->left)
		tcp[TCP_FLAGS] &= ~(FLAG_FIN | FLAG_PSH);
}

uint32_t tso_next(struct tso *tso, struct iovec *iov, unsigned int *num)
{
	uint32_t off = tso->len - tso->hdr_len - tso->left;
	uint32_t data = tso->left < tso->mss ? tso->left : tso->mss;
	uint32_t tcp_len = tso->hdr_len - tso->tcp + data;
	uint64_t sum = tso->sum + htons(tcp_len);
	uint8_t *head = tso->head;
	uint16_t folded;

	if (!data)
		return 0;
	iov[0].iov_base = head;
	iov[0].iov_len = tso->hdr_len;
	*num = 1 + take_data(tso, data, iov + 1);
	tso->left -= data;

	memcpy(head, tso->hdr, tso->hdr_len);
	set_ip(tso, head + tso->ip, off / tso->mss, tcp_len);
	set_tcp(tso, head + tso->tcp, off);
	folded = ~csum_fold(csum_iov(sum, iov, *num, tso->tcp, tso->hdr_len + data));
	memcpy(head + tso->tcp + TCP_CSUM, &folded, sizeof(folded));
	return tso->hdr_len + data;
}

uint32_t tso_segments(const struct tso *tso)
{
	return (tso->left + tso->mss - 1) / tso->mss;
}

uint32_t tso_whole(struct tso *tso, struct iovec *iov)
{
	uint32_t tcp_len = tso->len - tso->tcp;
	uint8_t *head = tso->head;

	iov[0].iov_base = head;
	iov[0].iov_len = tso->hdr_len;
	take_data(tso, tso->left, iov + 1);
	tso->left = 0;
	memcpy(head, tso->hdr, tso->hdr_len);
	set_ip(tso, head + tso->ip, 0, tcp_len);
	memcpy(head + tso->tcp + TCP_CSUM, &tso->csum, sizeof(tso->csum));
	return tso->len;
}
