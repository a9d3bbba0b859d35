/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inputs of the target "packets": events of the HCA of a scene, whose QPs are connected to those of
 * an HCA outside of the process.
 */

#ifndef SELFTESTS_OHCAD_FUZZ_PACKETS_INPUT_H
#define SELFTESTS_OHCAD_FUZZ_PACKETS_INPUT_H

#include <linux/types.h>

enum packets_kind {
	PACKETS_FRAME, /* receive a frame from the uplink; kinds without a name do this too */
	PACKETS_SEND, /* post a send */
	PACKETS_RECV, /* post receives */
	PACKETS_TIME, /* let time pass */
	PACKETS_PAGES, /* map and unmap pages of the region */
	PACKETS_RECONNECT,
	PACKETS_KINDS = 8,
};

/* With the kind */
#define PACKETS_RAW 0x80 /* leave the frame as it is; else lengths and checksums are corrected */
#define PACKETS_TO_QP 0x40 /* the frame is from the peer of the QP to the QP */
#define PACKETS_IN_ORDER 0x20 /* @psn is the distance to the PSN that the QP expects */

/**
 * struct packets_record - one event
 * @kind: enum packets_kind, and flags
 * @qp: enum scene_qp
 * @psn: for PACKETS_SEND the operation
 * @more: so many times PACKETS_MORE zeros follow
 * @len: bytes of a frame that follow; for other kinds a length
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
