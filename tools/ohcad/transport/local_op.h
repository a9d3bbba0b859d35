/* SPDX-License-Identifier: GPL-2.0 */
/* Operations of a send queue that send nothing, and remote invalidation. */

#ifndef OHCAD_LOCAL_OP_H
#define OHCAD_LOCAL_OP_H

#include <stdint.h>

struct qp;

/*
 * Execute the work request in qp->sq.wqe, of kind OP_LOCAL, which was checked.  Returns 0, or
 * OHCA_VENDOR_ERR_* and changes nothing (except that a failed fast registration leaves its region
 * without pages).
 */
int local_op(struct qp *qp);

/* The peer of @qp invalidates @key.  Returns 0 or OHCA_VENDOR_ERR_*. */
int local_op_remote_inv(struct qp *qp, uint32_t key);

#endif
