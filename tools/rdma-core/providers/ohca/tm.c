// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tags of shared receive queues: the operations on them.
 */

#include <errno.h>
#include <stdlib.h>

#include <util/util.h>

#include "ohca.h"
#include "tag.h"
#include "wq.h"

#define OHCA_OPS_FLAGS (IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC)

int ohca_tm_init(struct ohca_srq *srq, struct ibv_srq_init_attr_ex *attr)
{
	uint32_t num = attr->tm_cap.max_num_tags, i;
	struct ibv_qp *ops;

	srq->tags = calloc(num, sizeof(*srq->tags));
	if (!srq->tags)
		return ENOMEM;
	for (i = 0; i < num; i++) {
		srq->tags[i].handle = i;
		srq->tags[i].next = i + 1;
	}
	srq->num_tags = num;
	ops = ohca_create_tm_qp(&srq->vsrq.srq, attr->cq, &attr->tm_cap.max_ops);
	if (!ops)
		return errno;
	srq->ops = to_oqp(ops);
	return 0;
}

/* From now on pollers, which hold the CQ's lock, see either the old or the new value. */
static void ohca_tm_set_ops(struct ohca_srq *srq, struct ohca_qp *ops)
{
	struct ohca_cq *cq = to_ocq(srq->vsrq.cq);

	ohca_cq_lock(cq);
	srq->ops = ops;
	ohca_cq_unlock(cq);
}

int ohca_tm_fini(struct ohca_srq *srq)
{
	struct ohca_qp *ops = srq->ops;
	int ret;

	if (atomic_load(&srq->tagged))
		return ohca_errno(EBUSY);
	if (ops) {
		ohca_tm_set_ops(srq, NULL);
		ret = ohca_destroy_qp(&ops->vqp.qp);
		if (ret) {
			ohca_tm_set_ops(srq, ops);
			return ret;
		}
	}
	free(srq->tags);
	srq->tags = NULL;
	return 0;
}

static int ohca_write_add(struct ohca_srq *srq, struct ohca_sq_wqe *wqe, uint32_t pi,
			  struct ibv_ops_wr *wr)
{
	struct ohca_tag *tag;

	if ((unsigned int)wr->tm.add.num_sge > OHCA_TM_MAX_SGE)
		return EINVAL;
	if (srq->free_tag == srq->num_tags)
		return ENOMEM;
	tag = &srq->tags[srq->free_tag];
	srq->free_tag = tag->next;
	tag->handle += OHCA_TAG_PLACE + 1;
	tag->used = true;
	tag->op = pi + 1;
	wr->tm.handle = tag->handle;

	wqe->opcode = OHCA_OP_TAG_ADD;
	wqe->num_sge = htole16(wr->tm.add.num_sge);
	wqe->tag.recv_wr_id = htole64(wr->tm.add.recv_wr_id);
	wqe->tag.tag = htole64(wr->tm.add.tag);
	wqe->tag.mask = htole64(wr->tm.add.mask);
	ohca_write_sges(wqe->sge, wr->tm.add.sg_list, wr->tm.add.num_sge);
	return 0;
}

static int ohca_write_del(struct ohca_srq *srq, struct ohca_sq_wqe *wqe, uint32_t handle)
{
	struct ohca_tag *tag = ohca_tag_find(srq, handle);

	if ((handle & OHCA_TAG_PLACE) >= srq->num_tags)
		return EINVAL;
	if (tag)
		ohca_tag_free(srq, tag);
	wqe->opcode = OHCA_OP_TAG_DEL;
	return 0;
}

static int ohca_write_op(struct ohca_srq *srq, uint32_t pi, struct ibv_ops_wr *wr)
{
	struct ohca_sq_wqe *wqe = ohca_wqe_at(&srq->ops->sq, pi);
	int ret = 0;

	if (!check_comp_mask(wr->flags, OHCA_OPS_FLAGS))
		return EINVAL;
	memset(wqe, 0, sizeof(*wqe));
	switch (wr->opcode) {
	case IBV_WR_TAG_ADD:
		ret = ohca_write_add(srq, wqe, pi, wr);
		break;
	case IBV_WR_TAG_DEL:
		ret = ohca_write_del(srq, wqe, wr->tm.handle);
		break;
	case IBV_WR_TAG_SYNC:
		wqe->opcode = OHCA_OP_TAG_SYNC;
		break;
	default:
		ret = EINVAL;
	}
	if (ret)
		return ret;
	if (wr->flags & IBV_OPS_SIGNALED)
		wqe->flags |= OHCA_WQE_SIGNALED;
	if (wr->flags & IBV_OPS_TM_SYNC || wr->opcode == IBV_WR_TAG_SYNC) {
		wqe->flags |= OHCA_WQE_TAG_SYNC;
		wqe->tag.unexpected = htole32(wr->tm.unexpected_cnt);
	}
	if (wr->opcode != IBV_WR_TAG_SYNC)
		wqe->tag.handle = htole32(wr->tm.handle);
	wqe->wr_id = htole64(wr->wr_id);
	return 0;
}

int ohca_post_srq_ops(struct ibv_srq *ibsrq, struct ibv_ops_wr *wr, struct ibv_ops_wr **bad_wr)
{
	struct ohca_srq *srq = to_osrq(ibsrq);
	struct ohca_wq *sq;
	uint32_t pi;
	int ret = 0;

	if (!srq->ops) {
		*bad_wr = wr;
		return ohca_errno(EINVAL);
	}
	sq = &srq->ops->sq;
	ohca_lock(&sq->lock);
	for (pi = sq->pi; !ret && wr; wr = ret ? wr : wr->next) {
		ret = ohca_wq_full(sq, pi) ? ENOMEM : ohca_write_op(srq, pi, wr);
		if (!ret)
			pi++;
	}
	if (pi != sq->pi) {
		sq->pi = pi;
		ohca_ring_sq(to_octx(ibsrq->context), srq->ops);
	}
	ohca_unlock(&sq->lock);
	if (ret)
		*bad_wr = wr;
	return ohca_errno(ret);
}
