/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inputs of the target "mads": management datagrams that nodes of a subnet of MADS_HCAS InfiniBand
 * ports and a switch send to its agents, whether or not they are the subnet manager.
 */

#ifndef SELFTESTS_OHCAD_FUZZ_MADS_INPUT_H
#define SELFTESTS_OHCAD_FUZZ_MADS_INPUT_H

#include <linux/types.h>

#define MADS_HCAS 3

enum mads_kind {
	MADS_SMP, /* send a subnet management packet from the port: struct mads_packet */
	MADS_GMP, /* a datagram for QP 1 of the switch: struct mads_packet */
	MADS_CMD, /* a command, whose opcode is the argument: the bytes are its input */
	MADS_RESET, /* reset the HCA, and enable it if the argument is not 0 */
	MADS_TIME, /* let time pass: the argument is in milliseconds */
	MADS_KINDS,
};

/**
 * struct mads_record - one action
 * @kind: enum mads_kind
 * @hca: number of the HCA
 * @arg: see the kinds
 * @len: bytes that follow
 */
struct mads_record {
	__u8 kind;
	__u8 hca;
	__u8 arg;
	__u8 rsvd;
	__le16 len;
} __attribute__((packed));

/**
 * struct mads_packet - a management datagram, see struct mad_packet
 */
struct mads_packet {
	__le16 slid;
	__le16 dlid;
	__u8 sl;
	__u8 rsvd;
	__u8 mad[256];
} __attribute__((packed));

#endif
