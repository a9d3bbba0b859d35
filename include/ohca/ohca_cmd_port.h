/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * OHCA hardware interface: commands on ports: attributes, link layers, GID and P_Key tables.
 * ohca_cmd.h includes this header, and its rules apply.
 */

#ifndef _OHCA_CMD_PORT_H
#define _OHCA_CMD_PORT_H

#include "ohca_regs.h"

#define OHCA_MAX_PORTS 8

#define OHCA_LINK_CONFIGURED 0 /* OHCA_CMD_SET_LINK_LAYER: the one that the device was made with */
#define OHCA_LINK_ETHERNET 1 /* RoCEv2, Ethernet frames */
#define OHCA_LINK_INFINIBAND 2 /* InfiniBand packets */

#define OHCA_GID_NONE 0 /* empty entry */
#define OHCA_GID_IB 1 /* of a port with OHCA_LINK_INFINIBAND */
#define OHCA_GID_ROCE_V2 2 /* RoCEv2 over IPv6, or over IPv4 if the GID is an IPv4-mapped address */

#define OHCA_VLAN_NONE 0xffff

struct ohca_query_port_in {
	__u8 port;
	__u8 rsvd[7];
};

OHCA_ASSERT_SIZE(struct ohca_query_port_in, 8);

/**
 * struct ohca_query_port_out - state and attributes of a port
 * @link_layer: OHCA_LINK_*
 * @state: enum ib_port_state's numbers: 1 down, 2 initialize, 3 armed, 4 active
 * @phys_state: as in PortInfo: 2 polling, 3 disabled, 5 link up
 * @max_mtu: enum ib_mtu's numbers: 1 is 256 bytes, 5 is 4096
 * @mac: OHCA_LINK_ETHERNET: the port's permanent address
 * @gid_tbl_len: entries of the GID table
 * @pkey_tbl_len: entries of the P_Key table; RoCE: 1, the default P_Key
 * @active_speed: PortInfo's LinkSpeedActive bits (32 is 25 Gb/s a lane, 128 is 100 Gb/s a lane)
 * @active_width: PortInfo's LinkWidthActive bits (1 is 1x, 2 is 4x, 4 is 8x, 8 is 12x, 16 is 2x)
 * @link_layers: OHCA_CAP_LINK_LAYER: bit n is 1 if the port can have the link layer n, OHCA_LINK_*
 * @next_link_layer: OHCA_CAP_LINK_LAYER: the one that it has from the next reset on, OHCA_LINK_*
 * @rsvd: zero
 * @max_frame: OHCA_LINK_ETHERNET: largest Ethernet frame, without FCS
 * @rsvd1: zero
 * @lid: PortInfo's LID.  This field and those below are for OHCA_LINK_INFINIBAND, and zero
 *	otherwise
 * @sm_lid: MasterSMLID
 * @lmc: LMC
 * @sm_sl: MasterSMSL
 * @subnet_timeout: SubnetTimeOut
 * @init_type_reply: InitTypeReply
 * @cap_mask: CapabilityMask
 * @max_vl_num: number of VLs for data
 * @active_mtu: NeighborMTU, enum ib_mtu's numbers
 * @cap_mask2: CapabilityMask2
 * @subnet_prefix: GidPrefix
 * @bad_pkeys: P_KeyViolations
 * @qkey_viols: Q_KeyViolations
 * @rsvd2: zero
 */
struct ohca_query_port_out {
	__u8 link_layer;
	__u8 state;
	__u8 phys_state;
	__u8 max_mtu;
	__u8 mac[6];
	__le16 gid_tbl_len;
	__le16 pkey_tbl_len;
	__le16 active_speed;
	__u8 active_width;
	__u8 link_layers;
	__u8 next_link_layer;
	__u8 rsvd;
	__le32 max_frame;
	__le32 rsvd1[2];
	__le16 lid;
	__le16 sm_lid;
	__u8 lmc;
	__u8 sm_sl;
	__u8 subnet_timeout;
	__u8 init_type_reply;
	__le32 cap_mask;
	__u8 max_vl_num;
	__u8 active_mtu;
	__le16 cap_mask2;
	__be64 subnet_prefix;
	__le16 bad_pkeys;
	__le16 qkey_viols;
	__le32 rsvd2;
};

#define OHCA_QUERY_PORT_OUT_MIN 32

OHCA_ASSERT_SIZE(struct ohca_query_port_out, 64);

/* Of OHCA_LINK_ETHERNET only */
#define OHCA_PORT_ATTR_ADMIN 0x1 /* admin_up */
#define OHCA_PORT_ATTR_MAC 0x2 /* mac */
#define OHCA_PORT_ATTR_PROMISC 0x4 /* promisc */
#define OHCA_PORT_ATTR_LARGE_RX 0x8 /* large_rx */
/* Of OHCA_LINK_INFINIBAND only */
#define OHCA_PORT_ATTR_CAPS 0x10 /* set_caps, clr_caps */
#define OHCA_PORT_ATTR_QKEY_VIOLS 0x20 /* Q_KeyViolations is zero again */
#define OHCA_PORT_ATTR_INIT_TYPE 0x40 /* init_type */

/*
 * Bits of CapabilityMask that software may change, as it offers these services itself: IsSM,
 * IsCommunicationManagementSupported, IsSNMPTunnelingSupported, IsDeviceManagementSupported,
 * IsVendorClassSupported, IsClientReregistrationSupported
 */
#define OHCA_PORT_CAPS_SW 0x021b0002

/**
 * struct ohca_modify_port_in - change the attributes that the mask names
 * @attr_mask: OHCA_PORT_ATTR_*
 * @port: from 1
 * @admin_up: 1: the link may come up; 0: keep it down.  A port is down after reset.
 * @promisc: 1: receive every frame; 0: those to @mac, and all multicast
 * @large_rx: 1: frames that a port sends with OHCA_WQE_TSO may arrive unsegmented, in parts
 * @mac: unicast address to receive frames at
 * @set_caps: bits of CapabilityMask that become 1, of OHCA_PORT_CAPS_SW
 * @clr_caps: bits of CapabilityMask that become 0, of OHCA_PORT_CAPS_SW
 * @init_type: InitType of PortInfo, 4 bits
 *
 * The link of a port with OHCA_LINK_INFINIBAND is up as long as it is connected; the subnet manager
 * makes it active.
 */
struct ohca_modify_port_in {
	__le32 attr_mask;
	__u8 port;
	__u8 admin_up;
	__u8 promisc;
	__u8 large_rx;
	__u8 mac[6];
	__u8 rsvd1[2];
	__le32 set_caps;
	__le32 clr_caps;
	__u8 init_type;
	__u8 rsvd2[7];
};

#define OHCA_MODIFY_PORT_IN_MIN 16

OHCA_ASSERT_SIZE(struct ohca_modify_port_in, 32);

/**
 * struct ohca_set_link_layer_in - the link layer of a port from the next reset on; needs
 *	OHCA_CAP_LINK_LAYER
 * @port: from 1
 * @link_layer: OHCA_LINK_*, one of the port's link_layers or OHCA_LINK_CONFIGURED
 * @rsvd: zero
 *
 * A reset does not undo it.  Until then nothing changes.  OHCA_EVENT_LINK_LAYER asks software for
 * that reset if another one than software has set it.
 */
struct ohca_set_link_layer_in {
	__u8 port;
	__u8 link_layer;
	__u8 rsvd[6];
};

OHCA_ASSERT_SIZE(struct ohca_set_link_layer_in, 8);

/**
 * struct ohca_set_gid_in - write an entry of the GID table of a port with OHCA_LINK_ETHERNET
 * @gid: the GID; all zero with OHCA_GID_NONE
 * @index: entry
 * @port: from 1
 * @type: OHCA_GID_*
 * @mac: source MAC address of packets sent from this GID
 * @vlan: VLAN of packets sent from and accepted at this GID, or OHCA_VLAN_NONE
 */
struct ohca_set_gid_in {
	__u8 gid[16];
	__le16 index;
	__u8 port;
	__u8 type;
	__u8 mac[6];
	__le16 vlan;
	__le32 rsvd;
};

OHCA_ASSERT_SIZE(struct ohca_set_gid_in, 32);

/**
 * struct ohca_query_gid_in - read an entry of a port's GID table
 * @index: entry
 * @port: from 1
 * @rsvd: zero
 */
struct ohca_query_gid_in {
	__le16 index;
	__u8 port;
	__u8 rsvd[5];
};

OHCA_ASSERT_SIZE(struct ohca_query_gid_in, 8);

/**
 * struct ohca_query_gid_out - an entry of a port's GID table
 * @gid: the GID, zero with OHCA_GID_NONE.  OHCA_LINK_INFINIBAND: the subnet prefix and a GUID
 * @type: OHCA_GID_*
 * @rsvd: zero
 */
struct ohca_query_gid_out {
	__u8 gid[16];
	__u8 type;
	__u8 rsvd[7];
};

OHCA_ASSERT_SIZE(struct ohca_query_gid_out, 24);

#define OHCA_QUERY_PKEY_MAX 32

/**
 * struct ohca_query_pkey_in - read entries of a port's P_Key table
 * @first: first entry
 * @num: entries, 1 to OHCA_QUERY_PKEY_MAX; the table has all of them
 * @port: from 1
 * @rsvd: zero
 */
struct ohca_query_pkey_in {
	__le16 first;
	__u8 num;
	__u8 port;
	__le32 rsvd;
};

OHCA_ASSERT_SIZE(struct ohca_query_pkey_in, 8);

/**
 * struct ohca_query_pkey_out - entries of a port's P_Key table
 * @pkey: the entries, zero beyond the last one asked for; 0: an invalid one
 */
struct ohca_query_pkey_out {
	__le16 pkey[OHCA_QUERY_PKEY_MAX];
};

OHCA_ASSERT_SIZE(struct ohca_query_pkey_out, 64);

#endif /* _OHCA_CMD_PORT_H */
