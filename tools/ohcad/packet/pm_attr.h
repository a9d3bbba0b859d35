/* SPDX-License-Identifier: GPL-2.0 */
/* Attributes of performance management (InfiniBand specification volume 1, 16.1), as they are on the link. */

#ifndef OHCAD_PM_ATTR_H
#define OHCAD_PM_ATTR_H

#include <linux/types.h>

#include "packet/mad.h"

#define PM_CLASS_PORT_INFO 0x0001
#define PM_PORT_COUNTERS 0x0012
#define PM_PORT_COUNTERS_EXT 0x001d

#define PM_DATA 64 /* where the attribute begins in the datagram */

/* ClassPortInfo's CapabilityMask */
#define PM_CAP_ALL_PORTS 0x0100
#define PM_CAP_EXT_WIDTH 0x0200
#define PM_CAP_XMIT_WAIT 0x1000

#define PM_ALL_PORTS 0xff /* PortSelect */

struct class_port_info {
	__u8 base_version;
	__u8 class_version;
	__be16 cap_mask;
	__be32 cap_mask2_resp_time;
	__u8 redirect[32];
	__u8 trap[32];
} __attribute__((packed));

struct port_counters {
	__u8 rsvd;
	__u8 port;
	__be16 select;
	__be16 symbol_errors;
	__u8 link_recovery;
	__u8 link_downed;
	__be16 rcv_errors;
	__be16 rcv_remote_errors;
	__be16 rcv_relay_errors;
	__be16 xmit_discards;
	__u8 xmit_constraint;
	__u8 rcv_constraint;
	__u8 select2;
	__u8 integrity_overrun;
	__be16 rsvd1;
	__be16 vl15_dropped;
	__be32 xmit_data;
	__be32 rcv_data;
	__be32 xmit_pkts;
	__be32 rcv_pkts;
	__be32 xmit_wait;
} __attribute__((packed));

struct port_counters_ext {
	__u8 rsvd;
	__u8 port;
	__be16 select;
	__be32 select2;
	__be64 counter[8]; /* enum pm_ext_counter */
} __attribute__((packed));

#endif
