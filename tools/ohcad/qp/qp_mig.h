/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Path migration of connections (InfiniBand specification, 17.2.8).  Software sets an alternate path and moves to
 * REARM; a packet without MigReq from the peer, which has done so too, arms the QP.  What makes an armed QP migrate
 * is software, a path that fails, or a packet with MigReq by the alternate path: its peer has migrated.
 */

#ifndef OHCAD_QP_MIG_H
#define OHCAD_QP_MIG_H

#include <stdbool.h>

#include "qp/qp.h"

/**
 * enum path_verdict - what a packet's path and its MigReq are to the QP that it is for (9.6.1.5, 17.2.8)
 * @PATH_OTHER: not the QP's path
 * @PATH_PRIMARY: the QP's path
 * @PATH_ARMS: the same; the peer is in REARM as the QP is
 * @PATH_ALTERNATE: the peer has migrated to the QP's alternate path
 * @PATH_NO_ALTERNATE: the peer has migrated, and the QP can't follow
 */
enum path_verdict {
	PATH_OTHER,
	PATH_PRIMARY,
	PATH_ARMS,
	PATH_ALTERNATE,
	PATH_NO_ALTERNATE,
};

/* MigReq of the packets that the QP sends */
static inline bool qp_mig_req(const struct qp *qp)
{
	return qp->attr.path_mig_state == OHCA_MIG_MIGRATED;
}

/* The path by which a packet with or without MigReq has to come to the QP */
static inline const struct ohca_av *qp_mig_path(const struct qp *qp, bool mig_req)
{
	return mig_req && qp->attr.path_mig_state == OHCA_MIG_ARMED ? &qp->attr.alt_av
								    : &qp->attr.av;
}

/* @by_path: it comes by that one. */
enum path_verdict qp_mig_judge(const struct qp *qp, bool mig_req, bool by_path);
/* The P_Key of the QP for packets of such a path */
uint16_t qp_mig_pkey(const struct qp *qp, enum path_verdict verdict);
/* Does the packet change the QP's state of path migration: qp_mig_notice()? */
static inline bool qp_mig_tells(enum path_verdict verdict)
{
	return verdict == PATH_ARMS || verdict == PATH_ALTERNATE;
}

/* Has the QP's port what the alternate path names?  False, too, if software has set none. */
bool qp_mig_is_possible(const struct qp *qp);
/* The alternate path, which is possible, takes the place of the primary one: OHCA_EVENT_PATH_MIG. */
void qp_migrate(struct qp *qp);
/*
 * What the QP has sent does not arrive, and its retries are used up.  An armed one migrates if it can, with as many
 * retries as it has by its attributes.  False: it has no other path.
 */
bool qp_mig_path_failed(struct qp *qp);
/* A packet has arrived that changes the migration state: without MigReq in REARM, or with it by the alternate path in ARMED. */
void qp_mig_notice(struct qp *qp);
/* OHCA_EVENT_PATH_MIG_ERR: the QP can't migrate.  Once until software sets a path or a state. */
void qp_mig_fail(struct qp *qp);

/* MODIFY_QP has set the alternate path, or the state, or both; it may do that. */
void qp_mig_modify(struct qp *qp, uint32_t mask, uint8_t state);

#endif
