/* SPDX-License-Identifier: GPL-2.0 */
/* The part of link_count.h that is known only when a datagram has come to all QPs of a port. */

#ifndef OHCAD_LINK_TAKERS_H
#define OHCAD_LINK_TAKERS_H

#include <stdbool.h>

struct datagram;
struct port;
struct qp;

/* Has a datagram that came from @src (NULL: an uplink) to @port been on no link? */
bool link_is_local(const struct qp *src, const struct port *port, const struct datagram *dg);
/* At the port of an HCA @takers QPs count a datagram, @local if it has been on no link. */
void link_count_takers(struct port *port, const struct datagram *dg, unsigned int takers,
		       bool local);

#endif
