/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work queues whose work requests are one step each.  For frames and datagrams, every send is one
 * packet, and every packet uses one receive.  For tag operations, a send is one change of an SRQ's
 * tags.
 */

#ifndef OHCAD_SINGLE_H
#define OHCAD_SINGLE_H

#include "qp/qp.h"

/*
 * Execute the work request qp->sq.wqe.  Returns its status; on failure with OHCA_VENDOR_ERR_* in
 * *@vendor_err, else with the bytes moved in *@len.  Further fields of its completion go to @cqe.
 * If it has set qp->sq.paused, the work request has not ended: the QP waits for a page or for a
 * receiver, and tries again.
 */
typedef enum ohca_wc_status single_send_fn(struct qp *qp, struct ohca_cqe *cqe, uint32_t *len,
					   int *vendor_err);

/* Send and complete work requests; returns whether there are more. */
bool single_run(struct qp *qp, uint32_t budget, single_send_fn *send);

/*
 * Gather the data of the work request qp->sq.wqe, @min to @max bytes: *@num pieces at @iov, which
 * has room for SGE_MAX_IOV, *@len bytes.
 */
enum ohca_wc_status single_gather(struct qp *qp, uint32_t min, uint32_t max, struct iovec *iov,
				  unsigned int *num, uint32_t *len, int *vendor_err);

/*
 * A packet of @len bytes has arrived: load the next receive.  Returns false if there is none, or
 * none that is large enough, and the packet is dropped.
 */
bool single_take(struct qp *qp, uint32_t len);

/*
 * Copy the next @len bytes of @pos to the receive that single_take() found, and complete it: @cqe
 * has the fields of the packet, and the opcode if it is not OHCA_CQE_RECV.  Returns whether the
 * bytes were copied.
 */
bool single_place(struct qp *qp, struct iov_pos *pos, uint32_t len, struct ohca_cqe *cqe);

/* Whether the posted receives, few of them, together have room for @len bytes */
#define SINGLE_MAX_PARTS 64
bool single_has_room(struct qp *qp, uint32_t len);

#endif
