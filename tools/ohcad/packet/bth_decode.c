// SPDX-License-Identifier: GPL-2.0
/* Taking packets apart, from the base transport header on.  Nothing in a packet is trusted. */

#include <endian.h>
#include <string.h>

#include "packet/bth.h"

#define BTH_VERSION_MASK 0x0f

static const struct {
	uint16_t header;
	uint8_t len;
} header_lens[] = {
	{HDR_XRCETH, 4},       {HDR_DETH, DETH_LEN}, {HDR_FETH, 4},
	{HDR_RETH, 16},	       {HDR_ATOMICETH, 28},  {HDR_AETH, 4},
	{HDR_ATOMICACKETH, 8}, {HDR_IMMDT, IMM_LEN}, {HDR_IETH, 4},
};

static size_t headers_len(uint16_t headers)
{
	size_t i, sum = 0;

	for (i = 0; i < sizeof(header_lens) / sizeof(header_lens[0]); i++)
		sum += headers & header_lens[i].header ? header_lens[i].len : 0;
	return sum;
}

static void get_bth(struct bth_packet *p, const struct bth_op *op)
{
	const uint8_t *bth = p->data;
	struct pkt *pkt = &p->pkt;

	memset(pkt, 0, sizeof(*pkt));
	pkt->op = op->op;
	pkt->flags = op->flags;
	if (bth[1] & BTH_SOLICITED)
		pkt->flags |= PKT_SOLICITED;
	if (bth[8] & BTH_ACK_REQ)
		pkt->flags |= PKT_ACK_REQ;
	pkt->psn = get_be32(bth + 8) & PSN_MASK;
	pkt->npsn = 1;
	p->mig_req = bth[1] & BTH_MIG_REQ;
	p->pkey = get_be16(bth + 2);
}

static const uint8_t *get_reth(struct pkt *pkt, const uint8_t *at)
{
	pkt->va = get_be64(at);
	pkt->rkey = get_be32(at + 8);
	pkt->dma_len = get_be32(at + 12);
	return at + 16;
}

static const uint8_t *get_atomic(struct bth_packet *p, const uint8_t *at)
{
	bool swap = p->pkt.op == PKT_CMP_SWAP;

	p->pkt.va = get_be64(at);
	p->pkt.rkey = get_be32(at + 8);
	p->atomic.swap = swap ? get_be64(at + 12) : 0;
	p->atomic.compare_add = get_be64(at + (swap ? 20 : 12));
	p->atomic.mask = swap ? ~0ULL : 0;
	p->atomic.swap_mask = ~0ULL;
	p->pkt.atomic = &p->atomic;
	return at + 28;
}

static const uint8_t *get_headers(struct bth_packet *p, uint16_t headers, const uint8_t *at)
{
	struct pkt *pkt = &p->pkt;

	if (headers & HDR_XRCETH) {
		pkt->srqn = get_be32(at) & QPN_MASK;
		at += 4;
	}
	if (headers & HDR_DETH) {
		p->qkey = get_be32(at);
		p->src_qpn = get_be32(at + 4) & QPN_MASK;
		at += DETH_LEN;
	}
	if (headers & HDR_FETH) {
		pkt->flush = at[3];
		at += 4;
	}
	if (headers & HDR_RETH)
		at = get_reth(pkt, at);
	if (headers & HDR_ATOMICETH)
		at = get_atomic(p, at);
	if (headers & HDR_AETH) {
		pkt->syndrome = at[0];
		pkt->msn = get_be32(at) & PSN_MASK;
		at += 4;
	}
	if (headers & HDR_ATOMICACKETH) {
		p->word = htole64(get_be64(at));
		at += 8;
	}
	if (headers & HDR_IMMDT) {
		memcpy(&pkt->imm, at, IMM_LEN);
		at += IMM_LEN;
	}
	if (headers & HDR_IETH) {
		pkt->inv_key = get_be32(at);
		at += 4;
	}
	return at;
}

/* What is left after the headers, @len bytes with padding. */
static enum packet_verdict get_payload(struct bth_packet *p, const struct bth_op *op,
				       const uint8_t *at, size_t len)
{
	uint8_t pad = p->data[1] >> BTH_PAD_SHIFT & 3;
	struct pkt *pkt = &p->pkt;

	if (pad > len || len % 4 || len - pad > PKT_MAX_MTU ||
	    (len && !(op->headers & HDR_PAYLOAD)))
		return PACKET_MALFORMED;
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
	return PACKET_GOOD;
}

enum packet_verdict bth_decode(struct bth_packet *p)
{
	size_t len = p->len - BTH_LEN - ICRC_LEN;
	const struct bth_op *op;
	uint16_t headers;

	p->service = p->data[0] >> 5;
	p->dest_qpn = get_be32(p->data + 4) & QPN_MASK;
	if (p->data[0] == (BTH_CONTROL << 5 | BTH_OP_CNP))
		return PACKET_CNP;
	op = bth_op(p->service, p->data[0]);
	if (p->data[1] & BTH_VERSION_MASK || !op)
		return PACKET_MALFORMED;
	get_bth(p, op);
	headers = bth_headers(p->service, op);
	if (len < headers_len(headers))
		return PACKET_MALFORMED;
	return get_payload(p, op, get_headers(p, headers, p->data + BTH_LEN),
			   len - headers_len(headers));
}
