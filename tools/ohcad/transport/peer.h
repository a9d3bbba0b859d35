/* SPDX-License-Identifier: GPL-2.0 */
/* State of the requester's peer, if that is in this process. */

#ifndef OHCAD_PEER_H
#define OHCAD_PEER_H

#include <stdbool.h>

struct qp;

/*
 * Whether the peer of @qp still has responses for it, or waits; then a missing answer is not a
 * loss.
 */
bool peer_is_busy(struct qp *qp);
/*
 * Whether the peer of @qp waits for a page for a request that it dropped; that is not a loss
 * either.
 */
bool peer_has_fault(struct qp *qp);

#endif
