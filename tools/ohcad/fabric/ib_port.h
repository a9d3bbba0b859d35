/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An InfiniBand port (specification volume 1, 14.2.5): state, addresses, keys and partitions.  The port of an HCA is
 * one, and each port of the switch.  The subnet manager sets them, through mgmt/ and ib_port_set_*(), which notify
 * the host.
 */

#ifndef OHCAD_IB_PORT_H
#define OHCAD_IB_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"
#include "fabric/ib_speed.h"
#include "fabric/port.h"
#include "ohca/ohca_cmd.h"
#include "ohca/ohca_queue.h"
#include "packet/mad.h"

#define IB_PORT_PKEYS 128
#define IB_PORT_GUIDS 32
#define IB_PORT_VLS 8
#define IB_PORT_PM_COUNTERS 17
#define IB_PORT_PM_EXT_COUNTERS 8
#define IB_PORT_VL_ARB 8 /* entries of each VL arbitration table */

struct hca;
struct ib_node;
struct ib_port;
struct ib_ways;
struct notice;
struct trap_queue;

/* PortState, numbered as enum ib_port_state */
enum ib_port_state {
	IB_PORT_DOWN = 1,
	IB_PORT_INIT = 2,
	IB_PORT_ARMED = 3,
	IB_PORT_ACTIVE = 4,
};

/**
 * struct ib_client_ops - who takes the management datagrams that are for the host
 * @receive_smp: a subnet management packet has come to @port that its agent leaves to the host's QP 0.  False: it
 *	did not take the packet
 */
struct ib_client_ops {
	bool (*receive_smp)(struct port *port, const struct mad_packet *p);
};

/**
 * struct ib_agent_ops - the management agents of nodes, of a fabric: fabric->ib_agent
 * @receive: a subnet management packet has come to @at from its link, or from the node itself, for the node or by a
 *	directed route
 * @ask: a datagram of another class has come to @at, of a node without a host: is there an answer?  It is in @p then
 * @trap: something has happened at @at that the subnet manager wants to know.  Of @notice, the trap's number, its
 *	type and its details are given
 * @forget: @at goes
 */
struct ib_agent_ops {
	void (*receive)(struct ib_port *at, const struct mad_packet *p);
	bool (*ask)(struct ib_port *at, struct mad_packet *p);
	void (*trap)(struct ib_port *at, const struct notice *notice);
	void (*forget)(struct ib_port *at);
};

/**
 * struct ib_traffic - what has passed a port in one direction
 * @data: units of 4 bytes, from the first byte of the LRH to the invariant CRC.  Of headers, those that each packet
 *	of a QP has
 * @mcast: of the packets
 */
struct ib_traffic {
	uint64_t data;
	uint64_t pkts;
	uint64_t mcast;
};

/**
 * struct ib_qp_traffic - packets of QPs, and the bytes of their payloads
 */
struct ib_qp_traffic {
	uint64_t pkts;
	uint64_t bytes;
	uint64_t mcast;
};

/**
 * struct ib_port_counters - packets and errors of a port that no QP counts; as in PortCounters
 * @no_xmit, @no_rcv: what QPs count, and was not on the link: packets that were not sent, from the port to itself,
 *	and copies of a multicast packet
 * @hop_xmit, @hop_rcv: packets of QPs that have passed a cable between switches
 */
struct ib_port_counters {
	struct ib_traffic xmit, rcv;
	struct ib_qp_traffic no_xmit, no_rcv;
	struct ib_qp_traffic hop_xmit, hop_rcv;
	uint64_t symbol_errors;
	uint64_t link_recovery;
	uint64_t link_downed;
	uint64_t rcv_errors;
	uint64_t rcv_remote_errors;
	uint64_t rcv_relay_errors;
	uint64_t xmit_discards;
	uint64_t xmit_constraint, rcv_constraint;
	uint64_t link_integrity;
	uint64_t buffer_overrun;
	uint64_t vl15_dropped;
	uint64_t xmit_wait_ns;
};

/* Why a port that has something to send waits */
#define IB_WAIT_PACE 0x1 /* its link is busy, or a static rate is less */
#define IB_WAIT_UPLINK 0x2 /* an uplink is congested */

#define IB_PORT_ROUTES 64 /* a power of two */

/**
 * struct ib_port_route - where packets of a flow went: struct ib_flow
 * @gen: good while fabric->gen is that, which counts from 1
 * @to: NULL: to nobody
 */
struct ib_port_route {
	uint64_t gen;
	uint16_t dlid, pkey;
	uint8_t sl;
	struct port *to;
};

/**
 * struct ib_port - an InfiniBand port.  Numbers are in the host's byte order
 * @port: whose InfiniBand half it is: port->ib; NULL: it is a switch's, or an HCA's that has no host
 * @update: of an HCA: called when @state has changed
 * @num: its number in @node
 * @peer: at the other end of the cable, or NULL
 * @unplugged: the cable is not plugged in; @port->cable of an HCA with a host
 * @state: enum ib_port_state
 * @phys: PortPhysicalState
 * @wanted: which PORT_PHYS_* it is to be in while there is no link
 * @down_default: LinkDownDefaultState
 * @supported, @enabled, @active: widths and speeds
 * @mtu: NeighborMTU, enum ib_mtu's numbers
 * @enforce: PartitionEnforcementInbound and Outbound and the like, the low half of their byte
 * @phy_errors, @overruns: fewer than those that LocalPhyErrors and OverrunErrors of @phy_errors_overrun have counted
 * @guid: PortGUID
 * @lid: 0: none yet
 * @lmc: so many low bits of the LID are path bits
 * @prefix: GidPrefix
 * @guids: GUIDInfo; 0 is none
 * @gids: of an HCA with a host: GID table: @prefix and a GUID each, as packets have them; zero without a GUID.  PORT_GIDS
 * @mkey_timer: runs from a wrong M_Key to the end of the lease
 * @pkeys: P_Key table
 * @sl2vl: of an HCA
 * @vl_arb: low and high priority table
 * @waits: IB_WAIT_*; ib_traffic.h's, as is @waits_since: since when there is any of them
 * @routes: of an HCA with a host: where its latest datagrams went, by the lowest bits of the DLID
 * @pm_base, @pm_ext_base: where the counters of performance management begin; mgmt/pma.c's
 * @traps: mgmt/trap.c's, or NULL
 * @was_up: of a switch: the link was up when its state changed the last time
 * @mcast_mark, @ways: ib_way.c's
 */
struct ib_port {
	struct port *port;
	void (*update)(struct port *port);
	struct ib_node *node;
	uint8_t num;
	struct ib_port *peer;
	bool unplugged;
	uint8_t state;
	uint8_t phys;
	uint8_t wanted;
	uint8_t down_default;
	struct ib_speeds supported, enabled, active;
	uint8_t mtu;
	uint8_t oper_vls;
	uint8_t enforce;
	uint8_t vl_high_limit;
	uint8_t vl_stall_hoq_life;
	uint8_t phy_errors_overrun;
	uint32_t phy_errors, overruns;
	uint8_t init_type, init_type_reply;
	uint64_t guid;
	uint16_t lid;
	uint8_t lmc;
	uint16_t sm_lid;
	uint8_t sm_sl;
	uint8_t subnet_timeout;
	uint32_t cap_mask;
	uint64_t prefix;
	uint64_t guids[IB_PORT_GUIDS];
	uint8_t (*gids)[16];
	uint64_t mkey;
	uint8_t mkey_protect;
	uint16_t mkey_lease;
	struct timer mkey_timer;
	uint16_t mkey_viols, pkey_viols, qkey_viols;
	uint16_t pkeys[IB_PORT_PKEYS];
	uint8_t sl2vl[8];
	uint8_t vl_arb[2][SMP_DATA_LEN];
	struct ib_port_route *routes;
	struct ib_port_counters counters;
	uint8_t waits;
	uint64_t waits_since;
	uint64_t pm_base[IB_PORT_PM_COUNTERS], pm_ext_base[IB_PORT_PM_EXT_COUNTERS];
	struct trap_queue *traps;
	bool was_up;
	uint64_t mcast_mark;
	struct ib_ways *ways;
};

/* Is it one of the LIDs of the port? */
static inline bool ib_port_has_lid(const struct ib_port *ib, uint16_t lid)
{
	return ib->lid && lid >> ib->lmc == ib->lid >> ib->lmc;
}

/* The LID that packets by @av come from: the port's, with as many path bits as the LMC says. */
static inline uint16_t ib_port_source_lid(const struct ib_port *ib, const struct ohca_av *av)
{
	return ib->lid | (av->ib.path_bits & ((1 << ib->lmc) - 1));
}

/* Port @num of @node, with all as after power-on; *@ib is zero before. */
void ib_port_init(struct ib_port *ib, struct ib_node *node, uint8_t num);
/* Its PortGUID, instead of the one that it has. */
void ib_port_set_guid(struct ib_port *ib, uint64_t guid);
/* What its link may be, instead of ib_speeds_default: before there is a cable. */
void ib_port_set_supported(struct ib_port *ib, const struct ib_speeds *supported);
/* It goes; there is no cable. */
void ib_port_fini(struct ib_port *ib);
/* All is as after power-on again; the link goes down for that. */
void ib_port_reset(struct ib_port *ib);

/*
 * The InfiniBand half of an HCA's port, in a node with those of the HCA's other ports; @update: port_update().  0 or
 * -ENOMEM.
 */
int ib_port_new(struct port *port, void (*update)(struct port *port));
void ib_port_free(struct port *port);

/* The node of the HCA's InfiniBand ports; NULL: it has none, or none yet. */
struct ib_node *ib_hca_node(const struct hca *hca);

/* A subnet management packet has come to @at, of an HCA, from its link: by a directed route, or for its LID. */
void ib_port_receive_smp(struct ib_port *at, const struct mad_packet *p);

/* What subnet management sets.  Those that take several at once notify the host once. */
void ib_port_set_lid(struct ib_port *ib, uint16_t lid, uint8_t lmc);
void ib_port_set_sm(struct ib_port *ib, uint16_t lid, uint8_t sl);
void ib_port_set_prefix(struct ib_port *ib, uint64_t prefix);
void ib_port_set_guids(struct ib_port *ib, unsigned int first, const uint64_t *guids,
		       unsigned int num);
void ib_port_set_pkeys(struct ib_port *ib, unsigned int first, const uint16_t *pkeys,
		       unsigned int num);
void ib_port_set_mtu(struct ib_port *ib, uint8_t mtu);
/* ClientReregister is set. */
void ib_port_reregister(struct ib_port *ib);
/* Bits of the CapabilityMask that the host sets and clears; the subnet manager is told of a change. */
void ib_port_set_caps(struct ib_port *ib, uint32_t set, uint32_t clear);
/* NodeDescription; likewise, at each port of the node */
void ib_port_set_node_desc(struct ib_port *ib, const uint8_t desc[64]);

/* The port, its state or its addresses are not what they were: routes that were found are not good any more. */
void ib_port_changed(struct ib_port *ib);

/**
 * struct ib_violation - a packet that was refused for its P_Key or Q_Key, as traps 257 and 258 tell of it
 * @key: the P_Key or Q_Key of the packet
 */
struct ib_violation {
	uint32_t key;
	uint16_t slid, dlid;
	uint8_t sl;
	uint32_t src_qpn, dest_qpn;
};

/* Count it in the port's P_KeyViolations or Q_KeyViolations, and send the trap to the subnet manager. */
void ib_port_bad_pkey(struct ib_port *ib, const struct ib_violation *v);
void ib_port_bad_qkey(struct ib_port *ib, const struct ib_violation *v);

/* Counters of 16 bits stay at their greatest value. */
static inline void ib_count16(uint16_t *counter)
{
	if (*counter != UINT16_MAX)
		++*counter;
}

#endif
