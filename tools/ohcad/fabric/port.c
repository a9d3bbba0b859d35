// SPDX-License-Identifier: GPL-2.0
/* The ports of an HCA. */

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/object.h"
#include "device/eq.h"
#include "device/profile.h"
#include "base/log.h"
#include "fabric/ib_link.h"
#include "fabric/ib_port_cmd.h"
#include "fabric/link_layer.h"
#include "fabric/owner.h"
#include "fabric/port.h"
#include "packet/sm_attr.h"

#define SPEED_EDR 32 /* enum ib_port_speed */

#define VLAN_MAX 4094

/* Routes to ports have to be looked up again. */
static void changed(struct port *port)
{
	if (port->changed)
		port->changed(port);
}

void port_update(struct port *port)
{
	struct hca *hca = port->hca;
	bool up = port->ib ? port->ib->state == IB_PORT_ACTIVE : port->admin_up && port->cable;
	bool active = up && hca->ready && !hca->stalled;

	if (active == port->active)
		return;
	port->active = active;
	if (hca_may_log(hca))
		log_info(port->capture.name, "link is %s", active ? "up" : "down");
	changed(port);
	eq_async(hca, active ? OHCA_EVENT_PORT_ACTIVE : OHCA_EVENT_PORT_ERR, port->num);
}

void port_plug(struct port *port, bool in)
{
	port->cable = in;
	if (port->ib && in)
		ib_link_train(port->ib);
	else if (port->ib)
		ib_link_down(port->ib);
	port_update(port);
}

static void update_vlans(struct port *port)
{
	int i;

	memset(port->vlans, 0, sizeof(port->vlans));
	for (i = 0; i < PORT_GIDS; i++) {
		uint16_t vlan = port->gids[i].vlan & 4095;

		if (port->gids[i].type != OHCA_GID_NONE)
			port->vlans[vlan / 64] |= 1ULL << vlan % 64;
	}
}

uint16_t port_pkey(const struct port *port, uint16_t index)
{
	if (index >= port_num_pkeys(port))
		return 0;
	return port->ib ? port->ib->pkeys[index] : PKEY_DEFAULT;
}

unsigned int port_num_pkeys(const struct port *port)
{
	return port->ib ? IB_PORT_PKEYS : 1;
}

uint32_t port_mtu(const struct port *port)
{
	return 128U << (port->ib ? port->ib->mtu : MTU_4096);
}

/* Returns whether the link layer will change. */
static bool set_next_link(const struct port *port, uint8_t link)
{
	struct hca *hca = port->hca;
	uint8_t *next = &hca->next_links[port->num - 1], old = *next;

	*next = link == OHCA_LINK_CONFIGURED ? hca->made_links[port->num - 1] : link;
	return *next != old;
}

int port_want_link(struct port *port, uint8_t link)
{
	struct hca *hca = port->hca;

	if (!(hca_caps(hca) & OHCA_CAP_LINK_LAYER))
		return -EOPNOTSUPP;
	if (link > OHCA_LINK_INFINIBAND)
		return -EINVAL;
	if (!set_next_link(port, link))
		return 0;
	eq_async(hca, OHCA_EVENT_LINK_LAYER, port->num);
	hca->ops->link_wanted(hca);
	return 0;
}

static bool mac_is_unicast(const uint8_t mac[6])
{
	static const uint8_t none[6];

	return !(mac[0] & 1) && memcmp(mac, none, 6);
}

static enum ohca_cmd_status cmd_query_port(struct hca *hca, struct cmd_ctx *ctx)
{
	static const uint8_t zero[sizeof(((struct ohca_query_port_in *)0)->rsvd)];
	const struct ohca_query_port_in *in = ctx->in;
	struct ohca_query_port_out *out = ctx->out;
	const struct port *port = hca_port(hca, in->port);

	if (memcmp(in->rsvd, zero, sizeof(zero)))
		return CMD_BAD(ctx, struct ohca_query_port_in, rsvd, OHCA_CMD_BAD_PARAM);
	if (!port)
		return CMD_BAD(ctx, struct ohca_query_port_in, port, OHCA_CMD_BAD_PARAM);

	hca->ports_read |= 1 << in->port;
	if (hca_caps(hca) & OHCA_CAP_LINK_LAYER) {
		out->link_layers = 1 << OHCA_LINK_ETHERNET | 1 << OHCA_LINK_INFINIBAND;
		out->next_link_layer = hca->next_links[port->num - 1];
	}
	if (port->ib) {
		ib_port_query(port->ib, out);
		return OHCA_CMD_OK;
	}
	out->link_layer = OHCA_LINK_ETHERNET;
	out->state = port->active ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	out->phys_state = port->active	   ? PORT_PHYS_LINK_UP
			  : port->admin_up ? PORT_PHYS_POLLING
					   : PORT_PHYS_DISABLED;
	out->max_mtu = MTU_4096;
	memcpy(out->mac, port->perm_mac, 6);
	out->gid_tbl_len = htole16(hca->profile->gids);
	out->pkey_tbl_len = htole16(1);
	out->active_speed = htole16(SPEED_EDR);
	out->active_width = PORT_WIDTH_4X;
	out->max_frame = htole32(hca->profile->max_frame);
	return OHCA_CMD_OK;
}

#define PORT_ATTRS                                                            \
	(OHCA_PORT_ATTR_ADMIN | OHCA_PORT_ATTR_MAC | OHCA_PORT_ATTR_PROMISC | \
	 OHCA_PORT_ATTR_LARGE_RX)

static enum ohca_cmd_status modify_eth_check(const struct port *port, struct cmd_ctx *ctx)
{
	const struct ohca_modify_port_in *in = ctx->in;
	uint32_t mask = le32toh(in->attr_mask);

	if (mask & OHCA_PORT_ATTR_LARGE_RX && !(hca_caps(port->hca) & OHCA_CAP_LARGE_RX))
		return CMD_BAD(ctx, struct ohca_modify_port_in, attr_mask, OHCA_CMD_UNSUPPORTED);
	if (mask & ~PORT_ATTRS)
		return CMD_BAD(ctx, struct ohca_modify_port_in, attr_mask, OHCA_CMD_BAD_PARAM);
	if (in->set_caps)
		return CMD_BAD(ctx, struct ohca_modify_port_in, set_caps, OHCA_CMD_BAD_PARAM);
	if (in->clr_caps)
		return CMD_BAD(ctx, struct ohca_modify_port_in, clr_caps, OHCA_CMD_BAD_PARAM);
	if (in->init_type)
		return CMD_BAD(ctx, struct ohca_modify_port_in, init_type, OHCA_CMD_BAD_PARAM);
	if ((mask & OHCA_PORT_ATTR_ADMIN) && in->admin_up > 1)
		return CMD_BAD(ctx, struct ohca_modify_port_in, admin_up, OHCA_CMD_BAD_PARAM);
	if ((mask & OHCA_PORT_ATTR_PROMISC) && in->promisc > 1)
		return CMD_BAD(ctx, struct ohca_modify_port_in, promisc, OHCA_CMD_BAD_PARAM);
	if (in->large_rx > !!(mask & OHCA_PORT_ATTR_LARGE_RX))
		return CMD_BAD(ctx, struct ohca_modify_port_in, large_rx, OHCA_CMD_BAD_PARAM);
	if ((mask & OHCA_PORT_ATTR_MAC) && !mac_is_unicast(in->mac))
		return CMD_BAD(ctx, struct ohca_modify_port_in, mac, OHCA_CMD_BAD_PARAM);
	return OHCA_CMD_OK;
}

/* Replace the port's MAC address. */
static enum ohca_cmd_status take_address(struct port *port, const uint8_t mac[6],
					 const uint8_t *old)
{
	int err = owner_hold(port, mac);

	if (err == -EBUSY)
		owner_refuse(port, &port->refused.addresses, "the address of another port", mac);
	else if (err == -ENOSPC)
		owner_refuse(port, &port->refused.addresses, "more addresses than it may have",
			     mac);
	if (err)
		return err == -EBUSY ? OHCA_CMD_BUSY : OHCA_CMD_NO_RESOURCE;
	if (old)
		owner_release(port, old);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status modify_eth(struct port *port, struct cmd_ctx *ctx)
{
	const struct ohca_modify_port_in *in = ctx->in;
	uint32_t mask = le32toh(in->attr_mask);
	enum ohca_cmd_status status = modify_eth_check(port, ctx);

	if (!status && mask & OHCA_PORT_ATTR_MAC)
		status = take_address(port, in->mac, port->mac);
	if (status)
		return status;
	if (mask & OHCA_PORT_ATTR_PROMISC)
		port->promisc = in->promisc;
	if (mask & OHCA_PORT_ATTR_LARGE_RX)
		port->large_rx = in->large_rx;
	if (mask & OHCA_PORT_ATTR_MAC)
		memcpy(port->mac, in->mac, 6);
	if (mask & OHCA_PORT_ATTR_ADMIN)
		port->admin_up = in->admin_up;
	changed(port);
	port_update(port);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_modify_port(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_modify_port_in *in = ctx->in;
	struct port *port = hca_port(hca, in->port);

	if (in->rsvd1[0] || in->rsvd1[1])
		return CMD_BAD(ctx, struct ohca_modify_port_in, rsvd1, OHCA_CMD_BAD_PARAM);
	if (!cmd_all_zero(in->rsvd2, sizeof(in->rsvd2)))
		return CMD_BAD(ctx, struct ohca_modify_port_in, rsvd2, OHCA_CMD_BAD_PARAM);
	if (!port)
		return CMD_BAD(ctx, struct ohca_modify_port_in, port, OHCA_CMD_BAD_PARAM);
	return port->ib ? ib_port_modify(port->ib, ctx) : modify_eth(port, ctx);
}

/* Software has made the change, and needs no event. */
static enum ohca_cmd_status cmd_set_link_layer(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_set_link_layer_in *in = ctx->in;
	const struct port *port = hca_port(hca, in->port);

	if (!cmd_all_zero(in->rsvd, sizeof(in->rsvd)))
		return CMD_BAD(ctx, struct ohca_set_link_layer_in, rsvd, OHCA_CMD_BAD_PARAM);
	if (!port)
		return CMD_BAD(ctx, struct ohca_set_link_layer_in, port, OHCA_CMD_BAD_PARAM);
	if (in->link_layer > OHCA_LINK_INFINIBAND)
		return CMD_BAD(ctx, struct ohca_set_link_layer_in, link_layer, OHCA_CMD_BAD_PARAM);
	set_next_link(port, in->link_layer);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status set_gid_check(const struct port *port, struct cmd_ctx *ctx)
{
	static const uint8_t zero[16];
	const struct ohca_set_gid_in *in = ctx->in;
	bool empty = !memcmp(in->gid, zero, 16);
	uint16_t vlan = le16toh(in->vlan);

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_set_gid_in, rsvd, OHCA_CMD_BAD_PARAM);
	if (!port || port->ib)
		return CMD_BAD(ctx, struct ohca_set_gid_in, port, OHCA_CMD_BAD_PARAM);
	if (le16toh(in->index) >= port->hca->profile->gids)
		return CMD_BAD(ctx, struct ohca_set_gid_in, index, OHCA_CMD_BAD_PARAM);
	if (in->type != OHCA_GID_NONE && in->type != OHCA_GID_ROCE_V2)
		return CMD_BAD(ctx, struct ohca_set_gid_in, type, OHCA_CMD_BAD_PARAM);
	if (empty != (in->type == OHCA_GID_NONE))
		return CMD_BAD(ctx, struct ohca_set_gid_in, gid, OHCA_CMD_BAD_PARAM);
	if (in->type == OHCA_GID_NONE)
		return OHCA_CMD_OK;
	if (!mac_is_unicast(in->mac))
		return CMD_BAD(ctx, struct ohca_set_gid_in, mac, OHCA_CMD_BAD_PARAM);
	if (vlan > VLAN_MAX && vlan != OHCA_VLAN_NONE)
		return CMD_BAD(ctx, struct ohca_set_gid_in, vlan, OHCA_CMD_BAD_PARAM);
	return OHCA_CMD_OK;
}

/* Replace the addresses of @entry by those of the command. */
static enum ohca_cmd_status change_owned(struct port *port, const struct ohca_set_gid_in *in,
					 const struct gid_entry *entry)
{
	const uint8_t *old = entry->type == OHCA_GID_NONE ? NULL : entry->mac;

	if (in->type == OHCA_GID_NONE) {
		if (old)
			owner_release(port, old);
		return OHCA_CMD_OK;
	}
	if (!owner_may_have_gid(port, in->gid)) {
		owner_refuse(port, &port->refused.addresses, "the GID of another port", in->mac);
		return OHCA_CMD_BUSY;
	}
	return take_address(port, in->mac, old);
}

static enum ohca_cmd_status cmd_set_gid(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_set_gid_in *in = ctx->in;
	struct port *port = hca_port(hca, in->port);
	enum ohca_cmd_status status = set_gid_check(port, ctx);
	struct gid_entry *entry;

	if (status)
		return status;
	entry = &port->gids[le16toh(in->index)];
	status = change_owned(port, in, entry);
	if (status)
		return status;
	memset(entry, 0, sizeof(*entry));
	if (in->type != OHCA_GID_NONE) {
		entry->type = in->type;
		memcpy(entry->gid, in->gid, 16);
		memcpy(entry->mac, in->mac, 6);
		entry->vlan = le16toh(in->vlan);
	}
	update_vlans(port);
	changed(port);
	return OHCA_CMD_OK;
}

/* Only the subnet manager writes the table of an InfiniBand port. */
static enum ohca_cmd_status cmd_query_gid(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_query_gid_in *in = ctx->in;
	struct ohca_query_gid_out *out = ctx->out;
	const struct port *port = hca_port(hca, in->port);
	uint16_t index = le16toh(in->index);

	if (!cmd_all_zero(in->rsvd, sizeof(in->rsvd)))
		return CMD_BAD(ctx, struct ohca_query_gid_in, rsvd, OHCA_CMD_BAD_PARAM);
	if (!port)
		return CMD_BAD(ctx, struct ohca_query_gid_in, port, OHCA_CMD_BAD_PARAM);
	if (index >= (port->ib ? IB_PORT_GUIDS : hca->profile->gids))
		return CMD_BAD(ctx, struct ohca_query_gid_in, index, OHCA_CMD_BAD_PARAM);
	if (!port->ib) {
		out->type = port->gids[index].type;
		memcpy(out->gid, port->gids[index].gid, sizeof(out->gid));
	} else if (port->ib->guids[index]) {
		out->type = OHCA_GID_IB;
		memcpy(out->gid, port->ib->gids[index], sizeof(out->gid));
	}
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_query_pkey(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_query_pkey_in *in = ctx->in;
	struct ohca_query_pkey_out *out = ctx->out;
	const struct port *port = hca_port(hca, in->port);
	unsigned int first = le16toh(in->first), len, i;

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_query_pkey_in, rsvd, OHCA_CMD_BAD_PARAM);
	if (!port)
		return CMD_BAD(ctx, struct ohca_query_pkey_in, port, OHCA_CMD_BAD_PARAM);
	len = port_num_pkeys(port);
	if (first >= len)
		return CMD_BAD(ctx, struct ohca_query_pkey_in, first, OHCA_CMD_BAD_PARAM);
	if (!in->num || in->num > OHCA_QUERY_PKEY_MAX || in->num > len - first)
		return CMD_BAD(ctx, struct ohca_query_pkey_in, num, OHCA_CMD_BAD_PARAM);
	for (i = 0; i < in->num; i++)
		out->pkey[i] = htole16(port_pkey(port, first + i));
	return OHCA_CMD_OK;
}

static void port_free(struct port *port)
{
	ib_port_free(port);
	free((char *)port->capture.name);
	free(port);
}

/* The number is a part of the name if the HCA has several ports. */
static char *name_of(const struct hca *hca, uint8_t num)
{
	char *name;

	if (hca->num_ports == 1)
		return strdup(hca->name);
	return asprintf(&name, "%s/%u", hca->name, num) < 0 ? NULL : name;
}

/* MAC addresses of the ports follow each other. */
static void set_mac(struct port *port)
{
	unsigned int carry = port->num - 1, i;

	memcpy(port->perm_mac, port->hca->mac, 6);
	for (i = 6; i--; carry >>= 8) {
		carry += port->perm_mac[i];
		port->perm_mac[i] = carry;
	}
	memcpy(port->mac, port->perm_mac, 6);
}

int port_set_link(struct port *port, uint8_t link)
{
	bool infiniband = link == OHCA_LINK_INFINIBAND;

	if (infiniband && !port->ib && ib_port_new(port, port_update))
		return -ENOMEM;
	if (!infiniband)
		ib_port_free(port);
	port->ops = infiniband ? &link_ib : &link_eth;
	port->capture.infiniband = infiniband;
	memset(port->routes, 0, sizeof(port->routes));
	port->hca->links[port->num - 1] = link;
	return 0;
}

static struct port *port_new(struct hca *hca, uint8_t num)
{
	struct port *port = calloc(1, sizeof(*port));

	if (!port)
		return NULL;
	port->hca = hca;
	port->num = num;
	list_init(&port->link);
	set_mac(port);
	port->capture.name = name_of(hca, num);
	port->capture.mac = port->perm_mac;
	if (!port->capture.name || port_set_link(port, hca->links[num - 1])) {
		port_free(port);
		return NULL;
	}
	return port;
}

static void port_fini(struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < hca->num_ports; i++) {
		if (hca->ports[i])
			port_free(hca->ports[i]);
		hca->ports[i] = NULL;
	}
}

static int port_init(struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < hca->num_ports; i++) {
		hca->ports[i] = port_new(hca, i + 1);
		if (!hca->ports[i]) {
			port_fini(hca);
			return -ENOMEM;
		}
	}
	return 0;
}

/* As after power-on */
static void reset_one(struct port *port)
{
	port->admin_up = false;
	port->promisc = false;
	port->large_rx = false;
	memcpy(port->mac, port->perm_mac, 6);
	memset(port->gids, 0, sizeof(port->gids));
	update_vlans(port);
	if (port->ib)
		ib_port_reset(port->ib);
	port_update(port);
	changed(port);
}

static void port_reset(struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < hca->num_ports; i++)
		reset_one(hca->ports[i]);
	owner_reset(hca);
}

void ports_update(struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < hca->num_ports; i++)
		port_update(hca->ports[i]);
}

static const struct cmd_desc port_cmds[] = {
	CMD_DESC(QUERY_PORT, cmd_query_port, sizeof(struct ohca_query_port_in),
		 sizeof(struct ohca_query_port_out), .out_min = OHCA_QUERY_PORT_OUT_MIN),
	CMD_DESC(MODIFY_PORT, cmd_modify_port, sizeof(struct ohca_modify_port_in), 0,
		 .in_min = OHCA_MODIFY_PORT_IN_MIN),
	CMD_DESC(SET_LINK_LAYER, cmd_set_link_layer, sizeof(struct ohca_set_link_layer_in), 0,
		 .cap = OHCA_CAP_LINK_LAYER),
	CMD_DESC(SET_GID, cmd_set_gid, sizeof(struct ohca_set_gid_in), 0),
	CMD_DESC(QUERY_GID, cmd_query_gid, sizeof(struct ohca_query_gid_in),
		 sizeof(struct ohca_query_gid_out)),
	CMD_DESC(QUERY_PKEY, cmd_query_pkey, sizeof(struct ohca_query_pkey_in),
		 sizeof(struct ohca_query_pkey_out)),
};

const struct object_class port_class = {
	.init = port_init,
	.fini = port_fini,
	.reset = port_reset,
	.stop = ports_update,
	OBJECT_CMDS(port_cmds),
};
