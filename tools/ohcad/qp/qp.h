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
#include "fabric/port.h"
#include "qp/qp_ops.h"
#include "packet/gid.h"
#include "qp/uar.h"
#include "qp/rq.h"
#include "qp/sq.h"

struct ib_hops;
struct pd;
struct qp_fault;
struct qp_latency;
struct srq;
struct xrcd;

/**
 * struct qp - a queue pair: the part that all types have; the structure of its transport begins
 *	with it
 * @port: its port; until OHCA_QP_PORT names it, the first one
 * @ops: its transport
 * @state: present state; as in @attr
 * @pd, @uar: NULL for OHCA_QPT_XRC_TGT
 * @srq: with OHCA_QP_F_SRQ and OHCA_QPT_TM: the SRQ, else NULL
 * @xrcd: OHCA_QPT_XRC_TGT: its domain, else NULL
 * @counters: the set that it counts in
 * @last_wqe: raise OHCA_EVENT_LAST_WQE when the queues are flushed
 * @slot_next: next QP of the same slot of @uar
 * @slot_at: the pointer to this QP, in the slot or in the QP before it
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
 * @hops: cables between switches on the way to the peer, good as long as @peer; NULL: none
 * @refused: reasons for which there is no @peer, owned by net/
 * @mig_notice: the next packet changes the peer's state of path migration
 * @mig_failed: OHCA_EVENT_PATH_MIG_ERR was raised
 * @remote: answers may take their time: there is a limit to what is under way
 * @static_rate, @sl: of the last datagram
 * @pace_at: it may not send before, as its static rate is less than the port's; qp/pace.c's
 * @refs: flows that lead to it, and entries of indirection tables that name it
 * @faults: FAULT_PLACES places where accesses wait for pages; NULL: none has waited
 * @latency: of its work requests; NULL: none was measured
 * @sent, @received: bytes, since it was created
 * @retries: how often it has sent requests again, because packets were lost or the receiver was not ready
 * @errors: completions with an error, other than those of flushed work requests
 * @windows: memory windows of type 2B that are bound to it
 * @attr: attributes as software set them, little endian as in commands
 * @memory: charged to QUOTA_MEMORY
 */
struct qp {
	struct hca *hca;
	struct port *port;
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
	uint8_t static_rate, sl;
	bool mig_notice;
	bool mig_failed;
	uint32_t refs;
	uint32_t memory;
	uint32_t retries;
	uint32_t errors;
	struct pd *pd;
	struct srq *srq;
	struct xrcd *xrcd;
	struct counters *counters;
	struct uar *uar;
	struct qp *slot_next;
	struct qp **slot_at;
	struct list run;
	struct list mcast;
	struct qp *peer;
	struct qp *peer_slow;
	uint64_t peer_gen;
	struct ib_hops *hops;
	uint64_t pace_at;
	struct qp_fault *faults;
	struct qp_latency *latency;
	uint64_t sent, received;
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
/* Types that send through requester.c */
#define QPT_REQUESTER (QPT(OHCA_QPT_RC) | QPT(OHCA_QPT_UC) | QPT(OHCA_QPT_XRC_INI))

/* Types with OHCA_QPS_SQE: a send that fails does not stop the receive queue */
#define QPT_SQE (QPT(OHCA_QPT_UC) | QPT_DATAGRAM)

static inline bool qp_is(const struct qp *qp, uint32_t types)
{
	return types & QPT(qp->type);
}

/* Whether it carries the port's own Ethernet frames */
static inline bool qp_is_netdev(const struct qp *qp)
{
	return qp->type == OHCA_QPT_ETH && qp->flags & OHCA_QP_F_PRIVILEGED;
}

/* Rights for the lists of its own queues */
static inline struct sge_rights qp_rights(const struct qp *qp)
{
	return (struct sge_rights){
		.pdn = qp->pdn,
		.privileged = qp->flags & OHCA_QP_F_PRIVILEGED,
	};
}

/* Add @n to a counter of the QP. */
static inline void qp_count(struct qp *qp, enum ohca_counter what, uint64_t n)
{
	qp->counters->value[what] += n;
}

/* Count packets that it sends, and that it receives, with the bytes of their payload. */
static inline void qp_count_sent(struct qp *qp, uint64_t packets, uint64_t bytes)
{
	qp_count(qp, OHCA_CNT_TX_PKTS, packets);
	qp_count(qp, OHCA_CNT_TX_BYTES, bytes);
	qp->sent += bytes;
}

static inline void qp_count_received(struct qp *qp, uint64_t packets, uint64_t bytes)
{
	qp_count(qp, OHCA_CNT_RX_PKTS, packets);
	qp_count(qp, OHCA_CNT_RX_BYTES, bytes);
	qp->received += bytes;
}

/* Count a completion with an error. */
static inline void qp_count_error(struct qp *qp, enum ohca_counter what)
{
	qp_count(qp, what, 1);
	qp->errors++;
}

/* Whether it can receive packets in its state */
static inline bool qp_receives(const struct qp *qp)
{
	return qp->state >= OHCA_QPS_RTR && qp->state <= OHCA_QPS_SQE;
}

/* Its number in packets */
static inline uint32_t qp_link_num(const struct qp *qp)
{
	return qp->id < HCA_FIRST_QPN ? qp->id & 1 : qp->id;
}

/* It is a QP of this port from now on. */
void qp_set_port(struct qp *qp, struct port *port);

/* It counts in this set from now on, one of its port; NULL: in the port's own. */
void qp_set_counters(struct qp *qp, struct counters *counters);

/* The P_Key of its packets, or 0; of QP 1, each datagram has its own. */
uint16_t qp_pkey(const struct qp *qp);

/* There may be new work: put the QP on hca->run, unless it is queued already.  In any state. */
static inline void qp_schedule(struct qp *qp)
{
	if (list_empty(&qp->run))
		list_add_tail(&qp->hca->run, &qp->run);
}

/* Whether everything that was begun in the send queue has completed */
static inline bool qp_drained(const struct qp *qp)
{
	return qp->sq.wq.done == qp->sq.fetched;
}

/* Raise SQ_DRAINED if the QP is drained and software asked for it. */
void qp_check_drained(struct qp *qp);

/* Enter a state, any but RESET, or stay in it; qp->attr is set already. */
void qp_enter_state(struct qp *qp, enum ohca_qp_state to);

/* Move to the error state, and flush both queues; does nothing in that state. */
void qp_error(struct qp *qp);

/*
 * A send work request has failed, and completed: move to the state that follows, in which the
 * others are flushed.
 */
void qp_send_error(struct qp *qp);

/*
 * A queue of the QP is not accessible or its index jumped: OHCA_EVENT_QP_FATAL and the error
 * state.
 */
void qp_fatal(struct qp *qp);

/*
 * Write a completion; if the CQ is in error, the QP enters the error state.  Returns whether it was
 * written.
 */
bool qp_complete(struct qp *qp, struct wq *wq, const struct ohca_cqe *cqe);

extern const struct object_class qp_class, qp_attr_class;

/* Charge memory of the QP to QUOTA_MEMORY, until it is freed.  Returns false if there is not so much. */
static inline bool qp_charge(struct qp *qp, size_t bytes)
{
	if (!quota_charge(&qp->hca->quotas[QUOTA_MEMORY], bytes))
		return false;
	qp->memory += bytes;
	return true;
}

/* Allocate a QP without queues and number; returns NULL if there is no memory. */
struct qp *qp_new(struct hca *hca, const struct qp_type *type, uint8_t flags);

/* Remove all references to a QP, and free it. */
void qp_free(struct qp *qp);

/*
 * Back to the state after creation: no indices, no messages under way; counters stay bound.  qp_unbind() is to follow for its
 * memory windows.
 */
void qp_reset(struct qp *qp);

/*
 * After qp_reset(): unbind its memory windows, and @leave: leave its multicast groups, until @end (loop_clock()), some in any
 * case.  Returns whether it has none any more.
 */
bool qp_unbind(struct qp *qp, bool leave, uint64_t end);

/*
 * Check that this type of QP has the transition, and that @mask has the attributes that it needs
 * and only those that are allowed (InfiniBand specification, 11.2.5.2).  Returns OHCA_CMD_OK, or
 * BAD_STATE for an unknown transition or an attribute that is missing or not allowed.
 */
enum ohca_cmd_status qp_check_transition(uint8_t type, enum ohca_qp_state from,
					 enum ohca_qp_state to, uint32_t mask);

struct qp *qp_get(struct hca *hca, uint32_t qpn); /* Returns NULL if there is none. */

/* The QP of a port that has the number @qpn in packets, or NULL */
struct qp *qp_of_port(const struct port *port, uint32_t qpn);

#endif
