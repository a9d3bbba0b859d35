// SPDX-License-Identifier: GPL-2.0
/* Datagrams that QPs of an InfiniBand port count. */

#include <endian.h>

#include "fabric/ib_port.h"
#include "fabric/ib_traffic.h"
#include "fabric/port.h"
#include "net/datagram.h"
#include "net/link_takers.h"
#include "packet/gid.h"
#include "qp/qp.h"

/* What the switch answers to @src has come by the link. */
bool link_is_local(const struct qp *src, const struct port *port, const struct datagram *dg)
{
	return port->ib && src && src->port == port &&
	       ib_port_has_lid(port->ib, le16toh(dg->cqe.ib.slid));
}

void link_count_takers(struct port *port, const struct datagram *dg, unsigned int takers,
		       bool local)
{
	uint64_t bytes = dg->len - OHCA_GRH_LEN, mcast = dg->dest_qpn == QPN_MCAST;
	struct ib_port *ib = port->ib;

	if (!ib)
		return;
	if (local && !mcast)
		ib_traffic_add(&ib->counters.no_xmit, 1, bytes, 0);
	if (!local && !takers)
		ib_traffic_arrived(ib, 1, bytes, mcast);
	else if (!local)
		takers--;
	ib_traffic_add(&ib->counters.no_rcv, takers, takers * bytes, takers * mcast);
}
