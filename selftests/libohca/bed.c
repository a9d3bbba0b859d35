// SPDX-License-Identifier: GPL-2.0
/*
 * The test bed: see bed.h.
 */

#include "bed.h"
#include "tap.h"

int to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};

	return ohca_modify_qp(qp, &attr, IBV_QP_STATE);
}

struct ibv_qp *make_qp_type(struct bed *bed, enum ibv_qp_type type, struct ibv_srq *srq,
			    struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = bed->cq,
		.recv_cq = bed->cq,
		.srq = srq,
		.cap = cap,
		.qp_type = type,
	};

	return ohca_create_qp(bed->pd, &attr);
}

struct ibv_qp *make_qp(struct bed *bed, struct ibv_qp_cap cap)
{
	return make_qp_type(bed, IBV_QPT_RC, NULL, cap);
}

bool set_up_bare(struct bed *bed, int cqe)
{
	*bed = (struct bed){.ctx = mock_open()};
	bed->pd = ohca_alloc_pd(bed->ctx);
	bed->cq = ohca_create_cq(bed->ctx, cqe, NULL, 0);
	return EXPECT(bed->pd && bed->cq);
}

void use_qp(struct bed *bed, struct ibv_qp *qp)
{
	bed->qp = qp;
	bed->dev = mock_find_qp(qp->qp_num);
	EXPECT_EQ(to_state(qp, IBV_QPS_INIT), 0);
	EXPECT_EQ(to_state(qp, IBV_QPS_RTR), 0);
	EXPECT_EQ(to_state(qp, IBV_QPS_RTS), 0);
}

bool set_up(struct bed *bed, int cqe, struct ibv_qp_cap cap)
{
	struct ibv_qp *qp;

	if (!set_up_bare(bed, cqe))
		return false;
	qp = make_qp(bed, cap);
	if (!EXPECT(qp))
		return false;
	use_qp(bed, qp);
	return true;
}

void tear_down(struct bed *bed)
{
	if (bed->qp)
		EXPECT_EQ(ohca_destroy_qp(bed->qp), 0);
	EXPECT_EQ(ohca_destroy_cq(bed->cq), 0);
	EXPECT_EQ(ohca_dealloc_pd(bed->pd), 0);
	mock_close(bed->ctx);
}

int post(struct bed *bed, uint64_t wr_id, unsigned int flags)
{
	struct ibv_send_wr *bad, wr = {
					 .wr_id = wr_id,
					 .opcode = IBV_WR_SEND,
					 .send_flags = flags,
				 };

	return ohca_post_send(bed->qp, &wr, &bad);
}

int post_rx(struct bed *bed, uint64_t wr_id)
{
	struct ibv_recv_wr *bad, wr = {.wr_id = wr_id};

	return ohca_post_recv(bed->qp, &wr, &bad);
}

struct ibv_srq *make_srq(struct bed *bed, uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = max_wr, .max_sge = max_sge}};

	return ohca_create_srq(bed->pd, &attr);
}

struct mock_srq *srq_dev(struct ibv_srq *srq)
{
	return mock_find_srq(to_osrq(srq)->srqn);
}

int post_srq(struct ibv_srq *srq, uint64_t wr_id)
{
	struct ibv_recv_wr *bad, wr = {.wr_id = wr_id};

	return ohca_post_srq_recv(srq, &wr, &bad);
}

struct ibv_srq *make_xrc_srq(struct bed *bed, struct ibv_xrcd *xrcd)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = 4},
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = bed->pd,
		.cq = bed->cq,
		.xrcd = xrcd,
	};

	return ohca_create_srq_ex(bed->ctx, &attr);
}
