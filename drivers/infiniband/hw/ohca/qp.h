/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: queue pairs.
 */

#ifndef _OHCA_QP_H
#define _OHCA_QP_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "buf.h"
#include "rsc.h"
#include "umem.h"
#include "wq.h"

/**
 * struct ohca_qp - queue pair
 * @ibqp: ib_core's part
 * @core: the part for events
 * @mutex: one modification at a time; not destroyed, see @gone
 * @state: state that software moved the QP to; the device may have moved it to ERR.  Written under
 *	@mutex
 * @mcasts: groups without LIDs that it is attached to, of mcast.c, under @mutex; it is detached
 *	from all before it is destroyed
 * @cap: sizes, as reported to the consumer
 * @gone: the device may not have the QP any more.  Kernels before 7.2 query it for netlink until
 *	its destruction has ended.  Written under @mutex
 * @sig_type: which send work requests complete with a CQE
 * @create_flags: IB_QP_CREATE_*
 * @umem: buffer of a user QP, none for the kernel's, and for XRC targets, which have none
 * @buf: buffer of a kernel QP; the fields below are for those only
 * @sq: send queue
 * @rq: receive queue; unused with an SRQ
 * @sq_entry: of the send CQ's @sqs, under its lock
 * @rq_entry: of the receive CQ's @rqs, under its lock
 * @slot: of the send queue, in UAR 0
 */
struct ohca_qp {
	struct ib_qp ibqp;
	struct ohca_core_qp core;
	struct mutex mutex; /* one modification at a time */
	enum ib_qp_state state;
	bool gone;
	struct list_head mcasts;
	struct ib_qp_cap cap;
	enum ib_sig_type sig_type;
	u32 create_flags;
	struct ohca_umem umem;
	struct ohca_buf buf;
	struct ohca_wq sq;
	struct ohca_wq rq;
	struct list_head sq_entry;
	struct list_head rq_entry;
	u32 slot;
};

static inline struct ohca_qp *to_oqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct ohca_qp, ibqp);
}

/**
 * ohca_qp_is_mad() - whether a QP carries management datagrams
 * @qp: QP
 *
 * Return: true if so
 */
static inline bool ohca_qp_is_mad(const struct ohca_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_SMI || qp->ibqp.qp_type == IB_QPT_GSI;
}

/**
 * ohca_qp_is_ud() - whether a QP carries datagrams
 * @qp: QP
 *
 * Return: true if so
 */
static inline bool ohca_qp_is_ud(const struct ohca_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_UD || ohca_qp_is_mad(qp);
}

int ohca_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int ohca_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int attr_mask,
		   struct ib_udata *udata);
int ohca_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int attr_mask,
		  struct ib_qp_init_attr *init);
int ohca_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);

#endif /* _OHCA_QP_H */
