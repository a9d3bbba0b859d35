// SPDX-License-Identifier: GPL-2.0
/* Making packets, from the base transport header on. */

#include <endian.h>
#include <string.h>

#include "packet/bth.h"

static uint8_t *put_bth(uint8_t *at, const struct bth_path *path, const struct pkt *pkt,
			uint8_t pad)
{
	at[0] = path->service << 5 | bth_opcode(pkt);
	at[1] = (pkt->flags & PKT_SOLICITED ? BTH_SOLICITED : 0) |
		(path->mig_req ? BTH_MIG_REQ : 0) | pad << BTH_PAD_SHIFT;
	put_be16(at + 2, path->pkey);
	put_be32(at + 4, path->dest_qpn & QPN_MASK);
	put_be32(at + 8, pkt->psn & PSN_MASK);
	if (pkt->flags & PKT_ACK_REQ)
		at[8] = BTH_ACK_REQ;
	return at + BTH_LEN;
}

static uint8_t *put_reth(uint8_t *at, const struct pkt *pkt)
{
	put_be64(at, pkt->va);
	put_be32(at + 8, pkt->rkey);
	put_be32(at + 12, pkt->dma_len);
	return at + 16;
}

static uint8_t *put_atomic(uint8_t *at, const struct pkt *pkt)
{
	put_be64(at, pkt->va);
	put_be32(at + 8, pkt->rkey);
	put_be64(at + 12, pkt->op == PKT_CMP_SWAP ? pkt->atomic->swap : pkt->atomic->compare_add);
	put_be64(at + 20, pkt->op == PKT_CMP_SWAP ? pkt->atomic->compare_add : 0);
	return at + 28;
}

/* The 8 bytes of memory, which are a little endian number there. */
static uint8_t *put_atomic_ack(uint8_t *at, struct iov_pos *payload)
{
	uint64_t word;
	struct iovec iov = {.iov_base = &word, .iov_len = sizeof(word)};

	iov_copy(&iov, 1, payload, false);
	put_be64(at, le64toh(word));
	return at + sizeof(word);
}

static uint8_t *put_headers(uint8_t *at, uint16_t headers, const struct bth_path *path,
			    const struct pkt *pkt, struct iov_pos *payload)
{
	if (headers & HDR_XRCETH) {
		put_be32(at, pkt->srqn & QPN_MASK);
		at += 4;
	}
	if (headers & HDR_DETH) {
		put_be32(at, path->qkey);
		put_be32(at + 4, path->src_qpn & QPN_MASK);
		at += DETH_LEN;
	}
	if (headers & HDR_FETH) {
		put_be32(at, pkt->flush);
		at += 4;
	}
	if (headers & HDR_RETH)
		at = put_reth(at, pkt);
	if (headers & HDR_ATOMICETH)
		at = put_atomic(at, pkt);
	if (headers & HDR_AETH) {
		put_be32(at, (uint32_t)pkt->syndrome << 24 | (pkt->msn & PSN_MASK));
		at += 4;
	}
	if (headers & HDR_ATOMICACKETH)
		at = put_atomic_ack(at, payload);
	if (headers & HDR_IMMDT) {
		memcpy(at, &pkt->imm, IMM_LEN);
		at += IMM_LEN;
	}
	if (headers & HDR_IETH) {
		put_be32(at, pkt->inv_key);
		at += 4;
	}
	return at;
}

uint8_t *bth_encode(uint8_t *at, const struct bth_path *path, const struct pkt *pkt,
		    struct iov_pos *payload)
{
	const struct bth_op *op = bth_op(path->service, bth_opcode(pkt));
	uint32_t len = op->headers & HDR_PAYLOAD ? pkt->len : 0;
	struct iovec place = {.iov_len = len};
	uint8_t pad = -len & 3;

	at = put_bth(at, path, pkt, pad);
	at = put_headers(at, bth_headers(path->service, op), path, pkt, payload);
	if (len) {
		place.iov_base = at;
		iov_copy(&place, 1, payload, false);
	}
	memset(at + len, 0, pad);
	return at + len + pad;
}
