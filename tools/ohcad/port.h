/* SPDX-License-Identifier: GPL-2.0 */
/* The port of an HCA: link state, MAC addresses, GID table. */

#ifndef OHCAD_PORT_H
#define OHCAD_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "list.h"

#define PORT_GIDS 128
#define PORT_MAX_FRAME 9234 /* MTU 9216, Ethernet header, VLAN tag */

struct hca;
struct qp;

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

/**
 * struct port - a port
 * @link: in the fabric's list of ports
 * @perm_mac: burnt-in address
 * @mac: address of the netdev
 * @admin_up: the host wants the link
 * @cable: the fabric offers the link
 * @active: both, and the HCA is enabled and may use the bus; OHCA_EVENT_PORT_ACTIVE and _ERR
 *	follow it
 * @eth_qp: the QP of Ethernet frames in RTR or RTS, or NULL
 */
struct port {
	struct hca *hca;
	struct list link;
	uint8_t perm_mac[6];
	uint8_t mac[6];
	bool admin_up;
	bool cable;
	bool promisc;
	bool active;
	struct qp *eth_qp;
	struct gid_entry gids[PORT_GIDS];
};

void port_init(struct port *port, struct hca *hca, const uint8_t mac[6]);
void port_reset(struct port *port); /* as after power-on */
/* Work out @active anew from what it depends on; tells the host and the fabric of a change. */
void port_update(struct port *port);
/* Index of a GID in the table, or -1. */
int port_find_gid(const struct port *port, const uint8_t gid[16]);

#endif
