// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: shared receive queues, and XRC domains.
 */

#include <rdma/ohca-abi.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>
#define UVERBS_MODULE_NAME ohca_srq
#include <rdma/uverbs_named_ioctl.h>

#include "cq.h"
#include "ohca.h"
#include "ohca_compat.h"
#include "pd.h"
#include "srq.h"
#include "ucontext.h"
#include "wq.h"
#include "xlt.h"

/* Events */

static void ohca_srq_event(struct ohca_core_srq *core, u8 type)
{
	struct ib_srq *ibsrq = &container_of(core, struct ohca_srq, core)->ibsrq;
	struct ib_event event = {
		.device = ibsrq->device,
		.element.srq = ibsrq,
		.event = type == OHCA_EVENT_SRQ_LIMIT ? IB_EVENT_SRQ_LIMIT_REACHED
						      : IB_EVENT_SRQ_ERR,
	};

	if (ibsrq->event_handler)
		ibsrq->event_handler(&event, ibsrq->srq_context);
}

/* Creating and destroying */

static int ohca_srq_check(struct ohca_dev *dev, const struct ib_srq_init_attr *init, bool user)
{
	u64 cap = init->srq_type == IB_SRQT_XRC ? OHCA_CAP_XRC : OHCA_CAP_TM;
	const struct ib_srq_attr *attr = &init->attr;
	u32 tags;

	if (init->srq_type != IB_SRQT_BASIC &&
	    ((init->srq_type != IB_SRQT_XRC && init->srq_type != IB_SRQT_TM) || !user ||
	     !(dev->attr.caps & cap)))
		return -EOPNOTSUPP;

	if (init->srq_type == IB_SRQT_TM) {
		tags = init->ext.tag_matching.max_num_tags;
		if (!tags || tags > ohca_max_tags(dev)) {
			ibdev_dbg(dev->ibdev, "SRQ of %u tags\n", tags);
			return -EINVAL;
		}
	}
	if (!attr->max_wr || attr->max_wr > dev->attr.max_srq_wr ||
	    attr->max_sge > dev->attr.max_recv_sge) {
		ibdev_dbg(dev->ibdev, "SRQ of %u work requests, %u elements\n", attr->max_wr,
			  attr->max_sge);
		return -EINVAL;
	}
	return 0;
}

/* Create an SRQ that has its buffer. */
static int ohca_srq_hw_create(struct ohca_dev *dev, struct ohca_srq *srq,
			      const struct ohca_wq_shape *shape, struct ib_srq_init_attr *init)
{
	struct ohca_xlt_desc xlt;
	struct ohca_srq_params params = {
		.buf = &xlt,
		.ring_offset = shape->offset,
		.rec_offset = shape->rec_offset,
		.pdn = to_opd(srq->ibsrq.pd)->pdn,
		.max_sge = init->attr.max_sge,
		.type = OHCA_SRQ_BASIC,
		.log_size = shape->log_size,
		.log_stride = shape->log_stride,
		.flags = srq->umem.ib ? 0 : OHCA_SRQ_F_PRIVILEGED,
	};
	int err;

	if (ib_srq_has_cq(init->srq_type))
		params.cqn = to_ocq(init->ext.cq)->core.cqn;
	if (init->srq_type == IB_SRQT_XRC) {
		params.type = OHCA_SRQ_XRC;
		params.xrcdn = to_oxrcd(init->ext.xrc.xrcd)->xrcdn;
	} else if (init->srq_type == IB_SRQT_TM) {
		params.type = OHCA_SRQ_TM;
		params.max_tags = init->ext.tag_matching.max_num_tags;
	}
	err = ohca_xlt_from_queue(dev, &srq->umem, &srq->buf, &xlt);
	if (err)
		return err;
	err = ohca_cmd_create_srq(dev, &params, &srq->core.srqn);
	ohca_xlt_release(dev, &xlt);
	if (err)
		return err;

	srq->core.event = ohca_srq_event;
	srq->max_sge = init->attr.max_sge;
	srq->log_size = shape->log_size;
	srq->log_stride = shape->log_stride;
	init->attr.max_wr = BIT(shape->log_size);
	if (init->srq_type == IB_SRQT_XRC)
		srq->ibsrq.ext.xrc.srq_num = srq->core.srqn;
	return 0;
}

static void ohca_srq_hw_destroy(struct ohca_dev *dev, struct ohca_srq *srq)
{
	if (ohca_cmd_destroy_srq(dev, srq->core.srqn))
		ohca_fence(dev, "SRQ not destroyed");
}

static int ohca_srq_create_kernel(struct ohca_dev *dev, struct ohca_srq *srq,
				  struct ib_srq_init_attr *init)
{
	struct ohca_wq_shape shape;
	size_t size;
	int err;

	size = ohca_wq_place(&shape, 0, init->attr.max_wr, ohca_rq_wqe_size(init->attr.max_sge),
			     OHCA_RQ_MIN_LOG_STRIDE);
	err = ohca_buf_alloc(dev, size, &srq->buf);
	if (err)
		return err;

	err = ohca_wq_init(&srq->wq, &shape, srq->buf.va, init->attr.max_sge, true);
	if (err)
		goto err_buf;
	err = ohca_srq_hw_create(dev, srq, &shape, init);
	if (err)
		goto err_wq;
	return 0;

err_wq:
	ohca_wq_fini(&srq->wq);
err_buf:
	ohca_buf_free(dev, &srq->buf);
	return err;
}

static int ohca_srq_create_user(struct ohca_dev *dev, struct ohca_srq *srq,
				struct ib_srq_init_attr *init, struct ib_udata *udata)
{
	struct ohca_create_srq_resp resp = {};
	struct ohca_wq_shape shape;
	int err;

	err = ohca_rq_pin_request(dev, &shape, init->attr.max_wr, dev->attr.max_srq_wr,
				  init->attr.max_sge, udata, &srq->umem);
	if (err)
		return err;

	err = ohca_srq_hw_create(dev, srq, &shape, init);
	if (err)
		goto err_umem;

	resp.srqn = srq->core.srqn;
	err = ib_respond_udata(udata, resp);
	if (err)
		goto err_srq;

	return 0;

err_srq:
	ohca_srq_hw_destroy(dev, srq);
err_umem:
	ohca_umem_release(&srq->umem);
	return err;
}

/* As in other drivers, only a modify command sets the limit. */
int ohca_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibsrq->device);
	struct ohca_srq *srq = to_osrq(ibsrq);
	int err;

	err = ohca_srq_check(dev, init, udata);
	if (err)
		return err;

	mutex_init(&srq->mutex);
	if (udata)
		err = ohca_srq_create_user(dev, srq, init, udata);
	else
		err = ohca_srq_create_kernel(dev, srq, init);
	if (err)
		goto err_mutex;

	err = ohca_core_srq_publish(dev, &srq->core);
	if (err)
		goto err_srq;

	return 0;

err_srq:
	ohca_srq_hw_destroy(dev, srq);
	ohca_wq_fini(&srq->wq);
	ohca_buf_free(dev, &srq->buf);
	ohca_umem_release(&srq->umem);
err_mutex:
	mutex_destroy(&srq->mutex);
	return err;
}

int ohca_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibsrq->device);
	struct ohca_srq *srq = to_osrq(ibsrq);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	ohca_core_srq_withdraw(dev, &srq->core);
	mutex_destroy(&srq->mutex);
	/* Other processes may have the XRC domain, and end it without waiting for this one. */
	if (ibsrq->srq_type != IB_SRQT_XRC &&
	    ohca_end_later(dev, ohca_udata_context(udata), OHCA_END_SRQ, srq->core.srqn,
			   &srq->umem))
		return 0;
	ohca_srq_hw_destroy(dev, srq);
	ohca_wq_fini(&srq->wq);
	ohca_buf_free(dev, &srq->buf);
	ohca_umem_release(&srq->umem);
	return 0;
}

/* Modifying and querying */

/* Change the ring; @params includes the limit if that changes.  For user space only. */
static int ohca_srq_resize(struct ohca_dev *dev, struct ohca_srq *srq, u32 max_wr,
			   struct ohca_srq_mod *mod, struct ib_udata *udata)
{
	struct ohca_modify_srq_req req = {};
	struct ohca_wq_shape shape;
	struct ohca_xlt_desc xlt;
	struct ohca_umem umem;
	int err;

	if (!udata)
		return -EOPNOTSUPP;

	err = ib_copy_validate_udata_in_cm(udata, req, rsvd, 0);
	if (err)
		return err;
	if (memchr_inv(req.rsvd, 0, sizeof(req.rsvd)))
		return -EINVAL;

	shape = (struct ohca_wq_shape){req.ring_offset, req.rec_offset, req.log_size,
				       srq->log_stride};
	err = ohca_rq_pin(dev, &shape, max_wr, dev->attr.max_srq_wr, srq->max_sge, req.buf_addr,
			  req.buf_size, udata, &umem);
	if (err)
		return err;

	err = ohca_xlt_from_queue(dev, &umem, NULL, &xlt);
	if (err)
		goto err_umem;

	mod->attr_mask |= OHCA_SRQ_ATTR_SIZE;
	mod->buf = &xlt;
	mod->ring_offset = shape.offset;
	mod->rec_offset = shape.rec_offset;
	mod->log_size = shape.log_size;
	err = ohca_cmd_modify_srq(dev, srq->core.srqn, mod);
	ohca_xlt_release(dev, &xlt);
	if (err)
		goto err_umem;

	ohca_umem_release(&srq->umem);
	srq->umem = umem;
	srq->log_size = shape.log_size;
	return 0;

err_umem:
	ohca_umem_release(&umem);
	return err;
}

int ohca_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		    struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibsrq->device);
	struct ohca_srq *srq = to_osrq(ibsrq);
	struct ohca_srq_mod mod = {};
	u32 size;
	int err;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EOPNOTSUPP;

	if (!(mask & IB_SRQ_MAX_WR)) {
		err = ib_is_udata_in_empty(udata);
		if (err)
			return err;
	}

	err = ib_respond_empty_udata(udata);
	if (err || !mask)
		return err;

	mutex_lock(&srq->mutex);
	size = mask & IB_SRQ_MAX_WR ? attr->max_wr : BIT(srq->log_size);
	if (!size || size > dev->attr.max_srq_wr ||
	    (mask & IB_SRQ_LIMIT && attr->srq_limit > size)) {
		ibdev_dbg(dev->ibdev, "SRQ of %u work requests, limit %u\n", size, attr->srq_limit);
		err = -EINVAL;
		goto out;
	}

	if (mask & IB_SRQ_LIMIT) {
		mod.attr_mask = OHCA_SRQ_ATTR_LIMIT;
		mod.limit = attr->srq_limit;
	}
	if (mask & IB_SRQ_MAX_WR)
		err = ohca_srq_resize(dev, srq, size, &mod, udata);
	else
		err = ohca_cmd_modify_srq(dev, srq->core.srqn, &mod);
out:
	mutex_unlock(&srq->mutex);
	return err;
}

int ohca_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct ohca_dev *dev = to_odev(ibsrq->device);
	struct ohca_srq *srq = to_osrq(ibsrq);
	struct ohca_srq_state state;
	int err;

	mutex_lock(&srq->mutex);
	err = ohca_cmd_query_srq(dev, srq->core.srqn, &state);
	if (!err)
		*attr = (struct ib_srq_attr){
			.max_wr = BIT(srq->log_size),
			.max_sge = srq->max_sge,
			.srq_limit = state.limit,
		};
	mutex_unlock(&srq->mutex);
	return err;
}

/**
 * ohca_srq_sync() - query how many entries were taken from a kernel SRQ
 * @srq: SRQ; nothing is done for a user's
 *
 * For requests that a QP took and that do not complete, because the QP is in RESET or destroyed.
 */
void ohca_srq_sync(struct ohca_srq *srq)
{
	struct ohca_srq_state state;

	if (!srq->umem.ib &&
	    !ohca_cmd_query_srq(to_odev(srq->ibsrq.device), srq->core.srqn, &state))
		ohca_wq_taken(&srq->wq, state.taken);
}

/* XRC domains are for user space only, because kernel work requests can't name an SRQ. */

int ohca_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibxrcd->device);
	struct ohca_xrcd *xrcd = to_oxrcd(ibxrcd);
	int err;

	if (!udata)
		return -EOPNOTSUPP;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	return ohca_cmd_alloc_xrcd(dev, &xrcd->xrcdn);
}

int ohca_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibxrcd->device);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	if (ohca_cmd_free_xrcd(dev, to_oxrcd(ibxrcd)->xrcdn))
		ohca_fence(dev, "XRC domain not freed");
	return 0;
}

/* Additional methods for user space */

static int UVERBS_HANDLER(OHCA_METHOD_SRQ_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_srq *ibsrq = uverbs_attr_get_obj(attrs, OHCA_ATTR_QUERY_SRQ_HANDLE);
	struct ohca_srq_state state;
	int err;

	err = ohca_cmd_query_srq(to_odev(ibsrq->device), to_osrq(ibsrq)->core.srqn, &state);
	if (err)
		return err;

	return uverbs_copy_to(attrs, OHCA_ATTR_QUERY_SRQ_RESP_TAKEN, &state.taken,
			      sizeof(state.taken));
}

DECLARE_UVERBS_NAMED_METHOD(OHCA_METHOD_SRQ_QUERY,
			    UVERBS_ATTR_IDR(OHCA_ATTR_QUERY_SRQ_HANDLE, UVERBS_OBJECT_SRQ,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(OHCA_ATTR_QUERY_SRQ_RESP_TAKEN,
						UVERBS_ATTR_TYPE(u32), UA_MANDATORY));

DECLARE_UVERBS_GLOBAL_METHODS(UVERBS_OBJECT_SRQ, &UVERBS_METHOD(OHCA_METHOD_SRQ_QUERY));

const struct uapi_definition ohca_srq_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_SRQ),
	{},
};
