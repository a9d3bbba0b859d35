/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * OHCA hardware interface: the command queue and every command.
 *
 * Rules for all commands:
 *
 * - Reserved fields are zero in inputs (else OHCA_CMD_BAD_PARAM) and in outputs.
 * - An input may be shorter than the structure below: missing bytes count as zero.  An input that
 *   is shorter than in the first version that had the command is refused (OHCA_CMD_BAD_LEN).  A
 *   longer input is accepted if the excess bytes are zero.  The length of struct
 *   ohca_modify_pages_in depends on its fields.
 * - An output buffer shorter than the result was in the first version that had the command is
 *   refused.  The completion has the number of bytes that were written: to software, missing bytes
 *   count as zero.
 * - OHCA_..._IN_MIN and _OUT_MIN are the sizes in that first version, for structures that have
 *   grown.
 * - Commands of one queue may complete in any order, except that commands on one object are
 *   executed in the order posted.
 * - A command that fails changes nothing.
 * - The device chooses handles.  A handle that does not exist yields OHCA_CMD_BAD_HANDLE.  An
 *   object that others still refer to can't be destroyed: OHCA_CMD_BUSY.
 * - When the command that destroys an object has completed, the device does not use the object's
 *   memory any more.
 */

#ifndef _OHCA_CMD_H
#define _OHCA_CMD_H

#include "ohca_queue.h"
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
 *	command ring
 * @tag: of the command
 * @status: enum ohca_cmd_status
 * @syndrome: on error: the field or object that is wrong, for diagnosis (the byte offset in the
 *	input for BAD_PARAM)
 * @rsvd: zero
 * @out_len: bytes of output that were written; 0 on error
 * @owner: bit 0 is 1 in the first pass over the ring, 0 in the second and so on; the device writes
 *	it last
 *
 * A command's slot in the command ring may be used again when its completion is written; MSI-X
 * vector 0 is then raised if struct ohca_cmdq_rec is armed.
 */
struct ohca_cmd_cqe {
	__le16 tag;
	__u8 status;
	__u8 rsvd;
	__le32 syndrome;
	__le16 out_len;
	__u8 rsvd1[5];
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
#define OHCA_CMD_MAX_MS 5000 /* in which the device completes a command */

/**
 * enum ohca_cmd_status - how a command ended
 * @OHCA_CMD_OK: done
 * @OHCA_CMD_BAD_OPCODE: unknown command
 * @OHCA_CMD_BAD_LEN: input or output length
 * @OHCA_CMD_BAD_PARAM: a field has a value that it can't have
 * @OHCA_CMD_BAD_HANDLE: no such object
 * @OHCA_CMD_BAD_STATE: not possible in the object's present state (InfiniBand specification,
 *	10.3.1, for QPs)
 * @OHCA_CMD_BUSY: other objects refer to this one, or an address is another port's
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
	OHCA_CMD_QUERY_COUNTERS = 0x05, /* in: ohca_query_counters_in, out: ..._counters_out */
	OHCA_CMD_QUERY_GID = 0x06, /* in: ohca_query_gid_in, out: ohca_query_gid_out */
	OHCA_CMD_QUERY_PKEY = 0x07, /* in: ohca_query_pkey_in, out: ohca_query_pkey_out */
	OHCA_CMD_MAD = 0x08, /* in: ohca_mad_in, out: ohca_mad_out */
	OHCA_CMD_SET_NODE_DESC = 0x09, /* in: ohca_set_node_desc_in */
	OHCA_CMD_SET_LINK_LAYER = 0x0a, /* in: ohca_set_link_layer_in */
	OHCA_CMD_ALLOC_UAR = 0x10, /* in: ohca_alloc_uar_in, out: ohca_handle */
	OHCA_CMD_FREE_UAR = 0x11, /* in: ohca_handle */
	OHCA_CMD_ALLOC_PD = 0x12, /* out: ohca_handle */
	OHCA_CMD_FREE_PD = 0x13, /* in: ohca_handle */
	OHCA_CMD_ALLOC_XRCD = 0x14, /* out: ohca_handle */
	OHCA_CMD_FREE_XRCD = 0x15, /* in: ohca_handle */
	OHCA_CMD_ALLOC_COUNTERS = 0x18, /* in: ohca_alloc_counters_in, out: ohca_handle */
	OHCA_CMD_FREE_COUNTERS = 0x19, /* in: ohca_handle */
	OHCA_CMD_CREATE_EQ = 0x20, /* in: ohca_create_eq_in, out: ohca_handle */
	OHCA_CMD_DESTROY_EQ = 0x21, /* in: ohca_handle */
	OHCA_CMD_CREATE_CQ = 0x30, /* in: ohca_create_cq_in, out: ohca_handle */
	OHCA_CMD_DESTROY_CQ = 0x31, /* in: ohca_handle */
	OHCA_CMD_MODIFY_CQ = 0x32, /* in: ohca_modify_cq_in */
	OHCA_CMD_RESIZE_CQ = 0x33, /* in: ohca_resize_cq_in */
	OHCA_CMD_CREATE_MKEY = 0x40, /* in: ohca_create_mkey_in, out: ohca_handle, the key */
	OHCA_CMD_DESTROY_MKEY = 0x41, /* in: ohca_handle, the key */
	OHCA_CMD_MODIFY_MKEY = 0x42, /* in: ohca_modify_mkey_in */
	OHCA_CMD_MODIFY_PAGES = 0x43, /* in: ohca_modify_pages_in */
	OHCA_CMD_QUERY_MKEY = 0x44, /* in: ohca_handle, the key, out: ohca_query_mkey_out */
	OHCA_CMD_ALLOC_DM = 0x48, /* in: ohca_alloc_dm_in, out: ohca_alloc_dm_out */
	OHCA_CMD_FREE_DM = 0x49, /* in: ohca_handle */
	OHCA_CMD_CREATE_QP = 0x50, /* in: ohca_create_qp_in, out: ohca_handle */
	OHCA_CMD_MODIFY_QP = 0x51, /* in: ohca_modify_qp_in */
	OHCA_CMD_QUERY_QP = 0x52, /* in: ohca_handle, out: ohca_query_qp_out */
	OHCA_CMD_DESTROY_QP = 0x53, /* in: ohca_handle */
	OHCA_CMD_ATTACH_MCAST = 0x54, /* in: ohca_mcast_in */
	OHCA_CMD_DETACH_MCAST = 0x55, /* in: ohca_mcast_in */
	OHCA_CMD_CREATE_IND_TBL = 0x58, /* in: ohca_create_ind_tbl_in, out: ohca_handle */
	OHCA_CMD_DESTROY_IND_TBL = 0x59, /* in: ohca_handle */
	OHCA_CMD_CREATE_RSS = 0x5a, /* in: ohca_create_rss_in, out: ohca_handle, a QPN */
	OHCA_CMD_CREATE_SRQ = 0x60, /* in: ohca_create_srq_in, out: ohca_handle */
	OHCA_CMD_MODIFY_SRQ = 0x61, /* in: ohca_modify_srq_in */
	OHCA_CMD_QUERY_SRQ = 0x62, /* in: ohca_handle, out: ohca_query_srq_out */
	OHCA_CMD_DESTROY_SRQ = 0x63, /* in: ohca_handle */
	OHCA_CMD_CREATE_FLOW = 0x70, /* in: ohca_create_flow_in, out: ohca_handle */
	OHCA_CMD_DESTROY_FLOW = 0x71, /* in: ohca_handle */
};

/**
 * struct ohca_handle - the number of an object: UAR, PDN, XRCDN, EQN, CQN, key, QPN, SRQN, flow,
 * counters, indirection table
 */
struct ohca_handle {
	__le32 id;
	__le32 rsvd;
};

OHCA_ASSERT_SIZE(struct ohca_handle, 8);

/*
 * Capabilities besides reliable connections.  A command or value that needs a capability is refused
 * without it: OHCA_CMD_UNSUPPORTED, or OHCA_WC_LOC_QP_OP_ERR for a work request
 */
#define OHCA_CAP_UC 0x1ULL /* OHCA_QPT_UC */
#define OHCA_CAP_UD 0x2ULL /* OHCA_QPT_UD, OHCA_QPT_GSI and OHCA_QPT_SMI */
#define OHCA_CAP_MCAST 0x4ULL /* multicast groups */
#define OHCA_CAP_SRQ 0x8ULL /* shared receive queues */
#define OHCA_CAP_XRC 0x10ULL /* OHCA_QPT_XRC_INI, OHCA_QPT_XRC_TGT, SRQs of type OHCA_SRQ_XRC */
#define OHCA_CAP_ATOMIC 0x20ULL /* CMP_SWAP, FETCH_ADD and their masked forms */
#define OHCA_CAP_ATOMIC_WRITE 0x40ULL /* OHCA_OP_ATOMIC_WRITE */
#define OHCA_CAP_FLUSH 0x80ULL /* OHCA_OP_FLUSH */
#define OHCA_CAP_MEM_MGT 0x100ULL /* REG_MR, LOCAL_INV, SEND_INV, OHCA_MKEY_FAST_REG */
#define OHCA_CAP_MW 0x200ULL /* OHCA_OP_BIND_MW, memory windows of types 1 and 2B */
#define OHCA_CAP_MODIFY_MKEY 0x400ULL /* OHCA_CMD_MODIFY_MKEY */
#define OHCA_CAP_CQ_RESIZE 0x800ULL /* OHCA_CMD_RESIZE_CQ */
#define OHCA_CAP_CQ_MODER 0x1000ULL /* OHCA_CMD_MODIFY_CQ */
#define OHCA_CAP_TIMESTAMP 0x2000ULL /* OHCA_CQ_TIMESTAMP, OHCA_UAR_CLOCK */
#define OHCA_CAP_COUNTERS 0x4000ULL /* OHCA_CMD_*_COUNTERS */
#define OHCA_CAP_DM 0x8000ULL /* device memory, OHCA_MKEY_DM */
#define OHCA_CAP_RAW 0x10000ULL /* OHCA_QPT_ETH for raw packets, flows; needs OHCA_FEAT_ETH */
#define OHCA_CAP_RSS 0x20000ULL /* OHCA_QPT_RWQ, OHCA_QPT_RSS, tables; with OHCA_CAP_RAW */
#define OHCA_CAP_ODP 0x40000ULL /* on-demand paging: OHCA_MKEY_ODP, OHCA_CMD_MODIFY_PAGES */
#define OHCA_CAP_TM 0x80000ULL /* tag matching: OHCA_SRQ_TM, OHCA_QPT_TM */
#define OHCA_CAP_TSO 0x100000ULL /* OHCA_WQE_TSO */
#define OHCA_CAP_LARGE_RX 0x200000ULL /* OHCA_PORT_ATTR_LARGE_RX, OHCA_CQE_RECV_PART */
#define OHCA_CAP_ETH_QUEUES 0x400000ULL /* several QPs for the port's frames; with OHCA_CAP_RSS */
#define OHCA_CAP_PATH_MIG 0x800000ULL /* path migration; of OHCA_LINK_INFINIBAND only */
/* checksums of IP over InfiniBand: OHCA_WQE_CSUM and OHCA_CQE_F_CSUM_OK of OHCA_QPT_UD */
#define OHCA_CAP_UD_CSUM 0x1000000ULL
#define OHCA_CAP_UD_LSO 0x2000000ULL /* OHCA_OP_LSO; with OHCA_CAP_UD_CSUM */
#define OHCA_CAP_LINK_LAYER 0x4000000ULL /* OHCA_CMD_SET_LINK_LAYER */

/**
 * struct ohca_query_device_out - identity and limits
 * @fw_ver: major[47:32] minor[31:16] patch[15:0] of the device's own version
 * @node_guid: EUI-64
 * @max_mr_size: bytes
 * @max_mkey: regions and windows together
 * @max_srq: shared receive queues
 * @caps: OHCA_CAP_*
 * @max_srq_wr: entries of an SRQ
 * @max_xrcd: XRC domains
 * @max_mcast: multicast groups
 * @max_mcast_qp: QPs of a multicast group
 * @max_counters: sets of counters
 * @clock_khz: frequency of OHCA_UAR_CLOCK
 * @max_fast_reg: pages of a region of type OHCA_MKEY_FAST_REG
 * @dm_pages: device memory, in pages of 4 KiB
 * @max_ind_tbl: receive indirection tables
 * @max_tags: tags that a shared receive queue can hold
 * @log_max_ind_tbl: log2 of the entries of a receive indirection table
 * @page_size_cap: bit n: pages of 2^n bytes are possible in struct ohca_xlt
 * @reserved_lkey: lkey of all host memory, identity mapped; for OHCA_QP_F_PRIVILEGED only,
 *	never an rkey
 * @max_uar: number of UARs at their distance, UAR 0 included
 * @max_qp_wr: entries of a work queue
 * @max_msg_size: bytes of a message
 * @max_rd_atomic: RDMA reads and atomics outstanding, per QP and direction
 * @num_ports: number of ports, 1 to OHCA_MAX_PORTS; they are numbered from 1
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
	__le32 max_srq;
	__le64 caps;
	__le32 max_srq_wr;
	__le32 max_xrcd;
	__le32 max_mcast;
	__le32 max_mcast_qp;
	__le32 max_counters;
	__le32 clock_khz;
	__le32 max_fast_reg;
	__le32 dm_pages;
	__le32 max_ind_tbl;
	__le32 max_tags;
	__u8 log_max_ind_tbl;
	__u8 rsvd[23];
};

#define OHCA_QUERY_DEVICE_OUT_MIN 128

OHCA_ASSERT_SIZE(struct ohca_query_device_out, 160);

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

#define OHCA_CQ_TIMESTAMP 0x1 /* CQEs carry time stamps */
#define OHCA_CQ_IGNORE_OVERRUN 0x2 /* CQEs overwrite those that were not taken */

/**
 * struct ohca_create_cq_in - create a completion queue
 * @buf: ring of struct ohca_cqe and record
 * @rec_offset: offset of struct ohca_cq_rec in the buffer
 * @eqn: completion EQ
 * @log_size: log2 of the number of entries, 0 to log2(max_cqe)
 * @flags: OHCA_CQ_*
 */
struct ohca_create_cq_in {
	struct ohca_xlt buf;
	__le32 rec_offset;
	__le32 eqn;
	__u8 log_size;
	__u8 flags;
	__u8 rsvd[6];
};

OHCA_ASSERT_SIZE(struct ohca_create_cq_in, 40);

/**
 * struct ohca_modify_cq_in - moderate the events of a CQ: one after @count completions, or @period
 *	after the first one, whichever comes first; requested events of solicited completions come
 *	at once
 * @cqn: the CQ
 * @count: completions; 0 and 1: each
 * @period: us; 0: for ever
 */
struct ohca_modify_cq_in {
	__le32 cqn;
	__le16 count;
	__le16 period;
};

OHCA_ASSERT_SIZE(struct ohca_modify_cq_in, 8);

/**
 * struct ohca_resize_cq_in - give a CQ another ring
 * @buf: the new ring and record
 * @rec_offset: offset of struct ohca_cq_rec in the buffer
 * @cqn: the CQ
 * @log_size: log2 of the number of entries
 *
 * Software takes no completions while the command runs, and the new record has the same values as
 * the old one.  The device copies the CQEs that were not taken to their places in the new ring; if
 * they don't fit: OHCA_CMD_BAD_PARAM.  When the command has completed, the device does not access
 * the old buffer any more.
 */
struct ohca_resize_cq_in {
	struct ohca_xlt buf;
	__le32 rec_offset;
	__le32 cqn;
	__u8 log_size;
	__u8 rsvd[7];
};

OHCA_ASSERT_SIZE(struct ohca_resize_cq_in, 40);

/* Memory */

/**
 * enum ohca_mkey_type - types of memory keys
 * @OHCA_MKEY_MR: a memory region
 * @OHCA_MKEY_DMA: all host memory, identity mapped; iova, length and xlt are zero
 * @OHCA_MKEY_FAST_REG: a region that gets its pages by OHCA_OP_REG_MR; invalid until then.  Only
 *	pdn and max_pages are given
 * @OHCA_MKEY_MW_1: a memory window of type 1, not bound.  Only pdn is given
 * @OHCA_MKEY_MW_2: a memory window of type 2B, invalid.  Only pdn is given
 * @OHCA_MKEY_DM: a region of device memory: xlt.addr is the offset of its first byte in @dm, the
 *	other fields of xlt are zero
 * @OHCA_MKEY_ODP: a region whose pages are mapped and unmapped by OHCA_CMD_MODIFY_PAGES; all are
 *	missing at first.  Of xlt, offset and page_shift (at most OHCA_ODP_MAX_PAGE_SHIFT) are
 *	given, the others are zero
 */
enum ohca_mkey_type {
	OHCA_MKEY_MR = 0,
	OHCA_MKEY_DMA = 1,
	OHCA_MKEY_FAST_REG = 2,
	OHCA_MKEY_MW_1 = 3,
	OHCA_MKEY_MW_2 = 4,
	OHCA_MKEY_DM = 5,
	OHCA_MKEY_ODP = 6,
};

/* log2 of the largest page of a region of type OHCA_MKEY_ODP; that of the smallest one is 12 */
#define OHCA_ODP_MAX_PAGE_SHIFT 16
/* log2 of the greatest sum of xlt.offset and length of a region of type OHCA_MKEY_ODP */
#define OHCA_ODP_MAX_LOG_SIZE 57

/**
 * struct ohca_create_mkey_in - create a memory region or window
 * @xlt: its pages (offset + length bytes in all, page count exact)
 * @iova: address of its first byte as used in work requests and packets
 * @length: bytes, at least 1 (OHCA_MKEY_DM: may be 0)
 * @pdn: protection domain
 * @access: OHCA_ACCESS_*; remote write and atomic need local write
 * @type: enum ohca_mkey_type
 * @max_pages: OHCA_MKEY_FAST_REG: pages that it can have
 * @dm: OHCA_MKEY_DM: the device memory
 *
 * Result: the key, which is both lkey and rkey.  Key 0 does not exist.  Bits 31:8 name the object;
 * the low 8 bits, which the device chooses too, can be changed by OHCA_OP_REG_MR and
 * OHCA_OP_BIND_MW.
 */
struct ohca_create_mkey_in {
	struct ohca_xlt xlt;
	__le64 iova;
	__le64 length;
	__le32 pdn;
	__u8 access;
	__u8 type;
	__u8 rsvd[2];
	__le32 max_pages;
	__le32 dm;
};

#define OHCA_CREATE_MKEY_IN_MIN 48

OHCA_ASSERT_SIZE(struct ohca_create_mkey_in, 56);

/**
 * struct ohca_query_mkey_out - present attributes of a memory region or window
 * @iova: address of its first byte
 * @length: bytes; 0 with OHCA_MKEY_DMA
 * @key: whole key
 * @pdn: protection domain
 * @access: OHCA_ACCESS_*
 * @type: enum ohca_mkey_type
 * @valid: 1: it has its pages, or is bound
 * @rsvd: zero
 * @windows: number of windows that are bound to it
 */
struct ohca_query_mkey_out {
	__le64 iova;
	__le64 length;
	__le32 key;
	__le32 pdn;
	__u8 access;
	__u8 type;
	__u8 valid;
	__u8 rsvd;
	__le32 windows;
};

OHCA_ASSERT_SIZE(struct ohca_query_mkey_out, 32);

#define OHCA_DM_PAGE_SHIFT 12 /* pages of device memory */

/**
 * struct ohca_alloc_dm_in - allocate device memory, which is zero then
 * @length: bytes, at least 1; rounded up to pages of 4 KiB
 * @log_align: log2 of the alignment of its offset, to 24; at least a page is used
 * @rsvd: zero
 */
struct ohca_alloc_dm_in {
	__le64 length;
	__u8 log_align;
	__u8 rsvd[7];
};

OHCA_ASSERT_SIZE(struct ohca_alloc_dm_in, 16);

/**
 * struct ohca_alloc_dm_out - device memory
 * @id: its number
 * @offset: its offset in OHCA_BAR_UAR, for reads and writes by software
 * @rsvd: zero
 */
struct ohca_alloc_dm_out {
	__le32 id;
	__le32 rsvd;
	__le64 offset;
};

OHCA_ASSERT_SIZE(struct ohca_alloc_dm_out, 16);

#define OHCA_MKEY_ATTR_XLT 0x1 /* xlt, iova, length */
#define OHCA_MKEY_ATTR_PD 0x2 /* pdn */
#define OHCA_MKEY_ATTR_ACCESS 0x4 /* access */

/**
 * struct ohca_modify_mkey_in - change a region of type OHCA_MKEY_MR, or of type OHCA_MKEY_ODP
 *	except for OHCA_MKEY_ATTR_XLT; its key does not change
 * @key: the key
 * @attr_mask: OHCA_MKEY_ATTR_*, attributes to change; at least one
 * @attr: values; those that are not changed are zero, as is type
 *
 * OHCA_CMD_BUSY while a window is bound to the region.
 */
struct ohca_modify_mkey_in {
	__le32 key;
	__le32 attr_mask;
	struct ohca_create_mkey_in attr;
};

#define OHCA_MODIFY_MKEY_IN_MIN 56

OHCA_ASSERT_SIZE(struct ohca_modify_mkey_in, 64);

#define OHCA_MODIFY_PAGES_MAX 253 /* in one command */

#define OHCA_PAGE_PRESENT 0x1 /* the page is mapped; without it the whole entry is zero */
#define OHCA_PAGE_WRITE 0x2 /* the page may be written */

/**
 * enum ohca_pages_op - operations on pages of a region of type OHCA_MKEY_ODP
 * @OHCA_PAGES_MAP: map or unmap them as the list says
 * @OHCA_PAGES_UNMAP: unmap them; when the command has completed, the device does not access their
 *	memory any more
 * @OHCA_PAGES_FAIL: let accesses that wait for one of them fail: OHCA_VENDOR_ERR_DMA
 */
enum ohca_pages_op {
	OHCA_PAGES_MAP = 0,
	OHCA_PAGES_UNMAP = 1,
	OHCA_PAGES_FAIL = 2,
};

/**
 * struct ohca_modify_pages_in - map or unmap pages of a region of type OHCA_MKEY_ODP
 * @key: the key
 * @op: enum ohca_pages_op
 * @first: first page; page 0 is that of the region's first byte
 * @num: number of pages; with OHCA_PAGES_MAP at most OHCA_MODIFY_PAGES_MAX
 * @page: OHCA_PAGES_MAP: @num entries, each a DMA address of 4 KiB and OHCA_PAGE_*.  The input may
 *	end after these entries, and with the other operations before @page
 *
 * After OHCA_PAGES_MAP and OHCA_PAGES_FAIL, accesses that waited for one of these pages (for the
 * first one of their OHCA_EVENT_PAGE_FAULT) are tried again.
 */
struct ohca_modify_pages_in {
	__le32 key;
	__u8 op;
	__u8 rsvd[3];
	__le64 first;
	__le64 num;
	__le64 page[OHCA_MODIFY_PAGES_MAX];
};

OHCA_ASSERT_SIZE(struct ohca_modify_pages_in, OHCA_CMD_MAX_LEN);

/* Counters */

/**
 * enum ohca_counter - what is counted, in each set of counters by the QPs that are bound to it, in
 * a port's own by all others of the port
 * @OHCA_CNT_TX_PKTS: packets sent
 * @OHCA_CNT_TX_BYTES: bytes of payload sent
 * @OHCA_CNT_RX_PKTS: packets received
 * @OHCA_CNT_RX_BYTES: bytes of payload received
 * @OHCA_CNT_TX_MCAST: multicast packets sent
 * @OHCA_CNT_RX_MCAST: multicast packets received
 * @OHCA_CNT_RX_WRITES: RDMA write requests received
 * @OHCA_CNT_RX_READS: RDMA read requests received
 * @OHCA_CNT_RX_ATOMICS: atomic requests received
 * @OHCA_CNT_OUT_OF_BUFFER: no receive request was there: RNR NAK, or dropped datagram
 * @OHCA_CNT_OUT_OF_SEQUENCE: packets that came too early
 * @OHCA_CNT_DUPLICATES: requests that came again
 * @OHCA_CNT_PKT_SEQ_ERR: NAKs for PSN sequence error received
 * @OHCA_CNT_RNR_NAKS: RNR NAKs received
 * @OHCA_CNT_TIMEOUTS: retransmission timer ran out
 * @OHCA_CNT_REQ_ERRORS: send work requests that failed
 * @OHCA_CNT_REQ_FLUSHED: send work requests that were flushed
 * @OHCA_CNT_RESP_ERRORS: receive work requests that failed
 * @OHCA_CNT_RESP_FLUSHED: receive work requests that were flushed
 * @OHCA_CNT_RESP_ACCESS_ERRORS: requests refused for key, access or bounds
 * @OHCA_CNT_RESP_INVALID: requests refused as invalid
 * @OHCA_CNT_RX_DROPPED: datagrams dropped: Q_Key, P_Key or length
 * @OHCA_CNT_RX_MARKED: unicast packets received that are marked: congestion experienced (ECN)
 * @OHCA_CNT_RX_CNPS: congestion notifications received (RoCEv2, A17.9.3)
 * @OHCA_CNT_PAGE_FAULTS: page faults of regions of type OHCA_MKEY_ODP
 * @OHCA_CNT_ETH_NO_BUFFER: of the port's Ethernet frames, those that found no receive request
 * @OHCA_CNT_ETH_WAITED: of the Ethernet frames sent, those that waited for the receiver
 * @OHCA_CNT_ETH_REFUSED: of the Ethernet frames sent, those dropped for their source MAC address
 * @OHCA_NUM_COUNTERS: how many there are
 */
enum ohca_counter {
	OHCA_CNT_TX_PKTS = 0,
	OHCA_CNT_TX_BYTES = 1,
	OHCA_CNT_RX_PKTS = 2,
	OHCA_CNT_RX_BYTES = 3,
	OHCA_CNT_TX_MCAST = 4,
	OHCA_CNT_RX_MCAST = 5,
	OHCA_CNT_RX_WRITES = 6,
	OHCA_CNT_RX_READS = 7,
	OHCA_CNT_RX_ATOMICS = 8,
	OHCA_CNT_OUT_OF_BUFFER = 9,
	OHCA_CNT_OUT_OF_SEQUENCE = 10,
	OHCA_CNT_DUPLICATES = 11,
	OHCA_CNT_PKT_SEQ_ERR = 12,
	OHCA_CNT_RNR_NAKS = 13,
	OHCA_CNT_TIMEOUTS = 14,
	OHCA_CNT_REQ_ERRORS = 15,
	OHCA_CNT_REQ_FLUSHED = 16,
	OHCA_CNT_RESP_ERRORS = 17,
	OHCA_CNT_RESP_FLUSHED = 18,
	OHCA_CNT_RESP_ACCESS_ERRORS = 19,
	OHCA_CNT_RESP_INVALID = 20,
	OHCA_CNT_RX_DROPPED = 21,
	OHCA_CNT_RX_MARKED = 22,
	OHCA_CNT_RX_CNPS = 23,
	OHCA_CNT_PAGE_FAULTS = 24,
	OHCA_CNT_ETH_NO_BUFFER = 25,
	OHCA_CNT_ETH_WAITED = 26,
	OHCA_CNT_ETH_REFUSED = 27,
	OHCA_NUM_COUNTERS = 28,
};

/**
 * struct ohca_alloc_counters_in - make a set of counters
 * @port: port of the QPs that can be bound to it, from 1
 * @rsvd: zero
 */
struct ohca_alloc_counters_in {
	__u8 port;
	__u8 rsvd[7];
};

OHCA_ASSERT_SIZE(struct ohca_alloc_counters_in, 8);

/**
 * struct ohca_query_counters_in - read a set of counters
 * @id: the set; 0: the port's own
 * @port: with @id 0: the port, from 1; else zero
 * @rsvd: zero
 */
struct ohca_query_counters_in {
	__le32 id;
	__u8 port;
	__u8 rsvd[3];
};

OHCA_ASSERT_SIZE(struct ohca_query_counters_in, 8);

/**
 * struct ohca_query_counters_out - the counters of a set
 * @value: by enum ohca_counter; they never decrease
 */
struct ohca_query_counters_out {
	__le64 value[OHCA_NUM_COUNTERS];
};

#define OHCA_QUERY_COUNTERS_OUT_MIN 176

OHCA_ASSERT_SIZE(struct ohca_query_counters_out, 224);

#include "ohca_cmd_mad.h"
#include "ohca_cmd_port.h"
#include "ohca_cmd_qp.h"

#endif /* _OHCA_CMD_H */
