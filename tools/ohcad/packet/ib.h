/* SPDX-License-Identifier: GPL-2.0 */
/*
 * InfiniBand packets as they are on a link (specification volume 1, chapters 7 and 8): local route header, global
 * route header if there is one, transport headers, payload, padding, invariant and variant CRC.
 */

#ifndef OHCAD_IB_H
#define OHCAD_IB_H

#include "ohca/ohca_queue.h"
#include "packet/bth.h"
#include "packet/mad.h"

#define LRH_LEN 8
#define VCRC_LEN 2

/* All that a packet has beside its payload is shorter than this. */
#define IB_MAX_OVERHEAD 128
#define IB_MAX_PACKET (PKT_MAX_MTU + IB_MAX_OVERHEAD)

/* LNH: what follows the LRH; two bits */
#define LNH_MASK 3
#define LNH_BTH 2
#define LNH_GRH 3

#define GRH_VERSION 6U
#define GRH_NEXT_HDR 0x1b /* IBA transport */

#define VL_SUBNET_MANAGEMENT 15

#define LRH_VERSION_MASK 0x0f /* of byte 0: LVer, 0 */

/*
 * Hops are cables between switches.  A packet that has passed so many is discarded: the forwarding tables have a loop.
 * Of a multicast packet, the hops of all copies count together: copies that leave a switch share what is left.
 */
#define IB_MAX_HOPS 64
#define IB_MAX_HOPS_MCAST 1024

static inline uint16_t ib_max_hops(uint16_t dlid)
{
	return dlid < LID_MCAST ? IB_MAX_HOPS : IB_MAX_HOPS_MCAST;
}

/* What each of @num copies has passed, of a packet that has passed @hops */
static inline uint16_t ib_hops_of_copy(uint16_t dlid, uint16_t hops, unsigned int num)
{
	uint16_t max = ib_max_hops(dlid);

	return hops < max ? max - (max - hops) / num : max;
}

/*
 * The GRH of a packet by @av from @sgid, of which @len bytes follow from the end of the GRH to the end of the
 * invariant CRC.
 */
void ib_make_grh(uint8_t grh[OHCA_GRH_LEN], const uint8_t sgid[16], const struct ohca_av *av,
		 uint16_t len);

/**
 * struct ib_path - how a packet gets to its QP
 * @av: where it goes: LID, service level, and what the GRH has
 * @sgid: of the GRH; NULL: there is none
 * @slid: source LID
 * @vl: virtual lane
 */
struct ib_path {
	const struct ohca_av *av;
	const uint8_t *sgid;
	uint16_t slid;
	uint8_t vl;
	struct bth_path bth;
};

/* ib_encode.c */

/*
 * Make a packet of IB_MAX_PACKET bytes at most of a burst of one, whose payload is at @payload, which moves on.
 * Returns its length.
 */
uint32_t ib_encode(uint8_t *packet, const struct ib_path *path, const struct pkt *pkt,
		   struct iov_pos *payload);
/* The same of a management datagram: to QP 0 on VL 15, to QP 1 on VL 0. */
uint32_t ib_encode_mad(uint8_t *packet, const struct mad_packet *mad);

/* Update the variant CRC of a changed packet of @len bytes. */
void ib_put_vcrc(uint8_t *packet, size_t len);

/**
 * struct ib_packet - a packet that arrived
 * @lrh: all of it, @len bytes with the variant CRC
 * @vl, @sl, @dlid, @slid: LRH
 * @hops: that it has passed; ib_peek(): none
 * @grh: NULL: it has none
 * @bth: ib_peek() fills data and len of it, ib_decode() all
 */
struct ib_packet {
	const uint8_t *lrh;
	size_t len;
	uint8_t vl, sl;
	uint16_t dlid, slid;
	uint16_t hops;
	const uint8_t *grh;
	struct bth_packet bth;
};

/* ib_decode.c */

/*
 * Look at what a switch looks at, the LRH: PACKET_GOOD, or PACKET_MALFORMED if its length or version is wrong, or if it
 * is a raw packet.
 */
enum packet_verdict ib_peek(struct ib_packet *p, const uint8_t *packet, size_t len);
/* Is the variant CRC right? */
bool ib_vcrc_is_good(const struct ib_packet *p);
/* The rest of what ib_peek() found good, with the invariant CRC; @p refers to the packet. */
enum packet_verdict ib_decode(struct ib_packet *p);
/* The management datagram for QP @qpn that the packet is; for QP 1 with any P_Key and Q_Key.  False: it is none. */
bool ib_decode_mad(struct mad_packet *mad, struct ib_packet *p, uint32_t qpn);

/* ib_crc.c */

/*
 * The invariant CRC (7.8.1) of a packet whose @len bytes at @lrh end with the last byte of padding, and the variant
 * one (7.8.2) of one whose @len bytes end with the invariant one; as numbers that are stored little endian.
 */
uint32_t ib_icrc(const uint8_t *lrh, size_t len);
uint16_t ib_vcrc(const uint8_t *lrh, size_t len);

#endif
