/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The link layers of ports: how an address vector names the destination port, and how that port is found.  Ethernet (RoCEv2:
 * GID, MAC address and VLAN) is in link_eth.c, InfiniBand (LID) in link_ib.c.
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
 * @check_av: check that @av is valid for @port.  -1, or the offset of the first wrong field
 * @route: the active port of this process at which packets by @av with @pkey from @src arrive, maybe @src itself;
 *	NULL: none.  Valid until fabric->gen changes
 * @mcast_ports: the active ports of this process at which multicast packets by @av from @src arrive, @src itself
 *	included.  Returns their number.  With @discard, @packet is one
 * @discard: count packets from @src that no QP receives.  Returns the port at which they arrive, or
 *	NULL.  NULL: nobody counts them
 * @paired: is @a, of a QP at @src, the path to a QP at @dst with the path @b, and the reverse?
 * @egress: may packets by @av with @pkey from @src that have no @route leave through uplinks?
 */
struct link_ops {
	uint8_t type;
	int (*check_av)(const struct port *port, const struct ohca_av *av);
	struct port *(*route)(struct port *src, const struct ohca_av *av, uint16_t pkey);
	unsigned int (*mcast_ports)(struct port *src, const struct ohca_av *av,
				    const struct ib_packets *packet,
				    struct port *to[FABRIC_MAX_PORTS]);
	struct port *(*discard)(struct port *src, const struct ib_packets *packets);
	bool (*paired)(const struct port *src, const struct ohca_av *a, const struct port *dst,
		       const struct ohca_av *b);
	bool (*egress)(struct port *src, const struct ohca_av *av, uint16_t pkey);
};

extern const struct link_ops link_eth, link_ib;

#endif
