// SPDX-License-Identifier: GPL-2.0
/* Packets between QPs in captures. */

#include <endian.h>

#include "fabric/ib_route.h"
#include "net/capture_pkt.h"
#include "net/datagram.h"
#include "net/ib_wire.h"
#include "net/wire.h"
#include "packet/ib.h"
#include "packet/roce.h"
#include "qp/qp.h"
#include "qp/qp_mig.h"

/**
 * struct route_headers - what is before the transport headers of a packet
 * @infiniband: @ib holds, else @roce
 */
struct route_headers {
	bool infiniband;
	union {
		struct roce_path roce;
		struct ib_path ib;
	};
};

static uint32_t encode(uint8_t *data, const struct route_headers *route, const struct pkt *pkt,
		       struct iov_pos *payload)
{
	return route->infiniband ? ib_encode(data, &route->ib, pkt, payload)
				 : roce_encode(data, &route->roce, pkt, payload);
}

/* All packets of a burst. */
static void record(struct capture *c, struct capture_if *at, enum pcapng_dir dir,
		   const struct route_headers *route, const struct pkt *pkt, uint8_t mtu_shift)
{
	uint32_t max = route->infiniband ? IB_MAX_PACKET : ROCE_MAX_FRAME;
	struct iov_pos payload = {.iov = pkt->iov};
	uint32_t i, num = pkt_num_parts(pkt);

	for (i = 0; i < num; i++) {
		struct pkt part = pkt_part(pkt, i, mtu_shift);
		uint8_t *data = capture_packet_begin(c, at, max);

		if (!data) {
			capture_drop(c, at, num - i);
			return;
		}
		if (!capture_packet_end(c, at, dir, data, encode(data, route, &part, &payload)))
			return;
	}
}

/*
 * The virtual lane, at a port, of packets of @flow that come from the HCA with @from, or from an agent of another node;
 * -1: they do not pass there
 */
static int vl_at(const struct capture_if *at, enum pcapng_dir dir, struct port *from, bool of_agent,
		 const struct ib_flow *flow)
{
	const struct port *port = list_entry(at, struct port, capture);
	const struct ib_port *out = port->ib->peer;

	if (dir == PCAPNG_OUT || (port == from && !of_agent))
		return ib_vl(from->ib->sl2vl, flow->sl, from->ib);
	if (!out)
		return -1;
	if (!of_agent)
		return ib_route_vl(from, flow, port);
	if (!out->node->sw)
		return ib_vl(out->sl2vl, flow->sl, out);
	return ib_vl(ib_switch_sl2vl(out->node->sw, 0, out->num), flow->sl, out);
}

/* That of packets to the peer of @src, InfiniBand: on virtual lane @vl; false if they come from no address any more. */
static bool route_of(const struct qp *src, uint8_t vl, struct route_headers *route)
{
	const struct port *port = src->port;

	route->infiniband = port->ib;
	if (!port->ib)
		return wire_path(src, &route->roce);
	ib_wire_path(src, &route->ib);
	route->ib.vl = vl;
	return true;
}

void capture_record_burst(struct capture *c, struct capture_if *at, enum pcapng_dir dir,
			  const struct qp *src, const struct pkt *pkt)
{
	struct port *port = src->port;
	const struct ib_flow flow = {le16toh(src->attr.av.ib.dlid), qp_pkey(src), src->attr.av.sl};
	struct route_headers route;
	int vl = 0;

	if (!port->active || !capture_records(c, at))
		return;
	if (port->ib)
		vl = vl_at(at, dir, port, false, &flow);
	if (vl < 0)
		return;
	if (route_of(src, vl, &route) && bth_atomic_is_plain(pkt))
		record(c, at, dir, &route, pkt, src->mtu_shift);
	else
		capture_drop(c, at, 1);
}

void capture_record_datagram(struct capture *c, struct capture_if *at, enum pcapng_dir dir,
			     const struct qp *src, const struct datagram *dg)
{
	struct port *port = src->port;
	struct route_headers route = {.infiniband = port->ib};
	struct pkt pkt;

	if (!port->active || !capture_records(c, at))
		return;
	if (port->ib) {
		const struct ib_flow flow = {le16toh(dg->av->ib.dlid), dg->pkey, dg->cqe.sl};
		/* An answer of another node's agent is not from the port of @src. */
		bool of_agent = !ib_port_has_lid(port->ib, le16toh(dg->cqe.ib.slid));
		int vl = vl_at(at, dir, port, of_agent, &flow);

		if (vl < 0)
			return;
		pkt = ib_wire_datagram(src, dg, &route.ib);
		route.ib.vl = vl;
	} else {
		pkt = wire_datagram(src, dg, &route.roce);
	}
	record(c, at, dir, &route, &pkt, src->mtu_shift);
}
