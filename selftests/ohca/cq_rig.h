/* SPDX-License-Identifier: GPL-2.0 */
/* Two connected queue pairs whose receives complete at a CQ that is being tested. */

#ifndef SELFTESTS_OHCA_CQ_RIG_H
#define SELFTESTS_OHCA_CQ_RIG_H

#include "verbs_util.h"

/**
 * struct rig - a pair of connected QPs; what a sends to b completes at @cq
 * @cq: of b's receives; owned
 * @mr: what they send and where they receive
 */
struct rig {
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct vu_qp a, b;
};

/* Owns @cq, also on failure; NULL fails.  @recv_wr: size of b's receive queue. */
bool rig_up(struct rig *rig, struct vu_dev *dev, struct ibv_mr *mr, struct ibv_cq *cq,
	    uint32_t recv_wr);
void rig_down(struct rig *rig);

/* Send a message from a to b, and wait for its completion at a. */
bool rig_send(struct rig *rig, uint64_t wr_id, int flags);

#endif
