/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * OHCA hardware interface: the command queue and every command.
 *
 * Rules for all commands:
 *
 * - Reserved fields are zero on the way in (else OHCA_CMD_BAD_PARAM) and on the way out.
 * - An input longer than the structure below is accepted if the excess is zero, one that is
 *   shorter is refused (OHCA_CMD_BAD_LEN); so is an output buffer shorter than the result.
 * - Commands of one queue may complete in any order, except that commands on one object are
 *   executed in the order posted.
 * - A command that fails changes nothing.
 * - Handles are the device's to choose.  A handle that does not exist yields OHCA_CMD_BAD_HANDLE,
 *   an object that others still refer to can't be destroyed and yields OHCA_CMD_BUSY.
 * - When the command that destroys an object has completed, the device uses none of its memory any
 *   more.
 */

#ifndef _OHCA_CMD_H
#define _OHCA_CMD_H

#include "ohca_regs.h"

/**
 * struct ohca_cmd - an entry of the command ring
 * @opcode: enum ohca_cmd_op
 * @tag: returned in the completion; any value that no other outstanding command has
 * @in_len: bytes of input at @in_addr, at most OHCA_CMD_MAX_LEN
 * @out_len: room for output at @out_addr, at most OHCA_CMD_MAX_LEN
 * @rsvd: zero
 * @in_addr: DMA address, read once
 * @out_addr: DMA address, written before the completion, and only by a command that succeeds
 */
struct ohca_cmd {
	__le16 opcode;
	__le16 tag;
	__le16 in_len;
	__le16 out_len;
	__le64 rsvd;
	__le64 in_addr;
	__le64 out_addr;
};

OHCA_ASSERT_SIZE(struct ohca_cmd, 32);

/**
 * struct ohca_cmd_cqe - an entry of the command completion ring, which has as many entries as the
 * command ring
 * @tag: of the command
 * @status: enum ohca_cmd_status
 * @syndrome: on error: which field or object was at fault, for people (the byte offset in the
 *	input for BAD_PARAM)
 * @rsvd: zero
 * @owner: bit 0 is 1 in the first pass over the ring, 0 in the second and so on; the device
 *	writes it last
 *
 * A command's slot in the command ring may be used again once its completion is there; MSI-X
 * vector 0 is then raised if struct ohca_cmdq_rec asks for it.
 */
struct ohca_cmd_cqe {
	__le16 tag;
	__u8 status;
	__u8 rsvd;
	__le32 syndrome;
	__u8 rsvd1[7];
	__u8 owner;
};

OHCA_ASSERT_SIZE(struct ohca_cmd_cqe, 16);

/**
 * struct ohca_cmdq_rec - record of the command queue, in host memory, written by software
 * @pi: producer index: commands posted
 * @arm: advanced by software to ask for one interrupt at the next completion
 */
struct ohca_cmdq_rec {
	__le32 pi;
	__le32 arm;
	__le32 rsvd[14];
};

OHCA_ASSERT_SIZE(struct ohca_cmdq_rec, 64);

#define OHCA_CMDQ_MIN_LOG_SIZE 2
#define OHCA_CMDQ_MAX_LOG_SIZE 7
#define OHCA_CMD_MAX_LEN 2048

/**
 * enum ohca_cmd_status - how a command ended
 * @OHCA_CMD_OK: done
 * @OHCA_CMD_BAD_OPCODE: unknown command
 * @OHCA_CMD_BAD_LEN: input or output length
 * @OHCA_CMD_BAD_PARAM: a field has a value that it can't have
 * @OHCA_CMD_BAD_HANDLE: no such object
 * @OHCA_CMD_BAD_STATE: not possible in the object's present state (InfiniBand specification,
 *	10.3.1, for QPs)
 * @OHCA_CMD_BUSY: other objects refer to this one
 * @OHCA_CMD_NO_RESOURCE: a limit of struct ohca_query_device_out or the device's memory is
 *	exhausted
 * @OHCA_CMD_BAD_ADDR: a DMA address where there is no memory
 * @OHCA_CMD_UNSUPPORTED: needs a feature that was not accepted
 * @OHCA_CMD_INTERNAL: the device failed by itself
 */
enum ohca_cmd_status {
	OHCA_CMD_OK = 0,
	OHCA_CMD_BAD_OPCODE = 1,
	OHCA_CMD_BAD_LEN = 2,
	OHCA_CMD_BAD_PARAM = 3,
	OHCA_CMD_BAD_HANDLE = 4,
	OHCA_CMD_BAD_STATE = 5,
	OHCA_CMD_BUSY = 6,
	OHCA_CMD_NO_RESOURCE = 7,
	OHCA_CMD_BAD_ADDR = 8,
	OHCA_CMD_UNSUPPORTED = 9,
	OHCA_CMD_INTERNAL = 10,
};

enum ohca_cmd_op {
	OHCA_CMD_QUERY_DEVICE = 0x01, /* out: ohca_query_device_out */
	OHCA_CMD_QUERY_PORT = 0x02, /* in: ohca_query_port_in, out: ohca_query_port_out */
	OHCA_CMD_MODIFY_PORT = 0x03, /* in: ohca_modify_port_in */
	OHCA_CMD_SET_GID = 0x04, /* in: ohca_set_gid_in */
	OHCA_CMD_ALLOC_UAR = 0x10, /* in: ohca_alloc_uar_in, out: ohca_handle */
	OHCA_CMD_FREE_UAR = 0x11, /* in: ohca_handle */
	OHCA_CMD_ALLOC_PD = 0x12, /* out: ohca_handle */
	OHCA_CMD_FREE_PD = 0x13, /* in: ohca_handle */
	OHCA_CMD_CREATE_EQ = 0x20, /* in: ohca_create_eq_in, out: ohca_handle */
	OHCA_CMD_DESTROY_EQ = 0x21, /* in: ohca_handle */
	OHCA_CMD_CREATE_CQ = 0x30, /* in: ohca_create_cq_in, out: ohca_handle */
	OHCA_CMD_DESTROY_CQ = 0x31, /* in: ohca_handle */
	OHCA_CMD_CREATE_MKEY = 0x40, /* in: ohca_create_mkey_in, out: ohca_handle, the key */
	OHCA_CMD_DESTROY_MKEY = 0x41, /* in: ohca_handle, the key */
	OHCA_CMD_CREATE_QP = 0x50, /* in: ohca_create_qp_in, out: ohca_handle */
	OHCA_CMD_MODIFY_QP = 0x51, /* in: ohca_modify_qp_in */
	OHCA_CMD_QUERY_QP = 0x52, /* in: ohca_handle, out: ohca_query_qp_out */
	OHCA_CMD_DESTROY_QP = 0x53, /* in: ohca_handle */
};

/**
 * struct ohca_handle - the number of an object: UAR, PDN, EQN, CQN, key, QPN
 */
struct ohca_handle {
	__le32 id;
	__le32 rsvd;
};

OHCA_ASSERT_SIZE(struct ohca_handle, 8);

/**
 * struct ohca_xlt - translation of a range of bytes to pages in host memory
 * @addr: @levels 0: DMA address of the one page; else DMA address of the root of the table
 * @npages: number of pages, 1 to 2^24
 * @offset: offset of byte 0 in the first page, less than the page size
 * @page_shift: log2 of the page size, 12 to 40
 * @levels: depth of the table, 0 to 3.  A table page is 4 KiB of 512 little endian DMA
 *	addresses: of pages at the last level, of table pages at those above.  A table is as deep
 *	as @npages needs, no deeper; only used entries are read.
 * @rsvd: zero
 *
 * Page addresses are multiples of the page size.  The device has its own copy of the table once
 * the command has completed; the pages themselves stay in use as long as the object.
 */
struct ohca_xlt {
	__le64 addr;
	__le32 npages;
	__le32 offset;
	__u8 page_shift;
	__u8 levels;
	__u8 rsvd[6];
};

OHCA_ASSERT_SIZE(struct ohca_xlt, 24);

#define OHCA_XLT_PAGE_SHIFT 12
#define OHCA_XLT_FANOUT 512
#define OHCA_XLT_MAX_LEVELS 3
#define OHCA_XLT_MAX_PAGES 0x1000000

/**
 * struct ohca_query_device_out - identity and limits
 * @fw_ver: major[47:32] minor[31:16] patch[15:0] of the device's own version
 * @node_guid: EUI-64
 * @max_mr_size: bytes
 * @page_size_cap: bit n: pages of 2^n bytes are possible in struct ohca_xlt
 * @reserved_lkey: lkey of all host memory, identity mapped; for OHCA_QP_F_PRIVILEGED only,
 *	never an rkey
 * @max_uar: number of UARs, UAR 0 included
 * @max_qp_wr: entries of a work queue
 * @max_msg_size: bytes of a message
 * @max_rd_atomic: RDMA reads and atomics outstanding, per QP and direction
 * @num_ports: number of ports; they are numbered from 1
 * @hw_ver: PCI revision
 */
struct ohca_query_device_out {
	__le64 fw_ver;
	__be64 node_guid;
	__le64 max_mr_size;
	__le64 page_size_cap;
	__le32 reserved_lkey;
	__le32 max_uar;
	__le32 max_pd;
	__le32 max_eq;
	__le32 max_cq;
	__le32 max_cqe;
	__le32 max_mkey;
	__le32 max_qp;
	__le32 max_qp_wr;
	__le32 max_msg_size;
	__le16 max_send_sge;
	__le16 max_recv_sge;
	__le16 max_inline;
	__u8 max_rd_atomic;
	__u8 num_ports;
	__le32 hw_ver;
	__le32 rsvd[11];
};

OHCA_ASSERT_SIZE(struct ohca_query_device_out, 128);

/* Ports */

#define OHCA_LINK_ETHERNET 1 /* RoCEv2, Ethernet frames */

#define OHCA_GID_NONE 0 /* empty entry */
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
 * @state: enum ib_port_state's numbers: 1 down, 4 active
 * @phys_state: as in PortInfo: 3 disabled, 5 link up
 * @max_mtu: enum ib_mtu's numbers: 1 is 256 bytes, 5 is 4096
 * @mac: the port's burnt-in address
 * @gid_tbl_len: entries of the GID table
 * @pkey_tbl_len: entries of the P_Key table; RoCE: 1, the default P_Key
 * @active_speed: PortInfo's LinkSpeedActive bits (32 is 25 Gb/s a lane, 128 is 100 Gb/s a lane)
 * @active_width: PortInfo's LinkWidthActive bits (1 is 1x, 2 is 4x)
 * @max_frame: largest Ethernet frame, without FCS
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
	__u8 rsvd[3];
	__le32 max_frame;
	__le32 rsvd1[2];
};

OHCA_ASSERT_SIZE(struct ohca_query_port_out, 32);

#define OHCA_PORT_ATTR_ADMIN 0x1 /* admin_up */
#define OHCA_PORT_ATTR_MAC 0x2 /* mac */
#define OHCA_PORT_ATTR_PROMISC 0x4 /* promisc */

/**
 * struct ohca_modify_port_in - change what the mask names
 * @attr_mask: OHCA_PORT_ATTR_*
 * @port: from 1
 * @admin_up: 1: the link may come up; 0: keep it down.  A port is down after reset.
 * @promisc: 1: receive every frame; 0: those to @mac, and all multicast
 * @mac: unicast address to receive frames at
 */
struct ohca_modify_port_in {
	__le32 attr_mask;
	__u8 port;
	__u8 admin_up;
	__u8 promisc;
	__u8 rsvd;
	__u8 mac[6];
	__u8 rsvd1[2];
};

OHCA_ASSERT_SIZE(struct ohca_modify_port_in, 16);

/**
 * struct ohca_set_gid_in - write an entry of a port's GID table
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
 * struct ohca_alloc_uar_in - allocate a UAR; the first one allocated is UAR 0, the kernel's
 * @shadow_addr: DMA address of struct ohca_shadow, page aligned; 0 without OHCA_FEAT_SHADOW_DB
 */
struct ohca_alloc_uar_in {
	__le64 shadow_addr;
	__le64 rsvd;
};

OHCA_ASSERT_SIZE(struct ohca_alloc_uar_in, 16);

/* Event and completion queues */

/* receives all events but OHCA_EVENT_COMP; at most one EQ is of this kind */
#define OHCA_EQ_ASYNC 0x1

/**
 * struct ohca_create_eq_in - create an event queue
 * @buf: ring of struct ohca_eqe and record
 * @rec_offset: offset of struct ohca_eq_rec in the buffer
 * @vector: MSI-X vector to raise
 * @log_size: log2 of the number of entries, 4 to 20
 * @flags: OHCA_EQ_*
 *
 * An event for which there is no room waits in the device; none is lost.
 */
struct ohca_create_eq_in {
	struct ohca_xlt buf;
	__le32 rec_offset;
	__le16 vector;
	__u8 log_size;
	__u8 flags;
};

OHCA_ASSERT_SIZE(struct ohca_create_eq_in, 32);

/**
 * struct ohca_create_cq_in - create a completion queue
 * @buf: ring of struct ohca_cqe and record
 * @rec_offset: offset of struct ohca_cq_rec in the buffer
 * @eqn: completion EQ
 * @log_size: log2 of the number of entries, 0 to log2(max_cqe)
 */
struct ohca_create_cq_in {
	struct ohca_xlt buf;
	__le32 rec_offset;
	__le32 eqn;
	__u8 log_size;
	__u8 rsvd[7];
};

OHCA_ASSERT_SIZE(struct ohca_create_cq_in, 40);

/* Memory */

#define OHCA_ACCESS_LOCAL_WRITE 0x01
#define OHCA_ACCESS_REMOTE_WRITE 0x02
#define OHCA_ACCESS_REMOTE_READ 0x04
#define OHCA_ACCESS_REMOTE_ATOMIC 0x08

#define OHCA_MKEY_DMA 0x1 /* all host memory, identity mapped; iova, length and xlt are zero */

/**
 * struct ohca_create_mkey_in - register a memory region
 * @xlt: its pages (offset + length bytes in all, page count exact)
 * @iova: address of its first byte as used in work requests and packets; equal to xlt.offset
 *	modulo the page size
 * @length: bytes, at least 1
 * @pdn: protection domain
 * @access: OHCA_ACCESS_*; remote write and atomic need local write
 * @flags: OHCA_MKEY_*
 *
 * Result: the key, which is both lkey and rkey.  Key 0 does not exist.
 */
struct ohca_create_mkey_in {
	struct ohca_xlt xlt;
	__le64 iova;
	__le64 length;
	__le32 pdn;
	__u8 access;
	__u8 flags;
	__u8 rsvd[2];
};

OHCA_ASSERT_SIZE(struct ohca_create_mkey_in, 48);

/* Queue pairs */

#define OHCA_QPT_RC 2 /* reliable connection */
#define OHCA_QPT_ETH 8 /* Ethernet frames of the port (OHCA_FEAT_ETH); at most one, privileged */

#define OHCA_QP_F_PRIVILEGED 0x01 /* may use reserved_lkey */
#define OHCA_QP_F_SIGNAL_ALL 0x02 /* every send work request is signaled */

/**
 * struct ohca_create_qp_in - create a queue pair, in RESET
 * @buf: both rings and both records
 * @sq_offset: offset in the buffer of the send ring, which begins at a multiple of its stride
 * @rq_offset: offset in the buffer of the receive ring, which begins at a multiple of its stride
 * @sq_rec_offset: offset in the buffer of the send queue's struct ohca_wq_rec
 * @rq_rec_offset: offset in the buffer of the receive queue's struct ohca_wq_rec
 * @pdn: protection domain
 * @uar: UAR whose doorbells serve the send queue
 * @send_cqn: CQ of the send queue
 * @recv_cqn: CQ of the receive queue
 * @slot: dirty bit of the send queue in the UAR's shadow page
 * @max_send_sge: elements in a gather list; the stride has room for them
 * @max_recv_sge: elements in a scatter list; the stride has room for them
 * @max_inline: bytes of inline data; the stride has room for them
 * @type: OHCA_QPT_*
 * @flags: OHCA_QP_F_*
 * @sq_log_size: log2 of the number of entries
 * @sq_log_stride: log2 of the bytes of an entry, 6 to 11
 * @rq_log_size: log2 of the number of entries
 * @rq_log_stride: log2 of the bytes of an entry, 5 to 11
 * @rsvd: zero
 */
struct ohca_create_qp_in {
	struct ohca_xlt buf;
	__le32 sq_offset;
	__le32 rq_offset;
	__le32 sq_rec_offset;
	__le32 rq_rec_offset;
	__le32 pdn;
	__le32 uar;
	__le32 send_cqn;
	__le32 recv_cqn;
	__le16 slot;
	__le16 max_send_sge;
	__le16 max_recv_sge;
	__le16 max_inline;
	__u8 type;
	__u8 flags;
	__u8 sq_log_size;
	__u8 sq_log_stride;
	__u8 rq_log_size;
	__u8 rq_log_stride;
	__u8 rsvd[2];
};

OHCA_ASSERT_SIZE(struct ohca_create_qp_in, 72);

/**
 * enum ohca_qp_state - InfiniBand specification, 10.3.1
 */
enum ohca_qp_state {
	OHCA_QPS_RESET = 0,
	OHCA_QPS_INIT = 1,
	OHCA_QPS_RTR = 2,
	OHCA_QPS_RTS = 3,
	OHCA_QPS_SQD = 4,
	OHCA_QPS_SQE = 5,
	OHCA_QPS_ERR = 6,
};

/**
 * struct ohca_av - address vector, the path to a remote port
 * @dgid: destination GID
 * @dmac: destination MAC address
 * @sgid_index: entry of the GID table
 * @flow_label: low 20 bits
 * @hop_limit: time to live
 * @tclass: traffic class
 * @sl: service level
 * @port: local port
 * @rsvd: zero
 */
struct ohca_av {
	__u8 dgid[16];
	__u8 dmac[6];
	__le16 sgid_index;
	__le32 flow_label;
	__u8 hop_limit;
	__u8 tclass;
	__u8 sl;
	__u8 port;
};

OHCA_ASSERT_SIZE(struct ohca_av, 32);

/* Attributes of struct ohca_qp_attr; numbered as enum ib_qp_attr_mask */
#define OHCA_QP_STATE 0x000001
#define OHCA_QP_CUR_STATE 0x000002
#define OHCA_QP_EN_SQD_ASYNC_NOTIFY 0x000004
#define OHCA_QP_ACCESS_FLAGS 0x000008
#define OHCA_QP_PKEY_INDEX 0x000010
#define OHCA_QP_PORT 0x000020
#define OHCA_QP_AV 0x000080
#define OHCA_QP_PATH_MTU 0x000100
#define OHCA_QP_TIMEOUT 0x000200
#define OHCA_QP_RETRY_CNT 0x000400
#define OHCA_QP_RNR_RETRY 0x000800
#define OHCA_QP_RQ_PSN 0x001000
#define OHCA_QP_MAX_QP_RD_ATOMIC 0x002000
#define OHCA_QP_MIN_RNR_TIMER 0x008000
#define OHCA_QP_SQ_PSN 0x010000
#define OHCA_QP_MAX_DEST_RD_ATOMIC 0x020000
#define OHCA_QP_DEST_QPN 0x100000

/**
 * struct ohca_qp_attr - attributes of a QP, with their meaning and units of the InfiniBand
 * specification (11.2.5.2)
 * @state: next state (modify), present state (query)
 * @cur_state: the state in which software believes the QP to be; the command fails if it is wrong
 * @path_mtu: enum ib_mtu's numbers
 * @access: OHCA_ACCESS_REMOTE_*
 * @timeout: local ACK timeout, 4.096 us * 2^timeout, 0 means none
 * @retry_cnt: 0 to 7
 * @rnr_retry: 0 to 7, 7 means forever
 * @min_rnr_timer: RNR NAK timer field, 0 to 31
 * @max_rd_atomic: reads and atomics outstanding as requester
 * @max_dest_rd_atomic: reads and atomics outstanding as responder
 * @port: physical port
 * @en_sqd_async_notify: 1: raise OHCA_EVENT_SQ_DRAINED
 * @sq_draining: query only: 1: in SQD and not drained yet
 * @pkey_index: entry of the P_Key table
 * @dest_qpn: 24 bits
 * @sq_psn: first PSN to send (modify), next PSN to send (query)
 * @rq_psn: first PSN to expect (modify), next PSN expected (query)
 * @av: primary path
 */
struct ohca_qp_attr {
	__u8 state;
	__u8 cur_state;
	__u8 path_mtu;
	__u8 access;
	__u8 timeout;
	__u8 retry_cnt;
	__u8 rnr_retry;
	__u8 min_rnr_timer;
	__u8 max_rd_atomic;
	__u8 max_dest_rd_atomic;
	__u8 port;
	__u8 en_sqd_async_notify;
	__u8 sq_draining;
	__u8 rsvd;
	__le16 pkey_index;
	__le32 dest_qpn;
	__le32 sq_psn;
	__le32 rq_psn;
	__le32 rsvd1;
	struct ohca_av av;
};

OHCA_ASSERT_SIZE(struct ohca_qp_attr, 64);

/**
 * struct ohca_modify_qp_in - change the attributes that the mask names, and the state
 * @qpn: the QP
 * @attr_mask: OHCA_QP_*; required and optional ones per transition as in the InfiniBand
 *	specification, 11.2.5.2
 * @attr: values
 *
 * A move to RESET forgets all indices: both records count from 0 again, and no CQE of the QP is
 * written any more.
 */
struct ohca_modify_qp_in {
	__le32 qpn;
	__le32 attr_mask;
	struct ohca_qp_attr attr;
};

OHCA_ASSERT_SIZE(struct ohca_modify_qp_in, 72);

struct ohca_query_qp_out {
	struct ohca_qp_attr attr;
};

OHCA_ASSERT_SIZE(struct ohca_query_qp_out, 64);

#endif /* _OHCA_CMD_H */
