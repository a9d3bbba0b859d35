/* SPDX-License-Identifier: GPL-2.0 */
/* An InfiniBand node: an HCA or a switch, as subnet management sees it. */

#ifndef OHCAD_IB_NODE_H
#define OHCAD_IB_NODE_H

#include <stdint.h>

#include "base/list.h"
#include "fabric/ib_port.h"
#include "packet/sm_attr.h"

struct ib_switch;
struct loop;

#define IB_GUID_NODE 0xfffe /* the MAC address' middle: as IPv6's EUI-64 */
#define IB_GUID_PORT 0x0000 /* plus the number of the port */
#define IB_GUID_SWITCH 0xffff

/**
 * struct ib_node_ops - functions of a type of node: HCA, switch, or the remote end of an uplink
 * @receive: receive a subnet management packet from the link of @at
 * @receive_data: remote end of an uplink: send a data packet, which has passed @hops hops including this one; NULL: data
 *	packets to other nodes are passed by reference.  False: there is no room, and it is lost
 * @state_changed: the link state of @at has changed
 * @train: remote end of an uplink: whether the local port wants a link, or its enabled speeds, have changed, so that training
 *	starts again; NULL: not needed within the process
 */
struct ib_node_ops {
	void (*receive)(struct ib_port *at, const struct mad_packet *p);
	bool (*receive_data)(struct ib_port *at, const uint8_t *packet, uint32_t len,
			     uint16_t hops);
	void (*state_changed)(struct ib_port *at);
	void (*train)(struct ib_port *at);
};

/**
 * struct ib_node - a node
 * @type: NODE_*
 * @num_ports: number of external ports
 * @down: the node has no power, and its links stay down
 * @guid, @system_guid: NodeGUID and SystemImageGUID, host byte order
 * @vendor, @device: VendorID and DeviceID; 0: those of OHCA
 * @name: from the net file, or the HCA's name
 * @desc: NodeDescription
 * @link: in the fabric's list of nodes
 * @fabric: the fabric that it belongs to
 * @loop: the event loop
 * @sw: the switch; NULL: the node is an HCA
 * @ports: by number; NULL for port 0 of an HCA and for its ports that are not InfiniBand
 */
struct ib_node {
	const struct ib_node_ops *ops;
	uint8_t type;
	uint8_t num_ports;
	bool down;
	uint64_t guid, system_guid;
	uint32_t vendor;
	uint16_t device;
	const char *name;
	char desc[NODE_DESC_LEN];
	struct list link;
	struct fabric *fabric;
	struct loop *loop;
	struct ib_switch *sw;
	struct ib_port **ports;
};

/* The EUI-64 of a MAC address, with the two bytes @middle inserted */
uint64_t ib_guid(const uint8_t mac[6], uint16_t middle);

/* Add the node to the fabric; remove it. */
void ib_node_add(struct fabric *fabric, struct ib_node *node);
void ib_node_del(struct ib_node *node);
/* The node of this name, or NULL */
struct ib_node *ib_node_find(const struct fabric *fabric, const char *name);

/* The port with the LID by which @at is managed: port 0 of a switch, or @at itself for an HCA */
static inline struct ib_port *ib_managed_port(struct ib_port *at)
{
	return at->node->type == NODE_SWITCH ? at->node->ports[0] : at;
}

/*
 * The first InfiniBand port with a number of at least *@num, which is set to its number; NULL: there is none.  A loop over the
 * external ports starts at 1.
 */
static inline struct ib_port *ib_node_next_port(const struct ib_node *node, unsigned int *num)
{
	for (; *num <= node->num_ports; ++*num) {
		if (node->ports[*num])
			return node->ports[*num];
	}
	return NULL;
}

/* CapabilityMask2 of the node's ports: the link widths and speeds that they support */
uint16_t ib_node_caps(const struct ib_node *node);

/* Does the port of a switch lead to an uplink, and is the link active? */
static inline bool ib_leads_out(const struct ib_port *out)
{
	return out->state == IB_PORT_ACTIVE && out->peer && out->peer->node->ops->receive_data;
}

/* Set NodeDescription to @text, truncated to NODE_DESC_LEN bytes. */
void ib_node_describe(struct ib_node *node, const char *text);

#endif
