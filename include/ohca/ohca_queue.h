/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * OHCA hardware interface: the queues of the data path (work queues, completion queues, event
 * queues).
 *
 * Every index is a free-running 32-bit counter; a ring of 2^n entries holds entry i at i modulo
 * 2^n.  A ring is empty when producer and consumer are equal and full when they differ by 2^n.
 */

#ifndef _OHCA_QUEUE_H
#define _OHCA_QUEUE_H

#include "ohca_regs.h"

/*
 * Records.  Each queue has a record in host memory, in the same buffer as its ring at an offset
 * that is a multiple of 64. Software owns a record and writes it after the ring entries that it
 * covers; the device only reads it.
 */

/**
 * struct ohca_wq_rec - record of a send queue or a receive queue
 * @pi: producer index: work requests posted since the queue left RESET
 */
struct ohca_wq_rec {
	__le32 pi;
	__le32 rsvd[15];
};

OHCA_ASSERT_SIZE(struct ohca_wq_rec, 64);

/**
 * struct ohca_cq_rec - record of a completion queue
 * @ci: consumer index: completions taken
 * @arm_next: advanced by software to ask for one event at the next completion
 * @arm_solicited: advanced by software to ask for one event at the next solicited or failed
 *	completion
 *
 * The device stores the values that both counters had at the last event.  After it has written a
 * CQE, it executes a full barrier and loads both: a difference is a request, for which it raises
 * one OHCA_EVENT_COMP.  After software has advanced a counter, it executes a full barrier and then
 * checks the queue once more (InfiniBand specification, 11.4.2.2).
 */
struct ohca_cq_rec {
	__le32 ci;
	__le32 arm_next;
	__le32 arm_solicited;
	__le32 rsvd[13];
};

OHCA_ASSERT_SIZE(struct ohca_cq_rec, 64);

/**
 * struct ohca_eq_rec - record of an event queue
 * @ci: consumer index: events taken
 * @arm: advanced by software to ask for one interrupt at the next event
 */
struct ohca_eq_rec {
	__le32 ci;
	__le32 arm;
	__le32 rsvd[14];
};

OHCA_ASSERT_SIZE(struct ohca_eq_rec, 64);

/* Work requests */

/**
 * struct ohca_sge - scatter/gather element
 * @addr: address in the memory region
 * @length: bytes; 0 means none (not 2^31)
 * @lkey: local key
 */
struct ohca_sge {
	__le64 addr;
	__le32 length;
	__le32 lkey;
};

OHCA_ASSERT_SIZE(struct ohca_sge, 16);

#define OHCA_AV_GRH 0x1 /* ib.flags: packets have a GRH */

/**
 * struct ohca_av - address vector, the path to a remote port
 * @dgid: destination GID
 * @dmac: OHCA_LINK_ETHERNET: destination MAC address
 * @ib.dlid: OHCA_LINK_INFINIBAND: destination LID; 0xffff, the permissive one, on OHCA_QPT_SMI only
 * @ib.path_bits: low bits of the source LID, to 127; the LMC lowest of them count
 * @ib.static_rate: enum ib_rate's numbers, 0: as fast as the port
 * @ib.flags: OHCA_AV_GRH; without it dgid, sgid_index, flow_label, hop_limit, tclass are zero.  A
 *	multicast LID needs it
 * @ib.rsvd: zero
 * @sgid_index: entry of the GID table
 * @flow_label: low 20 bits
 * @hop_limit: time to live
 * @tclass: traffic class
 * @sl: service level
 * @port: local port, that of the QP
 */
struct ohca_av {
	__u8 dgid[16];
	union {
		__u8 dmac[6];
		struct {
			__le16 dlid;
			__u8 path_bits;
			__u8 static_rate;
			__u8 flags;
			__u8 rsvd;
		} ib;
	};
	__le16 sgid_index;
	__le32 flow_label;
	__u8 hop_limit;
	__u8 tclass;
	__u8 sl;
	__u8 port;
};

OHCA_ASSERT_SIZE(struct ohca_av, 32);

/**
 * struct ohca_xlt - translation of a range of bytes to pages in host memory
 * @addr: @levels 0: DMA address of the one page; else DMA address of the root of the table
 * @npages: number of pages, 1 to 2^24
 * @offset: offset of byte 0 in the first page, less than the page size
 * @page_shift: log2 of the page size, 12 to 40
 * @levels: depth of the table, 0 to 3.  A table page is 4 KiB of 512 little endian DMA addresses:
 *	of pages at the last level, of table pages at those above.  A table has the smallest depth
 *	that @npages needs; only used entries are read.
 * @rsvd: zero
 *
 * Page addresses are multiples of the page size.  The device has its own copy of the table when the
 * command has completed; it uses the pages themselves until the object is destroyed.
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

/* Rights that a memory key grants, and other attributes of it */
#define OHCA_ACCESS_LOCAL_WRITE 0x01
#define OHCA_ACCESS_REMOTE_WRITE 0x02
#define OHCA_ACCESS_REMOTE_READ 0x04
#define OHCA_ACCESS_REMOTE_ATOMIC 0x08
#define OHCA_ACCESS_MW_BIND 0x10 /* memory windows may be bound to this region */
#define OHCA_ACCESS_ZERO_BASED 0x20 /* OHCA_OP_BIND_MW: addresses begin at 0 */
#define OHCA_ACCESS_FLUSH_GLOBAL 0x40 /* OHCA_OP_FLUSH with OHCA_FLUSH_GLOBAL */
#define OHCA_ACCESS_FLUSH_PERSISTENT 0x80 /* OHCA_OP_FLUSH with OHCA_FLUSH_PERSISTENT */

/**
 * enum ohca_wqe_op - operations of a send queue
 * @OHCA_OP_SEND: send
 * @OHCA_OP_SEND_IMM: send with immediate data
 * @OHCA_OP_SEND_INV: send, and invalidate a key of the receiver
 * @OHCA_OP_RDMA_WRITE: RDMA write
 * @OHCA_OP_RDMA_WRITE_IMM: RDMA write with immediate data
 * @OHCA_OP_RDMA_READ: RDMA read
 * @OHCA_OP_CMP_SWAP: atomic compare and swap of 8 bytes
 * @OHCA_OP_FETCH_ADD: atomic fetch and add of 8 bytes
 * @OHCA_OP_MASKED_CMP_SWAP: compare under a mask, swap under another one
 * @OHCA_OP_MASKED_FETCH_ADD: add to each of several fields
 * @OHCA_OP_ATOMIC_WRITE: write of 8 bytes that no reader sees in part (IBA A19)
 * @OHCA_OP_FLUSH: make earlier writes visible or persistent (IBA A19)
 * @OHCA_OP_LOCAL_INV: invalidate a key here
 * @OHCA_OP_BIND_MW: bind a memory window
 * @OHCA_OP_REG_MR: give a region of type OHCA_MKEY_FAST_REG its pages; on QPs with
 *	OHCA_QP_F_PRIVILEGED only
 * @OHCA_OP_TAG_ADD: add a tag to the list of an SRQ; as the next two on OHCA_QPT_TM only
 * @OHCA_OP_TAG_DEL: take a tag out of it
 * @OHCA_OP_TAG_SYNC: say how many unexpected messages software has dealt with
 * @OHCA_OP_LSO: send a TCP packet of IP over InfiniBand in segments, a datagram each; OHCA_QPT_UD
 *	only (OHCA_CAP_UD_LSO)
 */
enum ohca_wqe_op {
	OHCA_OP_SEND = 1,
	OHCA_OP_SEND_IMM = 2,
	OHCA_OP_SEND_INV = 3,
	OHCA_OP_RDMA_WRITE = 4,
	OHCA_OP_RDMA_WRITE_IMM = 5,
	OHCA_OP_RDMA_READ = 6,
	OHCA_OP_CMP_SWAP = 7,
	OHCA_OP_FETCH_ADD = 8,
	OHCA_OP_MASKED_CMP_SWAP = 9,
	OHCA_OP_MASKED_FETCH_ADD = 10,
	OHCA_OP_ATOMIC_WRITE = 11,
	OHCA_OP_FLUSH = 12,
	OHCA_OP_LOCAL_INV = 13,
	OHCA_OP_BIND_MW = 14,
	OHCA_OP_REG_MR = 15,
	OHCA_OP_TAG_ADD = 16,
	OHCA_OP_TAG_DEL = 17,
	OHCA_OP_TAG_SYNC = 18,
	OHCA_OP_LSO = 19,
};

#define OHCA_WQE_SIGNALED 0x01 /* completes with a CQE even when it succeeds */
#define OHCA_WQE_SOLICITED 0x02 /* the receiver's CQE is a solicited one */
#define OHCA_WQE_FENCE 0x04 /* starts when all earlier RDMA READs and atomics have completed */
#define OHCA_WQE_INLINE 0x08 /* data follows in the WQE itself; num_sge counts its bytes */
/*
 * OHCA_QPT_ETH: complete the checksum that eth.csum_* describe.  OHCA_QPT_UD: complete the
 * checksums of the packet of IP that the datagram carries (OHCA_CAP_UD_CSUM)
 */
#define OHCA_WQE_CSUM 0x10
#define OHCA_WQE_EXT 0x20 /* struct ohca_wqe_ext stands before the gather list or inline data */

#define OHCA_WQE_TAG_SYNC 0x40 /* OHCA_QPT_TM: tag.unexpected is valid */
#define OHCA_WQE_TSO \
	0x80 /* OHCA_QPT_ETH: send segments of TCP; with OHCA_WQE_CSUM (OHCA_CAP_TSO) */

#define OHCA_FLUSH_GLOBAL 0x1 /* make visible to all software */
#define OHCA_FLUSH_PERSISTENT 0x2 /* make persistent */
#define OHCA_FLUSH_RANGE 0 /* the range of addresses */
#define OHCA_FLUSH_MR 1 /* all of the memory region */

/* ud.qkey with this bit: take the Q_Key of the QP instead (InfiniBand specification, 10.2.5) */
#define OHCA_QKEY_OF_QP 0x80000000

#define OHCA_SQ_WQE_HDR 48 /* offset of the gather list or inline data, without OHCA_WQE_EXT */
#define OHCA_SQ_WQE_EXT 32 /* additional bytes with it */
#define OHCA_RQ_WQE_HDR 16 /* offset of the scatter list */

/**
 * struct ohca_sq_wqe - send work queue entry; it fills the stride of its queue, a power of two
 * from 64 to 2048 bytes
 * @opcode: enum ohca_wqe_op
 * @flags: OHCA_WQE_*
 * @num_sge: number of elements of @sge, or with OHCA_WQE_INLINE number of bytes there
 * @imm_data: immediate data, passed on as it is
 * @inv_key: SEND_INV: the receiver's key; LOCAL_INV: the key
 * @wr_id: returned in the CQE
 * @rdma.raddr: remote address; of atomics and ATOMIC_WRITE a multiple of 8
 * @rdma.rkey: remote key
 * @rdma.srqn: OHCA_QPT_XRC_INI: the receiver's SRQ, for all operations that go to the peer
 * @rdma.compare_add: atomics: value to compare with, or to add
 * @rdma.swap: CMP_SWAP: value to store
 * @ud.dest_qpn: OHCA_QPT_UD and _GSI: destination QP; 0xffffff to a multicast GID.  Needs
 *	OHCA_WQE_EXT with av
 * @ud.qkey: Q_Key of the packet, or OHCA_QKEY_OF_QP
 * @ud.pkey_index: OHCA_QPT_GSI: entry of the P_Key table
 * @ud.mss: OHCA_OP_LSO: bytes of TCP data in a segment, OHCA_LSO_MIN_MSS or more
 * @ud.hdr_len: OHCA_OP_LSO: bytes of the header, up to OHCA_LSO_MAX_HDR: those of IP over
 *	InfiniBand, IP and TCP.  It stands behind struct ohca_wqe_ext, and the gather list of the
 *	data follows at the next multiple of OHCA_LSO_ALIGN
 * @bind.addr: first byte of the window, in the region's addresses
 * @bind.length: bytes; 0: the window is bound to nothing
 * @bind.lkey: the region, which grants OHCA_ACCESS_MW_BIND
 * @bind.rkey: the window's present key; the low 8 bits of a window of type 2B don't matter
 * @bind.new_rkey: key after this; differs in the low 8 bits only
 * @bind.access: OHCA_ACCESS_REMOTE_* and OHCA_ACCESS_ZERO_BASED
 * @reg.iova: address of the first byte
 * @reg.length: bytes
 * @reg.key: the region's key after this; differs in the low 8 bits only.  Needs OHCA_WQE_EXT with
 *	xlt, and no list
 * @reg.access: OHCA_ACCESS_*
 * @flush.raddr: remote address
 * @flush.length: bytes
 * @flush.rkey: remote key
 * @flush.placement: OHCA_FLUSH_GLOBAL, _PERSISTENT
 * @flush.level: OHCA_FLUSH_RANGE or OHCA_FLUSH_MR
 * @tag.recv_wr_id: TAG_ADD: returned in the CQE of the message that matches
 * @tag.tag: TAG_ADD: the message's tag where @tag.mask has ones, zero elsewhere
 * @tag.mask: TAG_ADD: bits that matter
 * @tag.handle: TAG_ADD, TAG_DEL: bits 15:0 are the tag's place in the list, less than max_tags of
 *	the SRQ; the others are software's to choose
 * @tag.unexpected: OHCA_WQE_TAG_SYNC: unexpected messages that software has dealt with since the
 *	SRQ was created, modulo 2^32
 * @eth.csum_start: offset in the frame of the first byte that the checksum covers; it covers
 *	all from there
 * @eth.csum_offset: offset from there of the 16-bit checksum, which holds the sum of the
 *	pseudo header
 * @eth.ip_start: OHCA_WQE_TSO: offset of the IP header
 * @eth.hdr_len: OHCA_WQE_TSO: bytes of all headers, up to OHCA_TSO_MAX_HDR
 * @eth.mss: OHCA_WQE_TSO: bytes of TCP data in a segment, OHCA_TSO_MIN_MSS or more
 * @sge: gather list; with OHCA_WQE_INLINE the data themselves; with OHCA_WQE_EXT either begins
 *	OHCA_SQ_WQE_EXT bytes later
 */
struct ohca_sq_wqe {
	__u8 opcode;
	__u8 flags;
	__le16 num_sge;
	union {
		__be32 imm_data;
		__le32 inv_key;
	};
	__le64 wr_id;
	union {
		struct {
			__le64 raddr;
			__le32 rkey;
			__le32 srqn;
			__le64 compare_add;
			__le64 swap;
		} rdma;
		struct {
			__le32 dest_qpn;
			__le32 qkey;
			__le16 pkey_index;
			__le16 mss;
			__le16 hdr_len;
		} ud;
		struct {
			__le64 addr;
			__le64 length;
			__le32 lkey;
			__le32 rkey;
			__le32 new_rkey;
			__u8 access;
		} bind;
		struct {
			__le64 iova;
			__le64 length;
			__le32 key;
			__u8 access;
		} reg;
		struct {
			__le64 raddr;
			__le64 length;
			__le32 rkey;
			__u8 placement;
			__u8 level;
		} flush;
		struct {
			__le64 recv_wr_id;
			__le64 tag;
			__le64 mask;
			__le32 handle;
			__le32 unexpected;
		} tag;
		struct {
			__le16 csum_start;
			__le16 csum_offset;
			__le16 ip_start;
			__le16 hdr_len;
			__le16 mss;
		} eth;
		__u8 rsvd[32];
	};
	struct ohca_sge sge[];
};

OHCA_ASSERT_SIZE(struct ohca_sq_wqe, OHCA_SQ_WQE_HDR);

/**
 * struct ohca_wqe_ext - further fields of some operations; after the header, with OHCA_WQE_EXT
 * @av: OHCA_QPT_UD and _GSI: destination of the datagram
 * @xlt: OHCA_OP_REG_MR: the pages; the device has its own copy of the table when the request has
 *	completed
 * @mask.compare: OHCA_OP_MASKED_CMP_SWAP: bits to compare; OHCA_OP_MASKED_FETCH_ADD: the most
 *	significant bit of each field
 * @mask.swap: OHCA_OP_MASKED_CMP_SWAP: bits to store
 */
struct ohca_wqe_ext {
	union {
		struct ohca_av av;
		struct ohca_xlt xlt;
		struct {
			__le64 compare;
			__le64 swap;
		} mask;
		__u8 rsvd[OHCA_SQ_WQE_EXT];
	};
};

OHCA_ASSERT_SIZE(struct ohca_wqe_ext, OHCA_SQ_WQE_EXT);

/**
 * struct ohca_rq_wqe - entry of a receive queue or of an SRQ; it fills the stride, a power of two
 * from 32 to 2048 bytes
 * @wr_id: returned in the CQE
 * @num_sge: number of elements of @sge
 * @sge: scatter list
 */
struct ohca_rq_wqe {
	__le64 wr_id;
	__le32 num_sge;
	__le32 rsvd;
	struct ohca_sge sge[];
};

OHCA_ASSERT_SIZE(struct ohca_rq_wqe, OHCA_RQ_WQE_HDR);

#define OHCA_WQE_STRIDE_MAX 2048
#define OHCA_MAX_SGE 32
#define OHCA_MAX_INLINE 944 /* bytes; with OHCA_WQE_EXT a stride of 1024 */
#define OHCA_TSO_MIN_MSS 64
#define OHCA_TSO_MAX_HDR 256
#define OHCA_TSO_MAX_IP 65535 /* bytes of the IP packet before it is cut */
#define OHCA_LSO_MIN_MSS 8 /* as much as TCP sends at least */
#define OHCA_LSO_MAX_HDR 128
#define OHCA_LSO_ALIGN 16 /* of the gather list behind the header */
#define OHCA_IPOIB_HDR_LEN 4 /* before a packet of IP: Ethernet type, 2 bytes of zero */
#define OHCA_GRH_LEN 40 /* bytes before the data in the receive buffer of a datagram */

/* Messages to an SRQ of type OHCA_SRQ_TM; all fields are big endian, as in infiniband/tm_types.h */

#define OHCA_TMH_NO_TAG 0 /* not to be matched; the rest of the header may be missing */
#define OHCA_TMH_RNDV 1 /* a struct ohca_rvh follows: the receiver reads the data */
#define OHCA_TMH_FIN 2 /* the data have been read; not to be matched */
#define OHCA_TMH_EAGER 3 /* the data follow */

/**
 * struct ohca_tmh - first bytes of a message with a tag
 * @opcode: OHCA_TMH_*
 * @rsvd: ignored
 * @app_ctx: passed on to the receiver
 * @tag: the tag that is matched
 */
struct ohca_tmh {
	__u8 opcode;
	__u8 rsvd[3];
	__be32 app_ctx;
	__be64 tag;
};

OHCA_ASSERT_SIZE(struct ohca_tmh, 16);

/**
 * struct ohca_rvh - OHCA_TMH_RNDV: location of the data
 * @va: address, for an RDMA READ
 * @rkey: remote key
 * @len: bytes
 */
struct ohca_rvh {
	__be64 va;
	__be32 rkey;
	__be32 len;
};

OHCA_ASSERT_SIZE(struct ohca_rvh, 16);

#define OHCA_TM_MAX_SGE 8 /* elements of a tag's scatter list */
#define OHCA_TM_MAX_RNDV 256 /* bytes of an OHCA_TMH_RNDV message */

/* Completions */

/**
 * enum ohca_wc_status - completion status, numbered as the InfiniBand specification lists them
 * (11.6.2), and two of tag matching
 */
enum ohca_wc_status {
	OHCA_WC_SUCCESS = 0,
	OHCA_WC_LOC_LEN_ERR = 1,
	OHCA_WC_LOC_QP_OP_ERR = 2,
	OHCA_WC_LOC_EEC_OP_ERR = 3,
	OHCA_WC_LOC_PROT_ERR = 4,
	OHCA_WC_WR_FLUSH_ERR = 5,
	OHCA_WC_MW_BIND_ERR = 6,
	OHCA_WC_BAD_RESP_ERR = 7,
	OHCA_WC_LOC_ACCESS_ERR = 8,
	OHCA_WC_REM_INV_REQ_ERR = 9,
	OHCA_WC_REM_ACCESS_ERR = 10,
	OHCA_WC_REM_OP_ERR = 11,
	OHCA_WC_RETRY_EXC_ERR = 12,
	OHCA_WC_RNR_RETRY_EXC_ERR = 13,
	OHCA_WC_LOC_RDD_VIOL_ERR = 14,
	OHCA_WC_REM_INV_RD_REQ_ERR = 15,
	OHCA_WC_REM_ABORT_ERR = 16,
	OHCA_WC_INV_EECN_ERR = 17,
	OHCA_WC_INV_EEC_STATE_ERR = 18,
	OHCA_WC_FATAL_ERR = 19,
	OHCA_WC_RESP_TIMEOUT_ERR = 20,
	OHCA_WC_GENERAL_ERR = 21,
	OHCA_WC_TM_ERR = 22,
	OHCA_WC_TM_RNDV_INCOMPLETE = 23,
};

/**
 * enum ohca_cqe_op - what completed
 * @OHCA_CQE_RECV: a receive, by a send
 * @OHCA_CQE_RECV_RDMA_IMM: a receive, by an RDMA write with immediate data
 * @OHCA_CQE_RECV_NO_TAG: OHCA_SRQ_TM: a receive, by a message that is not to be matched
 * @OHCA_CQE_RECV_UNEXPECTED: OHCA_SRQ_TM: a receive, by a message that no tag matches
 * @OHCA_CQE_RECV_PART: OHCA_QPT_ETH: a receive, by a part of a large frame that goes on in the
 *	next receive of the queue; the last part is OHCA_CQE_RECV
 * @OHCA_CQE_TAG_MATCH: a tag, by a message that matches; its data are to come
 * @OHCA_CQE_TAG_DATA: a tag that had OHCA_CQE_TAG_MATCH: its data are there
 * @OHCA_CQE_TAG_RECV: a tag, by a message with all its data
 *
 * Of the four of tags, bit 0 says that there is a match, bit 1 that the data are there.
 * The completion of a send work request carries its enum ohca_wqe_op.
 */
enum ohca_cqe_op {
	OHCA_CQE_RECV = 0x80,
	OHCA_CQE_RECV_RDMA_IMM = 0x81,
	OHCA_CQE_RECV_NO_TAG = 0x82,
	OHCA_CQE_RECV_UNEXPECTED = 0x84,
	OHCA_CQE_TAG_MATCH = 0x85,
	OHCA_CQE_TAG_DATA = 0x86,
	OHCA_CQE_TAG_RECV = 0x87,
	OHCA_CQE_RECV_PART = 0x88,
};

#define OHCA_CQE_F_RQ 0x01 /* of the receive queue (else of the send queue) */
#define OHCA_CQE_F_IMM 0x02 /* imm_data is valid */
#define OHCA_CQE_F_SOLICITED 0x04
#define OHCA_CQE_F_CSUM_OK 0x08 /* OHCA_QPT_ETH, _UD: IP and TCP/UDP checksums are good */
#define OHCA_CQE_F_GRH 0x10 /* a datagram whose OHCA_GRH_LEN bytes before the data hold a header */
#define OHCA_CQE_F_INV 0x20 /* inv_key was invalidated */
#define OHCA_CQE_F_SRQ 0x40 /* of an SRQ: srqn is valid, wqe_idx counts the SRQ's entries */
#define OHCA_CQE_F_TAG_SYNC 0x80 /* OHCA_SRQ_TM: software has to send OHCA_WQE_TAG_SYNC */

#define OHCA_NET_IPV4 1
#define OHCA_NET_IPV6 2
#define OHCA_NET_IB 3

/**
 * struct ohca_cqe - completion queue entry
 * @wr_id: of the work request
 * @qpn: local QP
 * @byte_len: bytes received (with the room of the GRH) or read; undefined for other operations and
 *	on error
 * @imm_data: as sent
 * @inv_key: with OHCA_CQE_F_INV: the key
 * @wqe_idx: free-running index of the work request in its queue; all earlier ones of that
 *	queue have completed as well.  With OHCA_CQE_F_SRQ: the entries before this index have been
 *	taken by the device, their room is free, whether or not they have completed
 * @vendor_err: on error: OHCA_VENDOR_ERR_*, for people
 * @src_qpn: datagram: source QP
 * @tag_handle: TAG_ADD, TAG_DEL, OHCA_CQE_TAG_MATCH, OHCA_CQE_TAG_RECV: the tag's handle
 * @timestamp: OHCA_CQ_TIMESTAMP: OHCA_UAR_CLOCK when the CQE was written
 * @srqn: with OHCA_CQE_F_SRQ: the SRQ
 * @smac: datagram, OHCA_LINK_ETHERNET: source MAC address
 * @ib.slid: datagram, OHCA_LINK_INFINIBAND: source LID
 * @ib.dlid_path_bits: likewise: low LMC bits of the destination LID
 * @vlan: datagram: VLAN or OHCA_VLAN_NONE
 * @pkey_index: datagram to the GSI: entry of the P_Key table
 * @sl: datagram: service level
 * @net_type: datagram: OHCA_NET_*: what kind of packet it was, and of header the GRH holds; not
 *	zero, as in the completion of any other OHCA_CQE_RECV.  With OHCA_NET_IB the GRH holds one
 *	with OHCA_CQE_F_GRH only, its room is undefined otherwise
 * @eth.mss: OHCA_QPT_ETH: of a large frame and of its parts: data of a segment; else 0
 * @eth.csum_start: likewise: offset of the TCP header, whose checksum is the pseudo header's sum
 * @eth.net_type: likewise: OHCA_NET_*
 * @tag.app_ctx: OHCA_CQE_TAG_MATCH, OHCA_CQE_TAG_RECV: app_ctx of the message
 * @tag.low: likewise: low half of its tag
 * @tag.high: likewise: high half of its tag
 * @status: enum ohca_wc_status
 * @opcode: enum ohca_wqe_op or enum ohca_cqe_op; valid on error too
 * @flags: OHCA_CQE_F_*
 * @owner: bit 0 is 1 in the first pass over the ring, 0 in the second and so on; the device
 *	writes it last
 */
struct ohca_cqe {
	__le64 wr_id;
	__le32 qpn;
	__le32 byte_len;
	union {
		__be32 imm_data;
		__le32 inv_key;
	};
	__le32 wqe_idx;
	__le32 vendor_err;
	union {
		__le32 src_qpn;
		__le32 tag_handle;
	};
	__le64 timestamp;
	__le32 srqn;
	union {
		struct {
			union {
				__u8 smac[6];
				struct {
					__le16 slid;
					__u8 dlid_path_bits;
				} ib;
			};
			__le16 vlan;
			__le16 pkey_index;
			__u8 sl;
			__u8 net_type;
		};
		struct {
			__le16 mss;
			__le16 csum_start;
			__u8 net_type;
		} eth;
		struct {
			__le32 app_ctx;
			__le32 low;
			__le32 high;
		} tag;
	};
	__u8 rsvd[4];
	__u8 status;
	__u8 opcode;
	__u8 flags;
	__u8 owner;
};

OHCA_ASSERT_SIZE(struct ohca_cqe, 64);

/* Reasons of a failed work request, in addition to its status */
#define OHCA_VENDOR_ERR_NONE 0x00
#define OHCA_VENDOR_ERR_WQE_OPCODE 0x01 /* unknown operation, or not one of this QP type */
#define OHCA_VENDOR_ERR_WQE_SGE 0x02 /* more SGEs or inline bytes than the queue was created for */
#define OHCA_VENDOR_ERR_WQE_READ 0x03 /* the WQE itself could not be read */
#define OHCA_VENDOR_ERR_KEY 0x04 /* no such key */
#define OHCA_VENDOR_ERR_PD 0x05 /* key of another protection domain */
#define OHCA_VENDOR_ERR_BOUNDS 0x06 /* outside of the memory region */
#define OHCA_VENDOR_ERR_ACCESS 0x07 /* access not granted by the memory region or the QP */
#define OHCA_VENDOR_ERR_DMA 0x08 /* translates to an address where there is no memory */
#define OHCA_VENDOR_ERR_LENGTH 0x09 /* message longer than allowed, or than the receive buffer */
#define OHCA_VENDOR_ERR_PACKET 0x0a /* opcode sequence or packet format */
#define OHCA_VENDOR_ERR_TIMEOUT 0x0b /* no answer */
#define OHCA_VENDOR_ERR_RNR 0x0c /* receiver stayed not ready */
#define OHCA_VENDOR_ERR_NAK 0x0d /* the responder refused */
#define OHCA_VENDOR_ERR_FLUSH 0x0e /* the QP was already in error */
#define OHCA_VENDOR_ERR_ALIGN 0x0f /* address of an atomic operation */
#define OHCA_VENDOR_ERR_KEY_STATE 0x10 /* key is not in the state, or not of the type, for this */
#define OHCA_VENDOR_ERR_AV 0x11 /* address vector: no such port or GID, or no path to it */

/* Events */

/**
 * enum ohca_event - event types; the affiliated object's number is in the entry's id
 * @OHCA_EVENT_COMP: an armed CQ has a completion (id: CQN); the only type on a completion EQ
 * @OHCA_EVENT_CQ_ERR: CQ overrun or inaccessible (id: CQN)
 * @OHCA_EVENT_QP_FATAL: QP stopped, work queue not accessible (id: QPN)
 * @OHCA_EVENT_QP_REQ_ERR: invalid request, transport violation (id: QPN)
 * @OHCA_EVENT_QP_ACCESS_ERR: access violation by the remote side (id: QPN)
 * @OHCA_EVENT_COMM_EST: first packet accepted while in RTR (id: QPN)
 * @OHCA_EVENT_SQ_DRAINED: send queue drained (id: QPN)
 * @OHCA_EVENT_LAST_WQE: a QP with an SRQ in error takes no more receive requests (id: QPN)
 * @OHCA_EVENT_PATH_MIG: the QP has migrated to its alternate path (id: QPN)
 * @OHCA_EVENT_PATH_MIG_ERR: the QP could not migrate to its alternate path (id: QPN)
 * @OHCA_EVENT_SRQ_LIMIT: the SRQ has fewer entries than its limit, which is disarmed (id: SRQN)
 * @OHCA_EVENT_SRQ_ERR: the SRQ or its record is not accessible or jumped (id: SRQN)
 * @OHCA_EVENT_PORT_ACTIVE: link is up (id: port)
 * @OHCA_EVENT_PORT_ERR: link is down (id: port)
 * @OHCA_EVENT_LID_CHANGE: LID or LMC is another one (id: port); this and the next four with
 *	OHCA_LINK_INFINIBAND only
 * @OHCA_EVENT_SM_CHANGE: the master subnet manager is another one (id: port)
 * @OHCA_EVENT_PKEY_CHANGE: the P_Key table has changed (id: port)
 * @OHCA_EVENT_GID_CHANGE: the GID table has changed (id: port)
 * @OHCA_EVENT_CLIENT_REREGISTER: the subnet manager asks for all registrations again (id: port)
 * @OHCA_EVENT_LINK_LAYER: the port is to have another link layer after a reset (id: port)
 * @OHCA_EVENT_DEVICE_FATAL: the device stopped (id: enum ohca_fatal); OHCA_STATUS_FATAL is set too
 * @OHCA_EVENT_PAGE_FAULT: an access waits for pages of a region (id: key)
 */
enum ohca_event {
	OHCA_EVENT_COMP = 0x01,
	OHCA_EVENT_CQ_ERR = 0x02,
	OHCA_EVENT_QP_FATAL = 0x10,
	OHCA_EVENT_QP_REQ_ERR = 0x11,
	OHCA_EVENT_QP_ACCESS_ERR = 0x12,
	OHCA_EVENT_COMM_EST = 0x13,
	OHCA_EVENT_SQ_DRAINED = 0x14,
	OHCA_EVENT_LAST_WQE = 0x15,
	OHCA_EVENT_PATH_MIG = 0x16,
	OHCA_EVENT_PATH_MIG_ERR = 0x17,
	OHCA_EVENT_SRQ_LIMIT = 0x20,
	OHCA_EVENT_SRQ_ERR = 0x21,
	OHCA_EVENT_PORT_ACTIVE = 0x30,
	OHCA_EVENT_PORT_ERR = 0x31,
	OHCA_EVENT_LID_CHANGE = 0x32,
	OHCA_EVENT_SM_CHANGE = 0x33,
	OHCA_EVENT_PKEY_CHANGE = 0x34,
	OHCA_EVENT_GID_CHANGE = 0x35,
	OHCA_EVENT_CLIENT_REREGISTER = 0x36,
	OHCA_EVENT_LINK_LAYER = 0x37,
	OHCA_EVENT_DEVICE_FATAL = 0x40,
	OHCA_EVENT_PAGE_FAULT = 0x50,
};

/* The pages of OHCA_EVENT_PAGE_FAULT: struct ohca_eqe.fault_hi and fault_lo */
#define OHCA_FAULT_WRITE 0x1ULL /* to be written */
#define OHCA_FAULT_NUM_SHIFT 1 /* number of pages, less 1 */
#define OHCA_FAULT_NUM_MASK 0xffeULL
#define OHCA_FAULT_FIRST_SHIFT 12 /* number of the first page */

/**
 * struct ohca_eqe - event queue entry
 * @id: number of the affiliated object
 * @fault_lo: OHCA_EVENT_PAGE_FAULT: the pages, OHCA_FAULT_*, low half; else 0
 * @fault_hi: high half
 * @type: enum ohca_event
 * @owner: bit 0 is 1 in the first pass over the ring, 0 in the second and so on; the device
 *	writes it last
 */
struct ohca_eqe {
	__le32 id;
	__le32 fault_lo;
	__le32 fault_hi;
	__u8 rsvd[2];
	__u8 type;
	__u8 owner;
};

OHCA_ASSERT_SIZE(struct ohca_eqe, 16);

#endif /* _OHCA_QUEUE_H */
