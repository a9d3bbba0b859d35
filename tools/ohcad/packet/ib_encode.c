// SPDX-License-Identifier: GPL-2.0
/* InfiniBand packets: making them. */

#include <endian.h>
#include <string.h>

#include "packet/ib.h"

void ib_make_grh(uint8_t grh[OHCA_GRH_LEN], const uint8_t sgid[16], const struct ohca_av *av,
		 uint16_t len)
{
	put_be32(grh, GRH_VERSION << 28 | (uint32_t)av->tclass << 20 | le32toh(av->flow_label));
	put_be32(grh + 4, (uint32_t)len << 16 | GRH_NEXT_HDR << 8 | av->hop_limit);
	memcpy(grh + 8, sgid, 16);
	memcpy(grh + 24, av->dgid, 16);
}

/* @len: from the LRH to the end of the invariant CRC */
static void put_lrh(uint8_t *lrh, const struct ib_path *path, uint32_t len)
{
	lrh[0] = path->vl << 4; /* and link version 0 */
	lrh[1] = path->av->sl << 4 | (path->sgid ? LNH_GRH : LNH_BTH);
	put_be16(lrh + 2, le16toh(path->av->ib.dlid));
	put_be16(lrh + 4, len / 4);
	put_be16(lrh + 6, path->slid);
}

void ib_put_vcrc(uint8_t *packet, size_t len)
{
	uint16_t vcrc = htole16(ib_vcrc(packet, len - VCRC_LEN));

	memcpy(packet + len - VCRC_LEN, &vcrc, VCRC_LEN);
}

uint32_t ib_encode(uint8_t *packet, const struct ib_path *path, const struct pkt *pkt,
		   struct iov_pos *payload)
{
	uint8_t *bth = packet + LRH_LEN + (path->sgid ? OHCA_GRH_LEN : 0);
	uint8_t *at = bth_encode(bth, &path->bth, pkt, payload);
	uint32_t icrc;

	put_lrh(packet, path, at + ICRC_LEN - packet);
	if (path->sgid)
		ib_make_grh(packet + LRH_LEN, path->sgid, path->av, at + ICRC_LEN - bth);
	icrc = htole32(ib_icrc(packet, at - packet));
	memcpy(at, &icrc, ICRC_LEN);
	at += ICRC_LEN + VCRC_LEN;
	ib_put_vcrc(packet, at - packet);
	return at - packet;
}

uint32_t ib_encode_mad(uint8_t *packet, const struct mad_packet *mad)
{
	const struct ohca_av av = {.ib.dlid = htole16(mad->dlid), .sl = mad->sl};
	bool gmp = mad->dest_qpn == QPN_GSI;
	const struct ib_path path = {
		.av = &av,
		.slid = mad->slid,
		.vl = gmp ? 0 : VL_SUBNET_MANAGEMENT,
		.bth = {.service = BTH_UD,
			.pkey = mad->pkey ?: PKEY_DEFAULT,
			.dest_qpn = mad->dest_qpn,
			.qkey = gmp ? QKEY_GSI : QKEY_SMI,
			.src_qpn = mad->src_qpn},
	};
	struct iovec iov = {.iov_base = (void *)mad->mad, .iov_len = sizeof(mad->mad)};
	struct iov_pos payload = {.iov = &iov};
	const struct pkt pkt = {
		.op = PKT_SEND,
		.flags = PKT_FIRST | PKT_LAST,
		.npsn = 1,
		.iov = &iov,
		.num = 1,
		.len = sizeof(mad->mad),
	};

	return ib_encode(packet, &path, &pkt, &payload);
}
