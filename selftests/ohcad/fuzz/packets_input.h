/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inputs of the target "packets": what happens to the HCA of a scene, whose QPs are connected to
 * those of one outside of the process.
 */

#ifndef SELFTESTS_OHCAD_FUZZ_PACKETS_INPUT_H
#define SELFTESTS_OHCAD_FUZZ_PACKETS_INPUT_H

#include <linux/types.h>

enum packets_kind {
	PACKETS_FRAME, /* a frame comes from the uplink; as of kinds that have no name */
	PACKETS_SEND, /* a send is posted */
	PACKETS_RECV, /* receives are posted */
	PACKETS_TIME, /* time goes by */
	PACKETS_PAGES, /* pages of the region come and go */
	PACKETS_RECONNECT,
	PACKETS_KINDS = 8,
};

/* With the kind */
#define PACKETS_RAW 0x80 /* the frame stays as it is; else lengths and checksums are put right */
#define PACKETS_TO_QP 0x40 /* it is from the peer of the QP, and for it */
#define PACKETS_IN_ORDER 0x20 /* @psn is the distance to the PSN that the QP expects */

/**
 * struct packets_record - what happens
 * @kind: enum packets_kind, and what goes with it
 * @qp: enum scene_qp
 * @psn: of PACKETS_SEND the operation
 * @more: so many times PACKETS_MORE zeros follow
 * @len: bytes of a frame that follow; of other kinds a length
 */
struct packets_record {
	__u8 kind;
	__u8 qp;
	__s8 psn;
	__u8 more;
	__le16 len;
} __attribute__((packed));

#define PACKETS_MORE 32
#define PACKETS_PEER 1 /* number of the HCA outside */

#endif
