// SPDX-License-Identifier: GPL-2.0
/* PortInfo (InfiniBand specification volume 1, 14.2.5.6). */

#include <endian.h>
#include <string.h>

#include "fabric/ib_link.h"
#include "mgmt/sm_call.h"

#define WIDTH_ALL 255
#define SPEED_ALL 15
#define SPEED_EXT_NONE 30
#define SPEED_EXT_ALL 31
#define MOD_EXT_SPEEDS 0x80000000U /* bit of AttributeModifier: LinkSpeedExtEnabled is valid */
#define RESP_TIME 8 /* 4.096 us * 2^8 */

static struct port_info *info_of(const struct sm_call *call)
{
	return (struct port_info *)call->data;
}

/* Has the port the fields of PortInfo that only ports of HCAs and port 0 of switches have? */
static bool is_managed(const struct ib_port *ib)
{
	return !ib->num || ib->node->type == NODE_CA;
}

/* Port 0 of a switch has no link. */
static bool has_link(const struct ib_port *ib)
{
	return ib->num;
}

/* Has the request the right M_Key for @ib?  The port at which it has arrived may be another one, with an M_Key of its own. */
static bool knows_mkey(const struct sm_call *call, const struct ib_port *ib)
{
	if (ib == ib_managed_port(call->at))
		return call->knows_mkey;
	return call->trusted || call->mkey == ib->mkey;
}

static void put_managed(const struct ib_port *ib, const struct sm_call *call,
			struct port_info *info)
{
	/* At protection level 1, requests without the right M_Key read it as 0. */
	if (knows_mkey(call, ib) || !ib->mkey_protect)
		info->mkey = htobe64(ib->mkey);
	info->gid_prefix = htobe64(ib->prefix);
	info->lid = htobe16(ib->lid);
	info->sm_lid = htobe16(ib->sm_lid);
	info->cap_mask = htobe32(ib->cap_mask);
	info->cap_mask2 = htobe16(ib_node_caps(ib->node));
	info->mkey_lease = htobe16(ib->mkey_lease);
	info->mkey_protect_lmc = ib->mkey_protect << 6 | ib->lmc;
	info->mkey_viols = htobe16(ib->mkey_viols);
	info->guid_cap = IB_PORT_GUIDS;
	info->reregister_subnet_timeout = ib->subnet_timeout;
	info->resp_time = RESP_TIME;
}

uint16_t port_info_get(struct sm_call *call)
{
	const struct ib_port *ib = sm_call_port(call, call->mod & 0xff);
	struct port_info *info = info_of(call);

	if (!ib)
		return MAD_BAD_FIELD;
	if (is_managed(ib))
		put_managed(ib, call, info);
	info->local_port = call->at->num;
	info->width_enabled = ib->enabled.width;
	info->width_supported = ib->supported.width;
	info->width_active = ib->active.width;
	info->speed_supported_state = ib->supported.speed << 4 | ib->state;
	info->phys_state_down_default = ib->phys << 4 | ib->down_default;
	info->speed_active_enabled = ib->active.speed << 4 | ib->enabled.speed;
	info->mtu_sm_sl = ib->mtu << 4 | ib->sm_sl;
	info->vl_cap_init_type = PORT_VL_CAP << 4 | ib->init_type;
	info->vl_high_limit = ib->vl_high_limit;
	info->vl_arb_high_cap = IB_PORT_VL_ARB;
	info->vl_arb_low_cap = IB_PORT_VL_ARB;
	info->init_type_reply_mtu_cap = ib->init_type_reply << 4 | MTU_4096;
	info->vl_stall_hoq_life = ib->vl_stall_hoq_life;
	info->oper_vls_enforce = ib->oper_vls << 4 | ib->enforce;
	info->pkey_viols = htobe16(ib->pkey_viols);
	info->qkey_viols = htobe16(ib->qkey_viols);
	info->phy_errors_overrun = ib->phy_errors_overrun;
	info->speed_ext_active_supported = ib->active.ext << 4 | ib->supported.ext;
	info->speed_ext_enabled = ib->enabled.ext ?: SPEED_EXT_NONE;
	return MAD_OK;
}

static bool is_unicast(uint16_t lid)
{
	return lid && lid < LID_MCAST;
}

/* A value that does not change is valid. */
static bool managed_ok(const struct ib_port *ib, const struct port_info *info)
{
	uint16_t lid = be16toh(info->lid), sm_lid = be16toh(info->sm_lid);
	uint8_t lmc = info->mkey_protect_lmc & 7;

	if (lid != ib->lid && !is_unicast(lid))
		return false;
	return !(lid & ((1 << lmc) - 1)) && (sm_lid == ib->sm_lid || is_unicast(sm_lid));
}

/* 0 means no change. */
static bool state_ok(const struct ib_port *ib, const struct port_info *info)
{
	uint8_t state = info->speed_supported_state & 15, phys = info->phys_state_down_default >> 4;

	if (phys)
		return state <= IB_PORT_DOWN && phys <= PORT_PHYS_DISABLED;
	if (state == IB_PORT_ARMED)
		return ib->state == IB_PORT_INIT || ib->state == IB_PORT_ARMED;
	if (state == IB_PORT_ACTIVE)
		return ib->state == IB_PORT_ARMED || ib->state == IB_PORT_ACTIVE;
	return state <= IB_PORT_DOWN;
}

/* The enabled bits: @all stands for all supported ones, and 0 means no change. */
static bool enabled_ok(uint8_t bits, uint8_t supported, uint8_t all)
{
	return bits == all || !(bits & ~supported);
}

static bool link_ok(const struct ib_port *ib, const struct sm_call *call)
{
	const struct port_info *info = info_of(call);
	uint8_t mtu = info->mtu_sm_sl >> 4, ext = info->speed_ext_enabled & 31;

	if (!enabled_ok(info->width_enabled, ib->supported.width, WIDTH_ALL) ||
	    !enabled_ok(info->speed_active_enabled & 15, ib->supported.speed, SPEED_ALL))
		return false;
	if (call->mod & MOD_EXT_SPEEDS && ext != SPEED_EXT_NONE &&
	    !enabled_ok(ext, ib->supported.ext, SPEED_EXT_ALL))
		return false;
	return (info->phys_state_down_default & 15) <= PORT_PHYS_POLLING &&
	       info->oper_vls_enforce >> 4 <= PORT_VL_CAP && mtu && mtu <= MTU_4096 &&
	       state_ok(ib, info);
}

static void set_managed(struct ib_port *ib, const struct port_info *info)
{
	uint64_t mkey = be64toh(info->mkey);

	if (mkey != ib->mkey)
		loop_timer_cancel(ib->node->loop, &ib->mkey_timer);
	ib->mkey = mkey;
	ib->mkey_protect = info->mkey_protect_lmc >> 6;
	ib->mkey_lease = be16toh(info->mkey_lease);
	ib->subnet_timeout = info->reregister_subnet_timeout & 31;
	if (!info->mkey_viols)
		ib->mkey_viols = 0;
	ib_port_set_prefix(ib, be64toh(info->gid_prefix));
	ib_port_set_lid(ib, be16toh(info->lid), info->mkey_protect_lmc & 7);
	ib_port_set_sm(ib, be16toh(info->sm_lid), info->mtu_sm_sl & 15);
	if (info->reregister_subnet_timeout & PORT_REREGISTER)
		ib_port_reregister(ib);
}

static void set_enabled(uint8_t *enabled, uint8_t bits, uint8_t supported, uint8_t all)
{
	if (bits)
		*enabled = bits == all ? supported : bits;
}

/* Set the enabled widths and speeds, which apply when the link is trained.  Returns whether they have changed. */
static bool set_speeds(struct ib_port *ib, const struct sm_call *call)
{
	const struct port_info *info = info_of(call);
	const struct ib_speeds old = ib->enabled;
	uint8_t ext = info->speed_ext_enabled & 31;

	set_enabled(&ib->enabled.width, info->width_enabled, ib->supported.width, WIDTH_ALL);
	set_enabled(&ib->enabled.speed, info->speed_active_enabled & 15, ib->supported.speed,
		    SPEED_ALL);
	if (call->mod & MOD_EXT_SPEEDS && ext == SPEED_EXT_NONE)
		ib->enabled.ext = 0;
	else if (call->mod & MOD_EXT_SPEEDS)
		set_enabled(&ib->enabled.ext, ext, ib->supported.ext, SPEED_EXT_ALL);
	return memcmp(&old, &ib->enabled, sizeof(old));
}

/* Set the fields that apply to a link that is up. */
static void set_link(struct ib_port *ib, const struct port_info *info)
{
	uint8_t vls = ib->oper_vls, enforce = 0;

	if (ib->node->sw)
		enforce = info->oper_vls_enforce & (PORT_ENFORCE_IN | PORT_ENFORCE_OUT);
	if (info->phys_state_down_default & 15)
		ib->down_default = info->phys_state_down_default & 15;
	if (info->oper_vls_enforce >> 4)
		vls = info->oper_vls_enforce >> 4;
	if (vls != ib->oper_vls || enforce != ib->enforce)
		ib_port_changed(ib);
	ib->oper_vls = vls;
	ib->enforce = enforce;
	ib_port_set_mtu(ib, info->mtu_sm_sl >> 4);
}

/* Does the requested state take the link down? */
static bool takes_down(const struct port_info *info)
{
	return info->phys_state_down_default >> 4 ||
	       (info->speed_supported_state & 15) == IB_PORT_DOWN;
}

static void set_state(struct ib_port *ib, const struct port_info *info)
{
	uint8_t state = info->speed_supported_state & 15, phys = info->phys_state_down_default >> 4;

	if (phys)
		ib_link_set_phys(ib, phys);
	else if (state == IB_PORT_DOWN)
		ib_link_set_phys(ib, ib->down_default);
	else if (state)
		ib_link_set_state(ib, state);
}

uint16_t port_info_set(struct sm_call *call)
{
	struct ib_port *ib = sm_call_port(call, call->mod & 0xff);
	/* The state is set last: its consequences may depend on the other fields. */
	const struct port_info *info = info_of(call);
	bool retrained;

	/* Each port of an HCA has an M_Key of its own. */
	if (!ib || (ib != call->at && !ib->node->sw) || (is_managed(ib) && !managed_ok(ib, info)) ||
	    (has_link(ib) && !link_ok(ib, call)))
		return MAD_BAD_FIELD;
	ib->init_type_reply = info->init_type_reply_mtu_cap >> 4;
	ib->vl_high_limit = info->vl_high_limit;
	ib->vl_stall_hoq_life = info->vl_stall_hoq_life;
	ib->phy_errors_overrun = info->phy_errors_overrun;
	if (!info->pkey_viols)
		ib->pkey_viols = 0;
	if (!info->qkey_viols)
		ib->qkey_viols = 0;
	if (is_managed(ib))
		set_managed(ib, info);
	if (has_link(ib)) {
		set_link(ib, info);
		retrained = set_speeds(ib, call) && !takes_down(info) && ib_link_retrain(ib);
		if (!retrained)
			set_state(ib, info);
	}
	return MAD_OK;
}
