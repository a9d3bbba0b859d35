/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An InfiniBand switch.  Its port 0 has a subnet management agent (mgmt/).  Without a topology (ib_subnet.h), a fabric has
 * one: all InfiniBand ports of this process are cabled to ports of it, from 1 on, and the uplinks of InfiniBand to those that
 * follow.
 */

#ifndef OHCAD_IB_SWITCH_H
#define OHCAD_IB_SWITCH_H

#include <stdint.h>

#include "fabric/ib_node.h"
#include "fabric/link_layer.h"
#include "packet/mad.h"

#define IB_SWITCH_PORTS \
	FABRIC_MAX_PORTS /* of the one that a fabric has without a topology; without port 0 */
#define IB_SWITCH_LIDS LID_MCAST /* of the linear forwarding table */
#define IB_SWITCH_MLIDS 8192 /* of the multicast forwarding table */
#define IB_SWITCH_NO_PORT 0xff /* in the linear forwarding table */

/**
 * struct ib_switch - a switch.  Its tables have room for what was set in them
 * @max_ports: number of external ports, of which node.num_ports can be seen
 * @ports: those of node.ports
 * @linear: port for each of the first @num_linear LIDs; only those up to @linear_top count
 * @mcast: @mcast_words words for each multicast LID; bit n of word m: port 16 * m + n.  NULL: all are 0
 * @life_time: LifeTimeValue
 * @state_change: PortStateChange
 * @default_port, @default_mcast_primary, @default_mcast_other: kept, as SwitchInfo has them
 * @sl2vl: SM_SL2VL_LEN bytes for each input port and each output port; NULL: all are 0
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

/* A switch with that many external ports, none of which has a cable; the strings stay the caller's.  NULL: no memory */
struct ib_switch *ib_switch_new(struct fabric *fabric, struct loop *loop, uint64_t guid,
				const char *name, unsigned int num_ports);
/* Its ports have no cables any more. */
void ib_switch_free(struct ib_switch *sw);
/* All is as after power-on again; links go down for that. */
void ib_switch_reset(struct ib_switch *sw);

/* The port of an HCA gets a cable to the fabric's switch, which is made for the first one. */
void ib_switch_attach(struct fabric *fabric, struct port *port);
/* It goes, with the switch if it is the last one. */
void ib_switch_detach(struct fabric *fabric, struct port *port);

/* The first port without a cable, or NULL */
struct ib_port *ib_switch_free_port(struct ib_switch *sw);

/* Entries of the forwarding tables are to be found anew. */
void ib_switch_changed(struct ib_switch *sw);

/* The entry of the linear forwarding table: IB_SWITCH_NO_PORT if it was not set */
static inline uint8_t ib_switch_linear(const struct ib_switch *sw, unsigned int lid)
{
	return lid < sw->num_linear ? sw->linear[lid] : IB_SWITCH_NO_PORT;
}

/* Entries to be set, from @first on; NULL: no memory */
uint8_t *ib_switch_linear_room(struct ib_switch *sw, unsigned int first, unsigned int num);
/* Words of the multicast forwarding table to be set, for multicast LID number @i; NULL: no memory */
uint16_t *ib_switch_mcast_room(struct ib_switch *sw, unsigned int i);
/* SLtoVLMappingTable of these ports, and the one to be set; NULL: no memory */
const uint8_t *ib_switch_sl2vl(const struct ib_switch *sw, unsigned int in, unsigned int out);
uint8_t *ib_switch_sl2vl_room(struct ib_switch *sw, unsigned int in, unsigned int out);

/* The port that leads to the unicast LID @dlid by the table: 0: the switch itself; NULL: nowhere */
struct ib_port *ib_switch_lookup(struct ib_switch *sw, uint16_t dlid);
/* The ports that lead to the multicast LID @mlid, words as in ib_switch.mcast; NULL: none */
const uint16_t *ib_switch_mcast(const struct ib_switch *sw, uint16_t mlid);

/* A packet with a P_Key that is not in the table of @at, a port of the switch: trap 259 */
void ib_switch_bad_pkey(struct ib_port *at, const struct ib_violation *v);

/*
 * A subnet management packet leaves @src (any state but down): the switch forwards it, or its agent takes it;
 * or the port's own agent or QP 0 if @p->dlid is the port's own LID.  What comes of it, comes before this returns.
 */
void ib_send_smp(struct port *src, const struct mad_packet *p);

/* The same for an agent of @from's node, of the switch too: by the LID that it is for. */
void ib_node_send(struct ib_port *from, const struct mad_packet *p);

/*
 * A datagram for QP 1 of a node without a host, a switch or an HCA, has come to its port @at: is there an answer for QP
 * @p->src_qpn?  @p is the answer then.
 */
bool ib_ask_node(struct ib_port *at, struct mad_packet *p);

#endif
