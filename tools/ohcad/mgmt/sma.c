// SPDX-License-Identifier: GPL-2.0
/* The subnet management agent of a node. */

#include <endian.h>
#include <string.h>

#include "fabric/fabric.h"
#include "mgmt/sm_call.h"
#include "mgmt/sma.h"
#include "mgmt/trap.h"

#define NS_PER_S 1000000000ULL
#define CLASS_VERSION 1
#define VL_ARB_LOW 1 /* blocks of VLArbitrationTable: each of the two tables has a second one */
#define VL_ARB_HIGH 3

struct ib_port *sm_call_port(const struct sm_call *call, unsigned int num)
{
	const struct ib_node *node = call->at->node;

	if (node->type == NODE_CA && !num)
		return call->at;
	return num <= node->num_ports ? node->ports[num] : NULL;
}

static uint16_t node_desc_get(struct sm_call *call)
{
	memcpy(call->data, call->at->node->desc, NODE_DESC_LEN);
	return MAD_OK;
}

static uint16_t node_info_get(struct sm_call *call)
{
	const struct ib_node *node = call->at->node;
	struct node_info *info = (struct node_info *)call->data;
	uint32_t vendor = node->vendor ?: OHCA_PCI_VENDOR_ID;

	info->base_version = MAD_BASE_VERSION;
	info->class_version = CLASS_VERSION;
	info->node_type = node->type;
	info->num_ports = node->num_ports;
	info->system_guid = htobe64(node->system_guid);
	info->node_guid = htobe64(node->guid);
	info->port_guid = htobe64(call->at->guid);
	info->partition_cap = htobe16(IB_PORT_PKEYS);
	info->device_id = htobe16(node->device ?: OHCA_PCI_DEVICE_ID);
	info->revision = htobe32(OHCA_PCI_REVISION);
	info->local_port = call->at->num;
	info->vendor_id[0] = vendor >> 16;
	info->vendor_id[1] = vendor >> 8;
	info->vendor_id[2] = vendor;
	return MAD_OK;
}

/* The port whose GUIDs are asked for; NULL: there is no such block.  @first: first entry of the block */
static struct ib_port *guid_block(const struct sm_call *call, unsigned int *first)
{
	*first = call->mod * SM_GUIDS_PER_BLOCK;
	return call->mod < IB_PORT_GUIDS / SM_GUIDS_PER_BLOCK ? ib_managed_port(call->at) : NULL;
}

static uint16_t guid_info_get(struct sm_call *call)
{
	__be64 *guids = (__be64 *)call->data;
	unsigned int first, i;
	struct ib_port *ib = guid_block(call, &first);

	if (!ib)
		return MAD_BAD_FIELD;
	for (i = 0; i < SM_GUIDS_PER_BLOCK; i++)
		guids[i] = htobe64(ib->guids[first + i]);
	return MAD_OK;
}

/* Is it the PortGUID of another port? */
static bool is_others_guid(const struct ib_port *ib, uint64_t guid)
{
	const struct fabric *fabric = ib->node->fabric;
	const struct list *node;

	for (node = fabric->ib_nodes.next; guid && node != &fabric->ib_nodes; node = node->next) {
		const struct ib_node *at = list_entry(node, struct ib_node, link);
		const struct ib_port *other;
		unsigned int i = 1;

		for (; !at->sw && (other = ib_node_next_port(at, &i)); i++) {
			if (other != ib && other->guid == guid)
				return true;
		}
	}
	return false;
}

/* The first entry, PortGUID, is read-only. */
static uint16_t guid_info_set(struct sm_call *call)
{
	const __be64 *from = (const __be64 *)call->data;
	uint64_t guids[SM_GUIDS_PER_BLOCK];
	unsigned int first, i;
	struct ib_port *ib = guid_block(call, &first);

	if (!ib)
		return MAD_BAD_FIELD;
	for (i = 0; i < SM_GUIDS_PER_BLOCK; i++) {
		guids[i] = first + i ? be64toh(from[i]) : ib->guids[0];
		if (is_others_guid(ib, guids[i]))
			return MAD_BAD_FIELD;
	}
	ib_port_set_guids(ib, first, guids, SM_GUIDS_PER_BLOCK);
	return MAD_OK;
}

/* AttributeModifier: port (switch only) and block.  NULL: there is none */
static struct ib_port *pkey_block(const struct sm_call *call, unsigned int *first)
{
	unsigned int num = call->at->node->type == NODE_SWITCH ? call->mod >> 16 : 0;
	unsigned int block = call->mod & 0xffff;

	*first = block * SM_PKEYS_PER_BLOCK;
	return block < IB_PORT_PKEYS / SM_PKEYS_PER_BLOCK ? sm_call_port(call, num) : NULL;
}

static uint16_t pkey_table_get(struct sm_call *call)
{
	__be16 *pkeys = (__be16 *)call->data;
	unsigned int first, i;
	struct ib_port *ib = pkey_block(call, &first);

	if (!ib)
		return MAD_BAD_FIELD;
	for (i = 0; i < SM_PKEYS_PER_BLOCK; i++)
		pkeys[i] = htobe16(ib->pkeys[first + i]);
	return MAD_OK;
}

static uint16_t pkey_table_set(struct sm_call *call)
{
	const __be16 *from = (const __be16 *)call->data;
	uint16_t pkeys[SM_PKEYS_PER_BLOCK];
	unsigned int first, i;
	struct ib_port *ib = pkey_block(call, &first);

	if (!ib)
		return MAD_BAD_FIELD;
	for (i = 0; i < SM_PKEYS_PER_BLOCK; i++)
		pkeys[i] = be16toh(from[i]);
	ib_port_set_pkeys(ib, first, pkeys, SM_PKEYS_PER_BLOCK);
	return MAD_OK;
}

static uint16_t sl2vl_get(struct sm_call *call)
{
	const uint8_t *table = call->at->node->sw ? switch_sl2vl(call) : call->at->sl2vl;

	if (!table)
		return MAD_BAD_FIELD;
	memcpy(call->data, table, SM_SL2VL_LEN);
	return MAD_OK;
}

static uint16_t sl2vl_set(struct sm_call *call)
{
	uint8_t *table = call->at->sl2vl;

	if (call->at->node->sw && !switch_sl2vl(call))
		return MAD_BAD_FIELD;
	if (call->at->node->sw)
		table = switch_sl2vl_room(call);
	if (!table)
		return MAD_BUSY;
	memcpy(table, call->data, SM_SL2VL_LEN);
	ib_port_changed(call->at);
	return MAD_OK;
}

/* AttributeModifier: block and port (switch only).  NULL: there is none */
static uint8_t *vl_arb_of(const struct sm_call *call)
{
	unsigned int num = call->at->node->type == NODE_SWITCH ? call->mod & 0xff : 0;
	struct ib_port *ib = sm_call_port(call, num);
	unsigned int block = call->mod >> 16;

	if (!ib || (block != VL_ARB_LOW && block != VL_ARB_HIGH))
		return NULL;
	return ib->vl_arb[block == VL_ARB_HIGH];
}

static uint16_t vl_arb_get(struct sm_call *call)
{
	const uint8_t *table = vl_arb_of(call);

	if (!table)
		return MAD_BAD_FIELD;
	memcpy(call->data, table, SMP_DATA_LEN);
	return MAD_OK;
}

/* An entry is a VL and a weight.  Entries beyond VLArbitrationCap are ignored. */
static uint16_t vl_arb_set(struct sm_call *call)
{
	uint8_t *table = vl_arb_of(call);

	if (!table)
		return MAD_BAD_FIELD;
	memcpy(table, call->data, 2 * IB_PORT_VL_ARB);
	return MAD_OK;
}

static const struct sm_attr common_attrs[] = {
	{SM_NODE_DESC, node_desc_get, NULL},
	{SM_NODE_INFO, node_info_get, NULL},
	{SM_GUID_INFO, guid_info_get, guid_info_set},
	{SM_PORT_INFO, port_info_get, port_info_set},
	{SM_PKEY_TABLE, pkey_table_get, pkey_table_set},
	{SM_SL2VL, sl2vl_get, sl2vl_set},
	{SM_VL_ARB, vl_arb_get, vl_arb_set},
	{0, NULL, NULL},
};

static const struct sm_attr switch_attrs[] = {
	{SM_SWITCH_INFO, switch_info_get, switch_info_set},
	{SM_LINEAR_FDB, linear_fdb_get, linear_fdb_set},
	{SM_MCAST_FDB, mcast_fdb_get, mcast_fdb_set},
	{0, NULL, NULL},
};

static const struct sm_attr *find(const struct ib_node *node, uint16_t id)
{
	const struct sm_attr *attr;

	for (attr = common_attrs; attr->id; attr++) {
		if (attr->id == id)
			return attr;
	}
	for (attr = switch_attrs; node->sw && attr->id; attr++) {
		if (attr->id == id)
			return attr;
	}
	return NULL;
}

static uint16_t execute(struct sm_call *call, struct mad_packet *p)
{
	const struct sm_attr *attr = find(call->at->node, be16toh(p->hdr.attr_id));
	uint16_t status = MAD_OK;
	bool reregister;

	if (!attr || (p->hdr.method == MAD_SET && !attr->set))
		return MAD_BAD_ATTR;
	if (p->hdr.method == MAD_SET)
		status = attr->set(call);
	if (status)
		return status;
	/* ClientReregister is not kept.  The response has the bit of the request (o14-12.2.1). */
	reregister = p->hdr.method == MAD_SET && attr->id == SM_PORT_INFO &&
		     ((struct port_info *)p->smp.data)->reregister_subnet_timeout & PORT_REREGISTER;
	memset(p->smp.data, 0, sizeof(p->smp.data));
	status = attr->get(call);
	if (reregister)
		((struct port_info *)p->smp.data)->reregister_subnet_timeout |= PORT_REREGISTER;
	return status;
}

/* Trap 256 */
static void bad_mkey(struct ib_port *ib, const struct mad_packet *p)
{
	bool directed = p->hdr.mgmt_class == MAD_CLASS_SM_DR;
	struct notice notice = {
		.generic_type = NOTICE_GENERIC | NOTICE_SECURITY,
		.trap = htobe16(TRAP_BAD_MKEY),
		.mkey.lid = htobe16(p->slid),
		.mkey.method = p->hdr.method,
		.mkey.attr_id = p->hdr.attr_id,
		.mkey.attr_mod = p->hdr.attr_mod,
		.mkey.mkey = p->smp.mkey,
	};

	if (directed) {
		unsigned int hops = p->hdr.hop_cnt;

		notice.mkey.dr_slid = p->smp.dr_slid;
		notice.mkey.dr_hops = TRAP_256_DIRECTED;
		if (hops > sizeof(notice.mkey.dr_path)) {
			hops = sizeof(notice.mkey.dr_path);
			notice.mkey.dr_hops |= TRAP_256_TRUNCATED;
		}
		notice.mkey.dr_hops |= hops;
		memcpy(notice.mkey.dr_path, p->smp.return_path, hops);
	}
	ib->node->fabric->ib_agent->trap(ib, &notice);
}

/* May the request be processed (14.2.4)?  @knows: whether it has the right M_Key */
static bool check_mkey(struct ib_port *ib, const struct mad_packet *p, bool *knows)
{
	struct loop *loop = ib->node->loop;

	*knows = !ib->mkey || be64toh(p->smp.mkey) == ib->mkey;
	if (*knows) {
		loop_timer_cancel(loop, &ib->mkey_timer);
		return true;
	}
	if (p->hdr.method == MAD_GET && ib->mkey_protect < 2)
		return true;
	ib_count16(&ib->mkey_viols);
	if (ib->mkey_lease && !ib->mkey_timer.pos)
		loop_timer_arm(loop, &ib->mkey_timer, loop_now(loop) + ib->mkey_lease * NS_PER_S);
	bad_mkey(ib, p);
	return false;
}

static enum ohca_mad_result reply(struct mad_packet *p, uint16_t status)
{
	if (p->hdr.mgmt_class == MAD_CLASS_SM_DR)
		status |= MAD_DIRECTION;
	p->hdr.method = MAD_GET_RESP;
	p->hdr.status = htobe16(status);
	return OHCA_MAD_REPLY;
}

enum ohca_mad_result sma_process(struct ib_port *at, struct mad_packet *p, bool ignore_mkey)
{
	struct ib_port *ib = ib_managed_port(at);
	uint8_t method = p->hdr.method;
	struct sm_call call = {
		.at = at,
		.mod = be32toh(p->hdr.attr_mod),
		.mkey = be64toh(p->smp.mkey),
		.knows_mkey = true,
		.trusted = ignore_mkey,
		.data = p->smp.data,
	};

	if (method & MAD_RESPONSE || method == MAD_TRAP)
		return OHCA_MAD_PASS;
	if ((method == MAD_GET || method == MAD_SET) && p->hdr.attr_id == htobe16(SM_SM_INFO) &&
	    at->port)
		return OHCA_MAD_PASS;
	if (p->hdr.class_version != CLASS_VERSION)
		return reply(p, MAD_BAD_VERSION);
	if (method != MAD_GET && method != MAD_SET && method != MAD_TRAP_REPRESS)
		return reply(p, MAD_BAD_METHOD);
	if (!ignore_mkey && !check_mkey(ib, p, &call.knows_mkey))
		return OHCA_MAD_CONSUMED;
	if (method == MAD_TRAP_REPRESS)
		return traps_repress(ib, &p->smp) ? OHCA_MAD_CONSUMED : OHCA_MAD_PASS;
	return reply(p, execute(&call, p));
}
