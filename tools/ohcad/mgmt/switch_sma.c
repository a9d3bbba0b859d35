// SPDX-License-Identifier: GPL-2.0
/* What the subnet management agent of a switch has besides that of an HCA. */

#include <endian.h>
#include <string.h>

#include "fabric/ib_switch.h"
#include "mgmt/sm_call.h"

static struct ib_switch *switch_of(const struct sm_call *call)
{
	return call->at->node->sw;
}

uint16_t switch_info_get(struct sm_call *call)
{
	const struct ib_switch *sw = switch_of(call);
	struct switch_info *info = (struct switch_info *)call->data;

	info->linear_cap = htobe16(IB_SWITCH_LIDS);
	info->mcast_cap = htobe16(IB_SWITCH_MLIDS);
	info->linear_top = htobe16(sw->linear_top);
	info->default_port = sw->default_port;
	info->default_mcast_primary = sw->default_mcast_primary;
	info->default_mcast_other = sw->default_mcast_other;
	info->enforce_cap = htobe16(IB_PORT_PKEYS);
	info->flags = SWITCH_ENFORCE_IN | SWITCH_ENFORCE_OUT;
	info->life_state_change = sw->life_time << SWITCH_LIFE_SHIFT;
	if (sw->state_change)
		info->life_state_change |= SWITCH_STATE_CHANGE;
	return MAD_OK;
}

uint16_t switch_info_set(struct sm_call *call)
{
	const struct switch_info *info = (const struct switch_info *)call->data;
	struct ib_switch *sw = switch_of(call);

	if (be16toh(info->linear_top) >= IB_SWITCH_LIDS)
		return MAD_BAD_FIELD;
	sw->linear_top = be16toh(info->linear_top);
	sw->default_port = info->default_port;
	sw->default_mcast_primary = info->default_mcast_primary;
	sw->default_mcast_other = info->default_mcast_other;
	sw->life_time = info->life_state_change >> SWITCH_LIFE_SHIFT;
	if (info->life_state_change & SWITCH_STATE_CHANGE)
		sw->state_change = false;
	ib_switch_changed(sw);
	return MAD_OK;
}

/* AttributeModifier: the block of LIDs.  False: there is none. */
static bool linear_block(const struct sm_call *call, unsigned int *first)
{
	*first = call->mod * SM_FDB_PER_BLOCK;
	return call->mod < IB_SWITCH_LIDS / SM_FDB_PER_BLOCK;
}

uint16_t linear_fdb_get(struct sm_call *call)
{
	unsigned int first, i;

	if (!linear_block(call, &first))
		return MAD_BAD_FIELD;
	for (i = 0; i < SM_FDB_PER_BLOCK; i++)
		call->data[i] = ib_switch_linear(switch_of(call), first + i);
	return MAD_OK;
}

uint16_t linear_fdb_set(struct sm_call *call)
{
	unsigned int first;
	uint8_t *block;

	if (!linear_block(call, &first))
		return MAD_BAD_FIELD;
	block = ib_switch_linear_room(switch_of(call), first, SM_FDB_PER_BLOCK);
	if (!block)
		return MAD_BUSY;
	memcpy(block, call->data, SM_FDB_PER_BLOCK);
	ib_switch_changed(switch_of(call));
	return MAD_OK;
}

/* AttributeModifier: the position, which is a group of ports, and the block of LIDs.  False: there is none. */
static bool mcast_block(const struct sm_call *call, unsigned int *first, unsigned int *word)
{
	*word = call->mod >> 28;
	*first = (call->mod & 0x1ff) * SM_MCAST_PER_BLOCK;
	return *word < switch_of(call)->mcast_words && *first < IB_SWITCH_MLIDS;
}

uint16_t mcast_fdb_get(struct sm_call *call)
{
	const struct ib_switch *sw = switch_of(call);
	__be16 *masks = (__be16 *)call->data;
	unsigned int first, word, i;

	if (!mcast_block(call, &first, &word))
		return MAD_BAD_FIELD;
	for (i = 0; sw->mcast && i < SM_MCAST_PER_BLOCK; i++)
		masks[i] = htobe16(sw->mcast[(first + i) * sw->mcast_words + word]);
	return MAD_OK;
}

uint16_t mcast_fdb_set(struct sm_call *call)
{
	const __be16 *masks = (const __be16 *)call->data;
	struct ib_switch *sw = switch_of(call);
	unsigned int first, word, i;
	uint16_t *row;

	if (!mcast_block(call, &first, &word))
		return MAD_BAD_FIELD;
	for (i = 0; i < SM_MCAST_PER_BLOCK; i++) {
		row = ib_switch_mcast_room(sw, first + i);
		if (!row)
			return MAD_BUSY;
		row[word] = be16toh(masks[i]);
	}
	ib_switch_changed(sw);
	return MAD_OK;
}

/* AttributeModifier: the input and the output port.  False: there are none. */
static bool sl2vl_ports(const struct sm_call *call, unsigned int *in, unsigned int *out)
{
	*in = call->mod >> 8 & 0xff;
	*out = call->mod & 0xff;
	return sm_call_port(call, *in) && sm_call_port(call, *out);
}

const uint8_t *switch_sl2vl(const struct sm_call *call)
{
	unsigned int in, out;

	return sl2vl_ports(call, &in, &out) ? ib_switch_sl2vl(switch_of(call), in, out) : NULL;
}

uint8_t *switch_sl2vl_room(const struct sm_call *call)
{
	unsigned int in, out;

	return sl2vl_ports(call, &in, &out) ? ib_switch_sl2vl_room(switch_of(call), in, out) : NULL;
}
