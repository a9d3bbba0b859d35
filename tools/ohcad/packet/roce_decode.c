// SPDX-License-Identifier: GPL-2.0
/* RoCEv2 packets: taking frames apart.  Nothing in a frame is trusted. */

#include <endian.h>
#include <netinet/in.h>
#include <string.h>

#include "base/csum.h"
#include "packet/eth_hdr.h"
#include "packet/roce.h"

#define IPV4_MORE_OR_OFFSET 0x3fff

#define BTH_VERSION_MASK 0x0f

static const struct {
	uint16_t header;
	uint8_t len;
} header_lens[] = {
	{ROCE_XRCETH, 4},	{ROCE_DETH, ROCE_DETH_LEN}, {ROCE_FETH, 4},
	{ROCE_RETH, 16},	{ROCE_ATOMICETH, 28},	    {ROCE_AETH, 4},
	{ROCE_ATOMICACKETH, 8}, {ROCE_IMMDT, ROCE_IMM_LEN}, {ROCE_IETH, 4},
};

static size_t headers_len(uint16_t headers)
{
	size_t i, sum = 0;

	for (i = 0; i < sizeof(header_lens) / sizeof(header_lens[0]); i++)
		sum += headers & header_lens[i].header ? header_lens[i].len : 0;
	return sum;
}

static void map_ipv4(uint8_t gid[16], const uint8_t *ip)
{
	memset(gid, 0, 10);
	memset(gid + 10, 0xff, 2);
	memcpy(gid + 12, ip, 4);
}

/* UDP to the port of RoCEv2? */
static bool is_roce(const uint8_t *udp)
{
	return roce_get16(udp + 2) == ROCE_UDP_PORT;
}

static enum roce_verdict peek_udp(struct roce_packet *p, size_t ip_payload)
{
	const uint8_t *udp = p->ip + p->ip_len;

	if (roce_get16(udp + 4) != ip_payload ||
	    ip_payload < ROCE_UDP_LEN + ROCE_BTH_LEN + ROCE_ICRC_LEN)
		return ROCE_MALFORMED;
	p->bth = udp + ROCE_UDP_LEN;
	p->len = ip_payload - ROCE_UDP_LEN;
	return ROCE_GOOD;
}

static enum roce_verdict peek_ipv4(struct roce_packet *p, const uint8_t *ip, size_t avail)
{
	size_t len;

	if (avail < ROCE_IPV4_LEN + ROCE_UDP_LEN || ip[0] >> 4 != 4 || ip[9] != IPPROTO_UDP ||
	    roce_get16(ip + 6) & IPV4_MORE_OR_OFFSET)
		return ROCE_OTHER;
	/* Packets have no options (A17.3.1.2); where the port would be can't be told with them. */
	if ((ip[0] & 15) * 4 != ROCE_IPV4_LEN || !is_roce(ip + ROCE_IPV4_LEN))
		return ROCE_OTHER;
	p->ip = ip;
	p->ip_len = ROCE_IPV4_LEN;
	p->tclass = ip[1];
	map_ipv4(p->sgid, ip + 12);
	map_ipv4(p->dgid, ip + 16);
	len = roce_get16(ip + 2);
	if (len < ROCE_IPV4_LEN || len > avail ||
	    csum_fold(csum_add(0, ip, ROCE_IPV4_LEN, false)) != 0xffff)
		return ROCE_MALFORMED;
	return peek_udp(p, len - ROCE_IPV4_LEN);
}

static enum roce_verdict peek_ipv6(struct roce_packet *p, const uint8_t *ip, size_t avail)
{
	size_t len;

	if (avail < ROCE_IPV6_LEN + ROCE_UDP_LEN || ip[0] >> 4 != 6 || ip[6] != IPPROTO_UDP ||
	    !is_roce(ip + ROCE_IPV6_LEN))
		return ROCE_OTHER;
	p->ip = ip;
	p->ip_len = ROCE_IPV6_LEN;
	p->tclass = roce_get16(ip) >> 4;
	memcpy(p->sgid, ip + 8, 16);
	memcpy(p->dgid, ip + 24, 16);
	len = roce_get16(ip + 4);
	if (len > avail - ROCE_IPV6_LEN)
		return ROCE_MALFORMED;
	return peek_udp(p, len);
}

enum roce_verdict roce_peek(struct roce_packet *p, const uint8_t *frame, size_t len)
{
	size_t off = ETH_HDR_LEN;
	uint16_t type;

	if (len < ETH_HDR_LEN + 4)
		return ROCE_OTHER;
	p->dmac = frame;
	p->smac = frame + 6;
	p->vlan = OHCA_VLAN_NONE;
	p->sl = 0;
	type = roce_get16(frame + 12);
	if (type == ETH_TYPE_VLAN) {
		uint16_t tag = roce_get16(frame + 14);

		/* VLAN 0 is none, with a priority. */
		if (tag & 0xfff)
			p->vlan = tag & 0xfff;
		p->sl = tag >> 13;
		type = roce_get16(frame + 16);
		off += 4;
	}
	if (type == ETH_TYPE_IPV4)
		return peek_ipv4(p, frame + off, len - off);
	if (type == ETH_TYPE_IPV6)
		return peek_ipv6(p, frame + off, len - off);
	return ROCE_OTHER;
}

static void get_bth(struct roce_packet *p, const struct roce_op *op)
{
	const uint8_t *bth = p->bth;
	struct pkt *pkt = &p->pkt;

	memset(pkt, 0, sizeof(*pkt));
	pkt->op = op->op;
	pkt->flags = op->flags;
	if (bth[1] & ROCE_BTH_SOLICITED)
		pkt->flags |= PKT_SOLICITED;
	if (bth[8] & ROCE_BTH_ACK_REQ)
		pkt->flags |= PKT_ACK_REQ;
	pkt->psn = roce_get32(bth + 8) & PSN_MASK;
	pkt->npsn = 1;
	p->pkey = roce_get16(bth + 2);
}

static const uint8_t *get_reth(struct pkt *pkt, const uint8_t *at)
{
	pkt->va = roce_get64(at);
	pkt->rkey = roce_get32(at + 8);
	pkt->dma_len = roce_get32(at + 12);
	return at + 16;
}

static const uint8_t *get_atomic(struct roce_packet *p, const uint8_t *at)
{
	bool swap = p->pkt.op == PKT_CMP_SWAP;

	p->pkt.va = roce_get64(at);
	p->pkt.rkey = roce_get32(at + 8);
	p->atomic.swap = swap ? roce_get64(at + 12) : 0;
	p->atomic.compare_add = roce_get64(at + (swap ? 20 : 12));
	p->atomic.mask = swap ? ~0ULL : 0;
	p->atomic.swap_mask = ~0ULL;
	p->pkt.atomic = &p->atomic;
	return at + 28;
}

static const uint8_t *get_headers(struct roce_packet *p, uint16_t headers, const uint8_t *at)
{
	struct pkt *pkt = &p->pkt;

	if (headers & ROCE_XRCETH) {
		pkt->srqn = roce_get32(at) & ROCE_QPN_MASK;
		at += 4;
	}
	if (headers & ROCE_DETH) {
		p->qkey = roce_get32(at);
		p->src_qpn = roce_get32(at + 4) & ROCE_QPN_MASK;
		at += ROCE_DETH_LEN;
	}
	if (headers & ROCE_FETH) {
		pkt->flush = at[3];
		at += 4;
	}
	if (headers & ROCE_RETH)
		at = get_reth(pkt, at);
	if (headers & ROCE_ATOMICETH)
		at = get_atomic(p, at);
	if (headers & ROCE_AETH) {
		pkt->syndrome = at[0];
		pkt->msn = roce_get32(at) & PSN_MASK;
		at += 4;
	}
	if (headers & ROCE_ATOMICACKETH) {
		p->word = htole64(roce_get64(at));
		at += 8;
	}
	if (headers & ROCE_IMMDT) {
		memcpy(&pkt->imm, at, ROCE_IMM_LEN);
		at += ROCE_IMM_LEN;
	}
	if (headers & ROCE_IETH) {
		pkt->inv_key = roce_get32(at);
		at += 4;
	}
	return at;
}

/* What is left after the headers, @len bytes with padding. */
static enum roce_verdict get_payload(struct roce_packet *p, const struct roce_op *op,
				     const uint8_t *at, size_t len)
{
	uint8_t pad = p->bth[1] >> ROCE_BTH_PAD_SHIFT & 3;
	struct pkt *pkt = &p->pkt;

	if (pad > len || len % 4 || len - pad > PKT_MAX_MTU ||
	    (len && !(op->headers & ROCE_PAYLOAD)))
		return ROCE_MALFORMED;
	pkt->len = len - pad;
	p->payload.iov_base = (void *)at;
	p->payload.iov_len = pkt->len;
	if (pkt->op == PKT_ATOMIC_RESP) {
		pkt->len = sizeof(p->word);
		p->payload.iov_base = &p->word;
		p->payload.iov_len = sizeof(p->word);
	}
	pkt->iov = &p->payload;
	pkt->num = pkt->len ? 1 : 0;
	return ROCE_GOOD;
}

enum roce_verdict roce_decode(struct roce_packet *p)
{
	const uint8_t *end = p->bth + p->len - ROCE_ICRC_LEN;
	size_t len = p->len - ROCE_BTH_LEN - ROCE_ICRC_LEN;
	const struct roce_op *op;
	uint16_t headers;
	uint32_t crc;

	memcpy(&crc, end, sizeof(crc));
	if (le32toh(crc) != roce_icrc(p->ip, p->ip_len, end - p->ip))
		return ROCE_BAD_ICRC;
	p->service = p->bth[0] >> 5;
	p->dest_qpn = roce_get32(p->bth + 4) & ROCE_QPN_MASK;
	if (p->bth[0] == (ROCE_CONTROL << 5 | ROCE_OP_CNP))
		return ROCE_CNP;
	op = roce_op(p->service, p->bth[0]);
	if (p->bth[1] & BTH_VERSION_MASK || !op)
		return ROCE_MALFORMED;
	get_bth(p, op);
	headers = roce_headers(p->service, op);
	if (len < headers_len(headers))
		return ROCE_MALFORMED;
	return get_payload(p, op, get_headers(p, headers, p->bth + ROCE_BTH_LEN),
			   len - headers_len(headers));
}
