/* SPDX-License-Identifier: GPL-2.0 */
/* Operations of a send queue that send nothing, and remote invalidation. */

#ifndef OHCAD_LOCAL_OP_H
#define OHCAD_LOCAL_OP_H

#include <stdbool.h>
#include <stdint.h>

struct qp;

/* A fast registration has read a part of its pages, for which LOCAL_OP_PART bytes are what it costs. */
#define LOCAL_OP_MORE (-1)
#define LOCAL_OP_PART 4096

/*
 * Execute the work request in qp->sq.wqe, of kind OP_LOCAL, which was checked.  Returns 0; or LOCAL_OP_MORE, then it is to be
 * called again, no longer with @first; or OHCA_VENDOR_ERR_* and changes nothing (except that a failed fast registration
 * leaves its region without pages).
 */
int local_op(struct qp *qp, bool first);

/* The peer of @qp invalidates @key.  Returns 0 or OHCA_VENDOR_ERR_*. */
int local_op_remote_inv(struct qp *qp, uint32_t key);

#endif
