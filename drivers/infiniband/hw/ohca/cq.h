/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: completion queues.
 */

#ifndef _OHCA_CQ_H
#define _OHCA_CQ_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "buf.h"
#include "rsc.h"
#include "umem.h"

struct ohca_qp;
struct uverbs_attr_bundle;

/**
 * struct ohca_cq - completion queue
 * @ibcq: ib_core's part
 * @core: the part for events
 * @umem: buffer of a user CQ, none for the kernel's; replaced under @buf_lock
 * @buf_lock: one resize at a time, and none while the record is read for netlink
 * @gone: there is no buffer any more.  Kernels before 7.2 dump a CQ until its destruction has
 *	ended.  Under @buf_lock, which is not destroyed therefore
 * @rec_offset: offset of the record in a user CQ's buffer
 * @buf: buffer of a kernel CQ; the fields below are for those only
 * @lock: protects the ring and the record in @buf, and the fields below; taken in interrupts
 * @rec: record, in @buf
 * @sqs: QPs whose sends complete here
 * @rqs: QPs whose receives complete here
 * @last_qp: QP of the last CQE taken, or NULL; cleared before that QP is freed
 * @ci: CQEs taken
 * @arm_next: requests for an event of any completion
 * @arm_solicited: requests for an event of a solicited completion
 * @log_size: log2 of the number of entries
 */
struct ohca_cq {
	struct ib_cq ibcq;
	struct ohca_core_cq core;
	struct ohca_umem umem;
	struct mutex buf_lock; /* umem and the buffer's end */
	bool gone;
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

static inline struct ohca_cq *to_ocq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct ohca_cq, ibcq);
}

int ohca_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs);
int ohca_create_user_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			struct uverbs_attr_bundle *attrs);
int ohca_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int ohca_resize_user_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata);
int ohca_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
struct ohca_cqe *ohca_cq_peek(struct ohca_cq *cq, u32 idx);
int ohca_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc);
int ohca_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
void ohca_cq_clean(struct ohca_cq *cq, struct ohca_qp *qp);

#endif /* _OHCA_CQ_H */
