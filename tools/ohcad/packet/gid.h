/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses of the InfiniBand architecture: GIDs, and QP numbers with a meaning. */

#ifndef OHCAD_GID_H
#define OHCAD_GID_H

#include <stdint.h>

/* Numbers and keys that are well known (InfiniBand specification, 10.2.5) */
#define QPN_GSI 1
#define QPN_MCAST 0xffffff /* destination QP of multicast packets */
#define QKEY_GSI 0x80010000

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

#endif
