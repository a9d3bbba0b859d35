/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * OHCA hardware interface: commands on queue pairs, multicast groups, shared receive queues, flows
 * and receive-side scaling.  ohca_cmd.h includes this header, and its rules apply.
 */

#ifndef _OHCA_CMD_QP_H
#define _OHCA_CMD_QP_H

#include "ohca_queue.h"
#include "ohca_regs.h"

/* Queue pairs */

/* subnet management, QP 0 of a port with OHCA_LINK_INFINIBAND; at most one a port, privileged */
#define OHCA_QPT_SMI 0
#define OHCA_QPT_GSI 1 /* general services, QP 1 of a port; at most one a port, privileged */
#define OHCA_QPT_RC 2 /* reliable connection */
#define OHCA_QPT_UC 3 /* unreliable connection */
#define OHCA_QPT_UD 4 /* unreliable datagram */
/*
 * Ethernet frames (OHCA_FEAT_ETH).  With OHCA_QP_F_PRIVILEGED: a port's own, which receives the
 * frames that no flow takes; there is at most one, with OHCA_CAP_ETH_QUEUES several.  Without it
 * (OHCA_CAP_RAW): raw packets; receives the frames that flows bring
 */
#define OHCA_QPT_ETH 8
#define OHCA_QPT_XRC_INI 9 /* XRC initiator: a send queue only */
#define OHCA_QPT_XRC_TGT 10 /* XRC target: no queue, no CQ, no UAR */
#define OHCA_QPT_RWQ 11 /* receive work queue for frames: a receive queue only, no UAR */
#define OHCA_QPT_RSS 12 /* spreads frames over those; made by OHCA_CMD_CREATE_RSS alone */
#define OHCA_QPT_TM 13 /* a send queue only, of operations on the tags of an SRQ */

#define OHCA_QP_F_PRIVILEGED 0x01 /* may use reserved_lkey and OHCA_OP_REG_MR */
#define OHCA_QP_F_SIGNAL_ALL 0x02 /* every send work request is signaled */
#define OHCA_QP_F_SRQ 0x04 /* receives from an SRQ */
#define OHCA_QP_F_NO_MCAST_LOOPBACK 0x08 /* OHCA_QPT_UD: own multicast datagrams don't come back */

/**
 * struct ohca_create_qp_in - create a queue pair, in RESET
 * @buf: both rings and both records
 * @sq_offset: offset in the buffer of the send ring, a multiple of 64; in its page, the ring begins
 *	at a multiple of its stride
 * @rq_offset: offset in the buffer of the receive ring, a multiple of 32; likewise
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
 * @port: OHCA_QPT_SMI, OHCA_QPT_GSI: the port, from 1; else zero
 * @rsvd: zero
 * @srqn: OHCA_QP_F_SRQ, OHCA_QPT_TM: the SRQ
 * @xrcdn: OHCA_QPT_XRC_TGT: the XRC domain
 *
 * The fields of a queue that the QP does not have (receive queue: with OHCA_QP_F_SRQ, and of XRC
 * QPs; send queue: of OHCA_QPT_RWQ) are zero; with OHCA_QP_F_SRQ, @recv_cqn is there.
 * OHCA_QPT_XRC_TGT has no @buf, and its @pdn, which serves nothing, may be zero.  A QP that
 * receives from an SRQ of type OHCA_SRQ_TM has neither queues of software's nor CQs.
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
	__u8 port;
	__u8 rsvd;
	__le32 srqn;
	__le32 xrcdn;
};

/*
 * Number of the QP of type OHCA_QPT_SMI (0) or OHCA_QPT_GSI (1) of a port, in commands, completions
 * and doorbells.  In packets it is 0 or 1.
 */
#define OHCA_SPECIAL_QPN(port, type) (2 * ((port) - 1) + (type))

#define OHCA_CREATE_QP_IN_MIN 72

OHCA_ASSERT_SIZE(struct ohca_create_qp_in, 80);

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

/* Attributes of struct ohca_qp_attr; numbered as enum ib_qp_attr_mask */
#define OHCA_QP_STATE 0x000001
#define OHCA_QP_CUR_STATE 0x000002
#define OHCA_QP_EN_SQD_ASYNC_NOTIFY 0x000004
#define OHCA_QP_ACCESS_FLAGS 0x000008
#define OHCA_QP_PKEY_INDEX 0x000010
#define OHCA_QP_PORT 0x000020
#define OHCA_QP_QKEY 0x000040
#define OHCA_QP_AV 0x000080
#define OHCA_QP_PATH_MTU 0x000100
#define OHCA_QP_TIMEOUT 0x000200
#define OHCA_QP_RETRY_CNT 0x000400
#define OHCA_QP_RNR_RETRY 0x000800
#define OHCA_QP_RQ_PSN 0x001000
#define OHCA_QP_MAX_QP_RD_ATOMIC 0x002000
#define OHCA_QP_ALT_PATH 0x004000 /* alt_av, alt_pkey_index, alt_port, alt_timeout */
#define OHCA_QP_MIN_RNR_TIMER 0x008000
#define OHCA_QP_SQ_PSN 0x010000
#define OHCA_QP_MAX_DEST_RD_ATOMIC 0x020000
#define OHCA_QP_PATH_MIG_STATE 0x040000
#define OHCA_QP_DEST_QPN 0x100000
#define OHCA_QP_COUNTERS 0x1000000 /* in every state and transition */

/**
 * enum ohca_path_mig_state - state of path migration (InfiniBand specification, 17.2.8)
 * @OHCA_MIG_MIGRATED: the QP has one path; MigReq of its packets is 1
 * @OHCA_MIG_REARM: software has set an alternate path; the QP waits for its peer to do so
 * @OHCA_MIG_ARMED: the alternate path takes over when it has to; software can't set this state
 */
enum ohca_path_mig_state {
	OHCA_MIG_MIGRATED = 0,
	OHCA_MIG_REARM = 1,
	OHCA_MIG_ARMED = 2,
};

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
 * @port: physical port, from 1; packets leave and arrive there
 * @en_sqd_async_notify: 1: raise OHCA_EVENT_SQ_DRAINED
 * @sq_draining: query only: 1: in SQD and not drained yet
 * @alt_port: physical port of the alternate path
 * @pkey_index: entry of the P_Key table
 * @dest_qpn: 24 bits
 * @sq_psn: first PSN to send (modify), next PSN to send (query)
 * @rq_psn: first PSN to expect (modify), next PSN expected (query)
 * @qkey: Q_Key
 * @av: primary path; the alternate one takes its place when the QP migrates
 * @counters: set of counters that the QP counts in, one of its port; 0: the port's own
 * @alt_pkey_index: entry of the P_Key table, of the alternate path
 * @alt_timeout: local ACK timeout of the alternate path
 * @path_mig_state: enum ohca_path_mig_state
 * @alt_av: alternate path
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
	__u8 alt_port;
	__le16 pkey_index;
	__le32 dest_qpn;
	__le32 sq_psn;
	__le32 rq_psn;
	__le32 qkey;
	struct ohca_av av;
	__le32 counters;
	__le16 alt_pkey_index;
	__u8 alt_timeout;
	__u8 path_mig_state;
	struct ohca_av alt_av;
};

OHCA_ASSERT_SIZE(struct ohca_qp_attr, 104);

/**
 * struct ohca_modify_qp_in - change the attributes that the mask names, and the state
 * @qpn: the QP
 * @attr_mask: OHCA_QP_*; required and optional ones per transition as in the InfiniBand
 *	specification, 11.2.5.2
 * @attr: values
 *
 * A move to RESET resets all indices: both records count from 0 again, and the device writes no
 * more CQEs of the QP.
 */
struct ohca_modify_qp_in {
	__le32 qpn;
	__le32 attr_mask;
	struct ohca_qp_attr attr;
};

#define OHCA_MODIFY_QP_IN_MIN 72

OHCA_ASSERT_SIZE(struct ohca_modify_qp_in, 112);

struct ohca_query_qp_out {
	struct ohca_qp_attr attr;
};

#define OHCA_QUERY_QP_OUT_MIN 64

OHCA_ASSERT_SIZE(struct ohca_query_qp_out, 104);

/**
 * struct ohca_mcast_in - attach a QP of type OHCA_QPT_UD to a multicast group, or detach it
 * @gid: the group
 * @qpn: the QP
 * @mlid: OHCA_LINK_INFINIBAND: LID of the group, 0xc000 to 0xfffe; else zero
 * @rsvd: zero
 *
 * Attaching a QP again changes nothing.  Detaching it from a group that it is not in yields
 * OHCA_CMD_BAD_HANDLE.  Destroying a QP detaches it.
 */
struct ohca_mcast_in {
	__u8 gid[16];
	__le32 qpn;
	__le16 mlid;
	__le16 rsvd;
};

OHCA_ASSERT_SIZE(struct ohca_mcast_in, 24);

/* Shared receive queues */

#define OHCA_SRQ_BASIC 0
#define OHCA_SRQ_XRC 1 /* named by the packets of XRC initiators; completes on its own CQ */
#define OHCA_SRQ_TM 2 /* matches the tags of messages; completes on its own CQ */

#define OHCA_SRQ_F_PRIVILEGED 0x1 /* may use reserved_lkey */

/**
 * struct ohca_create_srq_in - create a shared receive queue
 * @buf: ring of struct ohca_rq_wqe, and struct ohca_wq_rec
 * @ring_offset: offset of the ring in the buffer, a multiple of its stride
 * @rec_offset: offset of the record in the buffer
 * @pdn: protection domain, for the elements of its lists; of an XRC SRQ also for the remote keys
 *	of requests that name it
 * @cqn: OHCA_SRQ_XRC, OHCA_SRQ_TM: CQ of its completions
 * @xrcdn: OHCA_SRQ_XRC: XRC domain
 * @limit: as in struct ohca_modify_srq_in
 * @max_sge: elements in a scatter list; the stride has room for them
 * @type: OHCA_SRQ_*
 * @log_size: log2 of the number of entries
 * @log_stride: log2 of the bytes of an entry, 5 to 11
 * @flags: OHCA_SRQ_F_*
 * @max_tags: OHCA_SRQ_TM: tags that its list can hold
 *
 * The device copies an entry when it takes it, in the order of the ring, for the message whose
 * first packet has arrived; its room is free from then on.  The wqe_idx of a completion says how
 * many entries have been taken.
 */
struct ohca_create_srq_in {
	struct ohca_xlt buf;
	__le32 ring_offset;
	__le32 rec_offset;
	__le32 pdn;
	__le32 cqn;
	__le32 xrcdn;
	__le32 limit;
	__le16 max_sge;
	__u8 type;
	__u8 log_size;
	__u8 log_stride;
	__u8 flags;
	__le16 max_tags;
};

OHCA_ASSERT_SIZE(struct ohca_create_srq_in, 56);

#define OHCA_SRQ_ATTR_LIMIT 0x1
#define OHCA_SRQ_ATTR_SIZE 0x2

/**
 * struct ohca_modify_srq_in - arm the limit of an SRQ, or give it another ring
 * @buf: OHCA_SRQ_ATTR_SIZE: the new buffer; else zero, as the other fields for that
 * @srqn: the SRQ
 * @attr_mask: OHCA_SRQ_ATTR_*
 * @limit: raise OHCA_EVENT_SRQ_LIMIT once when fewer entries than this are left; 0: disarm.
 *	Checked when an entry is taken and by this command
 * @ring_offset: new ring; the stride stays
 * @rec_offset: new record, which has the same value as the old one
 * @log_size: of the new ring
 * @rsvd: zero
 *
 * Software posts nothing while the command runs.  The device copies the entries that it has not
 * taken to their places in the new ring; if they don't fit: OHCA_CMD_BAD_PARAM.
 */
struct ohca_modify_srq_in {
	struct ohca_xlt buf;
	__le32 srqn;
	__le32 attr_mask;
	__le32 limit;
	__le32 ring_offset;
	__le32 rec_offset;
	__u8 log_size;
	__u8 rsvd[3];
};

OHCA_ASSERT_SIZE(struct ohca_modify_srq_in, 48);

/**
 * struct ohca_query_srq_out - state of an SRQ
 * @limit: as armed; 0: not armed
 * @taken: entries taken
 */
struct ohca_query_srq_out {
	__le32 limit;
	__le32 taken;
};

OHCA_ASSERT_SIZE(struct ohca_query_srq_out, 8);

/* Flows */

/**
 * struct ohca_flow_match - fields of a frame's headers
 * @dmac: destination MAC address
 * @smac: source MAC address
 * @ether_type: what the frame holds, behind the VLAN tag if there is one
 * @vlan: VLAN tag
 * @src_ip: IPv6 address, or in the first 4 bytes an IPv4 address
 * @dst_ip: likewise
 * @src_port: of TCP or UDP
 * @dst_port: of TCP or UDP
 * @ip_proto: protocol, or next header
 * @ip_tos: type of service, or traffic class
 * @ip_ttl: time to live, or hop limit
 * @ip_version: 4 or 6
 * @rsvd: zero
 */
struct ohca_flow_match {
	__u8 dmac[6];
	__u8 smac[6];
	__be16 ether_type;
	__be16 vlan;
	__u8 src_ip[16];
	__u8 dst_ip[16];
	__be16 src_port;
	__be16 dst_port;
	__u8 ip_proto;
	__u8 ip_tos;
	__u8 ip_ttl;
	__u8 ip_version;
	__u8 rsvd[8];
};

OHCA_ASSERT_SIZE(struct ohca_flow_match, 64);

/**
 * struct ohca_create_flow_in - lead frames to a QP
 * @qpn: QP of type OHCA_QPT_ETH, not a privileged one, or OHCA_QPT_RSS; it can't be destroyed as
 *	long as the flow is there
 * @priority: of the flows that a frame matches, those with the lowest number get it, each a copy
 * @port: from 1
 * @rsvd: zero
 * @value: what the headers must hold, where @mask has ones; zero elsewhere
 * @mask: bits that matter.  A header that the frame does not have holds zeroes
 */
struct ohca_create_flow_in {
	__le32 qpn;
	__le16 priority;
	__u8 port;
	__u8 rsvd;
	struct ohca_flow_match value;
	struct ohca_flow_match mask;
};

OHCA_ASSERT_SIZE(struct ohca_create_flow_in, 136);

/* Receive-side scaling */

#define OHCA_MAX_IND_TBL 128 /* room for entries of an indirection table */

/**
 * struct ohca_create_ind_tbl_in - a table of receive work queues
 * @log_size: log2 of the number of entries, 0 to log_max_ind_tbl
 * @rsvd: zero
 * @wqn: the entries: QPs of type OHCA_QPT_RWQ, or of type OHCA_QPT_ETH with OHCA_QP_F_PRIVILEGED,
 *	which can't be destroyed as long as the table is there; one may be in it more than once.
 *	Zero beyond the last
 */
struct ohca_create_ind_tbl_in {
	__u8 log_size;
	__u8 rsvd[7];
	__le32 wqn[OHCA_MAX_IND_TBL];
};

OHCA_ASSERT_SIZE(struct ohca_create_ind_tbl_in, 520);

#define OHCA_RSS_TOEPLITZ 1

#define OHCA_RSS_KEY_LEN 40

/* Fields of a frame, numbered as enum ibv_rx_hash_fields */
#define OHCA_RSS_SRC_IPV4 0x01
#define OHCA_RSS_DST_IPV4 0x02
#define OHCA_RSS_SRC_IPV6 0x04
#define OHCA_RSS_DST_IPV6 0x08
#define OHCA_RSS_SRC_PORT_TCP 0x10
#define OHCA_RSS_DST_PORT_TCP 0x20
#define OHCA_RSS_SRC_PORT_UDP 0x40
#define OHCA_RSS_DST_PORT_UDP 0x80
#define OHCA_RSS_FIELDS 0xff /* all of them */

/**
 * struct ohca_create_rss_in - a QP of type OHCA_QPT_RSS: each frame that a flow leads to it goes to
 *	one entry of a table, by a hash of its fields
 * @ind_tbl: the table, which can't be destroyed as long as the QP exists
 * @fields: OHCA_RSS_*, the fields to hash: source address, destination address, source port,
 *	destination port, in this order and as they are in the frame.  Fields that the frame does
 *	not have are left out; fragments have no ports
 * @function: OHCA_RSS_TOEPLITZ
 * @port: if the table names QPs of a port's own frames: that port, from 1; else zero
 * @key: of the function
 *
 * The lowest bits of the hash are the entry's index; the hash is 0 if no field is left.
 */
struct ohca_create_rss_in {
	__le32 ind_tbl;
	__le16 fields;
	__u8 function;
	__u8 port;
	__u8 key[OHCA_RSS_KEY_LEN];
};

OHCA_ASSERT_SIZE(struct ohca_create_rss_in, 48);

#endif /* _OHCA_CMD_QP_H */
