// SPDX-License-Identifier: GPL-2.0
/* State of the requester's peer. */

#include "net/link.h"
#include "qp/qp.h"
#include "transport/peer.h"
#include "transport/rc.h"

bool peer_is_busy(struct qp *qp)
{
	struct qp *peer = link_peer(qp);

	return peer && (rc_resp(peer)->res_num || qp_fault_is_waiting(peer, FAULT_REQUEST));
}

bool peer_has_fault(struct qp *qp)
{
	struct qp *peer = link_peer(qp);

	return peer && rc_resp(peer)->nak == NAK_FAULT;
}
