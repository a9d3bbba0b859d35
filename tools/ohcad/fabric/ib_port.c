// SPDX-License-Identifier: GPL-2.0
/* An InfiniBand port. */

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/eq.h"
#include "fabric/fabric.h"
#include "fabric/ib_link.h"
#include "fabric/ib_node.h"
#include "fabric/ib_port.h"
#include "fabric/ib_traffic.h"
#include "fabric/ib_route.h"
#include "packet/sm_attr.h"

#define PREFIX_DEFAULT 0xfe80000000000000ULL

#define CA_CAPS                                                                             \
	(PORT_CAP_TRAP | PORT_CAP_SL_MAPPING | PORT_CAP_SYSTEM_GUID | PORT_CAP_EXT_SPEEDS | \
	 PORT_CAP_CAP_MASK2 | PORT_CAP_CAP_NOTICE | PORT_CAP_LOCAL_NOTICE)
#define SWITCH_CAPS                                                                         \
	(PORT_CAP_TRAP | PORT_CAP_SL_MAPPING | PORT_CAP_SYSTEM_GUID | PORT_CAP_EXT_SPEEDS | \
	 PORT_CAP_CAP_MASK2)

/* Without a driver there is no event queue, and no event. */
static void notify(struct ib_port *ib, enum ohca_event event)
{
	if (ib->port)
		eq_async(ib->port->hca, event, ib->num);
}

static void trap(struct ib_port *ib, const struct notice *notice)
{
	const struct ib_agent_ops *agent = ib->node->fabric->ib_agent;

	if (agent)
		agent->trap(ib, notice);
}

void ib_port_changed(struct ib_port *ib)
{
	fabric_changed(ib->node->fabric);
}

static void update_gid(struct ib_port *ib, unsigned int i)
{
	uint64_t gid[2] = {htobe64(ib->prefix), htobe64(ib->guids[i])};

	if (!ib->guids[i])
		gid[0] = 0;
	memcpy(ib->gids[i], gid, sizeof(gid));
}

static void update_gids(struct ib_port *ib)
{
	unsigned int i;

	for (i = 0; ib->gids && i < IB_PORT_GUIDS; i++)
		update_gid(ib, i);
}

void ib_port_set_lid(struct ib_port *ib, uint16_t lid, uint8_t lmc)
{
	if (lid == ib->lid && lmc == ib->lmc)
		return;
	ib->lid = lid;
	ib->lmc = lmc;
	ib_port_changed(ib);
	notify(ib, OHCA_EVENT_LID_CHANGE);
}

void ib_port_set_sm(struct ib_port *ib, uint16_t lid, uint8_t sl)
{
	if (lid == ib->sm_lid && sl == ib->sm_sl)
		return;
	ib->sm_lid = lid;
	ib->sm_sl = sl;
	notify(ib, OHCA_EVENT_SM_CHANGE);
}

void ib_port_set_prefix(struct ib_port *ib, uint64_t prefix)
{
	if (prefix == ib->prefix)
		return;
	ib->prefix = prefix;
	update_gids(ib);
	ib_port_changed(ib);
	notify(ib, OHCA_EVENT_GID_CHANGE);
}

void ib_port_set_guids(struct ib_port *ib, unsigned int first, const uint64_t *guids,
		       unsigned int num)
{
	if (!memcmp(&ib->guids[first], guids, num * sizeof(*guids)))
		return;
	memcpy(&ib->guids[first], guids, num * sizeof(*guids));
	update_gids(ib);
	ib_port_changed(ib);
	notify(ib, OHCA_EVENT_GID_CHANGE);
}

void ib_port_set_pkeys(struct ib_port *ib, unsigned int first, const uint16_t *pkeys,
		       unsigned int num)
{
	if (!memcmp(&ib->pkeys[first], pkeys, num * sizeof(*pkeys)))
		return;
	memcpy(&ib->pkeys[first], pkeys, num * sizeof(*pkeys));
	ib_port_changed(ib);
	notify(ib, OHCA_EVENT_PKEY_CHANGE);
}

void ib_port_set_mtu(struct ib_port *ib, uint8_t mtu)
{
	if (mtu == ib->mtu)
		return;
	ib->mtu = mtu;
	ib_port_changed(ib);
}

void ib_port_reregister(struct ib_port *ib)
{
	notify(ib, OHCA_EVENT_CLIENT_REREGISTER);
}

/* Trap 144: what the host has changed */
static void local_change(struct ib_port *ib, uint16_t flags)
{
	struct notice notice = {
		.generic_type = NOTICE_GENERIC | NOTICE_INFO,
		.trap = htobe16(TRAP_LOCAL_CHANGES),
		.local.lid = htobe16(ib->lid),
		.local.cap_mask = htobe32(ib->cap_mask),
		.local.local_changes = flags ? TRAP_144_LOCAL : 0,
		.local.change_flags = htobe16(flags),
		.local.cap_mask2 = htobe16(ib_node_caps(ib->node)),
	};

	trap(ib, &notice);
}

void ib_port_set_caps(struct ib_port *ib, uint32_t set, uint32_t clear)
{
	uint32_t mask = (ib->cap_mask & ~clear) | set;

	if (mask == ib->cap_mask)
		return;
	ib->cap_mask = mask;
	local_change(ib, 0);
}

void ib_port_set_node_desc(struct ib_port *ib, const uint8_t desc[64])
{
	struct ib_node *node = ib->node;
	unsigned int i = 1;

	if (!memcmp(node->desc, desc, sizeof(node->desc)))
		return;
	memcpy(node->desc, desc, sizeof(node->desc));
	for (; (ib = ib_node_next_port(node, &i)); i++)
		local_change(ib, TRAP_144_NODE_DESC);
}

static void bad_key(struct ib_port *ib, const struct ib_violation *v, uint16_t number)
{
	struct notice notice = {
		.generic_type = NOTICE_GENERIC | NOTICE_SECURITY,
		.trap = htobe16(number),
		.key.lid1 = htobe16(v->slid),
		.key.lid2 = htobe16(v->dlid),
		.key.key = htobe32(v->key),
		.key.sl_qp1 = htobe32((uint32_t)v->sl << 28 | v->src_qpn),
		.key.qp2 = htobe32(v->dest_qpn),
	};

	trap(ib, &notice);
}

void ib_port_bad_pkey(struct ib_port *ib, const struct ib_violation *v)
{
	ib_count16(&ib->pkey_viols);
	bad_key(ib, v, TRAP_BAD_PKEY);
}

void ib_port_bad_qkey(struct ib_port *ib, const struct ib_violation *v)
{
	ib_count16(&ib->qkey_viols);
	bad_key(ib, v, TRAP_BAD_QKEY);
}

/* What the lease of an M_Key ends with: everybody may read it. */
static void mkey_expired(struct timer *timer)
{
	struct ib_port *ib = list_entry(timer, struct ib_port, mkey_timer);

	ib->mkey_protect = 0;
}

/* The device's own NodeDescription */
static void describe(struct ib_port *ib)
{
	char desc[NODE_DESC_LEN];

	if (!ib->port)
		return;
	snprintf(desc, sizeof(desc), "OHCA %s", ib->port->hca->name);
	ib_node_describe(ib->node, desc);
}

/* The values after power-on of what software and the subnet manager set */
static void set_defaults(struct ib_port *ib)
{
	describe(ib);
	ib->wanted = PORT_PHYS_POLLING;
	ib->down_default = PORT_PHYS_POLLING;
	ib->enabled = ib->supported;
	ib->mtu = MTU_4096;
	/* A manager that wants all of them need not take the link down for that. */
	ib->oper_vls = PORT_VL_CAP;
	ib->enforce = 0;
	ib->vl_high_limit = 0;
	ib->vl_stall_hoq_life = 0;
	ib->phy_errors_overrun = 0;
	ib->phy_errors = 0;
	ib->overruns = 0;
	ib->init_type = 0;
	ib->init_type_reply = 0;
	ib->lid = 0;
	ib->lmc = 0;
	ib->sm_lid = 0;
	ib->sm_sl = 0;
	ib->subnet_timeout = 0;
	ib->cap_mask = ib->node->type == NODE_CA ? CA_CAPS : ib->num ? 0 : SWITCH_CAPS;
	ib->prefix = PREFIX_DEFAULT;
	memset(ib->guids, 0, sizeof(ib->guids));
	ib->guids[0] = ib->guid;
	update_gids(ib);
	loop_timer_cancel(ib->node->loop, &ib->mkey_timer);
	ib->mkey = 0;
	ib->mkey_protect = 0;
	ib->mkey_lease = 0;
	ib->mkey_viols = 0;
	ib->pkey_viols = 0;
	ib->qkey_viols = 0;
	memset(ib->pkeys, 0, sizeof(ib->pkeys));
	ib->pkeys[0] = PKEY_DEFAULT;
	memset(ib->sl2vl, 0, sizeof(ib->sl2vl));
	memset(ib->vl_arb, 0, sizeof(ib->vl_arb));
}

void ib_port_init(struct ib_port *ib, struct ib_node *node, uint8_t num)
{
	ib->node = node;
	ib->num = num;
	ib->state = IB_PORT_DOWN;
	ib->phys = PORT_PHYS_POLLING;
	ib->supported = ib_speeds_default;
	ib->active = (struct ib_speeds){PORT_WIDTH_4X, PORT_SPEED_SDR, 0};
	ib->mkey_timer.fn = mkey_expired;
	set_defaults(ib);
}

void ib_port_set_supported(struct ib_port *ib, const struct ib_speeds *supported)
{
	ib->supported = *supported;
	ib->enabled = *supported;
}

void ib_port_set_guid(struct ib_port *ib, uint64_t guid)
{
	ib->guid = guid;
	ib->guids[0] = guid;
	update_gids(ib);
}

void ib_port_fini(struct ib_port *ib)
{
	ib_route_cache_free(ib);
	if (ib->node->fabric->ib_agent)
		ib->node->fabric->ib_agent->forget(ib);
	loop_timer_cancel(ib->node->loop, &ib->mkey_timer);
}

void ib_port_reset(struct ib_port *ib)
{
	ib_link_down(ib);
	if (ib->node->fabric->ib_agent)
		ib->node->fabric->ib_agent->forget(ib);
	set_defaults(ib);
	ib->phys = ib->wanted;
	ib_traffic_restart(ib);
	ib->waits = 0;
	memset(ib->pm_base, 0, sizeof(ib->pm_base));
	memset(ib->pm_ext_base, 0, sizeof(ib->pm_ext_base));
	ib_port_changed(ib);
	ib_link_train(ib);
}

void ib_port_receive_smp(struct ib_port *at, const struct mad_packet *p)
{
	if (p->dlid == LID_PERMISSIVE || ib_port_has_lid(at, p->dlid))
		at->node->fabric->ib_agent->receive(at, p);
}

static void state_changed(struct ib_port *ib)
{
	ib->update(ib->port);
}

static struct ib_node *node_new(const struct hca *hca)
{
	static const struct ib_node_ops hca_ops = {
		.receive = ib_port_receive_smp,
		.state_changed = state_changed,
	};
	struct ib_node *node = calloc(1, sizeof(*node));
	struct ib_port **ports = calloc(hca->num_ports + 1U, sizeof(*ports));

	if (!node || !ports) {
		free(node);
		free(ports);
		return NULL;
	}
	node->ops = &hca_ops;
	node->type = NODE_CA;
	node->num_ports = hca->num_ports;
	node->name = hca->name;
	node->guid = ib_guid(hca->mac, IB_GUID_NODE);
	node->system_guid = node->guid;
	node->fabric = hca->fabric;
	list_init(&node->link);
	node->loop = hca->loop;
	node->ports = ports;
	return node;
}

static void node_free(struct ib_node *node)
{
	ib_node_del(node);
	free(node->ports);
	free(node);
}

struct ib_node *ib_hca_node(const struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < hca->num_ports; i++) {
		if (hca->ports[i] && hca->ports[i]->ib)
			return hca->ports[i]->ib->node;
	}
	return NULL;
}

static void port_release(struct ib_port *ib)
{
	free(ib->gids);
	free(ib->routes);
	free(ib);
}

/* An InfiniBand port of an adapter, with what only those have; or NULL */
static struct ib_port *port_alloc(void)
{
	struct ib_port *ib = calloc(1, sizeof(*ib));

	if (!ib)
		return NULL;
	ib->gids = calloc(PORT_GIDS, sizeof(*ib->gids));
	ib->routes = calloc(IB_PORT_ROUTES, sizeof(*ib->routes));
	if (ib->gids && ib->routes)
		return ib;
	port_release(ib);
	return NULL;
}

int ib_port_new(struct port *port, void (*update)(struct port *port))
{
	struct ib_node *node = ib_hca_node(port->hca);
	struct ib_port *ib = port_alloc();

	if (!ib)
		return -ENOMEM;
	if (!node)
		node = node_new(port->hca);
	if (!node) {
		port_release(ib);
		return -ENOMEM;
	}
	node->ports[port->num] = ib;
	ib->port = port;
	ib->update = update;
	ib->guid = ib_guid(port->hca->mac, IB_GUID_PORT + port->num);
	ib_port_init(ib, node, port->num);
	port->ib = ib;
	return 0;
}

void ib_port_free(struct port *port)
{
	struct ib_port *ib = port->ib;
	struct ib_node *node;

	if (!ib)
		return;
	ib_port_fini(ib);
	node = ib->node;
	node->ports[ib->num] = NULL;
	port->ib = NULL;
	port_release(ib);
	if (!ib_hca_node(port->hca))
		node_free(node);
}
