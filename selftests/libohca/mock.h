/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A kernel driver and a device in the test's own process, just enough of them for the data path of
 * libohca: the commands create, modify and destroy; the device completes work requests when the
 * test tells it to.
 */

#ifndef LIBOHCA_MOCK_H
#define LIBOHCA_MOCK_H

#include "ohca.h"
#include "ohca_abi.h"

#define MOCK_QPS 8

/**
 * struct mock_qp - the device's idea of a QP
 * @req: as created
 * @sq_ci: send work requests taken
 * @rq_ci: receive work requests taken
 * @send_cq: mock CQ
 * @recv_cq: mock CQ
 */
struct mock_qp {
	struct ohca_create_qp_req req;
	bool used;
	bool sig_all;
	uint32_t qpn;
	uint32_t sq_ci;
	uint32_t rq_ci;
	struct mock_cq *send_cq;
	struct mock_cq *recv_cq;
};

struct mock_cq {
	struct ohca_create_cq_req req;
	uint32_t pi;
};

extern struct mock_qp mock_qps[MOCK_QPS];

/* The errno that the next command fails with. */
extern int mock_fail;
/* Doorbell page and shadow page of the context that mock_open() opens. */
extern uint8_t mock_uar[OHCA_UAR_SIZE];
extern struct ohca_shadow mock_shadow;

struct ibv_context *mock_open(void);
void mock_close(struct ibv_context *ctx);

struct mock_qp *mock_find_qp(uint32_t qpn);

/* The send or receive work request @idx as it lies in memory. */
struct ohca_sq_wqe *mock_sq_wqe(const struct mock_qp *qp, uint32_t idx);
struct ohca_rq_wqe *mock_rq_wqe(const struct mock_qp *qp, uint32_t idx);
/* The producer index in the record of the send or receive queue. */
uint32_t mock_sq_pi(const struct mock_qp *qp);
uint32_t mock_rq_pi(const struct mock_qp *qp);

/* Whether there is room for a CQE; write one, all but wr_id, qpn and owner as in @cqe. */
bool mock_cq_room(const struct mock_cq *cq);
void mock_complete(struct mock_cq *cq, const struct mock_qp *qp, uint64_t wr_id,
		   const struct ohca_cqe *cqe);
const struct ohca_cq_rec *mock_cq_rec(const struct mock_cq *cq);

/* Take the next send work request, complete it if signaled.  Return: whether there was one. */
bool mock_do_send(struct mock_qp *qp);
/* Take the next receive work request and complete it with @len bytes. */
bool mock_do_recv(struct mock_qp *qp, uint32_t len);

#endif /* LIBOHCA_MOCK_H */
