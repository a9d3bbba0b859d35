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
 * struct ib_node_ops - what an HCA and the switch do in different ways
 * @receive: a subnet management packet has come to @at from its link
 * @receive_data: a packet of data, which has passed @hops with this one, has come to @at from its link, and leaves the
 *	process; NULL: there is another way
 * @state_changed: the state of the link of @at has
 * @train: the port at the other end of the cable of @at is to be in another physical state, or is enabled for something
 *	else: its training begins anew; NULL: the two need not tell each other
 */
struct ib_node_ops {
	void (*receive)(struct ib_port *at, const struct mad_packet *p);
	void (*receive_data)(struct ib_port *at, const uint8_t *packet, uint32_t len,
			     uint16_t hops);
	void (*state_changed)(struct ib_port *at);
	void (*train)(struct ib_port *at);
};

/**
 * struct ib_node - a node
 * @type: NODE_*
 * @num_ports: external ones; the last one's number
 * @down: it has no power: none of its links comes up
 * @guid, @system_guid: NodeGUID and SystemImageGUID, host byte order
 * @vendor, @device: VendorID and DeviceID; 0: OHCA's
 * @name: in a topology, of the file; else the HCA's
 * @desc: NodeDescription
 * @link: in the fabric's list of nodes
 * @fabric: in which it is
 * @loop: of the process
 * @sw: NULL: it is no switch
 * @ports: by number; of an HCA, [0] and those that are not InfiniBand are NULL
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

/* An EUI-64 made of a MAC address with @middle in its middle */
uint64_t ib_guid(const uint8_t mac[6], uint16_t middle);

/* It is one of the fabric's; and no more. */
void ib_node_add(struct fabric *fabric, struct ib_node *node);
void ib_node_del(struct ib_node *node);
/* The one of this name, or NULL */
struct ib_node *ib_node_find(const struct fabric *fabric, const char *name);

/* The port that has the LID by which @at is managed: of a switch its port 0, of an HCA @at itself */
static inline struct ib_port *ib_managed_port(struct ib_port *at)
{
	return at->node->type == NODE_SWITCH ? at->node->ports[0] : at;
}

/*
 * The next InfiniBand port with a number of at least *@num, which is set to its number; NULL at the end.  From 1 on, the
 * external ones.
 */
static inline struct ib_port *ib_node_next_port(const struct ib_node *node, unsigned int *num)
{
	for (; *num <= node->num_ports; ++*num) {
		if (node->ports[*num])
			return node->ports[*num];
	}
	return NULL;
}

/* CapabilityMask2: what the links of its ports may be */
uint16_t ib_node_caps(const struct ib_node *node);

/* Does what leaves by a port of the switch leave the process, and may data pass there? */
static inline bool ib_leads_out(const struct ib_port *out)
{
	return out->state == IB_PORT_ACTIVE && out->peer && out->peer->node->ops->receive_data;
}

/* NodeDescription: @text, or the first bytes of it */
void ib_node_describe(struct ib_node *node, const char *text);

#endif
