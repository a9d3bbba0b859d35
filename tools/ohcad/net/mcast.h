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
 * @seq: of the last member
 */
struct mcast_table {
	struct hash_table groups;
	struct hash_table members;
	uint64_t seq;
};

struct mcast_mark;

/**
 * struct mcast_done - a datagram has come to all QPs of a port
 * @port: which; NULL: it is not over, or the port is gone
 * @takers: QPs of the port that it has come to
 */
struct mcast_done {
	struct port *port;
	unsigned int takers;
};

/**
 * struct mcast_rest - QPs that a datagram still has to come to: it comes to many in turns of its sender.  Zero: none
 * @first, @last: one for each port where it is not over
 * @cost: of the present turn
 */
struct mcast_rest {
	struct mcast_mark *first, *last;
	uint64_t cost;
};

extern const struct object_class mcast_class;

/* Take a QP out of all groups, until @end (loop_clock()), out of some in any case.  Returns whether it is in none. */
bool mcast_detach_all(struct qp *qp, uint64_t end);
/* Is it a multicast GID (IPv6, or an IPv4-mapped one)? */
bool mcast_is_group(const uint8_t gid[16]);
/* Has the port members of the group that packets by @av go to? */
bool mcast_has_members(const struct port *port, const struct ohca_av *av);
/*
 * A datagram from @src to dg->av->dgid has reached the port; returns bytes received, all in all.  The HCA of @src is charged;
 * NULL: it has come from an uplink.  It comes to as many as mcast_room() allows, and the others are kept in @rest.  If that is NULL,
 * it comes to few, and to the others in turns of their HCA, for which it is copied.
 */
uint64_t mcast_receive(struct port *port, const struct qp *src, const struct datagram *dg,
		       struct mcast_rest *rest, struct mcast_done *done);
/* The same datagram comes to the next ones of the first port of the rest. */
uint64_t mcast_receive_rest(const struct qp *src, const struct datagram *dg,
			    struct mcast_rest *rest, struct mcast_done *done);
/* What a part costs at most: as much as a turn of @src, but no less than a short one, as a turn of a paced port is one datagram. */
uint64_t mcast_room(const struct qp *src);
/* The others do not get it. */
void mcast_rest_drop(struct mcast_rest *rest, const struct qp *src);

#endif
