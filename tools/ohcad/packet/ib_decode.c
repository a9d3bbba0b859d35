// SPDX-License-Identifier: GPL-2.0
/* InfiniBand packets: taking them apart.  Nothing in a packet is trusted. */

#include <endian.h>
#include <string.h>

#include "packet/ib.h"

#define LRH_LENGTH_MASK 0x7ff /* of bytes 4 and 5: PktLen */

enum packet_verdict ib_peek(struct ib_packet *p, const uint8_t *packet, size_t len)
{
	size_t head = LRH_LEN;
	uint8_t lnh;

	if (len < LRH_LEN + BTH_LEN + ICRC_LEN + VCRC_LEN || packet[0] & LRH_VERSION_MASK)
		return PACKET_MALFORMED;
	lnh = packet[1] & LNH_MASK;
	if (lnh == LNH_GRH)
		head += OHCA_GRH_LEN;
	else if (lnh != LNH_BTH)
		return PACKET_MALFORMED;
	if (len < head + BTH_LEN + ICRC_LEN + VCRC_LEN || len > IB_MAX_PACKET ||
	    (get_be16(packet + 4) & LRH_LENGTH_MASK) * 4U + VCRC_LEN != len)
		return PACKET_MALFORMED;
	p->lrh = packet;
	p->len = len;
	p->vl = packet[0] >> 4;
	p->sl = packet[1] >> 4;
	p->dlid = get_be16(packet + 2);
	p->slid = get_be16(packet + 6);
	p->hops = 0;
	p->grh = lnh == LNH_GRH ? packet + LRH_LEN : NULL;
	p->bth.data = packet + head;
	p->bth.len = len - head - VCRC_LEN;
	return PACKET_GOOD;
}

bool ib_vcrc_is_good(const struct ib_packet *p)
{
	uint16_t crc;

	memcpy(&crc, p->lrh + p->len - VCRC_LEN, sizeof(crc));
	return le16toh(crc) == ib_vcrc(p->lrh, p->len - VCRC_LEN);
}

static bool grh_is_good(const struct ib_packet *p)
{
	return p->grh[0] >> 4 == GRH_VERSION && get_be16(p->grh + 4) == p->bth.len &&
	       p->grh[6] == GRH_NEXT_HDR;
}

enum packet_verdict ib_decode(struct ib_packet *p)
{
	const uint8_t *end = p->bth.data + p->bth.len - ICRC_LEN;
	uint32_t crc;

	if (p->grh && !grh_is_good(p))
		return PACKET_MALFORMED;
	memcpy(&crc, end, sizeof(crc));
	if (le32toh(crc) != ib_icrc(p->lrh, end - p->lrh))
		return PACKET_BAD_CRC;
	return bth_decode(&p->bth);
}

bool ib_decode_mad(struct mad_packet *mad, struct ib_packet *p, uint32_t qpn)
{
	const struct bth_packet *bth = &p->bth;

	if (ib_decode(p) != PACKET_GOOD || bth->service != BTH_UD || bth->dest_qpn != qpn ||
	    (qpn == QPN_SMI && bth->qkey != QKEY_SMI) || bth->pkt.len != MAD_LEN)
		return false;
	mad->slid = p->slid;
	mad->dlid = p->dlid;
	mad->sl = p->sl;
	mad->hops = p->hops;
	mad->pkey = bth->pkey;
	mad->dest_qpn = qpn;
	mad->src_qpn = bth->src_qpn;
	mad->qkey = bth->qkey;
	memcpy(mad->mad, bth->payload.iov_base, MAD_LEN);
	return true;
}
