/* SPDX-License-Identifier: GPL-2.0 */
/* Multicast groups: the QPs of an HCA that receive the datagrams to a multicast GID. */

#ifndef OHCAD_MCAST_H
#define OHCAD_MCAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash_table.h"

struct datagram;
struct ohca_av;
struct object_class;
struct port;
struct qp;

/**
 * struct mcast_table - the groups of an HCA and their members
 * @groups: by GID; InfiniBand: by MGID and MLID
 * @members: by group and QP
 */
struct mcast_table {
	struct hash_table groups;
	struct hash_table members;
};

extern const struct object_class mcast_class;

/* Take a QP out of all groups, until @end (loop_clock()), out of some in any case.  Returns whether it is in none. */
bool mcast_detach_all(struct qp *qp, uint64_t end);
/* Is it a multicast GID (IPv6, or an IPv4-mapped one)? */
bool mcast_is_group(const uint8_t gid[16]);
/* Has the port members of the group that packets by @av go to? */
bool mcast_has_members(const struct port *port, const struct ohca_av *av);
/*
 * A datagram from @src to dg->av->dgid has reached the port; returns bytes received, all in all.  *@takers: QPs that it
 * came to.
 */
uint64_t mcast_receive(const struct port *port, const struct qp *src, const struct datagram *dg,
		       unsigned int *takers);

#endif
