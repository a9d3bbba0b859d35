/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * OHCA hardware interface: commands on management datagrams and the node's description, for ports
 * with OHCA_LINK_INFINIBAND.  ohca_cmd.h includes this header, and its rules apply.
 */

#ifndef _OHCA_CMD_MAD_H
#define _OHCA_CMD_MAD_H

#include "ohca_regs.h"

/* Management datagrams (InfiniBand specification, chapter 13) */

#define OHCA_MAD_LEN 256

#define OHCA_MAD_IGNORE_MKEY 0x1 /* the M_Key is not checked: a request of the host's own */

/**
 * enum ohca_mad_result - results for a management datagram
 * @OHCA_MAD_PASS: it is not for an agent of the device: agents in software may handle it
 * @OHCA_MAD_REPLY: struct ohca_mad_out.mad is the answer
 * @OHCA_MAD_CONSUMED: it was handled, and there is no answer
 */
enum ohca_mad_result {
	OHCA_MAD_PASS = 0,
	OHCA_MAD_REPLY = 1,
	OHCA_MAD_CONSUMED = 2,
};

/**
 * struct ohca_mad_in - a management datagram for the agents of the device: subnet management
 *	(classes 0x01 and 0x81) and performance management (0x04) of a port with
 *	OHCA_LINK_INFINIBAND
 * @port: port that it arrived at, from 1
 * @flags: OHCA_MAD_*
 * @slid: source LID
 * @src_qpn: source QP
 * @pkey_index: entry of the P_Key table for its P_Key
 * @sl: service level
 * @path_bits: path bits of the destination LID
 * @rsvd: zero
 * @mad: the datagram.  The device does not process the hops of a directed route
 *
 * Subnet management packets that arrive at the port from its link do not use this command: the
 * device answers them by itself, and passes those that are not for its agent to OHCA_QPT_SMI.
 */
struct ohca_mad_in {
	__u8 port;
	__u8 flags;
	__le16 slid;
	__le32 src_qpn;
	__le16 pkey_index;
	__u8 sl;
	__u8 path_bits;
	__le32 rsvd;
	__u8 mad[OHCA_MAD_LEN];
};

OHCA_ASSERT_SIZE(struct ohca_mad_in, 272);

/**
 * struct ohca_mad_out - the result
 * @result: enum ohca_mad_result
 * @rsvd: zero
 * @mad: OHCA_MAD_REPLY: the answer, else zero.  With a directed route, the direction bit is set,
 *	and the hops are as in the request
 */
struct ohca_mad_out {
	__u8 result;
	__u8 rsvd[7];
	__u8 mad[OHCA_MAD_LEN];
};

OHCA_ASSERT_SIZE(struct ohca_mad_out, 264);

/**
 * struct ohca_set_node_desc_in - NodeDescription of the device (InfiniBand specification, 14.2.5.2)
 * @desc: UTF-8, padded with zeroes.  A reset of the device restores the device's own text
 */
struct ohca_set_node_desc_in {
	__u8 desc[64];
};

OHCA_ASSERT_SIZE(struct ohca_set_node_desc_in, 64);

#endif /* _OHCA_CMD_MAD_H */
