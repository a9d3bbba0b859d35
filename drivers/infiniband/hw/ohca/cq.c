// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: completion queues.
 */

#include <linux/etherdevice.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>
#include <rdma/ib_umem.h>
#include <rdma/ohca-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "cq.h"
#include "flush.h"
#include "ohca.h"
#include "ohca_compat.h"
#include "qp.h"
#include "srq.h"
#include "ucontext.h"
#include "wq.h"
#include "wr.h"
#include "xlt.h"

#define OHCA_CQE_LOG_SIZE 6

static_assert(sizeof(struct ohca_cqe) == 1 << OHCA_CQE_LOG_SIZE);

/* The numbers of completion statuses are those of ib_core. */
static_assert((int)OHCA_WC_SUCCESS == IB_WC_SUCCESS);
static_assert((int)OHCA_WC_WR_FLUSH_ERR == IB_WC_WR_FLUSH_ERR);
static_assert((int)OHCA_WC_REM_ACCESS_ERR == IB_WC_REM_ACCESS_ERR);
static_assert((int)OHCA_WC_RNR_RETRY_EXC_ERR == IB_WC_RNR_RETRY_EXC_ERR);
static_assert((int)OHCA_WC_GENERAL_ERR == IB_WC_GENERAL_ERR);

/* The following functions, up to ohca_req_notify_cq(), are called with the CQ's lock. */

static struct ohca_cqe *ohca_cq_entry(struct ohca_cq *cq, u32 idx)
{
	return cq->buf.va + ohca_ring_off(idx, cq->log_size, OHCA_CQE_LOG_SIZE);
}

/**
 * ohca_cq_peek() - look at an entry of a kernel's CQ
 * @cq: CQ, locked
 * @idx: index of the entry
 *
 * Return: the entry if the device has written it, or NULL.
 */
struct ohca_cqe *ohca_cq_peek(struct ohca_cq *cq, u32 idx)
{
	struct ohca_cqe *cqe = ohca_cq_entry(cq, idx);

	if (!ohca_ring_valid(READ_ONCE(cqe->owner), idx, cq->log_size))
		return NULL;

	dma_rmb(); /* owner before the rest */
	return cqe;
}

/* Free the entries before @ci for the device. */
static void ohca_cq_consume(struct ohca_cq *cq, u32 ci)
{
	cq->ci = ci;
	dma_mb(); /* the entries have been read (and moved) before they may be overwritten */
	WRITE_ONCE(cq->rec->ci, cpu_to_le32(ci));
}

static void ohca_wc_fill_roce(struct ib_wc *wc, const struct ohca_cqe *cqe)
{
	u16 vlan = le16_to_cpu(cqe->vlan);

	wc->wc_flags |= IB_WC_WITH_SMAC | IB_WC_WITH_NETWORK_HDR_TYPE;
	ether_addr_copy(wc->smac, cqe->smac);
	wc->network_hdr_type = cqe->net_type == OHCA_NET_IPV4 ? RDMA_NETWORK_IPV4
							      : RDMA_NETWORK_IPV6;
	if (vlan != OHCA_VLAN_NONE) {
		wc->wc_flags |= IB_WC_WITH_VLAN;
		wc->vlan_id = vlan;
	}
}

static void ohca_wc_fill_ud(struct ib_wc *wc, const struct ohca_cqe *cqe)
{
	if (cqe->flags & OHCA_CQE_F_GRH)
		wc->wc_flags = IB_WC_GRH;
	if (cqe->flags & OHCA_CQE_F_CSUM_OK)
		wc->wc_flags |= IB_WC_IP_CSUM_OK;
	wc->src_qp = le32_to_cpu(cqe->src_qpn);
	wc->pkey_index = le16_to_cpu(cqe->pkey_index);
	wc->sl = cqe->sl;
	if (cqe->net_type == OHCA_NET_IB) {
		wc->slid = le16_to_cpu(cqe->ib.slid);
		wc->dlid_path_bits = cqe->ib.dlid_path_bits;
	} else {
		ohca_wc_fill_roce(wc, cqe);
	}
}

static void ohca_wc_fill(struct ib_wc *wc, const struct ohca_cqe *cqe, struct ohca_qp *qp,
			 u64 wr_id)
{
	*wc = (struct ib_wc){
		.wr_id = wr_id,
		.status = min_t(u8, cqe->status, IB_WC_GENERAL_ERR),
		.opcode = ohca_wc_opcode(cqe->opcode),
		.vendor_err = le32_to_cpu(cqe->vendor_err),
		.byte_len = le32_to_cpu(cqe->byte_len),
		.qp = &qp->ibqp,
		.port_num = qp->ibqp.port,
	};
	if (cqe->opcode == OHCA_CQE_RECV && cqe->net_type)
		ohca_wc_fill_ud(wc, cqe);
	if (cqe->flags & OHCA_CQE_F_IMM) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = cqe->imm_data;
	} else if (cqe->flags & OHCA_CQE_F_INV) {
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = le32_to_cpu(cqe->inv_key);
	}
}

/* Whether a published QP is a kernel's with this CQ; @arg: the CQ */
static bool ohca_cq_is_of(const struct ohca_core_qp *core, const void *arg)
{
	const struct ib_cq *ibcq = &((const struct ohca_cq *)arg)->ibcq;

	return core->kernel &&
	       (core->kernel->ibqp.send_cq == ibcq || core->kernel->ibqp.recv_cq == ibcq);
}

/*
 * Find the QP of a CQE.  Returns NULL if it is being destroyed, -EINVAL if the QP has other CQs.
 * To destroy a QP, it is withdrawn first, then @last_qp of its CQs is cleared under their locks,
 * then the QP is freed.  So a QP of this CQ is valid as long as the lock is held.
 */
static struct ohca_qp *ohca_cq_find_qp(struct ohca_dev *dev, struct ohca_cq *cq, u32 qpn)
{
	struct ohca_core_qp *core;

	if (!cq->last_qp || cq->last_qp->core.qpn != qpn) {
		core = ohca_core_qp_find(dev, qpn, ohca_cq_is_of, cq);
		if (IS_ERR(core))
			return ERR_CAST(core);
		cq->last_qp = core ? core->kernel : NULL;
	}
	return cq->last_qp;
}

/*
 * Take the request of a CQE out of its queue.  The device has read its entry, which may be used
 * again.  Returns false if no such request of the QP completes in this CQ.
 */
static bool ohca_cq_take_wr(struct ohca_cq *cq, struct ohca_qp *qp, const struct ohca_cqe *cqe,
			    struct ohca_wr *wr)
{
	u8 flags = READ_ONCE(cqe->flags);
	u32 idx = le32_to_cpu(READ_ONCE(cqe->wqe_idx));
	bool recv = flags & (OHCA_CQE_F_RQ | OHCA_CQE_F_SRQ);
	struct ohca_wq *wq = recv ? &qp->rq : &qp->sq;

	if ((recv ? qp->ibqp.recv_cq : qp->ibqp.send_cq) != &cq->ibcq)
		return false;
	if (unlikely(!!(flags & OHCA_CQE_F_SRQ) != (recv && qp->ibqp.srq)))
		return false;
	if (flags & OHCA_CQE_F_SRQ) {
		wq = &to_osrq(qp->ibqp.srq)->wq;
		if (!ohca_wq_get_wr(wq, le64_to_cpu(READ_ONCE(cqe->wr_id)), wr))
			return false;
		ohca_wq_taken(wq, idx);
		return true;
	}
	if (unlikely(!ohca_wq_is_posted(wq, idx)))
		return false;
	*wr = *ohca_wq_wr(wq, idx);
	smp_store_release(&wq->ci, idx + 1); /* after this, the number may be overwritten */
	return true;
}

/*
 * Whether more was received than there was room for.  Consumers take so many bytes from their
 * buffers.  The data of RDMA WRITE with immediate data are not in the list.
 */
static bool ohca_wc_too_long(const struct ib_wc *wc, const struct ohca_qp *qp,
			     const struct ohca_wr *wr)
{
	return wc->byte_len > wr->len && wc->status == IB_WC_SUCCESS &&
	       (wc->opcode != IB_WC_RECV_RDMA_WITH_IMM || ohca_qp_is_ud(qp));
}

/*
 * Convert a CQE of @qp to wc[*n].  Returns false if it is impossible.  The consumer gets its
 * request back all the same if there is one.
 */
static bool ohca_cq_take(struct ohca_cq *cq, struct ohca_qp *qp, const struct ohca_cqe *cqe,
			 struct ib_wc *wc, int *n)
{
	struct ohca_wr wr;

	if (IS_ERR(qp) || !ohca_cq_take_wr(cq, qp, cqe, &wr))
		return false;
	wc += (*n)++;
	ohca_wc_fill(wc, cqe, qp, wr.id);
	if (likely(!ohca_wc_too_long(wc, qp, &wr)))
		return true;
	wc->status = IB_WC_FATAL_ERR;
	return false;
}

/* The device has written an impossible CQE; @cq is not locked. */
static void ohca_cq_fence(struct ohca_dev *dev, struct ohca_cq *cq, const struct ohca_cqe *cqe)
{
	if (!ohca_fenced(dev))
		dev_err(ohca_dmadev(dev),
			"CQ %u: no such request %u of QP %u, flags 0x%x, %u bytes\n", cq->core.cqn,
			le32_to_cpu(cqe->wqe_idx), le32_to_cpu(cqe->qpn), cqe->flags,
			le32_to_cpu(cqe->byte_len));
	ohca_fence(dev, "bad completion");
}

int ohca_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc)
{
	struct ohca_dev *dev = to_odev(ibcq->device);
	struct ohca_cq *cq = to_ocq(ibcq);
	struct ohca_cqe *cqe, bad;
	bool quiesced, found_bad = false;
	unsigned long flags;
	struct ohca_qp *qp;
	int n = 0;
	u32 ci;

	spin_lock_irqsave(&cq->lock, flags);
	quiesced = ohca_quiesced(dev); /* read before the ring is checked for the last time */
	ci = cq->ci;
	/* A device that writes CQEs of no QP does not keep this thread for ever. */
	while (n < num_entries && ci - cq->ci < 1U << cq->log_size) {
		cqe = ohca_cq_peek(cq, ci);
		if (!cqe)
			break;

		qp = ohca_cq_find_qp(dev, cq, le32_to_cpu(cqe->qpn));
		if (qp && !ohca_cq_take(cq, qp, cqe, wc, &n) && !found_bad) {
			bad = *cqe;
			found_bad = true;
		}
		ci++;
	}
	if (ci != cq->ci)
		ohca_cq_consume(cq, ci);
	if (unlikely(quiesced))
		n += ohca_flush_poll(cq, num_entries - n, wc + n);
	spin_unlock_irqrestore(&cq->lock, flags);

	if (unlikely(found_bad))
		ohca_cq_fence(dev, cq, &bad);
	return n;
}

int ohca_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct ohca_cq *cq = to_ocq(ibcq);
	unsigned long irq_flags;
	int missed = 0;

	spin_lock_irqsave(&cq->lock, irq_flags);
	if ((flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED)
		WRITE_ONCE(cq->rec->arm_solicited, cpu_to_le32(++cq->arm_solicited));
	else
		WRITE_ONCE(cq->rec->arm_next, cpu_to_le32(++cq->arm_next));

	mb(); /* either the device sees the request, or the driver or the consumer sees the CQE */

	if (flags & IB_CQ_REPORT_MISSED_EVENTS)
		missed = ohca_cq_peek(cq, cq->ci) ||
			 (ohca_quiesced(to_odev(ibcq->device)) && ohca_flush_pending(cq));
	spin_unlock_irqrestore(&cq->lock, irq_flags);

	return missed;
}

/**
 * ohca_cq_clean() - remove the CQEs of a QP that has no more completions
 * @cq: CQ; nothing is done for a user's
 * @qp: QP, which is withdrawn or in RESET
 *
 * The other entries are moved towards the producer index, so that no gap is left.
 */
void ohca_cq_clean(struct ohca_cq *cq, struct ohca_qp *qp)
{
	struct ohca_cqe *src, *dst;
	unsigned long flags;
	u32 idx, pi, freed = 0;
	struct ohca_wr wr;
	u8 owner;

	if (cq->umem.ib)
		return;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->last_qp == qp)
		cq->last_qp = NULL;

	for (pi = cq->ci; pi - cq->ci < 1U << cq->log_size; pi++)
		if (!ohca_cq_peek(cq, pi))
			break;

	for (idx = pi; idx != cq->ci; idx--) {
		src = ohca_cq_entry(cq, idx - 1);
		if (le32_to_cpu(src->qpn) == qp->core.qpn) {
			if (src->flags & OHCA_CQE_F_SRQ && qp->ibqp.srq)
				ohca_wq_get_wr(&to_osrq(qp->ibqp.srq)->wq,
					       le64_to_cpu(READ_ONCE(src->wr_id)), &wr);
			freed++;
		} else if (freed) {
			dst = ohca_cq_entry(cq, idx - 1 + freed);
			owner = dst->owner;
			*dst = *src;
			dst->owner = owner;
		}
	}
	if (freed)
		ohca_cq_consume(cq, cq->ci + freed);
	spin_unlock_irqrestore(&cq->lock, flags);
}

/* Handlers of events; those of completions are called in interrupts */

static void ohca_cq_comp(struct ohca_core_cq *core)
{
	struct ib_cq *ibcq = &container_of(core, struct ohca_cq, core)->ibcq;

	if (ibcq->comp_handler)
		ibcq->comp_handler(ibcq, ibcq->cq_context);
}

static void ohca_cq_event(struct ohca_core_cq *core, u8 type)
{
	struct ib_cq *ibcq = &container_of(core, struct ohca_cq, core)->ibcq;
	struct ib_event event = {
		.device = ibcq->device,
		.element.cq = ibcq,
		.event = IB_EVENT_CQ_ERR,
	};

	if (type == OHCA_EVENT_CQ_ERR && ibcq->event_handler)
		ibcq->event_handler(&event, ibcq->cq_context);
}

/* Creating and destroying */

static int ohca_cq_check(struct ohca_dev *dev, const struct ib_cq_init_attr *attr)
{
	if (!attr->cqe || attr->cqe > dev->attr.max_cqe || attr->comp_vector >= dev->eqs.ncomp) {
		ibdev_dbg(dev->ibdev, "CQ of %u entries on vector %u\n", attr->cqe,
			  attr->comp_vector);
		return -EINVAL;
	}
	return 0;
}

/* Convert the flags of user space; a device without the capability refuses the command. */
static int ohca_cq_flags(u32 flags, u8 *res)
{
	if (flags & ~(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN))
		return -EOPNOTSUPP;

	*res = 0;
	if (flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION)
		*res |= OHCA_CQ_TIMESTAMP;
	if (flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)
		*res |= OHCA_CQ_IGNORE_OVERRUN;
	return 0;
}

/* Create a CQ that has its buffer. */
static int ohca_cq_hw_create(struct ohca_dev *dev, struct ohca_cq *cq, u32 rec_offset, u32 vector,
			     u8 flags)
{
	struct ohca_xlt_desc xlt;
	struct ohca_cq_params params = {
		.buf = &xlt,
		.rec_offset = rec_offset,
		.eqn = dev->eqs.comp[vector].eqn,
		.log_size = cq->log_size,
		.flags = flags,
	};
	int err;

	err = ohca_xlt_from_queue(dev, &cq->umem, &cq->buf, &xlt);
	if (err)
		return err;

	cq->core.comp = ohca_cq_comp;
	cq->core.event = ohca_cq_event;
	cq->ibcq.cqe = 1U << cq->log_size;
	err = ohca_cmd_create_cq(dev, &params, &cq->core.cqn);
	ohca_xlt_release(dev, &xlt);
	return err;
}

static void ohca_cq_hw_destroy(struct ohca_dev *dev, struct ohca_cq *cq)
{
	if (ohca_cmd_destroy_cq(dev, cq->core.cqn))
		ohca_fence(dev, "CQ not destroyed");
}

int ohca_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs)
{
	struct ohca_dev *dev = to_odev(ibcq->device);
	struct ohca_cq *cq = to_ocq(ibcq);
	size_t rec_offset;
	int err;

	if (attrs) /* kernels without create_user_cq */
		return ohca_create_user_cq(ibcq, attr, attrs);

	if (attr->flags)
		return -EOPNOTSUPP;

	err = ohca_cq_check(dev, attr);
	if (err)
		return err;

	mutex_init(&cq->buf_lock);
	spin_lock_init(&cq->lock);
	INIT_LIST_HEAD(&cq->sqs);
	INIT_LIST_HEAD(&cq->rqs);
	cq->log_size = order_base_2(attr->cqe);
	rec_offset = sizeof(struct ohca_cqe) << cq->log_size;
	err = ohca_buf_alloc(dev, rec_offset + sizeof(*cq->rec), &cq->buf);
	if (err)
		goto err_lock;

	cq->core.kernel = cq;
	cq->rec = cq->buf.va + rec_offset;
	err = ohca_cq_hw_create(dev, cq, rec_offset, attr->comp_vector, 0);
	if (err)
		goto err_buf;

	err = ohca_core_cq_publish(dev, &cq->core);
	if (err)
		goto err_cq;

	return 0;

err_cq:
	ohca_cq_hw_destroy(dev, cq);
err_buf:
	ohca_buf_free(dev, &cq->buf);
err_lock:
	mutex_destroy(&cq->buf_lock);
	return ohca_kernel_err(dev, err);
}

/* Check the layout of the user's CQ, of at least @cqe entries. */
static int ohca_cq_check_user(struct ohca_dev *dev, u32 cqe, u32 log_size, u64 buf_addr,
			      u64 buf_size, u32 rec_offset)
{
	u64 ring;

	if (log_size > 31 || BIT(log_size) > dev->attr.max_cqe || BIT(log_size) < cqe) {
		ibdev_dbg(dev->ibdev, "CQ ring of 2^%u entries\n", log_size);
		return -EINVAL;
	}

	ring = (u64)sizeof(struct ohca_cqe) << log_size;
	if (!IS_ALIGNED(buf_addr, OHCA_REC_ALIGN) || rec_offset < ring ||
	    !ohca_user_range(rec_offset, sizeof(struct ohca_cq_rec), OHCA_REC_ALIGN, buf_size)) {
		ibdev_dbg(dev->ibdev, "CQ buffer %#llx, %llu bytes, record at %u\n", buf_addr,
			  buf_size, rec_offset);
		return -EINVAL;
	}
	return 0;
}

/* Pin the buffer of a user's CQ; ib_core's attributes may name another one than the request. */
static int ohca_cq_pin(struct ohca_dev *dev, struct ohca_cq *cq,
		       const struct ohca_create_cq_req *req, struct uverbs_attr_bundle *attrs)
{
	struct ib_umem *ib =
		ib_umem_get_cq_buf(dev->ibdev, attrs, req->buf_size, IB_ACCESS_LOCAL_WRITE);

	if (IS_ERR(ib))
		return PTR_ERR(ib);
	if (!ib)
		return ohca_umem_pin(dev, &attrs->driver_udata, req->buf_addr, req->buf_size,
				     &cq->umem);
	cq->umem.ib = ib;
	return 0;
}

int ohca_create_user_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = &attrs->driver_udata;
	struct ohca_dev *dev = to_odev(ibcq->device);
	struct ohca_create_cq_resp resp = {};
	struct ohca_create_cq_req req = {};
	struct ohca_cq *cq = to_ocq(ibcq);
	u8 flags;
	int err;

	err = ohca_cq_flags(attr->flags, &flags);
	if (err)
		return err;

	err = ohca_cq_check(dev, attr);
	if (err)
		return err;

	err = ib_copy_validate_udata_in_cm(udata, req, rsvd, 0);
	if (err)
		return err;

	if (req.rsvd)
		return -EINVAL;

	err = ohca_cq_check_user(dev, attr->cqe, req.log_size, req.buf_addr, req.buf_size,
				 req.rec_offset);
	if (err)
		return err;

	mutex_init(&cq->buf_lock);
	cq->rec_offset = req.rec_offset;
	cq->log_size = req.log_size;
	err = ohca_cq_pin(dev, cq, &req, attrs);
	if (err) {
		ibdev_dbg(dev->ibdev, "CQ buffer: %pe\n", ERR_PTR(err));
		goto err_lock;
	}

	err = ohca_cq_hw_create(dev, cq, req.rec_offset, attr->comp_vector, flags);
	if (err)
		goto err_umem;

	resp.cqn = cq->core.cqn;
	err = ib_respond_udata(udata, resp);
	if (err)
		goto err_cq;

	err = ohca_core_cq_publish(dev, &cq->core);
	if (err)
		goto err_cq;

	return 0;

err_cq:
	ohca_cq_hw_destroy(dev, cq);
err_umem:
	ohca_umem_release(&cq->umem);
err_lock:
	mutex_destroy(&cq->buf_lock);
	return err;
}

/* Make the device use @umem, and copy the completions that were not taken. */
static int ohca_cq_hw_resize(struct ohca_dev *dev, struct ohca_cq *cq, const struct ohca_umem *umem,
			     const struct ohca_resize_cq_req *req)
{
	struct ohca_cq_params params = {
		.rec_offset = req->rec_offset,
		.log_size = req->log_size,
	};
	struct ohca_xlt_desc xlt;
	int err;

	err = ohca_xlt_from_queue(dev, umem, NULL, &xlt);
	if (err)
		return err;

	params.buf = &xlt;
	err = ohca_cmd_resize_cq(dev, cq->core.cqn, &params);
	ohca_xlt_release(dev, &xlt);
	return err;
}

int ohca_resize_user_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibcq->device);
	struct ohca_resize_cq_req req = {};
	struct ohca_cq *cq = to_ocq(ibcq);
	struct ohca_umem umem;
	int err;

	err = ib_copy_validate_udata_in_cm(udata, req, rsvd, 0);
	if (err)
		return err;

	if (req.rsvd)
		return -EINVAL;

	err = ohca_cq_check_user(dev, cqe, req.log_size, req.buf_addr, req.buf_size,
				 req.rec_offset);
	if (err)
		return err;

	err = ib_respond_empty_udata(udata);
	if (err)
		return err;

	err = ohca_umem_pin(dev, udata, req.buf_addr, req.buf_size, &umem);
	if (err) {
		ibdev_dbg(dev->ibdev, "CQ buffer: %pe\n", ERR_PTR(err));
		return err;
	}

	mutex_lock(&cq->buf_lock);
	err = ohca_cq_hw_resize(dev, cq, &umem, &req);
	if (!err) {
		swap(cq->umem, umem);
		cq->log_size = req.log_size;
		cq->rec_offset = req.rec_offset;
		ibcq->cqe = 1U << cq->log_size;
	}
	mutex_unlock(&cq->buf_lock);

	ohca_umem_release(&umem);
	return err;
}

int ohca_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	return ohca_cmd_modify_cq(to_odev(ibcq->device), to_ocq(ibcq)->core.cqn, count, period);
}

/*
 * Wait until the kernel has handled the last event of a CQ that was withdrawn.  ib_core has waited
 * for the end of the poll, but a softirq arms the CQ after that, and an interrupt may have queued
 * the CQ's work since it was cancelled.
 */
static void ohca_cq_sync(struct ib_cq *ibcq)
{
	switch (ibcq->poll_ctx) {
	case IB_POLL_DIRECT:
		break;
	case IB_POLL_WORKQUEUE:
	case IB_POLL_UNBOUND_WORKQUEUE:
		cancel_work_sync(&ibcq->work);
		break;
	default: /* also of consumers with an own handler, which polls in a softirq */
		synchronize_rcu();
	}
}

int ohca_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibcq->device);
	struct ohca_cq *cq = to_ocq(ibcq);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	ohca_core_cq_withdraw(dev, &cq->core);
	mutex_lock(&cq->buf_lock);
	cq->gone = true;
	mutex_unlock(&cq->buf_lock);
	if (!cq->umem.ib)
		ohca_cq_sync(ibcq);
	if (ohca_end_later(dev, ohca_udata_context(udata), OHCA_END_CQ, cq->core.cqn, &cq->umem))
		return 0;
	ohca_cq_hw_destroy(dev, cq);
	ohca_buf_free(dev, &cq->buf);
	ohca_umem_release(&cq->umem);
	return 0;
}
