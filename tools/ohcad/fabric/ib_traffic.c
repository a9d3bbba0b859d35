// SPDX-License-Identifier: GPL-2.0
/* What has passed a port. */

#include "device/counters.h"
#include "device/hca.h"
#include "fabric/ib_node.h"
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

void ib_count_packet(struct ib_traffic *traffic, uint32_t len, uint16_t dlid)
{
	traffic->pkts++;
	traffic->data += (len - VCRC_LEN) / 4;
	traffic->mcast += dlid >= LID_MCAST && dlid != LID_PERMISSIVE;
}

/* What the QPs of an HCA have sent and received by the link */
static void add_qps(const struct ib_port *ib, struct ib_traffic *xmit, struct ib_traffic *rcv)
{
	const struct ib_qp_traffic *no_xmit = &ib->counters.no_xmit;
	const struct ib_qp_traffic *no_rcv = &ib->counters.no_rcv;
	struct counters total;

	counters_total(ib->port->hca, &total);
	add(xmit, total.value[OHCA_CNT_TX_PKTS] - no_xmit->pkts,
	    total.value[OHCA_CNT_TX_BYTES] - no_xmit->bytes,
	    total.value[OHCA_CNT_TX_MCAST] - no_xmit->mcast);
	add(rcv, total.value[OHCA_CNT_RX_PKTS] - no_rcv->pkts,
	    total.value[OHCA_CNT_RX_BYTES] - no_rcv->bytes,
	    total.value[OHCA_CNT_RX_MCAST] - no_rcv->mcast);
}

void ib_traffic_arrived(struct ib_port *ib, uint64_t pkts, uint64_t bytes, uint64_t mcast)
{
	add(&ib->counters.rcv, pkts, bytes, mcast);
	if (ib->peer)
		add(&ib->peer->counters.xmit, pkts, bytes, mcast);
}

void ib_traffic_count(const struct ib_port *ib, struct ib_traffic *xmit, struct ib_traffic *rcv)
{
	*xmit = ib->counters.xmit;
	*rcv = ib->counters.rcv;
	if (ib->port)
		add_qps(ib, xmit, rcv);
	else if (ib->peer && ib->peer->port)
		add_qps(ib->peer, rcv, xmit);
}

static uint64_t waits_for(const struct ib_port *ib)
{
	return ib->waits ? loop_now(ib->node->loop) - ib->waits_since : 0;
}

void ib_wait(struct ib_port *ib, uint8_t why, bool waits)
{
	uint8_t now = waits ? ib->waits | why : ib->waits & ~why;

	if (!ib->waits && now)
		ib->waits_since = loop_now(ib->node->loop);
	else if (!now)
		ib->counters.xmit_wait_ns += waits_for(ib);
	ib->waits = now;
}

uint64_t ib_waited(const struct ib_port *ib)
{
	return ib->counters.xmit_wait_ns + waits_for(ib);
}

void ib_traffic_keep(struct ib_port *ib)
{
	struct ib_port *peer = ib->peer;

	if (peer)
		add_qps(ib, &peer->counters.rcv, &peer->counters.xmit);
}
