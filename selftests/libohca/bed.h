/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A test bed: a context with a PD, a CQ and a QP, on the mock kernel and device.
 */

#ifndef LIBOHCA_BED_H
#define LIBOHCA_BED_H

#include "mock.h"

/**
 * struct bed - one QP with a CQ of its own, in RTS
 * @ctx: context
 * @pd: PD
 * @cq: CQ of both queues
 * @qp: the QP
 * @dev: the device's side of it
 */
struct bed {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct mock_qp *dev;
};

int to_state(struct ibv_qp *qp, enum ibv_qp_state state);

/* A QP of the bed's PD and CQ, in RESET; make_qp(): RC. */
struct ibv_qp *make_qp_type(struct bed *bed, enum ibv_qp_type type, struct ibv_srq *srq,
			    struct ibv_qp_cap cap);
struct ibv_qp *make_qp(struct bed *bed, struct ibv_qp_cap cap);

/* Context, PD and CQ only. */
bool set_up_bare(struct bed *bed, int cqe);
bool set_up(struct bed *bed, int cqe, struct ibv_qp_cap cap);
void tear_down(struct bed *bed);

/* Use @qp, which is in RESET, as the bed's QP. */
void use_qp(struct bed *bed, struct ibv_qp *qp);

/* Post a send, or a receive, without data. */
int post(struct bed *bed, uint64_t wr_id, unsigned int flags);
int post_rx(struct bed *bed, uint64_t wr_id);

/* An SRQ of the bed's PD; make_xrc_srq(): of 4 entries, with the bed's CQ. */
struct ibv_srq *make_srq(struct bed *bed, uint32_t max_wr, uint32_t max_sge);
struct ibv_srq *make_xrc_srq(struct bed *bed, struct ibv_xrcd *xrcd);

/* The device's side of it */
struct mock_srq *srq_dev(struct ibv_srq *srq);

/* Post a receive without data. */
int post_srq(struct ibv_srq *srq, uint64_t wr_id);

#endif /* LIBOHCA_BED_H */
