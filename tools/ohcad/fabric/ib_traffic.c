// SPDX-License-Identifier: GPL-2.0
/* Traffic of a port. */

#include <string.h>

#include "device/counters.h"
#include "device/hca.h"
#include "fabric/ib_node.h"
#include "fabric/ib_traffic.h"
#include "fabric/ib_route.h"
#include "packet/bth.h"
#include "packet/ib.h"

static void add(struct ib_traffic *to, uint64_t pkts, uint64_t bytes, uint64_t mcast)
{
	to->pkts += pkts;
	to->data += (bytes + pkts * IB_HEADERS_LEN) / 4;
	to->mcast += mcast;
}

void ib_count_packet(struct ib_traffic *traffic, uint32_t len, uint16_t dlid)
{
	traffic->pkts++;
	traffic->data += (len - VCRC_LEN) / 4;
	traffic->mcast += dlid >= LID_MCAST && dlid != LID_PERMISSIVE;
}

/* Traffic that the QPs of an HCA have sent and received by the link */
static void add_qps(const struct ib_port *ib, struct ib_traffic *xmit, struct ib_traffic *rcv)
{
	const struct ib_qp_traffic *no_xmit = &ib->counters.no_xmit;
	const struct ib_qp_traffic *no_rcv = &ib->counters.no_rcv;
	struct counters total;

	counters_total(ib->port->hca, ib->num, &total);
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

void ib_traffic_left(struct ib_port *ib, uint64_t pkts, uint64_t bytes)
{
	add(&ib->counters.xmit, pkts, bytes, 0);
	if (ib->peer)
		add(&ib->peer->counters.rcv, pkts, bytes, 0);
}

void ib_traffic_count(const struct ib_port *ib, struct ib_traffic *xmit, struct ib_traffic *rcv)
{
	const struct ib_qp_traffic *hop_xmit = &ib->counters.hop_xmit;
	const struct ib_qp_traffic *hop_rcv = &ib->counters.hop_rcv;

	ib_routes_flush_counters(ib->node->fabric);
	*xmit = ib->counters.xmit;
	*rcv = ib->counters.rcv;
	add(xmit, hop_xmit->pkts, hop_xmit->bytes, hop_xmit->mcast);
	add(rcv, hop_rcv->pkts, hop_rcv->bytes, hop_rcv->mcast);
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

static void subtract(struct ib_traffic *from, const struct ib_traffic *what)
{
	from->pkts -= what->pkts;
	from->data -= what->data;
	from->mcast -= what->mcast;
}

void ib_traffic_restart(struct ib_port *ib)
{
	struct ib_port *peer = ib->peer;
	struct ib_traffic xmit = {0}, rcv = {0};

	ib_routes_flush_counters(ib->node->fabric);
	if (ib->port && peer && !peer->port)
		add_qps(ib, &peer->counters.rcv, &peer->counters.xmit);
	else if (!ib->port && peer && peer->port)
		add_qps(peer, &rcv, &xmit);
	memset(&ib->counters, 0, sizeof(ib->counters));
	/* What the HCA at the other end has counted, it will be asked for again. */
	subtract(&ib->counters.xmit, &xmit);
	subtract(&ib->counters.rcv, &rcv);
}
