/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is particular to a type of queue pair.  Each transport has a struct qp_type for each of its
 * types, with what the device does with such QPs in a struct qp_ops: so qp/ needs to know no
 * transport, and packets find their way up.
 */

#ifndef OHCAD_QP_OPS_H
#define OHCAD_QP_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ohca/ohca_cmd.h"
#include "qp/qp_fault.h"

struct datagram;
struct ohca_cqe;
struct pkt;
struct qp;

/**
 * struct qp_ops - how a transport works on a QP; what it does not need is NULL, but for @run
 * @init: the QP is created: it has its rings and its SRQ.  0 or -ENOMEM
 * @fini: the QP goes: free what @init and its life brought; it was reset, or @init failed
 * @reset: as after creation: no PSNs, no message under way
 * @query: add to the attributes what only the transport knows: PSNs
 * @enter_state: qp->state is new, and was @from; qp->attr is what it is to be.  A move to RESET
 *	comes as @reset
 * @stop_send: a send has failed, and the others are flushed: nothing is outstanding any more
 * @run: do about @budget bytes of work in a state from RTR to SQD; returns whether more is left to
 *	do right now
 * @receive: a burst has come from the peer
 * @receive_datagram: a datagram has come; returns whether it was taken
 * @migrated: the QP has another path (qp_mig.h), on which nothing is known to be lost
 * @timeout: the timer of the send queue, in RTS and SQD, if it was not waiting for a receiver
 * @resume: an access that waited at this place, FAULT_REQUEST or FAULT_RESPONSE, is to be tried
 *	again
 * @complete_send, @complete_recv: in place of the QP's CQs: a work request of a queue that is the
 *	device's own has ended, or a receive that was taken from an SRQ with tags.  @cqe is what
 *	software would get.  Returns false if a CQ takes no more of them: the QP is in error
 */
struct qp_ops {
	int (*init)(struct qp *qp);
	void (*fini)(struct qp *qp);
	void (*reset)(struct qp *qp);
	void (*query)(const struct qp *qp, struct ohca_qp_attr *attr);
	void (*enter_state)(struct qp *qp, enum ohca_qp_state from);
	void (*stop_send)(struct qp *qp);
	bool (*run)(struct qp *qp, uint32_t budget);
	void (*receive)(struct qp *qp, const struct pkt *pkt);
	bool (*receive_datagram)(struct qp *qp, const struct datagram *dg);
	void (*migrated)(struct qp *qp);
	void (*timeout)(struct qp *qp);
	void (*resume)(struct qp *qp, enum fault_place place);
	bool (*complete_send)(struct qp *qp, struct ohca_cqe *cqe);
	bool (*complete_recv)(struct qp *qp, struct ohca_cqe *cqe);
};

/**
 * struct qp_type - what QPs of a type are like
 * @ops: what is done with them
 * @size: bytes of the structure that begins with struct qp
 * @cap: OHCA_CAP_* that the type needs
 * @feat: OHCA_FEAT_* that it needs
 * @qpn: with @one, the number of it; else each has its own
 * @type: OHCA_QPT_*
 * @link: OHCA_LINK_*, of whose ports alone it is; 0: of any
 * @flags: OHCA_QP_F_* that it may have
 * @must: those that it must have
 * @send: it has a send queue, but for one that receives from an SRQ with tags
 * @recv: it has a receive queue, or receives from an SRQ with OHCA_QP_F_SRQ
 * @one: there is at most one that is privileged
 */
struct qp_type {
	const struct qp_ops *ops;
	size_t size;
	uint64_t cap;
	uint64_t feat;
	uint32_t qpn;
	uint8_t type;
	uint8_t link;
	uint8_t flags;
	uint8_t must;
	bool send;
	bool recv;
	bool one;
};

#define QP_F_ALL (OHCA_QP_F_PRIVILEGED | OHCA_QP_F_SIGNAL_ALL)

/* hca->qp_types has so many entries, by OHCA_QPT_*; NULL: there are no such QPs, or not by CREATE_QP. */
#define QP_NUM_TYPES (OHCA_QPT_TM + 1)

#endif
