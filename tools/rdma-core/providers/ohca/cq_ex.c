// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The extended poll interface of completion queues: one completion at a time, and each field when
 * it is requested.
 */

#include <errno.h>

#include "doorbell.h"
#include "ohca.h"

static int ohca_next_poll(struct ibv_cq_ex *ibcq)
{
	struct ohca_cq *cq = to_ocq_ex(ibcq);
	const struct ohca_cqe *cqe = ohca_cq_take(cq);

	if (!cqe)
		return ENOENT;
	cq->cur = cqe;
	ibcq->wr_id = le64toh(cqe->wr_id);
	ibcq->status = cqe->status;
	return 0;
}

static int ohca_start_poll(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr)
{
	struct ohca_cq *cq = to_ocq_ex(ibcq);
	int ret;

	if (attr->comp_mask)
		return EINVAL;
	ohca_lock_across(&cq->lock);
	ret = ohca_next_poll(ibcq);
	if (ret)
		ohca_unlock(&cq->lock);
	else
		atomic_store_explicit(&cq->poller, pthread_self(), memory_order_relaxed);
	return ret;
}

static void ohca_end_poll(struct ibv_cq_ex *ibcq)
{
	struct ohca_cq *cq = to_ocq_ex(ibcq);

	ohca_rec_store(&cq->rec->ci, cq->ring.ci);
	atomic_store_explicit(&cq->poller, 0, memory_order_relaxed);
	ohca_unlock(&cq->lock);
}

static enum ibv_wc_opcode ohca_read_opcode(struct ibv_cq_ex *cq)
{
	return ohca_cqe_opcode(to_ocq_ex(cq)->cur);
}

static uint32_t ohca_read_vendor_err(struct ibv_cq_ex *cq)
{
	return le32toh(to_ocq_ex(cq)->cur->vendor_err);
}

static unsigned int ohca_read_wc_flags(struct ibv_cq_ex *cq)
{
	return ohca_cqe_wc_flags(to_ocq_ex(cq)->cur);
}

static uint32_t ohca_read_byte_len(struct ibv_cq_ex *cq)
{
	return le32toh(to_ocq_ex(cq)->cur->byte_len);
}

static __be32 ohca_read_imm_data(struct ibv_cq_ex *cq)
{
	const struct ohca_cqe *cqe = to_ocq_ex(cq)->cur;

	/* ibv_wc_read_invalidated_rkey() uses the result as a number. */
	return cqe->flags & OHCA_CQE_F_INV ? (__force __be32)le32toh(cqe->inv_key) : cqe->imm_data;
}

static uint32_t ohca_read_qp_num(struct ibv_cq_ex *cq)
{
	return le32toh(to_ocq_ex(cq)->cur->qpn);
}

static uint32_t ohca_read_src_qp(struct ibv_cq_ex *cq)
{
	return le32toh(to_ocq_ex(cq)->cur->src_qpn);
}

static uint8_t ohca_read_sl(struct ibv_cq_ex *cq)
{
	return to_ocq_ex(cq)->cur->sl;
}

/* An Ethernet port has no LIDs. */
static uint32_t ohca_read_slid(struct ibv_cq_ex *cq)
{
	const struct ohca_cqe *cqe = to_ocq_ex(cq)->cur;

	return ohca_cqe_is_ib(cqe) ? le16toh(cqe->ib.slid) : 0;
}

static uint8_t ohca_read_dlid_path_bits(struct ibv_cq_ex *cq)
{
	const struct ohca_cqe *cqe = to_ocq_ex(cq)->cur;

	return ohca_cqe_is_ib(cqe) ? cqe->ib.dlid_path_bits : 0;
}

static uint64_t ohca_read_completion_ts(struct ibv_cq_ex *cq)
{
	return le64toh(to_ocq_ex(cq)->cur->timestamp);
}

static uint16_t ohca_read_cvlan(struct ibv_cq_ex *cq)
{
	uint16_t vlan = le16toh(to_ocq_ex(cq)->cur->vlan);

	return vlan == OHCA_VLAN_NONE ? 0 : vlan;
}

static void ohca_read_tm_info(struct ibv_cq_ex *cq, struct ibv_wc_tm_info *info)
{
	const struct ohca_cqe *cqe = to_ocq_ex(cq)->cur;

	info->tag = (uint64_t)le32toh(cqe->tag.high) << 32 | le32toh(cqe->tag.low);
	info->priv = le32toh(cqe->tag.app_ctx);
}

void ohca_cq_fill_ops(struct ohca_cq *cq, uint64_t wc_flags)
{
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;

	ex->start_poll = ohca_start_poll;
	ex->next_poll = ohca_next_poll;
	ex->end_poll = ohca_end_poll;
	ex->read_opcode = ohca_read_opcode;
	ex->read_vendor_err = ohca_read_vendor_err;
	ex->read_wc_flags = ohca_read_wc_flags;
	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		ex->read_byte_len = ohca_read_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		ex->read_imm_data = ohca_read_imm_data;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		ex->read_qp_num = ohca_read_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		ex->read_src_qp = ohca_read_src_qp;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		ex->read_slid = ohca_read_slid;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		ex->read_sl = ohca_read_sl;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		ex->read_dlid_path_bits = ohca_read_dlid_path_bits;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		ex->read_completion_ts = ohca_read_completion_ts;
	if (wc_flags & IBV_WC_EX_WITH_CVLAN)
		ex->read_cvlan = ohca_read_cvlan;
	if (wc_flags & IBV_WC_EX_WITH_TM_INFO)
		ex->read_tm_info = ohca_read_tm_info;
}
