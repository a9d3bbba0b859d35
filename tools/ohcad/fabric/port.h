/* SPDX-License-Identifier: GPL-2.0 */
/* The port of an HCA: link state, MAC addresses, GID table. */

#ifndef OHCAD_PORT_H
#define OHCAD_PORT_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "capture/capture.h"
#include "base/list.h"
#include "ohca/ohca_cmd.h"
#include "packet/gid.h"

#define PORT_NUM 1 /* an HCA has one port */
#define PORT_GIDS 128
#define MTU_4096 5 /* as PortInfo has it: the largest */
#define PORT_LOG_ROUTES 6
#define PORT_MAX_FRAME 9234 /* MTU 9216, Ethernet header, VLAN tag */

struct hca;
struct ib_port;
struct link_ops;
struct netdev;
struct object_class;
struct port;

/**
 * struct port_client_ops - who takes the frames of a port
 * @receive_frame: a frame passes the port; @addressed: it is for the port itself.  Returns whether it is
 *	for anybody here, and so is seen to arrive
 */
struct port_client_ops {
	bool (*receive_frame)(struct port *port, const struct iovec *iov, unsigned int num,
			      uint32_t len, bool addressed);
};

/**
 * struct route - the port that a destination belongs to, as seen from another one
 * @gen: fabric->gen at which it was found
 * @port: NULL: nobody
 */
struct route {
	uint64_t gen;
	struct port *port;
	uint8_t dgid[16];
	uint8_t dmac[6];
	uint16_t vlan;
};

/**
 * struct port - a port
 * @link: in the fabric's list of ports
 * @ops: its link layer
 * @ib: what it has if that is InfiniBand, else NULL
 * @perm_mac: burnt-in address
 * @mac: address of the netdev
 * @admin_up: the host wants the link
 * @cable: it is connected to the fabric
 * @large_rx: frames that are to be segmented may come as they are
 * @active: both, and the HCA is enabled and may use the bus; OHCA_EVENT_PORT_ACTIVE and _ERR
 *	follow it
 * @has_flows: some look at all frames that pass
 * @changed: the fabric's, which is to look at the port anew; NULL while it is in none
 * @client_ops, @netdev: who takes frames, and what it keeps of the port
 * @vlans: bit n: there is a GID in VLAN n, or in none for n = OHCA_VLAN_NONE & 4095
 * @routes: some of the routes found of late
 * @capture: the port in captures
 */
struct port {
	struct hca *hca;
	struct list link;
	const struct link_ops *ops;
	struct ib_port *ib;
	uint8_t perm_mac[6];
	uint8_t mac[6];
	bool admin_up;
	bool cable;
	bool promisc;
	bool large_rx;
	bool active;
	bool has_flows;
	void (*changed)(struct port *port);
	const struct port_client_ops *client_ops;
	struct netdev *netdev;
	struct gid_entry gids[PORT_GIDS];
	uint64_t vlans[4096 / 64];
	struct route routes[1 << PORT_LOG_ROUTES];
	struct capture_if capture;
};

/* The GID that packets by @av come from, or NULL. */
static inline const struct gid_entry *port_gid(const struct port *port, const struct ohca_av *av)
{
	uint16_t index = le16toh(av->sgid_index);

	if (index >= PORT_GIDS || port->gids[index].type == OHCA_GID_NONE)
		return NULL;
	return &port->gids[index];
}

/* Has the port a GID in this VLAN? */
static inline bool port_in_vlan(const struct port *port, uint16_t vlan)
{
	return port->vlans[(vlan & 4095) / 64] >> (vlan & 63) & 1;
}

extern const struct object_class port_class;

/* Put the cable in, or pull it out: it stays so through resets. */
void port_plug(struct port *port, bool in);
/* Work out @active anew from what it depends on; tells the host and the fabric of a change. */
void port_update(struct port *port);
/* An entry of the P_Key table; 0: it is invalid, or there is none. */
uint16_t port_pkey(const struct port *port, uint16_t index);
/* Entries of the P_Key table */
unsigned int port_num_pkeys(const struct port *port);
/* Largest payload of a packet, in bytes */
uint32_t port_mtu(const struct port *port);

#endif
