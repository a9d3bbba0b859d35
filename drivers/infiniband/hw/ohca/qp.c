// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: queue pairs.
 */

#include <linux/atomic.h>
#include <linux/log2.h>
#include <rdma/ohca-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "ah.h"
#include "cq.h"
#include "doorbell.h"
#include "en.h"
#include "flush.h"
#include "mr.h"
#include "ohca.h"
#include "ohca_compat.h"
#include "pd.h"
#include "qp.h"
#include "qp_attr.h"
#include "rss.h"
#include "srq.h"
#include "trace.h"
#include "ucontext.h"
#include "wq.h"
#include "xlt.h"

/* The numbers of states are those of ib_core. */
static_assert((int)OHCA_QPS_RESET == IB_QPS_RESET);
static_assert((int)OHCA_QPS_INIT == IB_QPS_INIT);
static_assert((int)OHCA_QPS_RTR == IB_QPS_RTR);
static_assert((int)OHCA_QPS_RTS == IB_QPS_RTS);
static_assert((int)OHCA_QPS_SQD == IB_QPS_SQD);
static_assert((int)OHCA_QPS_SQE == IB_QPS_SQE);
static_assert((int)OHCA_QPS_ERR == IB_QPS_ERR);

/* The numbers of types are those of ib_core. */
static_assert(OHCA_QPT_SMI == IB_QPT_SMI);
static_assert(OHCA_QPT_GSI == IB_QPT_GSI);
static_assert(OHCA_QPT_RC == IB_QPT_RC);
static_assert(OHCA_QPT_UC == IB_QPT_UC);
static_assert(OHCA_QPT_UD == IB_QPT_UD);
static_assert(OHCA_QPT_ETH == IB_QPT_RAW_PACKET);
static_assert(OHCA_QPT_XRC_INI == IB_QPT_XRC_INI);
static_assert(OHCA_QPT_XRC_TGT == IB_QPT_XRC_TGT);

/**
 * struct ohca_qp_type - a type of QPs
 * @cap: OHCA_CAP_* that it needs
 * @ib: on an InfiniBand port only
 * @kernel: for the kernel
 * @user: for user space
 * @sq: with a send queue; but the device has the send queue of a QP whose SRQ has tags
 * @rq: with a receive queue, its own or an SRQ
 */
struct ohca_qp_type {
	u64 cap;
	bool ib;
	bool kernel;
	bool user;
	bool sq;
	bool rq;
};

/* clang-format off */
static const struct ohca_qp_type ohca_qp_types[] = {
	[IB_QPT_SMI] = {.cap = OHCA_CAP_UD, .ib = true, .kernel = true, .sq = true, .rq = true},
	[IB_QPT_GSI] = {.cap = OHCA_CAP_UD, .kernel = true, .sq = true, .rq = true},
	[IB_QPT_RC] = {.kernel = true, .user = true, .sq = true, .rq = true},
	[IB_QPT_UC] = {.cap = OHCA_CAP_UC, .kernel = true, .user = true, .sq = true, .rq = true},
	[IB_QPT_UD] = {.cap = OHCA_CAP_UD, .kernel = true, .user = true, .sq = true, .rq = true},
	[IB_QPT_RAW_PACKET] = {.cap = OHCA_CAP_RAW, .user = true, .sq = true, .rq = true},
	[IB_QPT_XRC_INI] = {.cap = OHCA_CAP_XRC, .user = true, .sq = true},
	/* a user's comes without udata, too */
	[IB_QPT_XRC_TGT] = {.cap = OHCA_CAP_XRC, .kernel = true},
};

/* clang-format on */

/* IB_QPT_DRIVER is OHCA_QPT_TM: it posts operations on the tags of its SRQ. */
static const struct ohca_qp_type ohca_qp_type_tm = {.cap = OHCA_CAP_TM, .user = true, .sq = true};

static const struct ohca_qp_type *ohca_qp_type(enum ib_qp_type type)
{
	if (type == IB_QPT_DRIVER)
		return &ohca_qp_type_tm;
	return (u32)type < ARRAY_SIZE(ohca_qp_types) ? &ohca_qp_types[type] : NULL;
}

/* Whether the QP receives from an SRQ with tags */
static bool ohca_qp_has_tags(const struct ib_qp_init_attr *init)
{
	return init->qp_type == IB_QPT_RC && init->srq && init->srq->srq_type == IB_SRQT_TM;
}

/* Each port has one of its own. */
static bool ohca_qp_is_special(const struct ib_qp_init_attr *init)
{
	return init->qp_type == IB_QPT_SMI || init->qp_type == IB_QPT_GSI;
}

static u32 ohca_sq_wqe_size(const struct ib_qp_init_attr *init)
{
	u32 size = OHCA_SQ_WQE_HDR + max_t(u32, init->cap.max_send_sge * sizeof(struct ohca_sge),
					   init->cap.max_inline_data);

	if (init->qp_type == IB_QPT_UD || ohca_qp_is_special(init))
		size += OHCA_SQ_WQE_EXT;
	return size;
}

/*
 * Of kernel QPs: there must be room for a fast registration, for the masks of an atomic, and for
 * the headers of what is cut into datagrams.
 */
static u32 ohca_kernel_sq_wqe_size(const struct ib_qp_init_attr *init)
{
	u32 size = ohca_sq_wqe_size(init);

	if (init->create_flags & IB_QP_CREATE_IPOIB_UD_LSO)
		size += OHCA_LSO_MAX_HDR;
	return max_t(u32, size, OHCA_SQ_WQE_HDR + OHCA_SQ_WQE_EXT + sizeof(struct ohca_sge));
}

/* Events */

static void ohca_qp_event(struct ohca_core_qp *core, u8 type)
{
	struct ib_qp *ibqp = &container_of(core, struct ohca_qp, core)->ibqp;
	struct ib_event event = {
		.device = ibqp->device,
		.element.qp = ibqp,
	};

	switch (type) {
	case OHCA_EVENT_QP_FATAL:
		event.event = IB_EVENT_QP_FATAL;
		break;
	case OHCA_EVENT_QP_REQ_ERR:
		event.event = IB_EVENT_QP_REQ_ERR;
		break;
	case OHCA_EVENT_QP_ACCESS_ERR:
		event.event = IB_EVENT_QP_ACCESS_ERR;
		break;
	case OHCA_EVENT_COMM_EST:
		event.event = IB_EVENT_COMM_EST;
		break;
	case OHCA_EVENT_SQ_DRAINED:
		event.event = IB_EVENT_SQ_DRAINED;
		break;
	case OHCA_EVENT_LAST_WQE:
		event.event = IB_EVENT_QP_LAST_WQE_REACHED;
		break;
	case OHCA_EVENT_PATH_MIG:
		event.event = IB_EVENT_PATH_MIG;
		break;
	case OHCA_EVENT_PATH_MIG_ERR:
		event.event = IB_EVENT_PATH_MIG_ERR;
		break;
	default:
		ibdev_dbg(ibqp->device, "QP %u: unknown event %#x\n", core->qpn, type);
		return;
	}

	if (ibqp->event_handler)
		ibqp->event_handler(&event, ibqp->qp_context);
}

/* Creating and destroying */

static bool ohca_qp_has_sq(const struct ib_qp_init_attr *init)
{
	return ohca_qp_type(init->qp_type)->sq && !ohca_qp_has_tags(init);
}

static bool ohca_qp_has_rq(const struct ib_qp_init_attr *init)
{
	return ohca_qp_type(init->qp_type)->rq && !init->srq;
}

static int ohca_qp_check_caps(struct ohca_dev *dev, const struct ib_qp_init_attr *init, bool user)
{
	const struct ohca_qp_type *type = ohca_qp_type(init->qp_type);
	const struct ohca_port *port;
	u32 create_flags = 0;

	if (!type || !(user ? type->user : type->kernel) || type->cap & ~dev->attr.caps)
		return -EOPNOTSUPP;
	if (ohca_qp_is_special(init)) {
		port = ohca_port(dev, init->port_num);
		if (!port)
			return -EINVAL;
		if (type->ib && !ohca_port_is_ib(port))
			return -EOPNOTSUPP;
	}

	if (init->qp_type == IB_QPT_UD && dev->attr.caps & OHCA_CAP_MCAST)
		create_flags = IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	if (init->qp_type == IB_QPT_UD && dev->attr.caps & OHCA_CAP_UD_LSO && !user)
		create_flags |= IB_QP_CREATE_IPOIB_UD_LSO;
	if (init->create_flags & ~create_flags)
		return -EOPNOTSUPP;

	return 0;
}

/* Check whether a QP of this type has, or does not have, an SRQ as required. */
static bool ohca_qp_check_srq(const struct ib_qp_init_attr *init)
{
	if (init->qp_type == IB_QPT_DRIVER)
		return init->srq && init->srq->srq_type == IB_SRQT_TM;
	if (!init->srq || ohca_qp_has_tags(init))
		return true;
	return ohca_qp_type(init->qp_type)->rq && init->srq->srq_type == IB_SRQT_BASIC;
}

/* The size of a queue that the QP doesn't have is zero. */
static int ohca_qp_check(struct ohca_dev *dev, struct ib_qp_init_attr *init)
{
	const struct ohca_qp_type *type = ohca_qp_type(init->qp_type);
	bool target = init->qp_type == IB_QPT_XRC_TGT;
	struct ib_qp_cap *cap = &init->cap;

	if ((type->sq && !init->send_cq) || (type->rq && !init->recv_cq) ||
	    !ohca_qp_check_srq(init) || !!init->xrcd != target)
		return -EINVAL;
	if (ohca_qp_has_tags(init) && cap->max_send_wr)
		return -EINVAL;

	if (!ohca_qp_has_sq(init)) {
		cap->max_send_wr = 0;
		cap->max_send_sge = 0;
		cap->max_inline_data = 0;
	}
	if (!type->rq || init->srq) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
	}

	if (cap->max_send_wr > dev->attr.max_qp_wr || cap->max_recv_wr > dev->attr.max_qp_wr ||
	    cap->max_send_sge > dev->attr.max_send_sge ||
	    cap->max_recv_sge > dev->attr.max_recv_sge ||
	    cap->max_inline_data > dev->attr.max_inline) {
		ibdev_dbg(dev->ibdev,
			  "QP of %u/%u work requests, %u/%u elements, %u inline bytes\n",
			  cap->max_send_wr, cap->max_recv_wr, cap->max_send_sge, cap->max_recv_sge,
			  cap->max_inline_data);
		return -EINVAL;
	}
	return 0;
}

/* All parameters but the buffer and the doorbell */
static void ohca_qp_params(struct ohca_qp_params *params, const struct ohca_wq_shape *sq,
			   const struct ohca_wq_shape *rq, struct ib_pd *ibpd,
			   struct ib_qp_init_attr *init)
{
	*params = (struct ohca_qp_params){
		.sq_offset = sq->offset,
		.rq_offset = rq->offset,
		.sq_rec_offset = sq->rec_offset,
		.rq_rec_offset = rq->rec_offset,
		.max_send_sge = init->cap.max_send_sge,
		.max_recv_sge = init->cap.max_recv_sge,
		.max_inline = init->cap.max_inline_data,
		.type = init->qp_type == IB_QPT_DRIVER ? OHCA_QPT_TM : init->qp_type,
		.sq_log_size = sq->log_size,
		.sq_log_stride = sq->log_stride,
		.rq_log_size = rq->log_size,
		.rq_log_stride = rq->log_stride,
	};
	if (ohca_qp_is_special(init))
		params->port = init->port_num;
	if (ibpd)
		params->pdn = to_opd(ibpd)->pdn;
	if (ohca_qp_has_sq(init)) {
		params->send_cqn = to_ocq(init->send_cq)->core.cqn;
		if (init->sq_sig_type == IB_SIGNAL_ALL_WR)
			params->flags |= OHCA_QP_F_SIGNAL_ALL;
	}
	if (ohca_qp_type(init->qp_type)->rq && !ohca_qp_has_tags(init))
		params->recv_cqn = to_ocq(init->recv_cq)->core.cqn;
	if (init->srq) {
		params->srqn = to_osrq(init->srq)->core.srqn;
		if (init->qp_type != IB_QPT_DRIVER)
			params->flags |= OHCA_QP_F_SRQ;
	}
	if (init->xrcd)
		params->xrcdn = to_oxrcd(init->xrcd)->xrcdn;
	if (init->create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK)
		params->flags |= OHCA_QP_F_NO_MCAST_LOOPBACK;
}

/* The device has created the QP. */
static void ohca_qp_created(struct ohca_qp *qp, const struct ib_qp_init_attr *init)
{
	qp->cap = init->cap;
	qp->sig_type = init->sq_sig_type;
	qp->create_flags = init->create_flags;
	qp->state = IB_QPS_RESET;
	qp->core.event = ohca_qp_event;
	/* ib_core knows the special QPs by their numbers in packets. */
	qp->ibqp.qp_num = ohca_qp_is_special(init) ? init->qp_type : qp->core.qpn;
}

/* Create a QP that has its buffer, or has no queues. */
static int ohca_qp_hw_create(struct ohca_dev *dev, struct ohca_qp *qp,
			     struct ohca_qp_params *params, struct ib_qp_init_attr *init)
{
	bool queues = qp->umem.ib || qp->buf.va;
	struct ohca_xlt_desc xlt;
	int err;

	if (queues) {
		err = ohca_xlt_from_queue(dev, &qp->umem, &qp->buf, &xlt);
		if (err)
			return err;
		params->buf = &xlt;
	}
	err = ohca_cmd_create_qp(dev, params, &qp->core.qpn);
	params->buf = NULL;
	if (queues)
		ohca_xlt_release(dev, &xlt);
	if (err)
		return err;

	if (ohca_qp_has_sq(init))
		init->cap.max_send_wr = BIT(params->sq_log_size);
	if (ohca_qp_has_rq(init))
		init->cap.max_recv_wr = BIT(params->rq_log_size);
	ohca_qp_created(qp, init);
	return 0;
}

static void ohca_qp_hw_destroy(struct ohca_dev *dev, struct ohca_qp *qp)
{
	if (ohca_cmd_destroy_qp(dev, qp->core.qpn))
		ohca_fence(dev, "QP not destroyed");
}

static u32 ohca_qp_next_slot(void)
{
	static atomic_t next;

	return OHCA_SLOT_QP +
	       (u32)atomic_inc_return(&next) % (OHCA_SHADOW_DIRECT_SLOTS - OHCA_SLOT_QP);
}

/* Allocate the buffer and the queues of a kernel QP. */
static int ohca_qp_alloc_queues(struct ohca_dev *dev, struct ohca_qp *qp,
				const struct ib_qp_init_attr *init, struct ohca_wq_shape *sq,
				struct ohca_wq_shape *rq)
{
	size_t size;
	int err;

	size = ohca_wq_place(sq, 0, init->cap.max_send_wr, ohca_kernel_sq_wqe_size(init),
			     OHCA_SQ_MIN_LOG_STRIDE);
	if (!init->srq)
		size = ohca_wq_place(rq, size, init->cap.max_recv_wr,
				     ohca_rq_wqe_size(init->cap.max_recv_sge),
				     OHCA_RQ_MIN_LOG_STRIDE);
	err = ohca_buf_alloc(dev, size, &qp->buf);
	if (err)
		return err;

	err = ohca_wq_init(&qp->sq, sq, qp->buf.va, init->cap.max_send_sge, false);
	if (err)
		goto err_buf;
	if (!init->srq)
		err = ohca_wq_init(&qp->rq, rq, qp->buf.va, init->cap.max_recv_sge, false);
	if (err)
		goto err_sq;
	return 0;

err_sq:
	ohca_wq_fini(&qp->sq);
err_buf:
	ohca_buf_free(dev, &qp->buf);
	return err;
}

/* Free the memory of the queues of any QP that the device does not use any more. */
static void ohca_qp_free_queues(struct ohca_dev *dev, struct ohca_qp *qp)
{
	ohca_wq_fini(&qp->sq);
	ohca_wq_fini(&qp->rq);
	ohca_buf_free(dev, &qp->buf);
	ohca_umem_release(&qp->umem);
}

static int ohca_qp_create_kernel(struct ohca_dev *dev, struct ohca_qp *qp,
				 struct ib_qp_init_attr *init)
{
	struct ohca_wq_shape sq, rq = {};
	struct ohca_qp_params params;
	int err;

	err = ohca_qp_alloc_queues(dev, qp, init, &sq, &rq);
	if (err)
		return err;
	qp->slot = ohca_qp_next_slot();
	qp->core.kernel = qp;

	ohca_qp_params(&params, &sq, &rq, qp->ibqp.pd, init);
	params.uar = dev->uar.index;
	params.slot = qp->slot;
	params.flags |= OHCA_QP_F_PRIVILEGED;
	err = ohca_qp_hw_create(dev, qp, &params, init);
	if (err)
		ohca_qp_free_queues(dev, qp);
	return err;
}

/* Check the layout of a user's queue; if @wqe_size is 0, the QP doesn't have that queue. */
static bool ohca_qp_wq_valid(struct ohca_dev *dev, const struct ohca_create_qp_req *req,
			     const struct ohca_wq_shape *shape, u32 wr, u32 wqe_size,
			     u8 min_log_stride)
{
	if (!wqe_size)
		return !shape->offset && !shape->rec_offset && !shape->log_size &&
		       !shape->log_stride;

	return ohca_wq_valid(shape, wr, dev->attr.max_qp_wr, wqe_size, min_log_stride,
			     req->buf_addr, req->buf_size);
}

static int ohca_qp_request(struct ohca_dev *dev, const struct ib_qp_init_attr *init,
			   const struct ohca_create_qp_req *req, struct ohca_wq_shape *sq,
			   struct ohca_wq_shape *rq)
{
	const struct ib_qp_cap *cap = &init->cap;
	u32 sq_size = ohca_qp_has_sq(init) ? ohca_sq_wqe_size(init) : 0;
	u32 rq_size = ohca_qp_has_rq(init) ? ohca_rq_wqe_size(cap->max_recv_sge) : 0;

	*sq = (struct ohca_wq_shape){req->sq_offset, req->sq_rec_offset, req->sq_log_size,
				     req->sq_log_stride};
	*rq = (struct ohca_wq_shape){req->rq_offset, req->rq_rec_offset, req->rq_log_size,
				     req->rq_log_stride};

	if (req->rsvd || req->slot >= OHCA_SHADOW_SLOTS ||
	    !IS_ALIGNED(req->buf_addr, OHCA_REC_ALIGN)) {
		ibdev_dbg(dev->ibdev, "QP slot %u, buffer %#llx\n", req->slot, req->buf_addr);
		return -EINVAL;
	}

	if (!ohca_qp_wq_valid(dev, req, sq, cap->max_send_wr, sq_size, OHCA_SQ_MIN_LOG_STRIDE) ||
	    !ohca_qp_wq_valid(dev, req, rq, cap->max_recv_wr, rq_size, OHCA_RQ_MIN_LOG_STRIDE)) {
		ibdev_dbg(dev->ibdev,
			  "QP buffer of %llu bytes: SQ 2^%u * 2^%u at %u, RQ 2^%u * 2^%u at %u\n",
			  req->buf_size, sq->log_size, sq->log_stride, sq->offset, rq->log_size,
			  rq->log_stride, rq->offset);
		return -EINVAL;
	}
	return 0;
}

static int ohca_qp_respond(struct ohca_qp *qp, struct ib_udata *udata)
{
	struct ohca_create_qp_resp resp = {.qpn = qp->core.qpn};

	return ib_respond_udata(udata, resp);
}

/* Create an XRC target: it has no memory, and no response for the user. */
static int ohca_qp_create_target(struct ohca_dev *dev, struct ohca_qp *qp,
				 struct ib_qp_init_attr *init)
{
	static const struct ohca_wq_shape none;
	struct ohca_qp_params params;

	ohca_qp_params(&params, &none, &none, NULL, init);
	return ohca_qp_hw_create(dev, qp, &params, init);
}

/* Create a QP that spreads frames: it has no memory and no states, so ib_core can't show any. */
static int ohca_qp_create_rss(struct ohca_dev *dev, struct ohca_qp *qp,
			      struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	int err;

	rdma_restrack_no_track(&qp->ibqp.res);
	err = ohca_rss_create(dev, init, udata, &qp->core.qpn);
	if (err)
		return err;

	ohca_qp_created(qp, init);
	err = ohca_qp_respond(qp, udata);
	if (err)
		ohca_qp_hw_destroy(dev, qp);
	return err;
}

/*
 * Create a user's QP without memory: it receives from an SRQ with tags, and the device has its send
 * queue.
 */
static int ohca_qp_create_tagged(struct ohca_dev *dev, struct ohca_qp *qp,
				 struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	static const struct ohca_wq_shape none;
	struct ohca_create_qp_req req = {};
	struct ohca_qp_params params;
	int err;

	err = ib_copy_validate_udata_in_cm(udata, req, rsvd, 0);
	if (err)
		return err;
	if (memchr_inv(&req, 0, sizeof(req)))
		return -EINVAL;

	ohca_qp_params(&params, &none, &none, qp->ibqp.pd, init);
	err = ohca_qp_hw_create(dev, qp, &params, init);
	if (err)
		return err;

	err = ohca_qp_respond(qp, udata);
	if (err)
		ohca_qp_hw_destroy(dev, qp);
	return err;
}

/* A QP that posts operations on tags has only this state. */
static int ohca_qp_start_tm(struct ohca_dev *dev, struct ohca_qp *qp)
{
	static const struct ohca_qp_attr rts = {.state = OHCA_QPS_RTS};

	if (qp->ibqp.qp_type != IB_QPT_DRIVER)
		return 0;
	qp->state = IB_QPS_RTS;
	return ohca_cmd_modify_qp(dev, qp->core.qpn, OHCA_QP_STATE, &rts);
}

static int ohca_qp_create_user(struct ohca_dev *dev, struct ohca_qp *qp,
			       struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct ohca_ucontext *uc = rdma_udata_to_drv_context(udata, struct ohca_ucontext, ibuc);
	struct ohca_create_qp_req req = {};
	struct ohca_wq_shape sq, rq;
	struct ohca_qp_params params;
	int err;

	err = ib_copy_validate_udata_in_cm(udata, req, rsvd, 0);
	if (err)
		return err;

	err = ohca_qp_request(dev, init, &req, &sq, &rq);
	if (err)
		return err;

	err = ohca_umem_pin(dev, udata, req.buf_addr, req.buf_size, &qp->umem);
	if (err) {
		ibdev_dbg(dev->ibdev, "QP buffer: %pe\n", ERR_PTR(err));
		return err;
	}

	ohca_qp_params(&params, &sq, &rq, qp->ibqp.pd, init);
	params.uar = uc->uar.index;
	params.slot = req.slot;
	err = ohca_qp_hw_create(dev, qp, &params, init);
	if (err)
		goto err_umem;

	err = ohca_qp_start_tm(dev, qp);
	if (!err)
		err = ohca_qp_respond(qp, udata);
	if (err)
		goto err_qp;

	return 0;

err_qp:
	ohca_qp_hw_destroy(dev, qp);
err_umem:
	ohca_umem_release(&qp->umem);
	return err;
}

int ohca_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibqp->device);
	struct ohca_qp *qp = to_oqp(ibqp);
	int err;

	err = ohca_qp_check_caps(dev, init, udata);
	if (err)
		return err;

	err = init->rwq_ind_tbl ? ohca_rss_check(init) : ohca_qp_check(dev, init);
	if (err)
		return err;

	mutex_init(&qp->mutex);
	INIT_LIST_HEAD(&qp->mcasts);
	if (init->qp_type == IB_QPT_XRC_TGT)
		err = ohca_qp_create_target(dev, qp, init);
	else if (init->rwq_ind_tbl)
		err = ohca_qp_create_rss(dev, qp, init, udata);
	else if (udata && ohca_qp_has_tags(init))
		err = ohca_qp_create_tagged(dev, qp, init, udata);
	else if (udata)
		err = ohca_qp_create_user(dev, qp, init, udata);
	else
		err = ohca_qp_create_kernel(dev, qp, init);
	if (err)
		goto err_mutex;

	err = ohca_core_qp_publish(dev, &qp->core);
	if (err)
		goto err_qp;

	if (qp->buf.va)
		ohca_flush_join(qp);
	return 0;

err_qp:
	ohca_qp_hw_destroy(dev, qp);
	ohca_qp_free_queues(dev, qp);
err_mutex:
	mutex_destroy(&qp->mutex);
	return udata ? err : ohca_kernel_err(dev, err);
}

/* What XRC targets and QPs with an indirection table use ends without waiting for them. */
static bool ohca_qp_end_later(struct ohca_dev *dev, struct ohca_qp *qp, struct ib_ucontext *ibuc)
{
	return qp->umem.ib && !qp->ibqp.rwq_ind_tbl && qp->ibqp.qp_type != IB_QPT_XRC_TGT &&
	       ohca_end_later(dev, ibuc, OHCA_END_QP, qp->core.qpn, &qp->umem);
}

int ohca_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	static const struct ohca_qp_attr reset = {.state = OHCA_QPS_RESET};
	struct ohca_dev *dev = to_odev(ibqp->device);
	struct ohca_qp *qp = to_oqp(ibqp);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	ohca_core_qp_withdraw(dev, &qp->core);
	mutex_lock(&qp->mutex);
	qp->gone = true;
	mutex_unlock(&qp->mutex);
	if (qp->buf.va) {
		ohca_flush_leave(qp);
		/* Clean the CQs before another QP can get this number. */
		ohca_cmd_modify_qp(dev, qp->core.qpn, OHCA_QP_STATE, &reset);
		ohca_cq_clean(to_ocq(ibqp->send_cq), qp);
		if (ibqp->recv_cq != ibqp->send_cq)
			ohca_cq_clean(to_ocq(ibqp->recv_cq), qp);
		if (ibqp->srq)
			ohca_srq_sync(to_osrq(ibqp->srq));
	}
	if (ohca_qp_end_later(dev, qp, ohca_udata_context(udata)))
		return 0;
	ohca_qp_hw_destroy(dev, qp);
	ohca_qp_free_queues(dev, qp);
	return 0;
}

/* Modifying and querying */

/* The device has moved the QP to @state. */
static void ohca_qp_set_state(struct ohca_qp *qp, enum ib_qp_state state)
{
	trace_ohca_qp_state(to_odev(qp->ibqp.device), qp->core.qpn, qp->state, state);
	WRITE_ONCE(qp->state, state);
	if (!qp->buf.va || state != IB_QPS_RESET)
		return;

	/* From now on, a thread that takes a queue's lock sees the state, and posts nothing. */
	ohca_cq_clean(to_ocq(qp->ibqp.send_cq), qp);
	ohca_cq_clean(to_ocq(qp->ibqp.recv_cq), qp);
	ohca_wq_reset(&qp->sq);
	if (qp->ibqp.srq)
		ohca_srq_sync(to_osrq(qp->ibqp.srq));
	else
		ohca_wq_reset(&qp->rq);
}

/*
 * Kernel consumers also drain the QPs of a fenced device, and move QPs of datagrams out of SQE
 * after an error; see flush.c.
 */
static int ohca_qp_modify_fenced(struct ohca_qp *qp, enum ib_qp_state cur, enum ib_qp_state next)
{
	if (!qp->buf.va || !ohca_fenced(to_odev(qp->ibqp.device)))
		return -EIO;
	if (next != IB_QPS_ERR && !(cur == IB_QPS_SQE && next == IB_QPS_RTS))
		return -ENETDOWN; /* see ohca_kernel_err() */

	if (next == IB_QPS_ERR && qp->ibqp.srq)
		ohca_qp_event(&qp->core, OHCA_EVENT_LAST_WQE);
	return 0;
}

int ohca_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int attr_mask,
		   struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibqp->device);
	struct ohca_qp *qp = to_oqp(ibqp);
	enum ib_qp_state cur, next;
	struct ohca_port *port;
	struct ohca_qp_attr hw;
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;
	if (ibqp->rwq_ind_tbl || ibqp->qp_type == IB_QPT_DRIVER)
		return -EOPNOTSUPP;

	mutex_lock(&qp->mutex);
	cur = attr_mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	next = attr_mask & IB_QP_STATE ? attr->qp_state : cur;
	if (!ib_modify_qp_is_ok(cur, next, ibqp->qp_type, attr_mask)) {
		ibdev_dbg(dev->ibdev,
			  "QP %u: no transition from state %d to %d with attributes %#x\n",
			  ibqp->qp_num, cur, next, attr_mask);
		err = -EINVAL;
		goto out;
	}
	/* A connection request may have a path MTU that the peer has room for, not this port. */
	port = ohca_port(dev, attr_mask & IB_QP_PORT ? attr->port_num : ibqp->port);
	if (port && attr_mask & IB_QP_PATH_MTU && attr->path_mtu > ohca_port_active_mtu(port)) {
		ibdev_dbg(dev->ibdev, "QP %u: path MTU %d is larger than the port's\n",
			  ibqp->qp_num, ib_mtu_enum_to_int(attr->path_mtu));
		err = -EINVAL;
		goto out;
	}

	err = ohca_qp_attr_from_ib(dev, &hw, attr, attr_mask);
	if (!err)
		err = ohca_cmd_modify_qp(dev, qp->core.qpn, attr_mask, &hw);
	if (err == -EIO)
		err = ohca_qp_modify_fenced(qp, cur, next);
	if (!err && attr_mask & IB_QP_STATE)
		ohca_qp_set_state(qp, next);
out:
	mutex_unlock(&qp->mutex);
	return err;
}

int ohca_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int attr_mask,
		  struct ib_qp_init_attr *init)
{
	struct ohca_dev *dev = to_odev(ibqp->device);
	struct ohca_qp *qp = to_oqp(ibqp);
	struct ohca_qp_attr hw;
	int err;

	if (ibqp->rwq_ind_tbl)
		return -EOPNOTSUPP;

	mutex_lock(&qp->mutex);
	err = qp->gone ? -EAGAIN : ohca_cmd_query_qp(dev, qp->core.qpn, &hw);
	mutex_unlock(&qp->mutex);
	if (err)
		return err;

	ohca_qp_attr_to_ib(attr, &hw, ibqp);
	attr->cap = qp->cap;

	*init = (struct ib_qp_init_attr){
		.event_handler = ibqp->event_handler,
		.qp_context = ibqp->qp_context,
		.send_cq = ibqp->send_cq,
		.recv_cq = ibqp->recv_cq,
		.srq = ibqp->srq,
		.xrcd = ibqp->xrcd,
		.cap = qp->cap,
		.sq_sig_type = qp->sig_type,
		.qp_type = ibqp->qp_type,
		.create_flags = qp->create_flags,
	};
	return 0;
}
