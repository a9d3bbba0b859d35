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

#define VL_SUBNET_MANAGEMENT 15

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
/* The same of a management datagram. */
uint32_t ib_encode_mad(uint8_t *packet, const struct mad_packet *mad);

/* ib_crc.c */

/*
 * The invariant CRC (7.8.1) of a packet whose @len bytes at @lrh end with the last byte of padding, and the variant
 * one (7.8.2) of one whose @len bytes end with the invariant one; as numbers that are stored little endian.
 */
uint32_t ib_icrc(const uint8_t *lrh, size_t len);
uint16_t ib_vcrc(const uint8_t *lrh, size_t len);

#endif
