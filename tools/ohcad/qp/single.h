/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work queues whose work requests are one step each: every send is one packet, and every packet takes
 * one receive, as of frames and datagrams; or a send is one change of an SRQ's tags.
 */

#ifndef OHCAD_SINGLE_H
#define OHCAD_SINGLE_H

#include "qp/qp.h"

/*
 * Do what the work request qp->sq.wqe asks for.  Returns how that ends; with a failure
 * OHCA_VENDOR_ERR_* in *@vendor_err, else the bytes moved in *@len.  What is particular to its
 * completion goes to @cqe.  If qp->sq.paused is set then, it has not ended: the QP waits for a page
 * or for a receiver, and tries again.
 */
typedef enum ohca_wc_status single_send_fn(struct qp *qp, struct ohca_cqe *cqe, uint32_t *len,
					   int *vendor_err);

/* Send and complete work requests; returns whether there are more. */
bool single_run(struct qp *qp, uint32_t budget, single_send_fn *send);

/*
 * The data of the work request qp->sq.wqe, @min to @max bytes: *@num pieces at @iov, which has
 * room for SGE_MAX_IOV, *@len bytes.
 */
enum ohca_wc_status single_gather(struct qp *qp, uint32_t min, uint32_t max, struct iovec *iov,
				  unsigned int *num, uint32_t *len, int *vendor_err);

/*
 * A packet of @len bytes has come: have the next receive at hand.  False: there is none, or none
 * that can take it, and the packet is dropped.
 */
bool single_take(struct qp *qp, uint32_t len);

/*
 * Place the next @len bytes of @pos in the receive that single_take() found, and complete that:
 * @cqe has what tells of the packet, and the opcode if it is not OHCA_CQE_RECV.  Returns whether
 * they arrived.
 */
bool single_place(struct qp *qp, struct iov_pos *pos, uint32_t len, struct ohca_cqe *cqe);

/* Is there room for @len bytes in the receives that are posted, taken together? */
bool single_has_room(struct qp *qp, uint32_t len);

#endif
