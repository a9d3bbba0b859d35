/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs.  qp.c owns the object, its state machine and commands; wq.c reads work requests; requester.c and responder.c
 * are the two halves of the transport; eth.c serves OHCA_QPT_ETH.
 */

#ifndef OHCAD_QP_H
#define OHCAD_QP_H

#include "cq.h"
#include "hca.h"
#include "uar.h"

struct requester;
struct responder;

/**
 * struct wq - a send or receive queue
 * @ring: entries
 * @rec: the record, one entry
 * @cq: where it completes
 * @pi: producer index at the last look at the record
 * @next: next entry to fetch
 * @done: entries completed (CQE written or not needed)
 */
struct wq {
	struct ring ring;
	struct ring rec;
	struct cq *cq;
	uint32_t pi, next, done;
	uint16_t max_sge;
	uint16_t max_inline;
};

/**
 * struct qp - a queue pair
 * @run: in hca->run while it has something to do
 * @slot_next: next QP of the same slot of @uar
 * @attr: present attributes, CPU byte order is not converted: little endian as in commands
 */
struct qp {
	struct hca *hca;
	uint32_t id;
	uint8_t type, flags;
	enum ohca_qp_state state;
	uint32_t pdn;
	struct uar *uar;
	uint16_t slot;
	struct qp *slot_next;
	struct list run;
	struct xlt xlt;
	struct wq sq, rq;
	struct ohca_qp_attr attr;
	struct requester *req;
	struct responder *resp;
};

/* There may be new work in the send queue: put the QP on hca->run.  Any state, any time. */
void qp_schedule(struct qp *qp);

/* Do a bounded amount of the QP's work (about @budget bytes); returns whether more is left to do right now. */
bool qp_run(struct qp *qp, uint32_t budget);

/* Move to the error state, flush both queues; harmless when already there. */
void qp_error(struct qp *qp);

/* Destroy all QPs without touching guest memory: reset. */
void qp_reset_all(struct hca *hca);

/* A frame arrived for the port's OHCA_QPT_ETH QP (eth.c).  Returns false if it had to be dropped. */
bool eth_receive(struct qp *qp, const struct iovec *iov, unsigned int num, uint32_t len);

struct qp *qp_get(struct hca *hca, uint32_t qpn); /* NULL if there is none */

#endif
