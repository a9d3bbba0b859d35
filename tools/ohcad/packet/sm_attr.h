/* SPDX-License-Identifier: GPL-2.0 */
/* Attributes of subnet management (InfiniBand specification volume 1, 14.2.5), as they are on the link. */

#ifndef OHCAD_SM_ATTR_H
#define OHCAD_SM_ATTR_H

#include <linux/types.h>

#include "packet/mad.h"

#define SM_NOTICE 0x0002
#define SM_NODE_DESC 0x0010
#define SM_NODE_INFO 0x0011
#define SM_SWITCH_INFO 0x0012
#define SM_GUID_INFO 0x0014
#define SM_PORT_INFO 0x0015
#define SM_PKEY_TABLE 0x0016
#define SM_SL2VL 0x0017
#define SM_VL_ARB 0x0018
#define SM_LINEAR_FDB 0x0019
#define SM_MCAST_FDB 0x001b
#define SM_SM_INFO 0x0020

#define NODE_DESC_LEN 64

/* NodeType */
#define NODE_CA 1
#define NODE_SWITCH 2

struct node_info {
	__u8 base_version;
	__u8 class_version;
	__u8 node_type;
	__u8 num_ports;
	__be64 system_guid;
	__be64 node_guid;
	__be64 port_guid;
	__be16 partition_cap;
	__be16 device_id;
	__be32 revision;
	__u8 local_port;
	__u8 vendor_id[3];
} __attribute__((packed));

/* PortInfo's CapabilityMask */
#define PORT_CAP_SM 0x00000002 /* IsSM */
#define PORT_CAP_TRAP 0x00000008 /* IsTrapSupported */
#define PORT_CAP_SL_MAPPING 0x00000040 /* IsSLMappingSupported */
#define PORT_CAP_SYSTEM_GUID 0x00000800 /* IsSystemImageGUIDSupported */
#define PORT_CAP_EXT_SPEEDS 0x00004000 /* IsExtendedSpeedsSupported */
#define PORT_CAP_CAP_MASK2 0x00008000 /* IsCapabilityMask2Supported */
#define PORT_CAP_CAP_NOTICE 0x00400000 /* IsCapabilityMaskNoticeSupported */
#define PORT_CAP_LOCAL_NOTICE 0x04000000 /* IsOtherLocalChangesNoticeSupported */

/* PortInfo's CapabilityMask2 */
#define PORT_CAP2_WIDTH_2X 0x0010 /* IsLinkWidth2xSupported */
#define PORT_CAP2_HDR 0x0020 /* IsLinkSpeedHDRSupported */
#define PORT_CAP2_NDR 0x0400 /* IsLinkSpeedNDRSupported */

/* PortPhysicalState; also values of LinkDownDefaultState */
#define PORT_PHYS_SLEEP 1
#define PORT_PHYS_POLLING 2
#define PORT_PHYS_DISABLED 3
#define PORT_PHYS_LINK_UP 5

/* Widths */
#define PORT_WIDTH_1X 1
#define PORT_WIDTH_4X 2
#define PORT_WIDTH_8X 4
#define PORT_WIDTH_12X 8
#define PORT_WIDTH_2X 16

/* Speeds: of LinkSpeed, and of LinkSpeedExt */
#define PORT_SPEED_SDR 1
#define PORT_SPEED_DDR 2
#define PORT_SPEED_QDR 4
#define PORT_SPEED_EXT_FDR 1
#define PORT_SPEED_EXT_EDR 2
#define PORT_SPEED_EXT_HDR 4
#define PORT_SPEED_EXT_NDR 8

#define PORT_VL_CAP 4 /* VLCap: VL0 to VL7 */

/* PartitionEnforcementInbound and Outbound, with OperationalVLs */
#define PORT_ENFORCE_IN 0x08
#define PORT_ENFORCE_OUT 0x04

#define PORT_REREGISTER 0x80 /* ClientReregister, with SubnetTimeOut */

/* Two fields in a byte have the names of both, the higher one first. */
struct port_info {
	__be64 mkey;
	__be64 gid_prefix;
	__be16 lid;
	__be16 sm_lid;
	__be32 cap_mask;
	__be16 diag_code;
	__be16 mkey_lease;
	__u8 local_port;
	__u8 width_enabled;
	__u8 width_supported;
	__u8 width_active;
	__u8 speed_supported_state;
	__u8 phys_state_down_default;
	__u8 mkey_protect_lmc;
	__u8 speed_active_enabled;
	__u8 mtu_sm_sl;
	__u8 vl_cap_init_type;
	__u8 vl_high_limit;
	__u8 vl_arb_high_cap;
	__u8 vl_arb_low_cap;
	__u8 init_type_reply_mtu_cap;
	__u8 vl_stall_hoq_life;
	__u8 oper_vls_enforce;
	__be16 mkey_viols;
	__be16 pkey_viols;
	__be16 qkey_viols;
	__u8 guid_cap;
	__u8 reregister_subnet_timeout;
	__u8 resp_time;
	__u8 phy_errors_overrun;
	__be16 max_credit_hint;
	__u8 rsvd;
	__u8 round_trip[3];
	__be16 cap_mask2;
	__u8 speed_ext_active_supported;
	__u8 speed_ext_enabled;
} __attribute__((packed));

_Static_assert(sizeof(struct port_info) == SMP_DATA_LEN, "size of struct port_info");

/* SwitchInfo's LifeTimeValue and PortStateChange in one byte, and enforcement capabilities */
#define SWITCH_LIFE_SHIFT 3
#define SWITCH_STATE_CHANGE 0x04
#define SWITCH_ENFORCE_IN 0x80
#define SWITCH_ENFORCE_OUT 0x40

struct switch_info {
	__be16 linear_cap;
	__be16 random_cap;
	__be16 mcast_cap;
	__be16 linear_top;
	__u8 default_port;
	__u8 default_mcast_primary;
	__u8 default_mcast_other;
	__u8 life_state_change;
	__be16 lids_per_port;
	__be16 enforce_cap;
	__u8 flags;
	__u8 rsvd;
	__be16 mcast_top;
} __attribute__((packed));

#define SM_PKEYS_PER_BLOCK 32
#define SM_GUIDS_PER_BLOCK 8
#define SM_FDB_PER_BLOCK 64
#define SM_MCAST_PER_BLOCK 32
#define SM_MCAST_PORTS 16 /* in an entry, those of a position */
#define SM_SL2VL_LEN 8

#define NOTICE_GENERIC 0x80

/* NoticeType */
#define NOTICE_URGENT 1
#define NOTICE_SECURITY 2
#define NOTICE_INFO 4

/* Trap numbers */
#define TRAP_LINK_STATE 128
#define TRAP_LINK_INTEGRITY 129
#define TRAP_BUFFER_OVERRUN 130
#define TRAP_FLOW_CONTROL 131
#define TRAP_LOCAL_CHANGES 144
#define TRAP_BAD_MKEY 256
#define TRAP_BAD_PKEY 257
#define TRAP_BAD_QKEY 258
#define TRAP_SWITCH_BAD_PKEY 259

/* DataValid of trap 259: LIDs, P_Key, SL, QP numbers */
#define TRAP_259_NO_GRH 0x003f
#define TRAP_259_SRC_QPN 0x0010 /* of them */

/* OtherLocalChanges and ChangeFlags of trap 144 */
#define TRAP_144_LOCAL 0x01
#define TRAP_144_NODE_DESC 0x0001

/* Of trap 256, with the number of hops */
#define TRAP_256_DIRECTED 0x80
#define TRAP_256_TRUNCATED 0x40

#define NOTICE_DETAILS_LEN 54

/**
 * struct notice - contents of a trap (13.4.8.2); without IssuerGID, for which a subnet management packet has no room
 * @lid_128: the switch
 * @local: traps 129 to 131, and 144: where it happened
 * @mkey: trap 256: the packet with the wrong M_Key
 * @key: traps 257 and 258: the packet with the wrong P_Key or Q_Key
 * @switch_pkey: trap 259
 */
struct notice {
	__u8 generic_type;
	__u8 producer[3];
	__be16 trap;
	__be16 issuer_lid;
	__be16 toggle_count;
	union {
		__u8 details[NOTICE_DETAILS_LEN];
		__be16 lid_128;
		struct {
			__be16 rsvd;
			__be16 lid;
			__u8 port;
			__u8 local_changes;
			__be32 cap_mask;
			__be16 change_flags;
			__be16 cap_mask2;
		} __attribute__((packed)) local;
		struct {
			__be16 rsvd;
			__be16 lid;
			__be16 dr_slid;
			__u8 method;
			__u8 rsvd1;
			__be16 attr_id;
			__be32 attr_mod;
			__be64 mkey;
			__u8 rsvd2;
			__u8 dr_hops;
			__u8 dr_path[30];
		} __attribute__((packed)) mkey;
		struct {
			__be16 rsvd;
			__be16 lid1;
			__be16 lid2;
			__be32 key;
			__be32 sl_qp1;
			__be32 qp2;
			__u8 gid1[16];
			__u8 gid2[16];
		} __attribute__((packed)) key;
		struct {
			__be16 valid;
			__be16 lid1;
			__be16 lid2;
			__be16 pkey;
			__be32 sl_qp1;
			__be32 qp2;
			__u8 gid1[16];
			__u8 gid2[16];
			__be16 sw_lid;
			__u8 port;
		} __attribute__((packed)) switch_pkey;
	};
} __attribute__((packed));

_Static_assert(sizeof(struct notice) == SMP_DATA_LEN, "size of struct notice");

#endif
