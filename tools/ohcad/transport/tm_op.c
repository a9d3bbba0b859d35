// SPDX-License-Identifier: GPL-2.0
/* Work requests of OHCA_QPT_TM: operations on the tags of its SRQ. */

#include <endian.h>

#include "qp/single.h"
#include "qp/srq.h"
#include "transport/tm.h"

static enum ohca_wc_status add(struct tag_list *list, const struct ohca_sq_wqe *wqe)
{
	struct tag *tag = tag_list_place(list, le32toh(wqe->tag.handle));

	if (tag->used)
		return OHCA_WC_TM_ERR;
	tag->tag = le64toh(wqe->tag.tag);
	tag->mask = le64toh(wqe->tag.mask);
	tag->wr_id = le64toh(wqe->tag.recv_wr_id);
	tag->handle = le32toh(wqe->tag.handle);
	tag->num_sge = le16toh(wqe->num_sge);
	memcpy(tag->sge, sq_wqe_sgl(wqe), tag->num_sge * sizeof(tag->sge[0]));
	tag_list_add(list, tag);
	return OHCA_WC_SUCCESS;
}

static enum ohca_wc_status del(struct tag_list *list, const struct ohca_sq_wqe *wqe)
{
	struct tag *tag = tag_list_place(list, le32toh(wqe->tag.handle));

	if (!tag->used || tag->handle != le32toh(wqe->tag.handle))
		return OHCA_WC_TM_ERR;
	tag_list_del(list, tag);
	return OHCA_WC_SUCCESS;
}

/* Whether the work request is valid */
static bool is_good(struct qp *qp, const struct ohca_sq_wqe *wqe, int *vendor_err)
{
	*vendor_err = OHCA_VENDOR_ERR_WQE_OPCODE;
	if (wqe->opcode < OHCA_OP_TAG_ADD || wqe->opcode > OHCA_OP_TAG_SYNC ||
	    wqe->flags & ~(OHCA_WQE_SIGNALED | OHCA_WQE_FENCE | OHCA_WQE_TAG_SYNC) ||
	    (wqe->opcode != OHCA_OP_TAG_SYNC &&
	     !tag_list_place(qp->srq->tags, le32toh(wqe->tag.handle))))
		return false;
	*vendor_err = OHCA_VENDOR_ERR_WQE_SGE;
	return sq_wqe_fits(&qp->sq.wq, wqe) &&
	       le16toh(wqe->num_sge) <= (wqe->opcode == OHCA_OP_TAG_ADD ? OHCA_TM_MAX_SGE : 0);
}

static enum ohca_wc_status execute(struct qp *qp, struct ohca_cqe *cqe, uint32_t *len,
				   int *vendor_err)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	struct tag_list *list = qp->srq->tags;
	enum ohca_wc_status status = OHCA_WC_SUCCESS;

	if (!is_good(qp, wqe, vendor_err))
		return OHCA_WC_LOC_QP_OP_ERR;
	*len = sizeof(*wqe);
	*vendor_err = OHCA_VENDOR_ERR_NONE;
	if (wqe->flags & OHCA_WQE_TAG_SYNC)
		tag_list_sync(list, le32toh(wqe->tag.unexpected));
	if (wqe->opcode == OHCA_OP_TAG_ADD)
		status = add(list, wqe);
	else if (wqe->opcode == OHCA_OP_TAG_DEL)
		status = del(list, wqe);
	cqe->tag_handle = wqe->tag.handle;
	if (list->unexpected != list->synced)
		cqe->flags |= OHCA_CQE_F_TAG_SYNC;
	return status;
}

static bool tm_run(struct qp *qp, uint32_t budget)
{
	return single_run(qp, budget, execute);
}

static const struct qp_ops tm_ops = {.run = tm_run};

const struct qp_type tm_type = {
	.ops = &tm_ops,
	.size = sizeof(struct qp),
	.type = OHCA_QPT_TM,
	.cap = OHCA_CAP_TM,
	.flags = OHCA_QP_F_SIGNAL_ALL,
	.send = true,
};
