// SPDX-License-Identifier: GPL-2.0
/* An InfiniBand switch. */

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "device/hca.h"
#include "fabric/fabric.h"
#include "fabric/ib_link.h"
#include "fabric/ib_subnet.h"
#include "fabric/ib_switch.h"
#include "packet/gid.h"
#include "packet/ib.h"

#define PORTS_STEP 8 /* without a topology, the number of ports is a multiple of this */
#define LINEAR_MIN 64 /* smallest size of a linear forwarding table that is not empty */

/*
 * PortStateChange (14.2.5.4) is for links that go up or down, not for states that the subnet manager sets.  Without power there is
 * no trap.
 */
static void state_changed(struct ib_port *ib)
{
	struct ib_switch *sw = ib->node->sw;
	bool up = ib->state != IB_PORT_DOWN;
	const struct notice notice = {
		.generic_type = NOTICE_GENERIC | NOTICE_URGENT,
		.trap = htobe16(TRAP_LINK_STATE),
		.lid_128 = htobe16(sw->ports[0].lid),
	};

	if (up == ib->was_up)
		return;
	ib->was_up = up;
	sw->state_change = true;
	if (sw->node.fabric->ib_agent && !sw->node.down)
		sw->node.fabric->ib_agent->trap(&sw->ports[0], &notice);
}

struct ib_port *ib_switch_lookup(struct ib_switch *sw, uint16_t dlid)
{
	uint8_t out;

	if (ib_port_has_lid(&sw->ports[0], dlid))
		return &sw->ports[0];
	if (dlid > sw->linear_top)
		return NULL;
	out = ib_switch_linear(sw, dlid);
	return out <= sw->node.num_ports ? &sw->ports[out] : NULL;
}

const uint16_t *ib_switch_mcast(const struct ib_switch *sw, uint16_t mlid)
{
	const uint16_t *ports;
	unsigned int i;

	if (!sw->mcast || mlid < LID_MCAST || mlid >= LID_MCAST + IB_SWITCH_MLIDS)
		return NULL;
	ports = &sw->mcast[(mlid - LID_MCAST) * sw->mcast_words];
	for (i = 0; i < sw->mcast_words; i++) {
		if (ports[i])
			return ports;
	}
	return NULL;
}

uint8_t *ib_switch_linear_room(struct ib_switch *sw, unsigned int first, unsigned int num)
{
	unsigned int want = sw->num_linear ?: LINEAR_MIN;
	uint8_t *linear;

	if (first + num <= sw->num_linear)
		return &sw->linear[first];
	while (want < first + num)
		want *= 2;
	if (want > IB_SWITCH_LIDS)
		want = IB_SWITCH_LIDS;
	linear = realloc(sw->linear, want);
	if (!linear)
		return NULL;
	memset(linear + sw->num_linear, IB_SWITCH_NO_PORT, want - sw->num_linear);
	sw->linear = linear;
	sw->num_linear = want;
	return &sw->linear[first];
}

uint16_t *ib_switch_mcast_room(struct ib_switch *sw, unsigned int i)
{
	if (!sw->mcast)
		sw->mcast = calloc((size_t)IB_SWITCH_MLIDS * sw->mcast_words, sizeof(*sw->mcast));
	return sw->mcast ? &sw->mcast[i * sw->mcast_words] : NULL;
}

static size_t sl2vl_at(const struct ib_switch *sw, unsigned int in, unsigned int out)
{
	return (in * (sw->max_ports + 1) + out) * SM_SL2VL_LEN;
}

const uint8_t *ib_switch_sl2vl(const struct ib_switch *sw, unsigned int in, unsigned int out)
{
	static const uint8_t vl_0[SM_SL2VL_LEN];

	return sw->sl2vl ? &sw->sl2vl[sl2vl_at(sw, in, out)] : vl_0;
}

uint8_t *ib_switch_sl2vl_room(struct ib_switch *sw, unsigned int in, unsigned int out)
{
	if (!sw->sl2vl)
		sw->sl2vl = calloc(1, sl2vl_at(sw, sw->max_ports + 1, 0));
	return sw->sl2vl ? &sw->sl2vl[sl2vl_at(sw, in, out)] : NULL;
}

void ib_switch_bad_pkey(struct ib_port *at, const struct ib_violation *v)
{
	struct ib_port *managed = ib_managed_port(at);
	const struct ib_node *node = at->node;
	const struct notice notice = {
		.generic_type = NOTICE_GENERIC | NOTICE_SECURITY,
		.trap = htobe16(TRAP_SWITCH_BAD_PKEY),
		.switch_pkey.valid = htobe16(v->no_src_qpn ? TRAP_259_NO_GRH & ~TRAP_259_SRC_QPN
							   : TRAP_259_NO_GRH),
		.switch_pkey.lid1 = htobe16(v->slid),
		.switch_pkey.lid2 = htobe16(v->dlid),
		.switch_pkey.pkey = htobe16(v->key),
		.switch_pkey.sl_qp1 = htobe32((uint32_t)v->sl << 28 | v->src_qpn),
		.switch_pkey.qp2 = htobe32(v->dest_qpn),
		.switch_pkey.sw_lid = htobe16(managed->lid),
		.switch_pkey.port = at->num,
	};

	if (node->fabric->ib_agent)
		node->fabric->ib_agent->trap(managed, &notice);
}

/* Forwarding tables may have a loop: SMPs by LID have a limit of hops. */
static void send_on(struct ib_port *out, const struct mad_packet *p)
{
	bool hop = out->peer && !out->peer->port;
	struct mad_packet next = *p;

	if (hop && p->hops >= IB_MAX_HOPS) {
		out->counters.xmit_discards++;
		return;
	}
	next.hops += hop;
	ib_link_send(out, &next);
}

/* Forward by the linear forwarding table.  @from: the input port; port 0: the switch itself */
static void forward(struct ib_switch *sw, struct ib_port *from, const struct mad_packet *p)
{
	struct ib_port *out = ib_switch_lookup(sw, p->dlid);

	/* A packet never leaves by its input port. */
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

/* Port 0 has no link and is always active. */
static void enable_port_0(struct ib_switch *sw)
{
	sw->ports[0].state = IB_PORT_ACTIVE;
	sw->ports[0].phys = PORT_PHYS_LINK_UP;
}

/* The tables after power-on */
static void clear_tables(struct ib_switch *sw)
{
	free(sw->linear);
	free(sw->mcast);
	free(sw->sl2vl);
	sw->linear = NULL;
	sw->num_linear = 0;
	sw->linear_top = 0;
	sw->mcast = NULL;
	sw->sl2vl = NULL;
	sw->life_time = 0;
	sw->state_change = false;
	sw->default_port = IB_SWITCH_NO_PORT;
	sw->default_mcast_primary = IB_SWITCH_NO_PORT;
	sw->default_mcast_other = IB_SWITCH_NO_PORT;
}

struct ib_switch *ib_switch_new(struct fabric *fabric, struct loop *loop, uint64_t guid,
				const char *name, unsigned int num_ports)
{
	struct ib_switch *sw = calloc(1, sizeof(*sw));
	unsigned int i;

	if (!sw)
		return NULL;
	sw->ports = calloc(num_ports + 1, sizeof(*sw->ports));
	sw->node.ports = calloc(num_ports + 1, sizeof(struct ib_port *));
	if (!sw->ports || !sw->node.ports) {
		free(sw->ports);
		free(sw->node.ports);
		free(sw);
		return NULL;
	}
	sw->max_ports = num_ports;
	sw->mcast_words = num_ports / SM_MCAST_PORTS + 1;
	sw->node.ops = &switch_ops;
	sw->node.type = NODE_SWITCH;
	sw->node.name = name;
	sw->node.num_ports = num_ports;
	sw->node.guid = guid;
	sw->node.system_guid = guid;
	sw->node.loop = loop;
	sw->node.sw = sw;
	ib_node_add(fabric, &sw->node);
	clear_tables(sw);
	for (i = 0; i <= num_ports; i++) {
		sw->node.ports[i] = &sw->ports[i];
		sw->ports[i].guid = guid;
		ib_port_init(&sw->ports[i], &sw->node, i);
	}
	enable_port_0(sw);
	return sw;
}

void ib_switch_reset(struct ib_switch *sw)
{
	unsigned int i;

	for (i = 0; i <= sw->max_ports; i++)
		ib_port_reset(&sw->ports[i]);
	enable_port_0(sw);
	clear_tables(sw);
	ib_switch_changed(sw);
}

void ib_switch_free(struct ib_switch *sw)
{
	unsigned int i;

	for (i = 0; i <= sw->max_ports; i++)
		ib_port_fini(&sw->ports[i]);
	ib_node_del(&sw->node);
	clear_tables(sw);
	free(sw->ports);
	free(sw->node.ports);
	free(sw);
}

struct ib_port *ib_switch_free_port(struct ib_switch *sw)
{
	unsigned int i = 1;

	while (i <= sw->max_ports && sw->ports[i].peer)
		i++;
	if (i > sw->max_ports)
		return NULL;
	while (i > sw->node.num_ports)
		sw->node.num_ports += PORTS_STEP;
	return &sw->ports[i];
}

/* The switch of a fabric without a topology has the GUID of the first HCA. */
static struct ib_switch *new_for(struct fabric *fabric, const struct hca *hca)
{
	struct ib_switch *sw = ib_switch_new(fabric, hca->loop, ib_guid(hca->mac, IB_GUID_SWITCH),
					     "switch", IB_SWITCH_PORTS);

	if (!sw)
		return NULL;
	sw->node.num_ports = PORTS_STEP;
	ib_node_describe(&sw->node, "OHCA switch");
	return sw;
}

void ib_switch_attach(struct fabric *fabric, struct port *port)
{
	struct ib_port *at;

	if (fabric->ib_subnet) {
		ib_subnet_attach(fabric->ib_subnet, port);
		return;
	}
	if (!fabric->ib_switch)
		fabric->ib_switch = new_for(fabric, port->hca);
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

	if (fabric->ib_subnet) {
		ib_subnet_detach(fabric->ib_subnet, port);
		return;
	}
	ib_link_disconnect(port->ib);
	if (!sw)
		return;
	for (i = 1; i <= sw->max_ports; i++) {
		if (sw->ports[i].peer && sw->ports[i].peer->port)
			return;
	}
	for (i = 1; i <= sw->max_ports; i++) {
		/* The remote end of an uplink is to know. */
		sw->ports[i].unplugged = true;
		ib_link_restart(&sw->ports[i]);
		ib_link_disconnect(&sw->ports[i]);
	}
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

/* The P_Key of the port that matches, or 0 */
static uint16_t matching_pkey(const struct ib_port *ib, uint16_t pkey)
{
	unsigned int i;

	for (i = 0; i < IB_PORT_PKEYS; i++) {
		if (pkeys_match(ib->pkeys[i], pkey))
			return ib->pkeys[i];
	}
	return 0;
}

bool ib_node_takes(struct ib_port *at, struct mad_packet *p)
{
	struct ib_violation v = {
		.key = p->pkey,
		.slid = p->slid,
		.dlid = p->dlid,
		.sl = p->sl,
		.src_qpn = p->src_qpn,
		.dest_qpn = p->dest_qpn,
	};

	p->pkey = matching_pkey(at, p->pkey);
	if (!p->pkey) {
		ib_port_bad_pkey(at, &v);
		return false;
	}
	if (p->qkey == QKEY_GSI)
		return true;
	v.key = p->qkey;
	ib_port_bad_qkey(at, &v);
	return false;
}

bool ib_ask_node(struct ib_port *at, struct mad_packet *p)
{
	uint32_t qpn = p->src_qpn;
	uint16_t lid = p->slid;

	if (!at->node->fabric->ib_agent->ask(at, p))
		return false;
	p->slid = p->dlid;
	p->dlid = lid;
	p->src_qpn = p->dest_qpn;
	p->dest_qpn = qpn;
	return true;
}
