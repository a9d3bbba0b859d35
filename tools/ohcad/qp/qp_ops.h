/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of queue pairs that depends on their type.  Each transport has a struct qp_type for each
 * of its types, with functions in a struct qp_ops.  So qp/ does not depend on transports, and can
 * pass packets to them.
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
 * struct qp_ops - functions of a transport for a QP; any but @run may be NULL
 * @init: the QP was created: it has its rings and its SRQ.  Returns 0 or -ENOMEM
 * @fini: the QP is destroyed: free its memory; it was reset, or @init failed
 * @reset: back to the state after creation: no PSNs, no message under way
 * @leave: leave multicast groups until @end, as qp_unbind() does
 * @query: add the attributes that only the transport has: PSNs
 * @enter_state: qp->state is new, and was @from, another one; qp->attr is set.  A move to RESET
 *	calls @reset instead
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
	bool (*leave)(struct qp *qp, uint64_t end);
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
 * struct qp_type - a type of QPs
 * @ops: its functions
 * @size: bytes of the structure that begins with struct qp
 * @cap: OHCA_CAP_* that the type needs
 * @user_cap: OHCA_CAP_* that it needs without OHCA_QP_F_PRIVILEGED
 * @feat: OHCA_FEAT_* that it needs
 * @type: OHCA_QPT_*
 * @link: OHCA_LINK_* of the ports that have it; 0: any
 * @flags: OHCA_QP_F_* that it may have
 * @must: OHCA_QP_F_* that it must have
 * @send: it has a send queue, unless it receives from an SRQ with tags
 * @recv: it has a receive queue, or receives from an SRQ with OHCA_QP_F_SRQ
 * @one: each port has at most one, which is privileged: OHCA_SPECIAL_QPN()
 */
struct qp_type {
	const struct qp_ops *ops;
	size_t size;
	uint64_t cap;
	uint64_t user_cap;
	uint64_t feat;
	uint8_t type;
	uint8_t link;
	uint8_t flags;
	uint8_t must;
	bool send;
	bool recv;
	bool one;
};

#define QP_F_ALL (OHCA_QP_F_PRIVILEGED | OHCA_QP_F_SIGNAL_ALL)

/* Entries of hca->qp_types, by OHCA_QPT_*; NULL: CREATE_QP does not support the type. */
#define QP_NUM_TYPES (OHCA_QPT_TM + 1)

#endif
