// SPDX-License-Identifier: GPL-2.0
/* The InfiniBand halves of commands on ports. */

#include <endian.h>

#include "fabric/ib_node.h"
#include "fabric/ib_port_cmd.h"
#include "packet/sm_attr.h"

#define ATTRS (OHCA_PORT_ATTR_CAPS | OHCA_PORT_ATTR_QKEY_VIOLS | OHCA_PORT_ATTR_INIT_TYPE)
#define MAX_INIT_TYPE 15

/* As enum ib_port_speed of the kernel: the extended speeds have bits of their own above the others. */
static uint16_t active_speed(const struct ib_speeds *active)
{
	return active->ext ? active->ext << 4 : active->speed;
}

void ib_port_query(const struct ib_port *ib, struct ohca_query_port_out *out)
{
	out->link_layer = OHCA_LINK_INFINIBAND;
	out->state = ib->state;
	out->phys_state = ib->phys;
	out->max_mtu = MTU_4096;
	out->gid_tbl_len = htole16(IB_PORT_GUIDS);
	out->pkey_tbl_len = htole16(IB_PORT_PKEYS);
	out->active_speed = htole16(active_speed(&ib->active));
	out->active_width = ib->active.width;
	out->lid = htole16(ib->lid);
	out->sm_lid = htole16(ib->sm_lid);
	out->lmc = ib->lmc;
	out->sm_sl = ib->sm_sl;
	out->subnet_timeout = ib->subnet_timeout;
	out->init_type_reply = ib->init_type_reply;
	out->cap_mask = htole32(ib->cap_mask);
	out->max_vl_num = IB_PORT_VLS;
	out->cap_mask2 = htole16(ib_node_caps(ib->node));
	out->active_mtu = ib->mtu;
	out->subnet_prefix = htobe64(ib->prefix);
	out->bad_pkeys = htole16(ib->pkey_viols);
	out->qkey_viols = htole16(ib->qkey_viols);
}

static enum ohca_cmd_status check(struct cmd_ctx *ctx)
{
	const struct ohca_modify_port_in *in = ctx->in;
	uint32_t mask = le32toh(in->attr_mask);
	uint32_t caps = mask & OHCA_PORT_ATTR_CAPS ? OHCA_PORT_CAPS_SW : 0;

	if (mask & ~ATTRS)
		return CMD_BAD(ctx, struct ohca_modify_port_in, attr_mask, OHCA_CMD_BAD_PARAM);
	if (in->admin_up)
		return CMD_BAD(ctx, struct ohca_modify_port_in, admin_up, OHCA_CMD_BAD_PARAM);
	if (in->promisc)
		return CMD_BAD(ctx, struct ohca_modify_port_in, promisc, OHCA_CMD_BAD_PARAM);
	if (in->large_rx)
		return CMD_BAD(ctx, struct ohca_modify_port_in, large_rx, OHCA_CMD_BAD_PARAM);
	if (!cmd_all_zero(in->mac, sizeof(in->mac)))
		return CMD_BAD(ctx, struct ohca_modify_port_in, mac, OHCA_CMD_BAD_PARAM);
	if (le32toh(in->set_caps) & ~caps)
		return CMD_BAD(ctx, struct ohca_modify_port_in, set_caps, OHCA_CMD_BAD_PARAM);
	if (le32toh(in->clr_caps) & ~caps || in->clr_caps & in->set_caps)
		return CMD_BAD(ctx, struct ohca_modify_port_in, clr_caps, OHCA_CMD_BAD_PARAM);
	if (in->init_type > (mask & OHCA_PORT_ATTR_INIT_TYPE ? MAX_INIT_TYPE : 0))
		return CMD_BAD(ctx, struct ohca_modify_port_in, init_type, OHCA_CMD_BAD_PARAM);
	return OHCA_CMD_OK;
}

enum ohca_cmd_status ib_port_modify(struct ib_port *ib, struct cmd_ctx *ctx)
{
	const struct ohca_modify_port_in *in = ctx->in;
	uint32_t mask = le32toh(in->attr_mask);
	enum ohca_cmd_status status = check(ctx);

	if (status)
		return status;
	if (mask & OHCA_PORT_ATTR_QKEY_VIOLS)
		ib->qkey_viols = 0;
	if (mask & OHCA_PORT_ATTR_INIT_TYPE)
		ib->init_type = in->init_type;
	if (mask & OHCA_PORT_ATTR_CAPS)
		ib_port_set_caps(ib, le32toh(in->set_caps), le32toh(in->clr_caps));
	return OHCA_CMD_OK;
}
