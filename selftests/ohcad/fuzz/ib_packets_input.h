/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inputs of the target "ib_packets": what comes from an uplink of InfiniBand, for an HCA whose QPs are connected to those
 * of one behind it, for the switch and its agents.
 */

#ifndef SELFTESTS_OHCAD_FUZZ_IB_PACKETS_INPUT_H
#define SELFTESTS_OHCAD_FUZZ_IB_PACKETS_INPUT_H

#include <linux/types.h>

enum ib_packets_kind {
	IB_PACKETS_PACKET, /* bytes come; as of kinds that have no name */
	IB_PACKETS_HELLO, /* a hello comes, of which the bytes are what follows the magic number */
	IB_PACKETS_PORT, /* the port of the uplink gets into the state @qp, or, if that is none, is trained anew */
	IB_PACKETS_SEND, /* a send is posted */
	IB_PACKETS_TIME, /* time goes by: milliseconds are @len */
	IB_PACKETS_KINDS = 8,
};

/* With the kind: the bytes stay as they are; else lengths and CRCs are put right, and hellos have heard our number. */
#define IB_PACKETS_RAW 0x80
#define IB_PACKETS_TO_QP 0x40 /* the packet is from the peer of the QP, and for it */
#define IB_PACKETS_IN_ORDER 0x20 /* @psn is the distance to the PSN that the QP expects */

enum ib_packets_qp {
	IB_PACKETS_RC,
	IB_PACKETS_UC,
	IB_PACKETS_UD,
	IB_PACKETS_GSI,
	IB_PACKETS_NUM_QPS,
};

/**
 * struct ib_packets_record - what happens
 * @kind: enum ib_packets_kind, and what goes with it
 * @qp: enum ib_packets_qp
 * @psn: of IB_PACKETS_SEND the operation; of a packet that is not raw, its hops as well
 * @more: so many times IB_PACKETS_MORE zeros follow
 * @len: bytes that follow; of other kinds a length or time
 */
struct ib_packets_record {
	__u8 kind;
	__u8 qp;
	__s8 psn;
	__u8 more;
	__le16 len;
} __attribute__((packed));

#define IB_PACKETS_MORE 32
#define IB_PACKETS_LID 1 /* of the HCA */
#define IB_PACKETS_SWITCH_LID 8
#define IB_PACKETS_PEER_LID 9 /* behind the uplink */
#define IB_PACKETS_MLID 0xc000
#define IB_PACKETS_PEER_QPN 0x55

#endif
