/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * OHCA hardware interface: commands on management datagrams and the node's description, of ports
 * with OHCA_LINK_INFINIBAND.  Included by ohca_cmd.h, whose rules hold.
 */

#ifndef _OHCA_CMD_MAD_H
#define _OHCA_CMD_MAD_H

#include "ohca_regs.h"

/* Management datagrams (InfiniBand specification, chapter 13) */

#define OHCA_MAD_LEN 256

#define OHCA_MAD_IGNORE_MKEY 0x1 /* the M_Key is not checked: a request of the host's own */

/**
 * enum ohca_mad_result - what became of a management datagram
 * @OHCA_MAD_PASS: it is not for an agent of the device: software's agents may take it
 * @OHCA_MAD_REPLY: struct ohca_mad_out.mad is the answer
 * @OHCA_MAD_CONSUMED: it is done with, without an answer
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
 * @port: port that it has come to, from 1
 * @flags: OHCA_MAD_*
 * @slid: LID that it has come from
 * @src_qpn: QP that it has come from
 * @pkey_index: entry of the P_Key table that it has come with
 * @sl: service level
 * @path_bits: of the LID that it has come to
 * @rsvd: zero
 * @mad: the datagram.  The hops of a directed route are dealt with
 *
 * Subnet management packets that come to the port from its link do not pass this command: the
 * device answers them by itself, and gives those that are not for its agent to OHCA_QPT_SMI.
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
 * struct ohca_mad_out - what became of it
 * @result: enum ohca_mad_result
 * @rsvd: zero
 * @mad: OHCA_MAD_REPLY: the answer, else zero.  Of a directed route, the direction bit is set, and
 *	the hops are as in the request
 */
struct ohca_mad_out {
	__u8 result;
	__u8 rsvd[7];
	__u8 mad[OHCA_MAD_LEN];
};

OHCA_ASSERT_SIZE(struct ohca_mad_out, 264);

/**
 * struct ohca_set_node_desc_in - NodeDescription of the device (InfiniBand specification, 14.2.5.2)
 * @desc: UTF-8, padded with zeroes.  The device's reset makes it the device's own again
 */
struct ohca_set_node_desc_in {
	__u8 desc[64];
};

OHCA_ASSERT_SIZE(struct ohca_set_node_desc_in, 64);

#endif /* _OHCA_CMD_MAD_H */
