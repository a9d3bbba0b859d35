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
		roce_put16(at, ETH_TYPE_VLAN);
		roce_put16(at + 2, (path->av->sl & 7) << 13 | path->from->vlan);
		at += 4;
	}
	roce_put16(at, type);
	return at + 2;
}

static uint8_t *put_bth(uint8_t *at, const struct roce_path *path, const struct pkt *pkt,
			uint8_t pad)
{
	at[0] = path->service << 5 | roce_opcode(pkt);
	at[1] = (pkt->flags & PKT_SOLICITED ? ROCE_BTH_SOLICITED : 0) | pad << ROCE_BTH_PAD_SHIFT;
	roce_put16(at + 2, ROCE_PKEY_DEFAULT);
	roce_put32(at + 4, path->dest_qpn & ROCE_QPN_MASK);
	roce_put32(at + 8, pkt->psn & PSN_MASK);
	if (pkt->flags & PKT_ACK_REQ)
		at[8] = ROCE_BTH_ACK_REQ;
	return at + ROCE_BTH_LEN;
}

static uint8_t *put_reth(uint8_t *at, const struct pkt *pkt)
{
	roce_put64(at, pkt->va);
	roce_put32(at + 8, pkt->rkey);
	roce_put32(at + 12, pkt->dma_len);
	return at + 16;
}

static uint8_t *put_atomic(uint8_t *at, const struct pkt *pkt)
{
	roce_put64(at, pkt->va);
	roce_put32(at + 8, pkt->rkey);
	roce_put64(at + 12, pkt->op == PKT_CMP_SWAP ? pkt->atomic->swap : pkt->atomic->compare_add);
	roce_put64(at + 20, pkt->op == PKT_CMP_SWAP ? pkt->atomic->compare_add : 0);
	return at + 28;
}

/* The 8 bytes of memory, which are a little endian number there. */
static uint8_t *put_atomic_ack(uint8_t *at, struct iov_pos *payload)
{
	uint64_t word;
	struct iovec iov = {.iov_base = &word, .iov_len = sizeof(word)};

	iov_copy(&iov, 1, payload, false);
	roce_put64(at, le64toh(word));
	return at + sizeof(word);
}

static uint8_t *put_headers(uint8_t *at, uint16_t headers, const struct roce_path *path,
			    const struct pkt *pkt, struct iov_pos *payload)
{
	if (headers & ROCE_XRCETH) {
		roce_put32(at, pkt->srqn & ROCE_QPN_MASK);
		at += 4;
	}
	if (headers & ROCE_DETH) {
		roce_put32(at, path->qkey);
		roce_put32(at + 4, path->src_qpn & ROCE_QPN_MASK);
		at += ROCE_DETH_LEN;
	}
	if (headers & ROCE_FETH) {
		roce_put32(at, pkt->flush);
		at += 4;
	}
	if (headers & ROCE_RETH)
		at = put_reth(at, pkt);
	if (headers & ROCE_ATOMICETH)
		at = put_atomic(at, pkt);
	if (headers & ROCE_AETH) {
		roce_put32(at, (uint32_t)pkt->syndrome << 24 | (pkt->msn & PSN_MASK));
		at += 4;
	}
	if (headers & ROCE_ATOMICACKETH)
		at = put_atomic_ack(at, payload);
	if (headers & ROCE_IMMDT) {
		memcpy(at, &pkt->imm, ROCE_IMM_LEN);
		at += ROCE_IMM_LEN;
	}
	if (headers & ROCE_IETH) {
		roce_put32(at, pkt->inv_key);
		at += 4;
	}
	return at;
}

uint32_t roce_encode(uint8_t *frame, const struct roce_path *path, const struct pkt *pkt,
		     struct iov_pos *payload)
{
	const struct roce_op *op = roce_op(path->service, roce_opcode(pkt));
	uint32_t len = op->headers & ROCE_PAYLOAD ? pkt->len : 0;
	bool ipv4 = roce_is_ipv4(path->from->gid);
	uint8_t pad = -len & 3;
	uint8_t *ip = put_ethernet(frame, path);
	uint8_t *udp = ip + (ipv4 ? ROCE_IPV4_LEN : ROCE_IPV6_LEN);
	uint8_t *at = put_bth(udp + ROCE_UDP_LEN, path, pkt, pad);
	struct iovec place = {.iov_len = len};
	uint32_t crc;

	at = put_headers(at, roce_headers(path->service, op), path, pkt, payload);
	if (len) {
		place.iov_base = at;
		iov_copy(&place, 1, payload, false);
	}
	at += len;
	memset(at, 0, pad);
	at += pad;

	roce_put16(udp, path->sport);
	roce_put16(udp + 2, ROCE_UDP_PORT);
	roce_put16(udp + 4, at + ROCE_ICRC_LEN - udp);
	roce_put16(udp + 6, 0);
	if (ipv4)
		roce_make_ipv4(ip, path->from, path->av, at + ROCE_ICRC_LEN - udp);
	else
		roce_make_ipv6(ip, path->from, path->av, at + ROCE_ICRC_LEN - udp);
	crc = htole32(roce_icrc(ip, udp - ip, at - ip));
	memcpy(at, &crc, ROCE_ICRC_LEN);
	return at + ROCE_ICRC_LEN - frame;
}
