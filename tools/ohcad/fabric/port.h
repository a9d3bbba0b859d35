/* SPDX-License-Identifier: GPL-2.0 */
/* The ports of an HCA: link state, MAC addresses, GID table. */

#ifndef OHCAD_PORT_H
#define OHCAD_PORT_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "capture/capture.h"
#include "base/list.h"
#include "device/hca.h"
#include "fabric/ib_speed.h"
#include "ohca/ohca_cmd.h"
#include "packet/gid.h"

#define PORT_GIDS HCA_MAX_GIDS
#define MTU_4096 5 /* as PortInfo has it: the largest */
#define PORT_LOG_ROUTES 6
#define PORT_MAX_FRAME HCA_MAX_FRAME

struct ib_client_ops;
struct ib_port;
struct link_ops;
struct netdev;
struct object_class;
struct pacer;
struct port;

/**
 * struct port_client_ops - the receiver of a port's frames
 * @receive_frame: receive a frame; @addressed: its destination is the port.  Returns whether
 *	the frame is for a QP of the port, and so arrives in a capture
 */
struct port_client_ops {
	bool (*receive_frame)(struct port *port, const struct iovec *iov, unsigned int num,
			      uint32_t len, bool addressed);
};

/**
 * struct route - the port of a destination, as seen from another one
 * @gen: fabric->gen at which it was found
 * @port: NULL: there is none
 */
struct route {
	uint64_t gen;
	struct port *port;
	uint8_t dgid[16];
	uint8_t dmac[6];
	uint16_t vlan;
};

/**
 * struct port_refused - numbers since the HCA was created of what was refused to a port for an address of others: owner.h
 * @frames: frames with a source MAC address of another HCA
 * @packets: RoCE packets that software has sent with a source GID of another HCA
 * @addresses: MAC addresses and GIDs that the host has tried to set
 * @lids: routes that were refused because the switch forwards its LID to another port
 * @logged: time of the last log line about them, 0: never
 */
struct port_refused {
	uint64_t frames;
	uint64_t packets;
	uint64_t addresses;
	uint64_t lids;
	uint64_t logged;
};

/**
 * struct port - a port
 * @num: its number, from 1
 * @link: in the fabric's list of ports
 * @ops: its link layer
 * @ib: the InfiniBand part, or NULL
 * @speeds: supported widths and speeds while the link layer is InfiniBand; no widths: ib_speeds_default
 * @pace: limit an InfiniBand port to the data rate of its link
 * @ib_client: receives management datagrams for the host; owned by net/
 * @pacer: state of the rate limit, NULL: there is no limit; owned by qp/pace.c
 * @perm_mac: burnt-in address
 * @mac: address of the netdev
 * @admin_up: the host has enabled the link
 * @cable: the cable is plugged in
 * @large_rx: large frames may be delivered unsegmented
 * @active: @admin_up, @cable, the HCA is enabled and bus mastering is on; changes raise OHCA_EVENT_PORT_ACTIVE
 *	and _ERR
 * @has_flows: all frames have to be matched with the port's flows
 * @changed: function of the fabric, called when the port changes; NULL: no fabric
 * @client_ops, @netdev: the receiver of frames, and its state for the port
 * @vlans: bit n: there is a GID in VLAN n, or in none for n = OHCA_VLAN_NONE & 4095
 * @routes: recently used routes
 * @refused: numbers of refused frames, packets and addresses
 * @capture: the port in captures
 */
struct port {
	struct hca *hca;
	struct list link;
	const struct link_ops *ops;
	struct ib_port *ib;
	struct ib_speeds speeds;
	bool pace;
	const struct ib_client_ops *ib_client;
	struct pacer *pacer;
	uint8_t num;
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
	struct port_refused refused;
	struct capture_if capture;
};

/* The port with this number, or NULL */
static inline struct port *hca_port(const struct hca *hca, uint8_t num)
{
	return num && num <= hca->num_ports ? hca->ports[num - 1] : NULL;
}

/* The source GID of packets by @av, or NULL */
static inline const struct gid_entry *port_gid(const struct port *port, const struct ohca_av *av)
{
	uint16_t index = le16toh(av->sgid_index);

	if (index >= PORT_GIDS || port->gids[index].type == OHCA_GID_NONE)
		return NULL;
	return &port->gids[index];
}

/* Is the GID in this VLAN in the table of an Ethernet port, with this MAC address, or NULL: any? */
static inline bool port_has_gid(const struct port *port, const uint8_t gid[16], const uint8_t *mac,
				uint16_t vlan)
{
	unsigned int i;

	for (i = 0; i < PORT_GIDS; i++) {
		const struct gid_entry *entry = &port->gids[i];

		if (entry->type != OHCA_GID_NONE && entry->vlan == vlan &&
		    !memcmp(entry->gid, gid, sizeof(entry->gid)) &&
		    (!mac || !memcmp(entry->mac, mac, sizeof(entry->mac))))
			return true;
	}
	return false;
}

/* Whether the port has a GID in this VLAN */
static inline bool port_in_vlan(const struct port *port, uint16_t vlan)
{
	return port->vlans[(vlan & 4095) / 64] >> (vlan & 63) & 1;
}

extern const struct object_class port_class;

/* Plug the cable in, or unplug it; resets do not change that. */
void port_plug(struct port *port, bool in);
/* Compute @active again; notifies the host and the fabric of a change. */
void port_update(struct port *port);
/* The same for all ports */
void ports_update(struct hca *hca);
/* An entry of the P_Key table; 0: it is invalid, or there is no such entry */
uint16_t port_pkey(const struct port *port, uint16_t index);
/* Entries of the P_Key table */
unsigned int port_num_pkeys(const struct port *port);
/*
 * Choose the link layer that the port has from the next reset on, OHCA_LINK_*.  0, -EOPNOTSUPP if those of the HCA do not
 * change, or -EINVAL if there is no such one.
 */
int port_want_link(struct port *port, uint8_t link);
/*
 * Change the link layer; the port is as after power-on then.  It is in no fabric, and no object refers to it.  0, or -ENOMEM: it
 * keeps the old one.
 */
int port_set_link(struct port *port, uint8_t link);
/* Largest payload of a packet, in bytes */
uint32_t port_mtu(const struct port *port);

#endif
