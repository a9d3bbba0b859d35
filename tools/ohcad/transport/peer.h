/* SPDX-License-Identifier: GPL-2.0 */
/* What the requester can know of its peer, if that is in this process. */

#ifndef OHCAD_PEER_H
#define OHCAD_PEER_H

#include <stdbool.h>

struct qp;

/* The peer of @qp is alive and still has answers for it, or waits: silence is no loss. */
bool peer_is_busy(struct qp *qp);
/* The peer of @qp asks for what it could not take for want of a page: that is no loss either. */
bool peer_has_fault(struct qp *qp);

#endif
