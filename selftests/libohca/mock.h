/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A kernel driver and a device in the test's own process, as far as the data path of libohca needs
 * them: the commands create, modify and destroy; the device completes work requests when the test
 * calls it.
 */

#ifndef LIBOHCA_MOCK_H
#define LIBOHCA_MOCK_H

#include "ohca.h"
#include "ohca_abi.h"

#define MOCK_QPS 8
#define MOCK_SRQS 4
/* A bit of responses that libohca does not know: the kernel's driver may be newer. */
#define MOCK_NEW_BIT 0x80000000U

/**
 * struct mock_qp - the device's state of a QP
 * @req: as created
 * @sq_ci: send work requests taken
 * @rq_ci: receive work requests taken
 * @send_cq: mock CQ
 * @recv_cq: mock CQ
 * @srq: mock SRQ or NULL
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
	struct mock_srq *srq;
};

/**
 * struct mock_cq - the device's state of a CQ
 * @req: as created, or resized
 * @flags: as created: IBV_CREATE_CQ_ATTR_*
 * @pi: completions written
 */
struct mock_cq {
	struct ohca_create_cq_req req;
	uint32_t flags;
	uint32_t pi;
};

/**
 * struct mock_srq - the device's state of an SRQ
 * @req: as created, or resized
 * @limit: as armed
 * @taken: entries taken
 * @cq: of an XRC SRQ, else NULL
 */
struct mock_srq {
	struct ohca_create_srq_req req;
	bool used;
	uint32_t srqn;
	uint32_t limit;
	uint32_t taken;
	struct mock_cq *cq;
};

extern struct mock_qp mock_qps[MOCK_QPS];
extern struct mock_srq mock_srqs[MOCK_SRQS];
/* The kernel's result for the next creation of an address handle */
extern struct ohca_av mock_av;
/* The flags that the last QP was created with. */
extern uint32_t mock_create_flags;

/* The errno that the next command fails with. */
extern int mock_fail;
/*
 * Called once, after the next QP or SRQ was destroyed in the kernel, while the command waits until
 * its events are acknowledged.
 */
extern void (*mock_wait_acks)(void *arg);
extern void *mock_wait_arg;
/* Doorbell page and shadow page of the context that mock_open() opens. */
extern uint8_t mock_uar[OHCA_UAR_SIZE];
extern struct ohca_shadow mock_shadow;

struct ibv_context *mock_open(void);
void mock_close(struct ibv_context *ctx);

struct mock_qp *mock_find_qp(uint32_t qpn);
struct mock_srq *mock_find_srq(uint32_t srqn);

/* The send or receive work request @idx in memory */
struct ohca_sq_wqe *mock_sq_wqe(const struct mock_qp *qp, uint32_t idx);
struct ohca_rq_wqe *mock_rq_wqe(const struct mock_qp *qp, uint32_t idx);
struct ohca_rq_wqe *mock_srq_wqe(const struct mock_srq *srq, uint32_t idx);
/* The producer index in the record of the send or receive queue. */
uint32_t mock_sq_pi(const struct mock_qp *qp);
uint32_t mock_rq_pi(const struct mock_qp *qp);
uint32_t mock_srq_pi(const struct mock_srq *srq);

/* Whether there is room for a CQE; write one, all but wr_id, qpn and owner as in @cqe. */
bool mock_cq_room(const struct mock_cq *cq);
void mock_complete(struct mock_cq *cq, const struct mock_qp *qp, uint64_t wr_id,
		   const struct ohca_cqe *cqe);
const struct ohca_cq_rec *mock_cq_rec(const struct mock_cq *cq);

/* Take the next send work request, complete it if signaled.  Return: whether there was one. */
bool mock_do_send(struct mock_qp *qp);
/* Take the next receive work request and complete it with @len bytes. */
bool mock_do_recv(struct mock_qp *qp, uint32_t len);

/**
 * struct mock_taken - an entry of an SRQ that the device has taken and not completed
 */
struct mock_taken {
	struct mock_srq *srq;
	uint64_t wr_id;
};

/* Take the SRQ's next entry.  Return: whether there was one. */
bool mock_take(struct mock_srq *srq, struct mock_taken *taken);
/* Complete it on behalf of a QP. */
void mock_complete_taken(const struct mock_qp *qp, const struct mock_taken *taken);

#endif /* LIBOHCA_MOCK_H */
