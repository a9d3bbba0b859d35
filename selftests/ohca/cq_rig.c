// SPDX-License-Identifier: GPL-2.0
/* Two connected queue pairs whose receives complete at a CQ that is being tested. */

#include <string.h>

#include "cq_rig.h"

void rig_down(struct rig *rig)
{
	vu_qp_destroy(&rig->a);
	vu_qp_destroy(&rig->b);
	if (rig->cq)
		EXPECT_EQ(ibv_destroy_cq(rig->cq), 0);
	rig->cq = NULL;
}

bool rig_up(struct rig *rig, struct vu_dev *dev, struct ibv_mr *mr, struct ibv_cq *cq,
	    uint32_t recv_wr)
{
	struct vu_qp_opts opts = VU_QP_OPTS, opts_b = VU_QP_OPTS;

	memset(rig, 0, sizeof(*rig));
	rig->cq = cq;
	rig->mr = mr;
	opts_b.recv_cq = cq;
	opts_b.recv_wr = recv_wr;
	if (EXPECT(cq) && vu_qp_create(dev, &rig->a, &opts) &&
	    vu_qp_create(dev, &rig->b, &opts_b) && vu_connect_pair(dev, &rig->a, &rig->b, &opts))
		return true;
	rig_down(rig);
	return false;
}

bool rig_send(struct rig *rig, uint64_t wr_id, int flags)
{
	struct ibv_mr *mr = rig->mr;
	struct ibv_wc wc;

	return EXPECT_EQ(vu_post_recv(&rig->b, wr_id, mr, mr->addr, mr->length), 0) &&
	       EXPECT_EQ(vu_post_send(&rig->a, IBV_WR_SEND, wr_id, IBV_SEND_SIGNALED | flags, mr,
				      mr->addr, 8, 0, 0),
			 0) &&
	       vu_wait_wc(rig->a.scq, &wc, wr_id, IBV_WC_SUCCESS);
}
