/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between the link layers of ports: how an address vector names another port, and how that one is
 * found.  link_eth.c has Ethernet's (RoCEv2: GID, MAC address and VLAN), link_ib.c InfiniBand's (LID).
 */

#ifndef OHCAD_LINK_LAYER_H
#define OHCAD_LINK_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "ohca/ohca_queue.h"

#define FABRIC_MAX_PORTS 128 /* of a process */

struct ib_packets;
struct port;

/**
 * struct link_ops - a link layer: port->link
 * @type: OHCA_LINK_*
 * @check_av: is @av a path from @port?  -1, or the offset of the field that is wrong
 * @route: the active port of this process to which packets by @av with @pkey from @src come, which may be @src itself;
 *	NULL: none.  Good while fabric->gen stays the same
 * @mcast_ports: the active ports of this process to which multicast packets by @av from @src come, @src itself
 *	included.  Returns their number.  With @lose, @packet is one
 * @lose: packets from @src that no QP takes are counted where they end.  Returns the port that they came to, or
 *	NULL.  NULL: nobody counts them
 * @paired: do the paths of two QPs lead to each other: @a of one at @src, @b of one at @dst?
 * @egress: may packets by @av with @pkey from @src that have no @route leave through uplinks?
 */
struct link_ops {
	uint8_t type;
	int (*check_av)(const struct port *port, const struct ohca_av *av);
	struct port *(*route)(struct port *src, const struct ohca_av *av, uint16_t pkey);
	unsigned int (*mcast_ports)(struct port *src, const struct ohca_av *av,
				    const struct ib_packets *packet,
				    struct port *to[FABRIC_MAX_PORTS]);
	struct port *(*lose)(struct port *src, const struct ib_packets *packets);
	bool (*paired)(const struct port *src, const struct ohca_av *a, const struct port *dst,
		       const struct ohca_av *b);
	bool (*egress)(struct port *src, const struct ohca_av *av, uint16_t pkey);
};

extern const struct link_ops link_eth, link_ib;

#endif
