/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An InfiniBand switch.  Its management agents are in mgmt/.  Without a topology (ib_subnet.h), a fabric has one switch: all
 * InfiniBand ports of this process are connected to its ports from 1 on, and InfiniBand uplinks to the ports after these.
 */

#ifndef OHCAD_IB_SWITCH_H
#define OHCAD_IB_SWITCH_H

#include <stdint.h>

#include "fabric/ib_node.h"
#include "fabric/link_layer.h"
#include "packet/mad.h"

#define IB_SWITCH_PORTS \
	FABRIC_MAX_PORTS /* external ports of the switch of a fabric without a topology */
#define IB_SWITCH_LIDS LID_MCAST /* size of the linear forwarding table */
#define IB_SWITCH_MLIDS 8192 /* size of the multicast forwarding table */
#define IB_SWITCH_NO_PORT 0xff /* entry of the linear forwarding table: packets are discarded */

/**
 * struct ib_switch - a switch.  Its tables are allocated when the first entry is set
 * @max_ports: number of allocated external ports; node.num_ports of them are visible
 * @ports: the ports that node.ports points to
 * @linear: port for each of the first @num_linear LIDs; entries above @linear_top are ignored
 * @mcast: @mcast_words words for each multicast LID; bit n of word m: port 16 * m + n.  NULL: all are 0
 * @life_time: LifeTimeValue
 * @state_change: PortStateChange
 * @default_port, @default_mcast_primary, @default_mcast_other: fields of SwitchInfo without a function
 * @sl2vl: SM_SL2VL_LEN bytes for each pair of input and output port; NULL: all are 0
 */
struct ib_switch {
	struct ib_node node;
	unsigned int max_ports;
	struct ib_port *ports;
	uint8_t *linear;
	unsigned int num_linear;
	uint16_t linear_top;
	uint16_t *mcast;
	unsigned int mcast_words;
	uint8_t life_time;
	bool state_change;
	uint8_t default_port, default_mcast_primary, default_mcast_other;
	uint8_t *sl2vl;
};

/* Create a switch with @num_ports external ports and no cables.  @name must stay valid.  NULL: no memory */
struct ib_switch *ib_switch_new(struct fabric *fabric, struct loop *loop, uint64_t guid,
				const char *name, unsigned int num_ports);
/* Free the switch.  Its ports have no cables any more. */
void ib_switch_free(struct ib_switch *sw);
/* Return to the state after power-on.  Links go down first. */
void ib_switch_reset(struct ib_switch *sw);

/* Connect an adapter's port to the fabric's switch, which is created for the first port. */
void ib_switch_attach(struct fabric *fabric, struct port *port);
/* Disconnect the port; the last one frees the switch. */
void ib_switch_detach(struct fabric *fabric, struct port *port);

/* The first external port without a cable, or NULL */
struct ib_port *ib_switch_free_port(struct ib_switch *sw);

/* To be called when forwarding tables have changed: invalidates all routes. */
void ib_switch_changed(struct ib_switch *sw);

/* The entry of the linear forwarding table; IB_SWITCH_NO_PORT if it was not set */
static inline uint8_t ib_switch_linear(const struct ib_switch *sw, unsigned int lid)
{
	return lid < sw->num_linear ? sw->linear[lid] : IB_SWITCH_NO_PORT;
}

/* @num entries of the linear forwarding table from @first on, to be written; NULL: no memory */
uint8_t *ib_switch_linear_room(struct ib_switch *sw, unsigned int first, unsigned int num);
/* The words of the multicast forwarding table for MLID LID_MCAST + @i, to be written; NULL: no memory */
uint16_t *ib_switch_mcast_room(struct ib_switch *sw, unsigned int i);
/* SLtoVLMappingTable of an input and an output port, to be read or written; NULL: no memory */
const uint8_t *ib_switch_sl2vl(const struct ib_switch *sw, unsigned int in, unsigned int out);
uint8_t *ib_switch_sl2vl_room(struct ib_switch *sw, unsigned int in, unsigned int out);

/* The output port for the unicast LID @dlid: port 0 for the switch itself, NULL: none */
struct ib_port *ib_switch_lookup(struct ib_switch *sw, uint16_t dlid);
/* The output ports for the multicast LID @mlid, as words of ib_switch.mcast; NULL: none */
const uint16_t *ib_switch_mcast(const struct ib_switch *sw, uint16_t mlid);

/* Send trap 259: the P_Key of a packet is not in the table of the switch's port @at. */
void ib_switch_bad_pkey(struct ib_port *at, const struct ib_violation *v);

/*
 * Send a subnet management packet from @src, whose link is not down, to the link, or to the port's own agent or QP 0 if
 * @p->dlid is its own LID.  All consequences, with the response, have happened when this returns.
 */
void ib_send_smp(struct port *src, const struct mad_packet *p);

/* As ib_send_smp(), by LID, from an agent of @from's node, which may be a switch. */
void ib_node_send(struct ib_port *from, const struct mad_packet *p);

/*
 * Does QP 1 of the port @at, of a node without a host, take the datagram: is its P_Key one of the port's, and its Q_Key right?
 * If not, the port takes notice.  If so, @p->pkey is the port's own one from then on, and so that of the response.
 */
bool ib_node_takes(struct ib_port *at, struct mad_packet *p);
/*
 * Let the agent of a node without a host process a datagram for QP 1 of its port @at.  True: @p is the response to QP
 * @p->src_qpn.
 */
bool ib_ask_node(struct ib_port *at, struct mad_packet *p);

#endif
