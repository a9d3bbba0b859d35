// SPDX-License-Identifier: GPL-2.0
/* The link between two InfiniBand ports. */

#include <string.h>

#include "capture/capture.h"
#include "fabric/fabric.h"
#include "fabric/ib_link.h"
#include "fabric/ib_node.h"
#include "packet/ib.h"

#define SMP_PKT_WORDS 72 /* LRH, BTH, DETH, the datagram, ICRC; in units of 4 bytes */

/* Choose the highest width and speed that both ends have enabled.  False: there is none. */
static bool negotiate(struct ib_port *a, struct ib_port *b)
{
	struct ib_speeds best;

	if (!ib_speeds_best(&a->enabled, &b->enabled, &best))
		return false;
	a->active = best;
	b->active = best;
	return true;
}

/* Change the state of a port.  The caller calls state_changed() when both ends have changed. */
static void enter(struct ib_port *ib, uint8_t state, uint8_t phys)
{
	ib->state = state;
	ib->phys = phys;
	ib_port_changed(ib);
}

static void state_changed(struct ib_port *ib)
{
	ib->node->ops->state_changed(ib);
}

bool ib_link_is_wanted(const struct ib_port *ib)
{
	return ib->wanted == PORT_PHYS_POLLING && !ib->node->down && !ib->unplugged &&
	       (!ib->port || ib->port->cable);
}

void ib_link_train(struct ib_port *ib)
{
	struct ib_port *peer = ib->peer;

	if (!peer || ib->state != IB_PORT_DOWN || !ib_link_is_wanted(ib) ||
	    !ib_link_is_wanted(peer) || !negotiate(ib, peer))
		return;
	enter(ib, IB_PORT_INIT, PORT_PHYS_LINK_UP);
	enter(peer, IB_PORT_INIT, PORT_PHYS_LINK_UP);
	state_changed(ib);
	state_changed(peer);
}

void ib_link_down(struct ib_port *ib)
{
	struct ib_port *peer = ib->peer;

	ib->phys = ib->wanted;
	if (!peer || ib->state == IB_PORT_DOWN)
		return;
	ib->counters.link_downed++;
	peer->counters.link_downed++;
	enter(ib, IB_PORT_DOWN, ib->wanted);
	enter(peer, IB_PORT_DOWN, peer->wanted);
	state_changed(ib);
	state_changed(peer);
}

void ib_link_restart(struct ib_port *ib)
{
	struct ib_port *peer = ib->peer;

	ib_link_down(ib);
	if (peer && peer->node->ops->train)
		peer->node->ops->train(peer);
	ib_link_train(ib);
}

bool ib_link_retrain(struct ib_port *ib)
{
	struct ib_port *peer = ib->peer;
	bool up = peer && ib->state != IB_PORT_DOWN;
	struct ib_speeds best;

	if (up && ib_speeds_best(&ib->enabled, &peer->enabled, &best) &&
	    !memcmp(&best, &ib->active, sizeof(best)))
		return false;
	ib_link_restart(ib);
	return up;
}

void ib_link_set_phys(struct ib_port *ib, uint8_t phys)
{
	ib->wanted = phys;
	ib_link_restart(ib);
}

void ib_link_set_state(struct ib_port *ib, enum ib_port_state state)
{
	if (ib->state == state)
		return;
	enter(ib, state, PORT_PHYS_LINK_UP);
	state_changed(ib);
}

void ib_link_connect(struct ib_port *a, struct ib_port *b)
{
	a->peer = b;
	b->peer = a;
	ib_link_train(a);
}

void ib_link_disconnect(struct ib_port *a)
{
	if (!a->peer)
		return;
	ib_link_down(a);
	a->peer->peer = NULL;
	a->peer = NULL;
}

/* Captures have the ports of HCAs, not those of switches. */
static void record(struct ib_port *ib, enum pcapng_dir dir, const struct mad_packet *p)
{
	struct capture *capture = ib->node->fabric->captures.running;
	uint8_t *data;

	if (!capture || !ib->port || !capture_records(capture, &ib->port->capture))
		return;
	data = capture_packet_begin(capture, &ib->port->capture, IB_MAX_PACKET);
	if (data)
		capture_packet_end(capture, &ib->port->capture, dir, data, ib_encode_mad(data, p));
	else
		capture_drop(capture, &ib->port->capture, 1);
}

void ib_link_send(struct ib_port *ib, const struct mad_packet *p)
{
	struct fabric *fabric = ib->node->fabric;

	if (!ib->peer || ib->state == IB_PORT_DOWN) {
		ib->counters.xmit_discards++;
		return;
	}
	ib->counters.xmit.pkts++;
	ib->counters.xmit.data += SMP_PKT_WORDS;
	record(ib, PCAPNG_OUT, p);
	if (fabric->smp_hook)
		fabric->smp_hook(ib, p);
	else
		ib_link_arrive(ib, p);
}

void ib_link_arrive(struct ib_port *from, const struct mad_packet *p)
{
	struct ib_port *peer = from->peer;

	if (!peer || peer->state == IB_PORT_DOWN)
		return;
	peer->counters.rcv.pkts++;
	peer->counters.rcv.data += SMP_PKT_WORDS;
	record(peer, PCAPNG_IN, p);
	peer->node->ops->receive(peer, p);
}
