/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs.  qp_life.c makes and frees the object, qp.c has its completions and states, sched.c
 * runs it; qp_create.c and qp_modify.c have its commands, qp_state.c the rules of its state machine;
 * qp_mig.c migrates a connection to its alternate path; wq.c reads work requests, flush.c flushes
 * them; single.c serves queues whose work requests are one step each.  What a transport does with
 * its QPs is in qp_ops.h.
 */

#ifndef OHCAD_QP_H
#define OHCAD_QP_H

#include "device/cq.h"
#include "device/hca.h"
#include "qp/qp_ops.h"
#include "packet/gid.h"
#include "qp/uar.h"
#include "qp/rq.h"
#include "qp/sq.h"

struct pd;
struct qp_fault;
struct srq;
struct xrcd;

/**
 * struct qp - a queue pair: what all types have; it begins the structure of its transport
 * @ops: its transport
 * @state: what it does; as in @attr
 * @pd, @uar: NULL for OHCA_QPT_XRC_TGT
 * @srq: with OHCA_QP_F_SRQ and OHCA_QPT_TM: the SRQ, else NULL
 * @xrcd: OHCA_QPT_XRC_TGT: its domain, else NULL
 * @counters: the set that it counts in
 * @last_wqe: OHCA_EVENT_LAST_WQE is to come, when the queues are flushed
 * @slot_next: next QP of the same slot of @uar
 * @run: in hca->run or hca->more while it has something to do
 * @mcast: its memberships in multicast groups
 * @mtu_shift: log2 of the path MTU
 * @access: OHCA_ACCESS_REMOTE_* that the peer has
 * @dest_qpn: the peer
 * @peer: the QP that packets go to, or NULL; good while @peer_gen is the fabric's, and so are
 *	@peer_slow, @egress, @hooked, @remote, @refused and @mig_notice: net/ finds them
 * @peer_slow: the same if they take the hooked path, or with @mig_notice; @peer is NULL then
 * @egress: packets go to uplinks, or the last datagram or frame did
 * @hooked: they take the hooked path (struct link_hooks), in any case
 * @refused: net/'s reasons why there is no @peer, of which somebody takes notice
 * @mig_notice: the next packet changes the peer's state of path migration
 * @mig_failed: OHCA_EVENT_PATH_MIG_ERR was raised
 * @remote: answers may take their time: there is a limit to what is under way
 * @static_rate: of the last datagram
 * @pace_at: it may not send before, as its static rate is less than the port's; qp/pace.c's
 * @refs: flows that lead to it, and entries of indirection tables that name it
 * @faults: FAULT_PLACES places where accesses wait for pages; NULL: none has
 * @windows: memory windows of type 2B that are bound to it
 * @attr: attributes as software set them, little endian as in commands
 */
struct qp {
	struct hca *hca;
	const struct qp_ops *ops;
	uint32_t id;
	uint8_t type, flags;
	uint16_t slot;
	enum ohca_qp_state state : 8;
	uint8_t mtu_shift;
	uint8_t access;
	bool egress;
	uint32_t pdn;
	uint32_t dest_qpn;
	bool hooked;
	bool remote;
	uint8_t refused;
	bool last_wqe;
	uint8_t static_rate;
	unsigned int refs;
	bool mig_notice;
	bool mig_failed;
	struct pd *pd;
	struct srq *srq;
	struct xrcd *xrcd;
	struct counters *counters;
	struct uar *uar;
	struct qp *slot_next;
	struct list run;
	struct list mcast;
	struct qp *peer;
	struct qp *peer_slow;
	uint64_t peer_gen;
	uint64_t pace_at;
	struct qp_fault *faults;
	struct mkey *windows;
	struct send_queue sq;
	struct recv_queue rq;
	struct xlt xlt;
	struct ohca_qp_attr attr;
};

/* Sets of types */
#define QPT(type) (1U << (type))
#define QPT_DATAGRAM (QPT(OHCA_QPT_UD) | QPT(OHCA_QPT_GSI) | QPT(OHCA_QPT_SMI))
#define QPT_CONNECTED (QPT_REQUESTER | QPT(OHCA_QPT_XRC_TGT))
/* They send through requester.c. */
#define QPT_REQUESTER (QPT(OHCA_QPT_RC) | QPT(OHCA_QPT_UC) | QPT(OHCA_QPT_XRC_INI))

/* A send that fails does not stop their receive queue: OHCA_QPS_SQE. */
#define QPT_SQE (QPT(OHCA_QPT_UC) | QPT_DATAGRAM)

static inline bool qp_is(const struct qp *qp, uint32_t types)
{
	return types & QPT(qp->type);
}

/* Does it carry the port's own Ethernet frames? */
static inline bool qp_is_netdev(const struct qp *qp)
{
	return qp->type == OHCA_QPT_ETH && qp->flags & OHCA_QP_F_PRIVILEGED;
}

/* With which the lists of its own queues are used. */
static inline struct sge_rights qp_rights(const struct qp *qp)
{
	return (struct sge_rights){
		.pdn = qp->pdn,
		.privileged = qp->flags & OHCA_QP_F_PRIVILEGED,
	};
}

/* Count @n more of what the QP has done or seen. */
static inline void qp_count(struct qp *qp, enum ohca_counter what, uint64_t n)
{
	qp->counters->value[what] += n;
}

/* Is it in a state in which it takes packets? */
static inline bool qp_receives(const struct qp *qp)
{
	return qp->state >= OHCA_QPS_RTR && qp->state <= OHCA_QPS_SQE;
}

/* There may be new work: put the QP on hca->run, unless it waits already.  Any state, any time. */
static inline void qp_schedule(struct qp *qp)
{
	if (list_empty(&qp->run))
		list_add_tail(&qp->hca->run, &qp->run);
}

/* Everything of the send queue that was begun has completed. */
static inline bool qp_drained(const struct qp *qp)
{
	return qp->sq.wq.done == qp->sq.fetched;
}

/* Report SQ_DRAINED if that is due. */
void qp_check_drained(struct qp *qp);

/* Any state but RESET: qp->attr is as it is to be. */
void qp_enter_state(struct qp *qp, enum ohca_qp_state to);

/* Move to the error state, flush both queues; harmless when already there. */
void qp_error(struct qp *qp);

/*
 * A send work request has failed, and completed: on to the state that this leads to, in which the
 * others are flushed.
 */
void qp_send_error(struct qp *qp);

/*
 * A queue of the QP is not accessible or its index jumped: OHCA_EVENT_QP_FATAL and the error
 * state.
 */
void qp_fatal(struct qp *qp);

/*
 * Write a completion; a CQ that takes no more of them puts the QP into the error state.  Returns
 * whether it was written.
 */
bool qp_complete(struct qp *qp, struct wq *wq, const struct ohca_cqe *cqe);

extern const struct object_class qp_class, qp_attr_class;

/* A QP that has nothing and no number yet; NULL if there is no memory. */
struct qp *qp_new(struct hca *hca, const struct qp_type *type, uint8_t flags);

/* Take a QP out of everything that refers to it and free it. */
void qp_free(struct qp *qp);

/* As after creation: no indices, no messages under way; counters stay bound. */
void qp_reset(struct qp *qp);

/*
 * Is it a transition of this type of QP, and @mask what it needs and may have (InfiniBand
 * specification, 11.2.5.2)?  Returns OHCA_CMD_OK, BAD_STATE for an unknown transition or an
 * attribute that is missing or not allowed in it.
 */
enum ohca_cmd_status qp_check_transition(uint8_t type, enum ohca_qp_state from,
					 enum ohca_qp_state to, uint32_t mask);

struct qp *qp_get(struct hca *hca, uint32_t qpn); /* NULL if there is none */

#endif
