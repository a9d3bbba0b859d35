// SPDX-License-Identifier: GPL-2.0
/* The InfiniBand switch of a fabric. */

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "device/hca.h"
#include "fabric/fabric.h"
#include "fabric/ib_link.h"
#include "fabric/ib_switch.h"
#include "packet/ib.h"

#define PORTS_STEP 8 /* the number of ports is a multiple */

/* Not what the subnet manager has set (14.2.5.4), but that the link went up or down */
static void state_changed(struct ib_port *ib)
{
	struct ib_switch *sw = ib->node->sw;
	bool up = ib->state != IB_PORT_DOWN;
	const struct notice notice = {
		.generic_type = NOTICE_GENERIC | NOTICE_URGENT,
		.trap = htobe16(TRAP_LINK_STATE),
		.lid_128 = htobe16(sw->ports[0].lid),
	};

	if (up == sw->up[ib->num])
		return;
	sw->up[ib->num] = up;
	sw->state_change = true;
	if (sw->node.fabric->ib_agent)
		sw->node.fabric->ib_agent->trap(&sw->ports[0], &notice);
}

struct ib_port *ib_switch_lookup(struct ib_switch *sw, uint16_t dlid)
{
	uint8_t out;

	if (ib_port_has_lid(&sw->ports[0], dlid))
		return &sw->ports[0];
	if (dlid >= IB_SWITCH_LIDS || dlid > sw->linear_top)
		return NULL;
	out = sw->linear[dlid];
	return out <= sw->node.num_ports ? &sw->ports[out] : NULL;
}

const uint16_t *ib_switch_mcast(const struct ib_switch *sw, uint16_t mlid)
{
	static const uint16_t none[IB_SWITCH_MCAST_WORDS];
	const uint16_t *ports;

	if (mlid < LID_MCAST || mlid >= LID_MCAST + IB_SWITCH_MLIDS)
		return NULL;
	ports = sw->mcast[mlid - LID_MCAST];
	return memcmp(ports, none, sizeof(none)) ? ports : NULL;
}

void ib_switch_bad_pkey(struct ib_port *at, const struct ib_violation *v)
{
	const struct ib_node *node = at->node;
	const struct notice notice = {
		.generic_type = NOTICE_GENERIC | NOTICE_SECURITY,
		.trap = htobe16(TRAP_SWITCH_BAD_PKEY),
		.switch_pkey.valid = htobe16(TRAP_259_NO_GRH),
		.switch_pkey.lid1 = htobe16(v->slid),
		.switch_pkey.lid2 = htobe16(v->dlid),
		.switch_pkey.pkey = htobe16(v->key),
		.switch_pkey.sl_qp1 = htobe32((uint32_t)v->sl << 28 | v->src_qpn),
		.switch_pkey.qp2 = htobe32(v->dest_qpn),
		.switch_pkey.sw_lid = htobe16(ib_node_port(node)->lid),
		.switch_pkey.port = at->num,
	};

	if (node->fabric->ib_agent)
		node->fabric->ib_agent->trap(ib_node_port(node), &notice);
}

/* Between switches it goes no further than its hops allow: the tables may have a loop. */
static void send_on(struct ib_port *out, const struct mad_packet *p)
{
	struct mad_packet next = *p;

	if (out->peer && !out->peer->port && ++next.hops > IB_MAX_HOPS)
		out->counters.xmit_discards++;
	else
		ib_link_send(out, &next);
}

/* By the forwarding table; @from: where it has come from, port 0 for the switch itself */
static void forward(struct ib_switch *sw, struct ib_port *from, const struct mad_packet *p)
{
	struct ib_port *out = ib_switch_lookup(sw, p->dlid);

	/* There is no way back through the port that it came by. */
	if (!out || (out == from && out->num))
		from->counters.rcv_relay_errors++;
	else if (!out->num)
		sw->node.fabric->ib_agent->receive(from, p);
	else
		send_on(out, p);
}

static void receive(struct ib_port *in, const struct mad_packet *p)
{
	struct ib_switch *sw = in->node->sw;

	if (p->dlid == LID_PERMISSIVE)
		sw->node.fabric->ib_agent->receive(in, p);
	else
		forward(sw, in, p);
}

static const struct ib_node_ops switch_ops = {
	.receive = receive,
	.state_changed = state_changed,
};

static struct ib_switch *ib_switch_new(struct fabric *fabric, const struct hca *hca)
{
	struct ib_switch *sw = calloc(1, sizeof(*sw));
	unsigned int i;

	if (!sw)
		return NULL;
	sw->node.ops = &switch_ops;
	sw->node.type = NODE_SWITCH;
	sw->node.num_ports = PORTS_STEP;
	sw->node.guid = ib_guid(hca->mac, IB_GUID_SWITCH);
	sw->node.fabric = fabric;
	sw->node.loop = hca->loop;
	sw->node.sw = sw;
	sw->node.ports = sw->port_list;
	ib_node_describe(&sw->node, "OHCA switch");
	memset(sw->linear, IB_SWITCH_NO_PORT, sizeof(sw->linear));
	sw->default_port = IB_SWITCH_NO_PORT;
	sw->default_mcast_primary = IB_SWITCH_NO_PORT;
	sw->default_mcast_other = IB_SWITCH_NO_PORT;
	for (i = 0; i <= IB_SWITCH_PORTS; i++) {
		sw->port_list[i] = &sw->ports[i];
		sw->ports[i].guid = sw->node.guid;
		ib_port_init(&sw->ports[i], &sw->node, i);
	}
	/* Port 0 has no link, and is always there. */
	sw->ports[0].state = IB_PORT_ACTIVE;
	sw->ports[0].phys = PORT_PHYS_LINK_UP;
	return sw;
}

static void ib_switch_free(struct ib_switch *sw)
{
	unsigned int i;

	for (i = 0; i <= IB_SWITCH_PORTS; i++)
		ib_port_fini(&sw->ports[i]);
	free(sw);
}

struct ib_port *ib_switch_free_port(struct ib_switch *sw)
{
	unsigned int i = 1;

	while (i <= IB_SWITCH_PORTS && sw->ports[i].peer)
		i++;
	if (i > IB_SWITCH_PORTS)
		return NULL;
	while (i > sw->node.num_ports)
		sw->node.num_ports += PORTS_STEP;
	return &sw->ports[i];
}

void ib_switch_attach(struct fabric *fabric, struct port *port)
{
	struct ib_port *at;

	if (!fabric->ib_switch)
		fabric->ib_switch = ib_switch_new(fabric, port->hca);
	if (!fabric->ib_switch) {
		log_error(port->hca->name, "no memory for the switch");
		return;
	}
	at = ib_switch_free_port(fabric->ib_switch);
	if (!at)
		return;
	ib_port_set_supported(at, &port->ib->supported);
	ib_link_connect(port->ib, at);
}

void ib_switch_detach(struct fabric *fabric, struct port *port)
{
	struct ib_switch *sw = fabric->ib_switch;
	unsigned int i;

	ib_link_disconnect(port->ib);
	if (!sw)
		return;
	for (i = 1; i <= IB_SWITCH_PORTS; i++) {
		if (sw->ports[i].peer && sw->ports[i].peer->port)
			return;
	}
	for (i = 1; i <= IB_SWITCH_PORTS; i++)
		ib_link_disconnect(&sw->ports[i]);
	ib_switch_free(sw);
	fabric->ib_switch = NULL;
}

void ib_switch_changed(struct ib_switch *sw)
{
	fabric_changed(sw->node.fabric);
}

void ib_node_send(struct ib_port *from, const struct mad_packet *p)
{
	if (from->node->sw)
		forward(from->node->sw, &from->node->sw->ports[0], p);
	else if (ib_port_has_lid(from, p->dlid))
		from->node->fabric->ib_agent->receive(from, p);
	else
		ib_link_send(from, p);
}

void ib_send_smp(struct port *src, const struct mad_packet *p)
{
	ib_node_send(src->ib, p);
}

bool ib_ask_switch(struct ib_port *in, struct mad_packet *p)
{
	uint32_t qpn = p->src_qpn;
	uint16_t lid = p->slid;

	if (!in->node->fabric->ib_agent->ask(in, p))
		return false;
	p->slid = p->dlid;
	p->dlid = lid;
	p->src_qpn = p->dest_qpn;
	p->dest_qpn = qpn;
	return true;
}
