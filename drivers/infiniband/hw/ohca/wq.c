// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: work queues: their layout in a buffer, and the rings of the kernel's queues.
 */

#include <linux/atomic.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <rdma/ohca-abi.h>

#include "ohca.h"
#include "ohca_compat.h"
#include "umem.h"
#include "wq.h"

size_t ohca_wq_place(struct ohca_wq_shape *shape, size_t end, u32 wr, u32 wqe_size,
		     u8 min_log_stride)
{
	shape->log_size = order_base_2(max(wr, 1U));
	shape->log_stride = max_t(u8, order_base_2(wqe_size), min_log_stride);
	shape->offset = ALIGN(end, BIT(shape->log_stride)); /* no entry crosses a page */
	shape->rec_offset =
		ALIGN(shape->offset + (BIT(shape->log_size) << shape->log_stride), OHCA_REC_ALIGN);
	return shape->rec_offset + sizeof(struct ohca_wq_rec);
}

/*
 * A consumer of a shared receive queue has at most as many requests as the ring has entries.  There
 * are twice as many indices: the request that a QP has taken when it is reset never completes.
 */
static int ohca_wq_init_shared(struct ohca_wq *wq, u32 num)
{
	u32 i;

	wq->next = kvmalloc_array(num, sizeof(*wq->next), GFP_KERNEL);
	if (!wq->next)
		return -ENOMEM;
	for (i = 0; i < num; i++)
		wq->next[i] = i + 1 < num ? i + 1 : OHCA_WR_NONE;
	wq->free = 0;
	return 0;
}

/* Indices of struct ohca_wq.wrs */
static u32 ohca_wq_num_wrs(const struct ohca_wq *wq, bool shared)
{
	return BIT(wq->log_size) << shared;
}

int ohca_wq_init(struct ohca_wq *wq, const struct ohca_wq_shape *shape, void *buf, u32 max_sge,
		 bool shared)
{
	u32 num;
	int err;

	spin_lock_init(&wq->lock);
	wq->ring = buf + shape->offset;
	wq->rec = buf + shape->rec_offset;
	wq->max_sge = max_sge;
	wq->log_size = shape->log_size;
	wq->log_stride = shape->log_stride;

	num = ohca_wq_num_wrs(wq, shared);
	wq->wrs = kvmalloc_array(num, sizeof(*wq->wrs), GFP_KERNEL);
	if (!wq->wrs)
		return -ENOMEM;
	err = shared ? ohca_wq_init_shared(wq, num) : 0;
	if (err)
		ohca_wq_fini(wq);
	return err;
}

void ohca_wq_fini(struct ohca_wq *wq)
{
	kvfree(wq->wrs);
	kvfree(wq->next);
	wq->wrs = NULL;
	wq->next = NULL;
}

bool ohca_wq_get_wr(struct ohca_wq *wq, u64 idx, struct ohca_wr *wr)
{
	unsigned long flags;
	bool posted = false;

	if (idx >= ohca_wq_num_wrs(wq, true))
		return false;
	spin_lock_irqsave(&wq->lock, flags);
	if (wq->next[idx] == OHCA_WR_POSTED) {
		*wr = wq->wrs[idx];
		wq->next[idx] = wq->free;
		wq->free = idx;
		posted = true;
	}
	spin_unlock_irqrestore(&wq->lock, flags);
	return posted;
}

bool ohca_wq_valid(const struct ohca_wq_shape *shape, u32 wr, u32 max_wr, u32 wqe_size,
		   u8 min_log_stride, u64 buf_addr, u64 buf_size)
{
	if (shape->log_size > 31 || BIT(shape->log_size) > max_wr || BIT(shape->log_size) < wr)
		return false;

	if (shape->log_stride < min_log_stride || shape->log_stride > OHCA_WQ_MAX_LOG_STRIDE ||
	    BIT(shape->log_stride) < wqe_size ||
	    !IS_ALIGNED(buf_addr + shape->offset, BIT(shape->log_stride)))
		return false;

	return ohca_user_range(shape->offset, 1ULL << (shape->log_size + shape->log_stride),
			       BIT(min_log_stride), buf_size) &&
	       ohca_user_range(shape->rec_offset, sizeof(struct ohca_wq_rec), OHCA_REC_ALIGN,
			       buf_size);
}

int ohca_rq_pin(struct ohca_dev *dev, const struct ohca_wq_shape *shape, u32 wr, u32 max_wr,
		u32 max_sge, u64 buf_addr, u64 buf_size, struct ib_udata *udata,
		struct ohca_umem *umem)
{
	int err;

	if (!IS_ALIGNED(buf_addr, OHCA_REC_ALIGN) ||
	    !ohca_wq_valid(shape, wr, max_wr, ohca_rq_wqe_size(max_sge), OHCA_RQ_MIN_LOG_STRIDE,
			   buf_addr, buf_size)) {
		ibdev_dbg(dev->ibdev, "receive buffer %#llx, %llu bytes: 2^%u * 2^%u at %u\n",
			  buf_addr, buf_size, shape->log_size, shape->log_stride, shape->offset);
		return -EINVAL;
	}

	err = ohca_umem_pin(dev, udata, buf_addr, buf_size, umem);
	if (err)
		ibdev_dbg(dev->ibdev, "receive buffer: %pe\n", ERR_PTR(err));
	return err;
}

/* A WQ's request has the same fields as an SRQ's. */
static_assert(sizeof(struct ohca_create_wq_req) == sizeof(struct ohca_create_srq_req));
static_assert(offsetof(struct ohca_create_wq_req, rsvd) ==
	      offsetof(struct ohca_create_srq_req, rsvd));

int ohca_rq_pin_request(struct ohca_dev *dev, struct ohca_wq_shape *shape, u32 wr, u32 max_wr,
			u32 max_sge, struct ib_udata *udata, struct ohca_umem *umem)
{
	struct ohca_create_srq_req req = {};
	int err;

	err = ib_copy_validate_udata_in_cm(udata, req, rsvd, 0);
	if (err)
		return err;
	if (memchr_inv(req.rsvd, 0, sizeof(req.rsvd)))
		return -EINVAL;

	*shape = (struct ohca_wq_shape){req.ring_offset, req.rec_offset, req.log_size,
					req.log_stride};
	return ohca_rq_pin(dev, shape, wr, max_wr, max_sge, req.buf_addr, req.buf_size, udata,
			   umem);
}

void ohca_wq_reset(struct ohca_wq *wq)
{
	unsigned long flags;

	spin_lock_irqsave(&wq->lock, flags);
	WRITE_ONCE(wq->pi, 0);
	WRITE_ONCE(wq->ci, 0);
	WRITE_ONCE(wq->rec->pi, 0);
	spin_unlock_irqrestore(&wq->lock, flags);
}

void ohca_wq_taken(struct ohca_wq *wq, u32 taken)
{
	u32 ci = READ_ONCE(wq->ci);

	while ((s32)(taken - ci) > 0 && taken - ci <= READ_ONCE(wq->pi) - ci &&
	       !try_cmpxchg(&wq->ci, &ci, taken))
		;
}
