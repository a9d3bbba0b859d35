// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: receive-side scaling: receive work queues, indirection tables, and QPs with a hash,
 * which spread frames over a table.
 */

#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/ohca-abi.h>

#include "cq.h"
#include "ohca.h"
#include "ohca_compat.h"
#include "pd.h"
#include "rss.h"
#include "wq.h"
#include "xlt.h"

#define OHCA_RSS_IPV4 (OHCA_RSS_SRC_IPV4 | OHCA_RSS_DST_IPV4)
#define OHCA_RSS_IPV6 (OHCA_RSS_SRC_IPV6 | OHCA_RSS_DST_IPV6)
#define OHCA_RSS_TCP (OHCA_RSS_SRC_PORT_TCP | OHCA_RSS_DST_PORT_TCP)
#define OHCA_RSS_UDP (OHCA_RSS_SRC_PORT_UDP | OHCA_RSS_DST_PORT_UDP)

/* Receive work queues */

/* In interrupts */
static void ohca_rwq_event(struct ohca_core_qp *core, u8 type)
{
	struct ib_wq *ibwq = &container_of(core, struct ohca_rwq, core)->ibwq;
	struct ib_event event = {
		.device = ibwq->device,
		.element.wq = ibwq,
		.event = IB_EVENT_WQ_FATAL,
	};

	if (type == OHCA_EVENT_QP_FATAL && ibwq->event_handler)
		ibwq->event_handler(&event, ibwq->wq_context);
}

static int ohca_rwq_check(struct ohca_dev *dev, const struct ib_wq_init_attr *init)
{
	if (init->wq_type != IB_WQT_RQ || IS_ERR_OR_NULL(init->cq))
		return -EINVAL;
	if (init->create_flags)
		return -EOPNOTSUPP;

	if (!init->max_wr || init->max_wr > dev->attr.max_qp_wr ||
	    init->max_sge > dev->attr.max_recv_sge) {
		ibdev_dbg(dev->ibdev, "WQ of %u work requests, %u elements\n", init->max_wr,
			  init->max_sge);
		return -EINVAL;
	}
	return 0;
}

static int ohca_rwq_hw_create(struct ohca_dev *dev, struct ohca_rwq *rwq, struct ib_pd *ibpd,
			      const struct ohca_wq_shape *shape, struct ib_wq_init_attr *init)
{
	struct ohca_qp_params params = {
		.rq_offset = shape->offset,
		.rq_rec_offset = shape->rec_offset,
		.pdn = to_opd(ibpd)->pdn,
		.recv_cqn = to_ocq(init->cq)->core.cqn,
		.max_recv_sge = init->max_sge,
		.type = OHCA_QPT_RWQ,
		.rq_log_size = shape->log_size,
		.rq_log_stride = shape->log_stride,
	};
	struct ohca_xlt_desc xlt;
	int err;

	err = ohca_xlt_from_queue(dev, &rwq->umem, NULL, &xlt);
	if (err)
		return err;

	params.buf = &xlt;
	err = ohca_cmd_create_qp(dev, &params, &rwq->core.qpn);
	ohca_xlt_release(dev, &xlt);
	if (err)
		return err;

	init->max_wr = BIT(shape->log_size);
	rwq->core.event = ohca_rwq_event;
	rwq->ibwq.device = ibpd->device;
	rwq->ibwq.event_handler = init->event_handler;
	rwq->ibwq.wq_context = init->wq_context;
	rwq->ibwq.wq_num = rwq->core.qpn;
	rwq->ibwq.state = IB_WQS_RESET;
	return 0;
}

static void ohca_rwq_hw_destroy(struct ohca_dev *dev, struct ohca_rwq *rwq)
{
	if (ohca_cmd_destroy_qp(dev, rwq->core.qpn))
		ohca_fence(dev, "WQ not destroyed");
}

static int ohca_rwq_create(struct ohca_dev *dev, struct ohca_rwq *rwq, struct ib_pd *ibpd,
			   struct ib_wq_init_attr *init, struct ib_udata *udata)
{
	struct ohca_wq_shape shape;
	int err;

	err = ohca_rq_pin_request(dev, &shape, init->max_wr, dev->attr.max_qp_wr, init->max_sge,
				  udata, &rwq->umem);
	if (err)
		return err;

	err = ohca_rwq_hw_create(dev, rwq, ibpd, &shape, init);
	if (err)
		goto err_umem;

	err = ib_respond_empty_udata(udata);
	if (err)
		goto err_rwq;

	err = ohca_core_qp_publish(dev, &rwq->core);
	if (err)
		goto err_rwq;

	return 0;

err_rwq:
	ohca_rwq_hw_destroy(dev, rwq);
err_umem:
	ohca_umem_release(&rwq->umem);
	return err;
}

/* For user space only: the netdev handles the kernel's frames. */
struct ib_wq *ohca_create_wq(struct ib_pd *ibpd, struct ib_wq_init_attr *init,
			     struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibpd->device);
	struct ohca_rwq *rwq;
	int err;

	if (!udata)
		return ERR_PTR(-EOPNOTSUPP);

	err = ohca_rwq_check(dev, init);
	if (err)
		return ERR_PTR(err);

	rwq = kzalloc_obj(*rwq);
	if (!rwq)
		return ERR_PTR(-ENOMEM);

	mutex_init(&rwq->mutex);
	err = ohca_rwq_create(dev, rwq, ibpd, init, udata);
	if (err) {
		mutex_destroy(&rwq->mutex);
		kfree(rwq);
		return ERR_PTR(err);
	}
	return &rwq->ibwq;
}

/* The device checks whether the transition between states is valid. */
int ohca_modify_wq(struct ib_wq *ibwq, struct ib_wq_attr *attr, u32 mask, struct ib_udata *udata)
{
	static const u8 states[] = {
		[IB_WQS_RESET] = OHCA_QPS_RESET,
		[IB_WQS_RDY] = OHCA_QPS_RTR,
		[IB_WQS_ERR] = OHCA_QPS_ERR,
	};
	struct ohca_dev *dev = to_odev(ibwq->device);
	struct ohca_rwq *rwq = to_orwq(ibwq);
	struct ohca_qp_attr qp_attr = {};
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;
	if (mask & IB_WQ_FLAGS && attr->flags_mask)
		return -EOPNOTSUPP;
	if (mask & IB_WQ_STATE && (u32)attr->wq_state >= ARRAY_SIZE(states))
		return -EINVAL;

	mutex_lock(&rwq->mutex);
	if (mask & IB_WQ_CUR_STATE && attr->curr_wq_state != ibwq->state) {
		err = -EINVAL;
	} else if (mask & IB_WQ_STATE) {
		qp_attr.state = states[attr->wq_state];
		err = ohca_cmd_modify_qp(dev, rwq->core.qpn, OHCA_QP_STATE, &qp_attr);
		if (!err)
			ibwq->state = attr->wq_state;
	}
	mutex_unlock(&rwq->mutex);
	return err;
}

int ohca_destroy_wq(struct ib_wq *ibwq, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibwq->device);
	struct ohca_rwq *rwq = to_orwq(ibwq);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	ohca_core_qp_withdraw(dev, &rwq->core);
	ohca_rwq_hw_destroy(dev, rwq);
	ohca_umem_release(&rwq->umem);
	mutex_destroy(&rwq->mutex);
	kfree(rwq);
	return 0;
}

/* Indirection tables */

int ohca_create_rwq_ind_table(struct ib_rwq_ind_table *ibtbl,
			      struct ib_rwq_ind_table_init_attr *init, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibtbl->device);
	struct ohca_create_ind_tbl_in *in;
	u32 i;
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;
	if (init->log_ind_tbl_size > dev->attr.log_max_ind_tbl)
		return -EINVAL;

	in = kzalloc_obj(*in);
	if (!in)
		return -ENOMEM;

	in->log_size = init->log_ind_tbl_size;
	for (i = 0; i < BIT(init->log_ind_tbl_size); i++)
		in->wqn[i] = cpu_to_le32(to_orwq(init->ind_tbl[i])->core.qpn);
	err = ohca_cmd_create_ind_tbl(dev, in, &ibtbl->ind_tbl_num);
	kfree(in);
	return err;
}

int ohca_destroy_rwq_ind_table(struct ib_rwq_ind_table *ibtbl)
{
	struct ohca_dev *dev = to_odev(ibtbl->device);

	if (ohca_cmd_destroy_ind_tbl(dev, ibtbl->ind_tbl_num))
		ohca_fence(dev, "indirection table not destroyed");
	return 0;
}

/* The hash */

/**
 * ohca_rss_check() - check the attributes of a QP with a table
 * @init: attributes
 *
 * Return: 0 or a negative errno
 */
int ohca_rss_check(const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (init->qp_type != IB_QPT_RAW_PACKET || init->send_cq || init->recv_cq || init->srq ||
	    cap->max_send_wr || cap->max_recv_wr)
		return -EINVAL;

	return 0;
}

/* ib_core's rule: a QP hashes IPv4 or IPv6, TCP or UDP. */
static int ohca_rss_check_hash(const struct ohca_create_rss_req *req, u32 log_size)
{
	if (memchr_inv(req->rsvd, 0, sizeof(req->rsvd)) || req->key_len != OHCA_RSS_KEY_LEN)
		return -EINVAL;
	if (req->function != OHCA_RSS_TOEPLITZ || req->fields & ~OHCA_RSS_FIELDS)
		return -EOPNOTSUPP;

	if ((req->fields & OHCA_RSS_IPV4 && req->fields & OHCA_RSS_IPV6) ||
	    (req->fields & OHCA_RSS_TCP && req->fields & OHCA_RSS_UDP))
		return -EINVAL;

	return req->fields || !log_size ? 0 : -EINVAL;
}

/**
 * ohca_rss_create() - create a QP that spreads frames over its table
 * @dev: device
 * @init: attributes, checked
 * @udata: the user's part of the request
 * @qpn: result
 *
 * Return: 0 or a negative errno
 */
int ohca_rss_create(struct ohca_dev *dev, const struct ib_qp_init_attr *init,
		    struct ib_udata *udata, u32 *qpn)
{
	struct ib_rwq_ind_table *ibtbl = init->rwq_ind_tbl;
	struct ohca_create_rss_req req = {};
	struct ohca_create_rss_in in;
	int err;

	err = ib_copy_validate_udata_in_cm(udata, req, rsvd, 0);
	if (err)
		return err;

	err = ohca_rss_check_hash(&req, ibtbl->log_ind_tbl_size);
	if (err) {
		ibdev_dbg(dev->ibdev, "hash %u of fields %#x, key of %u bytes\n", req.function,
			  req.fields, req.key_len);
		return err;
	}

	in = (struct ohca_create_rss_in){
		.ind_tbl = cpu_to_le32(ibtbl->ind_tbl_num),
		.fields = cpu_to_le16(req.fields),
		.function = req.function,
	};
	memcpy(in.key, req.key, sizeof(in.key));
	return ohca_cmd_create_rss(dev, &in, qpn);
}
