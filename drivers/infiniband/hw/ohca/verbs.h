/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: the objects of the verbs, and the operations that ib_core calls.
 *
 * Locks of the message path: a work queue's lock, a CQ's lock, nothing else.  None is ever taken
 * under another, but for a fenced device's: a work queue's under a CQ's.
 */

#ifndef _OHCA_VERBS_H
#define _OHCA_VERBS_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/ohca-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "buf.h"
#include "ohca.h"
#include "ohca_compat.h"
#include "wq.h"
#include "xlt.h"

/* Rights that the device can grant */
#define OHCA_ACCESS_FLAGS                                                         \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
	 IB_ACCESS_REMOTE_ATOMIC)

/**
 * enum ohca_mmap_kind - what a process may map
 * @OHCA_MMAP_DB: doorbell page of its UAR
 * @OHCA_MMAP_SHADOW: shadow page of its UAR
 * @OHCA_MMAP_DM: device memory
 */
enum ohca_mmap_kind {
	OHCA_MMAP_DB,
	OHCA_MMAP_SHADOW,
	OHCA_MMAP_DM,
};

/**
 * struct ohca_mmap_entry - pages that a process may map
 * @rdma: ib_core's part; ohca_mmap_free() frees the entry with its last reference
 * @kind: which pages they are
 * @phys: OHCA_MMAP_DM: where they are
 * @dm: OHCA_MMAP_DM: the device memory, owned
 */
struct ohca_mmap_entry {
	struct rdma_user_mmap_entry rdma;
	enum ohca_mmap_kind kind;
	phys_addr_t phys;
	u32 dm;
};

/**
 * struct ohca_ucontext - an opened device
 * @ibuc: ib_core's part
 * @uar: the context's own UAR
 * @db: the right to map the doorbell page
 * @shadow: the right to map the shadow page, NULL without one
 */
struct ohca_ucontext {
	struct ib_ucontext ibuc;
	struct ohca_uar uar;
	struct rdma_user_mmap_entry *db;
	struct rdma_user_mmap_entry *shadow;
};

/**
 * struct ohca_pd - protection domain
 * @ibpd: ib_core's part
 * @pdn: number
 */
struct ohca_pd {
	struct ib_pd ibpd;
	u32 pdn;
};

/**
 * struct ohca_ah - address handle
 * @ibah: ib_core's part
 * @path: where it leads
 * @av: the same for work requests
 * @mad_sent: the kernel has sent a management datagram there; under the lock of GSI's send queue
 */
struct ohca_ah {
	struct ib_ah ibah;
	struct ohca_path path;
	struct ohca_av av;
	bool mad_sent;
};

/**
 * struct ohca_mr - memory region
 * @ibmr: ib_core's part; the low bits of its keys are the consumer's to change
 * @key: key as it was created
 * @access: enum ib_access_flags of user memory
 * @umem: user memory, NULL for a kernel's region
 * @odp: user memory that is paged on demand, or NULL
 * @list: pages of a fast registration, or empty
 */
struct ohca_mr {
	struct ib_mr ibmr;
	u32 key;
	int access;
	struct ib_umem *umem;
	struct ohca_odp *odp;
	struct ohca_xlt_list list;
};

/**
 * struct ohca_mw - memory window
 * @ibmw: ib_core's part
 */
struct ohca_mw {
	struct ib_mw ibmw;
};

/**
 * struct ohca_cq - completion queue
 * @ibcq: ib_core's part
 * @core: the part that events need
 * @umem: buffer of a user CQ, NULL for the kernel's; replaced under @resize_lock
 * @resize_lock: one resize at a time
 * @rec_offset: offset of the record in a user CQ's buffer
 * @buf: buffer of a kernel CQ; the fields below are for those only
 * @lock: protects the ring and the record in @buf, and the fields below; taken in interrupts
 * @rec: record, in @buf
 * @sqs: QPs that complete sends here
 * @rqs: QPs that complete receives here
 * @last_qp: QP of the last CQE taken, or NULL; cleared before that QP goes away
 * @ci: CQEs taken
 * @arm_next: events asked for, of any completion
 * @arm_solicited: events asked for, of solicited completions
 * @log_size: log2 of the number of entries
 */
struct ohca_cq {
	struct ib_cq ibcq;
	struct ohca_core_cq core;
	struct ib_umem *umem;
	struct mutex resize_lock; /* one resize at a time */
	u32 rec_offset;
	struct ohca_buf buf;
	spinlock_t lock; /* ring, record and the fields below */
	struct ohca_cq_rec *rec;
	struct list_head sqs;
	struct list_head rqs;
	struct ohca_qp *last_qp;
	u32 ci;
	u32 arm_next;
	u32 arm_solicited;
	u8 log_size;
};

/**
 * struct ohca_xrcd - XRC domain
 * @ibxrcd: ib_core's part
 * @xrcdn: number
 */
struct ohca_xrcd {
	struct ib_xrcd ibxrcd;
	u32 xrcdn;
};

/**
 * struct ohca_srq - shared receive queue
 * @ibsrq: ib_core's part
 * @core: the part that events need
 * @mutex: one modification at a time; protects @umem and @log_size
 * @umem: buffer of a user SRQ, NULL for the kernel's
 * @max_sge: elements of a list
 * @log_size: log2 of the number of entries
 * @log_stride: log2 of the bytes of an entry
 * @buf: buffer of a kernel SRQ; the field below is for those only
 * @wq: queue
 */
struct ohca_srq {
	struct ib_srq ibsrq;
	struct ohca_core_srq core;
	struct mutex mutex; /* umem, log_size */
	struct ib_umem *umem;
	u16 max_sge;
	u8 log_size;
	u8 log_stride;
	struct ohca_buf buf;
	struct ohca_wq wq;
};

/**
 * struct ohca_qp - queue pair
 * @ibqp: ib_core's part
 * @core: the part that events need
 * @mutex: one modification at a time
 * @state: state that software brought the QP to; the device may have moved it to ERR.  Written
 *	under @mutex
 * @cap: sizes, as reported to the consumer
 * @sig_type: which send work requests complete with a CQE
 * @create_flags: IB_QP_CREATE_*
 * @umem: buffer of a user QP, NULL for the kernel's, and for XRC targets, which have none
 * @buf: buffer of a kernel QP; the fields below are for those only
 * @sq: send queue
 * @rq: receive queue; not there with an SRQ
 * @sq_entry: of the send CQ's @sqs, under its lock
 * @rq_entry: of the receive CQ's @rqs, under its lock
 * @slot: of the send queue, in UAR 0
 */
struct ohca_qp {
	struct ib_qp ibqp;
	struct ohca_core_qp core;
	struct mutex mutex; /* one modification at a time */
	enum ib_qp_state state;
	struct ib_qp_cap cap;
	enum ib_sig_type sig_type;
	u32 create_flags;
	struct ib_umem *umem;
	struct ohca_buf buf;
	struct ohca_wq sq;
	struct ohca_wq rq;
	struct list_head sq_entry;
	struct list_head rq_entry;
	u32 slot;
};

/**
 * struct ohca_rwq - receive work queue; to the device a queue pair that only receives
 * @ibwq: ib_core's part; its state is written under @mutex
 * @core: the part that events need
 * @mutex: one modification at a time
 * @umem: buffer
 */
struct ohca_rwq {
	struct ib_wq ibwq;
	struct ohca_core_qp core;
	struct mutex mutex; /* one modification at a time */
	struct ib_umem *umem;
};

/**
 * struct ohca_ind_tbl - indirection table
 * @ibtbl: ib_core's part, which has the number
 */
struct ohca_ind_tbl {
	struct ib_rwq_ind_table ibtbl;
};

static inline struct ohca_ucontext *to_ouctx(struct ib_ucontext *ibuc)
{
	return container_of(ibuc, struct ohca_ucontext, ibuc);
}

static inline struct ohca_mmap_entry *to_ommap(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct ohca_mmap_entry, rdma);
}

static inline struct ohca_pd *to_opd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct ohca_pd, ibpd);
}

static inline struct ohca_ah *to_oah(struct ib_ah *ibah)
{
	return container_of(ibah, struct ohca_ah, ibah);
}

static inline struct ohca_mr *to_omr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct ohca_mr, ibmr);
}

static inline struct ohca_cq *to_ocq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct ohca_cq, ibcq);
}

static inline struct ohca_xrcd *to_oxrcd(struct ib_xrcd *ibxrcd)
{
	return container_of(ibxrcd, struct ohca_xrcd, ibxrcd);
}

static inline struct ohca_srq *to_osrq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct ohca_srq, ibsrq);
}

static inline struct ohca_qp *to_oqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct ohca_qp, ibqp);
}

static inline struct ohca_rwq *to_orwq(struct ib_wq *ibwq)
{
	return container_of(ibwq, struct ohca_rwq, ibwq);
}

/**
 * ohca_kernel_err() - an error, for a consumer in the kernel
 * @dev: device
 * @err: 0 or negative errno
 *
 * Some consumers try to connect again until the device is withdrawn.  To sunrpc -EIO would be the
 * end: whoever has a file open on a hard mount would get it.
 *
 * Return: @err, or -ENETDOWN if it is what a fenced device is the reason of
 */
static inline int ohca_kernel_err(struct ohca_dev *dev, int err)
{
	return err == -EIO && ohca_fenced(dev) ? -ENETDOWN : err;
}

/**
 * ohca_max_tags() - tags that the list of an SRQ can have
 * @dev: device
 *
 * Return: number, which the place in a tag's handle has the bits for
 */
static inline u32 ohca_max_tags(const struct ohca_dev *dev)
{
	return min_t(u32, dev->attr.max_tags, U16_MAX);
}

/**
 * ohca_max_fast_reg() - pages that a fast registration can have
 * @dev: device
 *
 * Return: number of pages
 */
static inline u32 ohca_max_fast_reg(struct ohca_dev *dev)
{
	return min_t(u32, dev->attr.max_fast_reg, OHCA_XLT_LIST_MAX);
}

/**
 * ohca_qp_is_ud() - does a QP carry datagrams?
 * @qp: QP
 *
 * Return: true if so
 */
static inline bool ohca_qp_is_ud(const struct ohca_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_UD || qp->ibqp.qp_type == IB_QPT_GSI;
}

/**
 * ohca_user_range() - is part of a user's buffer where the user says it is?
 * @offset: bytes from the start of the buffer
 * @size: bytes
 * @align: what @offset has to be a multiple of, a power of two
 * @buf_size: bytes of the buffer
 *
 * Return: true if so
 */
static inline bool ohca_user_range(u32 offset, u64 size, u32 align, u64 buf_size)
{
	return !(offset & (align - 1)) && offset <= buf_size && size <= buf_size - offset;
}

/* ucontext.c */
int ohca_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata);
void ohca_dealloc_ucontext(struct ib_ucontext *ibuc);
int ohca_query_ucontext(struct ib_ucontext *ibuc, struct uverbs_attr_bundle *attrs);
void ohca_disassociate_ucontext(struct ib_ucontext *ibuc);
extern const struct uapi_definition ohca_uapi_defs[];

/* mmap.c */
int ohca_mmap_init(struct ohca_ucontext *uc);
struct ohca_mmap_entry *ohca_mmap_alloc_dm(struct ohca_ucontext *uc, u64 length, u8 log_align);
void ohca_mmap_fini(struct ohca_ucontext *uc);
int ohca_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma);
void ohca_mmap_free(struct rdma_user_mmap_entry *entry);

/* dm.c */
struct ib_dm *ohca_alloc_dm(struct ib_device *ibdev, struct ib_ucontext *ibuc,
			    struct ib_dm_alloc_attr *attr, struct uverbs_attr_bundle *attrs);
int ohca_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs);
struct ib_mr *ohca_reg_dm_mr(struct ib_pd *ibpd, struct ib_dm *ibdm, struct ib_dm_mr_attr *attr,
			     struct uverbs_attr_bundle *attrs);
extern const struct uapi_definition ohca_dm_defs[];

/* ah.c */
int ohca_path_from_ah(struct ohca_path *path, const struct rdma_ah_attr *ah);
void ohca_path_to_ah(struct rdma_ah_attr *ah, const struct ohca_path *path,
		     struct ib_device *ibdev);
int ohca_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int ohca_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int ohca_destroy_ah(struct ib_ah *ibah, u32 flags);

/* flow.c */
struct ib_flow *ohca_create_flow(struct ib_qp *ibqp, struct ib_flow_attr *attr,
				 struct ib_udata *udata);
int ohca_destroy_flow(struct ib_flow *ibflow);

/* mr.c */
struct ohca_mr *ohca_mr_create(struct ohca_dev *dev, const struct ohca_mkey_params *params);
u8 ohca_access(int access);
struct ib_mr *ohca_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *ohca_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			       struct ib_dmah *dmah, struct ib_udata *udata);
struct ib_mr *ohca_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova, int fd,
				      int access, struct ib_dmah *dmah,
				      struct uverbs_attr_bundle *attrs);
struct ib_mr *ohca_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
				 int access, struct ib_pd *ibpd, struct ib_udata *udata);
struct ib_mr *ohca_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg);
int ohca_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset);
int ohca_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);

int ohca_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int ohca_dealloc_mw(struct ib_mw *ibmw);

/* cq.c */
int ohca_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs);
int ohca_create_user_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			struct uverbs_attr_bundle *attrs);
int ohca_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int ohca_resize_user_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata);
int ohca_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
int ohca_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc);
int ohca_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
void ohca_cq_clean(struct ohca_cq *cq, struct ohca_qp *qp);
enum ib_wc_opcode ohca_wc_opcode(u8 opcode);
struct ohca_cq *ohca_cq_of_kernel(struct ohca_core_cq *core);

/* flush.c */
void ohca_flush_join(struct ohca_qp *qp);
void ohca_flush_leave(struct ohca_qp *qp);
int ohca_flush_poll(struct ohca_cq *cq, int num, struct ib_wc *wc);
bool ohca_flush_pending(struct ohca_cq *cq);

/* srq.c */
int ohca_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata);
int ohca_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		    struct ib_udata *udata);
int ohca_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
extern const struct uapi_definition ohca_srq_defs[];
int ohca_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
void ohca_srq_sync(struct ohca_srq *srq);
int ohca_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int ohca_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

/* mad.c */
int ohca_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
		     const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		     size_t *out_len, u16 *out_pkey_index);

/* qp.c */
struct ohca_qp *ohca_qp_find(struct ohca_dev *dev, u32 qpn);
int ohca_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int ohca_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int attr_mask,
		   struct ib_udata *udata);
int ohca_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int attr_mask,
		  struct ib_qp_init_attr *init);
int ohca_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int ohca_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int ohca_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

/* rss.c */
int ohca_rss_check(const struct ib_qp_init_attr *init);
int ohca_rss_create(struct ohca_dev *dev, const struct ib_qp_init_attr *init,
		    struct ib_udata *udata, u32 *qpn);
struct ib_wq *ohca_create_wq(struct ib_pd *ibpd, struct ib_wq_init_attr *init,
			     struct ib_udata *udata);
int ohca_modify_wq(struct ib_wq *ibwq, struct ib_wq_attr *attr, u32 mask, struct ib_udata *udata);
int ohca_destroy_wq(struct ib_wq *ibwq, struct ib_udata *udata);
int ohca_create_rwq_ind_table(struct ib_rwq_ind_table *ibtbl,
			      struct ib_rwq_ind_table_init_attr *init, struct ib_udata *udata);
int ohca_destroy_rwq_ind_table(struct ib_rwq_ind_table *ibtbl);

/* stats.c */
int ohca_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp, u32 port);
int ohca_counter_unbind_qp(struct ib_qp *ibqp, u32 port);
extern const struct ib_device_ops ohca_stats_ops;

/* restrack.c */
extern const struct ib_device_ops ohca_restrack_ops;

/* wr.c */
int ohca_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad_wr);
int ohca_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr);
int ohca_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr);

#endif /* _OHCA_VERBS_H */
