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
struct ib_route_cache;
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
 * struct ib_client_ops - the receiver of management datagrams for the host
 * @receive_smp: deliver a subnet management packet, which the agent does not process, to QP 0 of @port.  False: it was
 *	dropped
 */
struct ib_client_ops {
	bool (*receive_smp)(struct port *port, const struct mad_packet *p);
};

/**
 * struct ib_agent_ops - the management agents of nodes, of a fabric: fabric->ib_agent
 * @receive: process or forward a subnet management packet that has arrived at @at, or that the node itself sends
 * @ask: process a datagram of another class that has arrived at @at, of a node without a host.  True: @p is the response
 * @trap: send a trap to the subnet manager.  @notice has the trap's number, type and details; the agent adds the rest
 * @forget: drop all traps of @at, which is being removed
 */
struct ib_agent_ops {
	void (*receive)(struct ib_port *at, const struct mad_packet *p);
	bool (*ask)(struct ib_port *at, struct mad_packet *p);
	void (*trap)(struct ib_port *at, const struct notice *notice);
	void (*forget)(struct ib_port *at);
};

/**
 * struct ib_traffic - what has passed a port in one direction
 * @data: units of 4 bytes, from the first byte of the LRH to the invariant CRC.  Optional headers of QPs' packets are not
 *	counted
 * @pkts: packets
 * @mcast: multicast packets among them
 */
struct ib_traffic {
	uint64_t data;
	uint64_t pkts;
	uint64_t mcast;
};

/**
 * struct ib_qp_traffic - packets of QPs, and bytes of their payloads
 */
struct ib_qp_traffic {
	uint64_t pkts;
	uint64_t bytes;
	uint64_t mcast;
};

/**
 * struct ib_port_counters - packets and errors that a port counts, as in PortCounters; packets of QPs are counted by the QPs
 * @no_xmit, @no_rcv: to be subtracted from what QPs have counted: packets that were not on the link, because they were not
 *	sent, or by loopback, or as further copies of a multicast packet
 * @hop_xmit, @hop_rcv: packets of QPs on a cable between switches
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

/* Why a port with packets to send waits */
#define IB_WAIT_PACE 0x1 /* its link is busy, or a static rate is less */
#define IB_WAIT_UPLINK 0x2 /* an uplink is congested */

#define IB_PORT_ROUTES 64 /* a power of two */

/**
 * struct ib_port_route - the destination port of a recently used flow: struct ib_flow
 * @gen: valid while fabric->gen, which starts at 1, has this value
 * @to: NULL: there is none
 */
struct ib_port_route {
	uint64_t gen;
	uint16_t dlid, pkey;
	uint8_t sl;
	struct port *to;
};

/**
 * struct ib_port - an InfiniBand port.  Numbers are in the host's byte order
 * @port: the adapter's port that it is part of (port->ib); NULL: the port of a switch or of an HCA without a host
 * @update: HCA: called after @state has changed
 * @num: its number in @node
 * @peer: at the other end of the cable, or NULL
 * @unplugged: the cable is not plugged in; @port->cable of an HCA with a host
 * @state: enum ib_port_state
 * @phys: PortPhysicalState
 * @wanted: the PORT_PHYS_* to be in while there is no link
 * @down_default: LinkDownDefaultState
 * @supported, @enabled, @active: widths and speeds
 * @mtu: NeighborMTU, enum ib_mtu's numbers
 * @enforce: PartitionEnforcementInbound and Outbound and the like, the low half of their byte
 * @phy_errors, @overruns: errors since @phy_errors_overrun's threshold (LocalPhyErrors, OverrunErrors) was reached
 * @guid: PortGUID
 * @lid: 0: none yet
 * @lmc: number of low bits of the LID that are path bits
 * @prefix: GidPrefix
 * @guids: GUIDInfo; 0: no GUID
 * @gids: HCA with a host: GID table of PORT_GIDS entries, each @prefix and a GUID in network byte order; zero: empty
 * @mkey_timer: runs from a wrong M_Key to the end of the lease
 * @pkeys: P_Key table
 * @sl2vl: HCA: SLtoVLMappingTable; switches have theirs in struct ib_switch
 * @vl_arb: low and high priority table
 * @waits, @waits_since: IB_WAIT_*, and since when any of them is set; owned by ib_traffic.c
 * @routes: HCA with a host: recently used flows of datagrams, indexed by the low bits of the DLID
 * @pm_base, @pm_ext_base: subtracted from the counters for performance management; owned by mgmt/pma.c
 * @traps: owned by mgmt/trap.c; NULL: none
 * @was_up: switch: the link was up before its state changed the last time
 * @mcast_mark, @route_cache: owned by ib_route.c and ib_route_cache.c
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
	struct ib_route_cache *route_cache;
};

/* Is it one of the LIDs of the port? */
static inline bool ib_port_has_lid(const struct ib_port *ib, uint16_t lid)
{
	return ib->lid && lid >> ib->lmc == ib->lid >> ib->lmc;
}

/* The source LID of packets by @av: the port's LID with the path bits of @av that the LMC allows */
static inline uint16_t ib_port_source_lid(const struct ib_port *ib, const struct ohca_av *av)
{
	return ib->lid | (av->ib.path_bits & ((1 << ib->lmc) - 1));
}

/* Initialize port @num of @node to the state after power-on.  *@ib is zero before. */
void ib_port_init(struct ib_port *ib, struct ib_node *node, uint8_t num);
/* Set another PortGUID. */
void ib_port_set_guid(struct ib_port *ib, uint64_t guid);
/* Set the supported widths and speeds, ib_speeds_default so far.  The port has no cable yet. */
void ib_port_set_supported(struct ib_port *ib, const struct ib_speeds *supported);
/* Free what the port has allocated.  It has no cable any more. */
void ib_port_fini(struct ib_port *ib);
/* Return to the state after power-on.  The link goes down first. */
void ib_port_reset(struct ib_port *ib);

/*
 * Create the InfiniBand part of an adapter's port, in the node that it shares with the adapter's other InfiniBand ports.
 * @update: port_update().  Returns 0 or -ENOMEM.
 */
int ib_port_new(struct port *port, void (*update)(struct port *port));
void ib_port_free(struct port *port);

/* The node of the adapter's InfiniBand ports; NULL: it has no such port */
struct ib_node *ib_hca_node(const struct hca *hca);

/* Receive a subnet management packet from the link of @at, a port of an HCA: by directed route or by LID. */
void ib_port_receive_smp(struct ib_port *at, const struct mad_packet *p);

/* Attributes that subnet management sets.  Each call notifies the host at most once. */
void ib_port_set_lid(struct ib_port *ib, uint16_t lid, uint8_t lmc);
void ib_port_set_sm(struct ib_port *ib, uint16_t lid, uint8_t sl);
void ib_port_set_prefix(struct ib_port *ib, uint64_t prefix);
void ib_port_set_guids(struct ib_port *ib, unsigned int first, const uint64_t *guids,
		       unsigned int num);
void ib_port_set_pkeys(struct ib_port *ib, unsigned int first, const uint16_t *pkeys,
		       unsigned int num);
void ib_port_set_mtu(struct ib_port *ib, uint8_t mtu);
/* Notify the host that ClientReregister was set. */
void ib_port_reregister(struct ib_port *ib);
/* Set and clear bits of CapabilityMask for the host.  A change sends trap 144 to the subnet manager. */
void ib_port_set_caps(struct ib_port *ib, uint32_t set, uint32_t clear);
/* Set NodeDescription for the host.  A change sends trap 144 from each port of the node. */
void ib_port_set_node_desc(struct ib_port *ib, const uint8_t desc[64]);

/* To be called when the port, its state or its addresses have changed: invalidates all routes. */
void ib_port_changed(struct ib_port *ib);

/**
 * struct ib_violation - a packet that was refused for its P_Key or Q_Key: the details of traps 257 to 259
 * @key: the P_Key or Q_Key of the packet
 * @no_src_qpn: the packet does not name the QP that has sent it, as those of connections do
 */
struct ib_violation {
	uint32_t key;
	uint16_t slid, dlid;
	uint8_t sl;
	uint32_t src_qpn, dest_qpn;
	bool no_src_qpn;
};

/* Count the violation in P_KeyViolations or Q_KeyViolations, and send trap 257 or 258. */
void ib_port_bad_pkey(struct ib_port *ib, const struct ib_violation *v);
void ib_port_bad_qkey(struct ib_port *ib, const struct ib_violation *v);

/* Increment a counter of 16 bits that saturates. */
static inline void ib_count16(uint16_t *counter)
{
	if (*counter != UINT16_MAX)
		++*counter;
}

#endif
