/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The InfiniBand switch of a fabric: all InfiniBand ports of this process are cabled to ports of it, from 1 on, and the
 * uplinks of InfiniBand to those that follow.  Its port 0 has a subnet management agent (mgmt/).
 */

#ifndef OHCAD_IB_SWITCH_H
#define OHCAD_IB_SWITCH_H

#include <stdint.h>

#include "fabric/ib_node.h"
#include "fabric/link_layer.h"
#include "packet/mad.h"

#define IB_SWITCH_PORTS FABRIC_MAX_PORTS /* without port 0 */
#define IB_SWITCH_LIDS LID_MCAST /* of the linear forwarding table */
#define IB_SWITCH_MLIDS 1024 /* of the multicast forwarding table */
#define IB_SWITCH_MCAST_WORDS (IB_SWITCH_PORTS / SM_MCAST_PORTS + 1)
#define IB_SWITCH_NO_PORT 0xff /* in the linear forwarding table */

/**
 * struct ib_switch - the switch
 * @port_list, @ports: node.ports
 * @up: of a port: its link was up when its state changed the last time
 * @linear: port for each LID; only those up to @linear_top count
 * @mcast: bit n of word m: port 16 * m + n
 * @life_time: LifeTimeValue
 * @state_change: PortStateChange
 * @default_port, @default_mcast_primary, @default_mcast_other: kept, as SwitchInfo has them
 * @sl2vl: by input and output port
 */
struct ib_switch {
	struct ib_node node;
	struct ib_port *port_list[IB_SWITCH_PORTS + 1];
	struct ib_port ports[IB_SWITCH_PORTS + 1];
	bool up[IB_SWITCH_PORTS + 1];
	uint8_t linear[IB_SWITCH_LIDS];
	uint16_t linear_top;
	uint16_t mcast[IB_SWITCH_MLIDS][IB_SWITCH_MCAST_WORDS];
	uint8_t life_time;
	bool state_change;
	uint8_t default_port, default_mcast_primary, default_mcast_other;
	uint8_t sl2vl[IB_SWITCH_PORTS + 1][IB_SWITCH_PORTS + 1][SM_SL2VL_LEN];
};

/* The port of an HCA gets a cable to the fabric's switch, which is made for the first one. */
void ib_switch_attach(struct fabric *fabric, struct port *port);
/* It goes, with the switch if it is the last one. */
void ib_switch_detach(struct fabric *fabric, struct port *port);

/* The first port without a cable, or NULL */
struct ib_port *ib_switch_free_port(struct ib_switch *sw);

/* Entries of the forwarding tables are to be found anew. */
void ib_switch_changed(struct ib_switch *sw);

/* The port that leads to the unicast LID @dlid by the table: 0: the switch itself; NULL: nowhere */
struct ib_port *ib_switch_lookup(struct ib_switch *sw, uint16_t dlid);
/* The ports that lead to the multicast LID @mlid, as in ib_switch.mcast; NULL: none */
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
 * A datagram for QP 1 of the switch has come to its port @in: is there an answer for QP @p->src_qpn?  @p is the
 * answer then.
 */
bool ib_ask_switch(struct ib_port *in, struct mad_packet *p);

#endif
