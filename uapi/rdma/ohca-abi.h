/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * OHCA: interface between ohca.ko and its rdma-core provider.
 *
 * Make sure that all structs defined in this file remain laid out so that they pack the same way
 * on 32-bit and 64-bit architectures (to avoid incompatibility between 32-bit userspace and 64-bit
 * kernels).  Reserved fields are zero.  The kernel refuses unknown comp_mask bits of requests with
 * -EOPNOTSUPP.  Unknown bits of responses (comp_mask, flags) say what a newer kernel adds; user
 * space ignores them.
 */

#ifndef _UAPI_RDMA_OHCA_ABI_H
#define _UAPI_RDMA_OHCA_ABI_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>

#define OHCA_ABI_VERSION 1

struct ohca_uctx_req {
	__u32 comp_mask;
	__u32 rsvd;
};

/* flags of struct ohca_uctx_resp */
enum {
	OHCA_UCTX_SHADOW_DB = 0x1, /* shadow_offset is valid */
};

/**
 * struct ohca_uctx_resp - a user context owns one UAR
 * @comp_mask: 0
 * @flags: OHCA_UCTX_*
 * @uar_offset: mmap offset of the UAR's doorbell page (write only, one page)
 * @shadow_offset: mmap offset of the UAR's shadow page (read and write, one page)
 * @uar: number of the UAR
 * @max_inline: bytes of inline data possible in a send work request
 * @max_send_sge: largest gather list
 * @max_recv_sge: largest scatter list
 * @max_qp_wr: entries of a work queue
 * @max_cqe: entries of a completion queue
 * @caps: OHCA_CAP_* of the hardware interface
 * @max_srq_wr: entries of a shared receive queue
 * @clock_khz: frequency of the clock at OHCA_UAR_CLOCK of the doorbell page
 */
struct ohca_uctx_resp {
	__u32 comp_mask;
	__u32 flags;
	__aligned_u64 uar_offset;
	__aligned_u64 shadow_offset;
	__u32 uar;
	__u32 max_inline;
	__u32 max_send_sge;
	__u32 max_recv_sge;
	__u32 max_qp_wr;
	__u32 max_cqe;
	__aligned_u64 caps;
	__u32 max_srq_wr;
	__u32 clock_khz;
};

struct ohca_alloc_pd_resp {
	__u32 comp_mask;
	__u32 pdn;
};

/**
 * struct ohca_create_cq_req - the queue's memory
 * @buf_addr: user address of the buffer: ring of struct ohca_cqe, then its record
 * @buf_size: bytes; no more pages than the queues and records reach into
 * @rec_offset: offset of struct ohca_cq_rec
 * @log_size: log2 of the number of entries
 */
struct ohca_create_cq_req {
	__u32 comp_mask;
	__u32 rec_offset;
	__aligned_u64 buf_addr;
	__aligned_u64 buf_size;
	__u32 log_size;
	__u32 rsvd;
};

struct ohca_create_cq_resp {
	__u32 comp_mask;
	__u32 cqn;
};

/**
 * struct ohca_resize_cq_req - the queue's new memory, fields as in struct ohca_create_cq_req.  The
 * caller takes no completions meanwhile, and the new record holds the values of the old one.
 */
struct ohca_resize_cq_req {
	__u32 comp_mask;
	__u32 rec_offset;
	__aligned_u64 buf_addr;
	__aligned_u64 buf_size;
	__u32 log_size;
	__u32 rsvd;
};

/**
 * struct ohca_create_ah_resp - a resolved address
 * @av: struct ohca_av of the hardware interface, for work requests of datagrams
 */
struct ohca_create_ah_resp {
	__u32 comp_mask;
	__u32 rsvd;
	__u8 av[32];
};

/**
 * struct ohca_create_srq_req - the queue's memory and geometry, with the meaning of struct
 * ohca_create_srq_in
 * @buf_addr: user address of the buffer: ring and record
 * @buf_size: bytes; no more pages than these reach into
 */
struct ohca_create_srq_req {
	__u32 comp_mask;
	__u32 ring_offset;
	__aligned_u64 buf_addr;
	__aligned_u64 buf_size;
	__u32 rec_offset;
	__u8 log_size;
	__u8 log_stride;
	__u8 rsvd[2];
};

struct ohca_create_srq_resp {
	__u32 comp_mask;
	__u32 srqn;
};

/**
 * struct ohca_modify_srq_req - new memory, if the size changes (else all zero), as in struct
 * ohca_create_srq_req.  The caller posts nothing meanwhile, and the new record holds the value of
 * the old one.
 */
struct ohca_modify_srq_req {
	__u32 comp_mask;
	__u32 ring_offset;
	__aligned_u64 buf_addr;
	__aligned_u64 buf_size;
	__u32 rec_offset;
	__u8 log_size;
	__u8 rsvd[3];
};

/**
 * struct ohca_create_qp_req - the queue pair's memory and geometry, with the meaning of struct
 * ohca_create_qp_in; fields of queues that it does not have are zero
 * @buf_addr: user address of the buffer: both rings and both records
 * @buf_size: bytes; no more pages than the queues and records reach into
 */
struct ohca_create_qp_req {
	__u32 comp_mask;
	__u32 slot;
	__aligned_u64 buf_addr;
	__aligned_u64 buf_size;
	__u32 sq_offset;
	__u32 rq_offset;
	__u32 sq_rec_offset;
	__u32 rq_rec_offset;
	__u8 sq_log_size;
	__u8 sq_log_stride;
	__u8 rq_log_size;
	__u8 rq_log_stride;
	__u32 rsvd;
};

struct ohca_create_qp_resp {
	__u32 comp_mask;
	__u32 qpn;
};

/**
 * struct ohca_create_wq_req - a receive work queue's memory and geometry, as in struct
 * ohca_create_srq_req; its number comes with the response of ib_core
 */
struct ohca_create_wq_req {
	__u32 comp_mask;
	__u32 ring_offset;
	__aligned_u64 buf_addr;
	__aligned_u64 buf_size;
	__u32 rec_offset;
	__u8 log_size;
	__u8 log_stride;
	__u8 rsvd[2];
};

/**
 * struct ohca_create_rss_req - of a queue pair with an indirection table, in place of struct
 * ohca_create_qp_req: its hash
 * @fields: OHCA_RSS_* of struct ohca_create_rss_in, numbered as enum ibv_rx_hash_fields: of IPv4 or
 *	IPv6, of TCP or UDP; not 0 if the table has more than one entry
 * @key: of the function
 * @key_len: its bytes: 40
 * @function: OHCA_RSS_TOEPLITZ
 */
struct ohca_create_rss_req {
	__u32 comp_mask;
	__u32 fields;
	__u8 key[40];
	__u8 key_len;
	__u8 function;
	__u8 rsvd[6];
};

/* more attributes of UVERBS_METHOD_QUERY_CONTEXT */
enum ohca_query_context_attrs {
	OHCA_ATTR_QUERY_CONTEXT_RESP = (1U << UVERBS_ID_NS_SHIFT), /* out: ohca_uctx_resp */
};

/* more methods of UVERBS_OBJECT_DM */
enum ohca_dm_methods {
	OHCA_METHOD_DM_QUERY = (1U << UVERBS_ID_NS_SHIFT),
};

/* more attributes of UVERBS_METHOD_DM_ALLOC */
enum ohca_alloc_dm_attrs {
	/* out, u64: mmap offset of the memory, whole pages */
	OHCA_ATTR_ALLOC_DM_RESP_OFFSET = (1U << UVERBS_ID_NS_SHIFT),
};

/* attributes of OHCA_METHOD_DM_QUERY */
enum ohca_query_dm_attrs {
	OHCA_ATTR_QUERY_DM_HANDLE = (1U << UVERBS_ID_NS_SHIFT), /* in */
	OHCA_ATTR_QUERY_DM_RESP_OFFSET, /* out, u64: mmap offset */
	OHCA_ATTR_QUERY_DM_RESP_LENGTH, /* out, u64: bytes */
};

/* more methods of UVERBS_OBJECT_SRQ */
enum ohca_srq_methods {
	OHCA_METHOD_SRQ_QUERY = (1U << UVERBS_ID_NS_SHIFT),
};

/* attributes of OHCA_METHOD_SRQ_QUERY */
enum ohca_query_srq_attrs {
	OHCA_ATTR_QUERY_SRQ_HANDLE = (1U << UVERBS_ID_NS_SHIFT), /* in */
	OHCA_ATTR_QUERY_SRQ_RESP_TAKEN, /* out, u32: entries taken, as in ohca_query_srq_out */
};

#endif /* _UAPI_RDMA_OHCA_ABI_H */
