/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses of the InfiniBand architecture: GIDs, and QP numbers with a meaning. */

#ifndef OHCAD_GID_H
#define OHCAD_GID_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Numbers and keys that are well known (InfiniBand specification, 10.2.5) */
#define QPN_GSI 1
#define QPN_MCAST 0xffffff /* destination QP of multicast packets */
#define QKEY_GSI 0x80010000
#define QKEY_SMI 0
#define QPN_SMI 0

#define PKEY_FULL 0x8000 /* a full member of the partition */
#define PKEY_NUM 0x7fff /* the partition */
#define PKEY_DEFAULT 0xffff

/*
 * May a port with one of the P_Keys send to a port with the other (10.9.3)?  The same partition, and not both limited
 * members.
 * 0 is no P_Key.
 */
static inline bool pkeys_match(uint16_t a, uint16_t b)
{
	return !((a ^ b) & ~PKEY_FULL) && (a & ~PKEY_FULL) && ((a | b) & PKEY_FULL);
}

/**
 * struct gid_entry - an entry of the GID table
 * @type: OHCA_GID_*
 */
struct gid_entry {
	uint8_t gid[16];
	uint8_t mac[6];
	uint16_t vlan;
	uint8_t type;
};

/* A hash of @log bits, 1 to 32, by the end of the GID, where those of different hosts differ */
static inline uint32_t gid_hash(const uint8_t gid[16], unsigned int log)
{
	uint32_t word;

	memcpy(&word, gid + 12, sizeof(word));
	return (word * 0x9e3779b1U) >> (32 - log);
}

#endif
