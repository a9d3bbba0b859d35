// SPDX-License-Identifier: GPL-2.0
/* What has passed a port. */

#include "device/counters.h"
#include "device/hca.h"
#include "fabric/ib_traffic.h"
#include "packet/bth.h"
#include "packet/ib.h"

#define HEADER_LEN (LRH_LEN + BTH_LEN + ICRC_LEN)

static void add(struct ib_traffic *to, uint64_t pkts, uint64_t bytes, uint64_t mcast)
{
	to->pkts += pkts;
	to->data += (bytes + pkts * HEADER_LEN) / 4;
	to->mcast += mcast;
}

/* What the QPs of an HCA have sent and received */
static void add_qps(const struct hca *hca, struct ib_traffic *xmit, struct ib_traffic *rcv)
{
	struct counters total;

	counters_total(hca, &total);
	add(xmit, total.value[OHCA_CNT_TX_PKTS], total.value[OHCA_CNT_TX_BYTES],
	    total.value[OHCA_CNT_TX_MCAST]);
	add(rcv, total.value[OHCA_CNT_RX_PKTS], total.value[OHCA_CNT_RX_BYTES],
	    total.value[OHCA_CNT_RX_MCAST]);
}

void ib_traffic_count(const struct ib_port *ib, struct ib_traffic *xmit, struct ib_traffic *rcv)
{
	*xmit = ib->counters.xmit;
	*rcv = ib->counters.rcv;
	if (ib->port)
		add_qps(ib->port->hca, xmit, rcv);
	else if (ib->peer)
		add_qps(ib->peer->port->hca, rcv, xmit);
}

void ib_traffic_keep(struct ib_port *ib)
{
	struct ib_port *peer = ib->peer;

	if (peer)
		add_qps(ib->port->hca, &peer->counters.rcv, &peer->counters.xmit);
}
