// SPDX-License-Identifier: GPL-2.0
/*
 * The performance management agent of a node.  The counters of ports only increase.  When a manager sets a counter, the agent
 * stores the difference.
 */

#include <endian.h>
#include <string.h>

#include "fabric/ib_node.h"
#include "fabric/ib_traffic.h"
#include "mgmt/pma.h"
#include "packet/pm_attr.h"

#define CLASS_VERSION 1
#define RESP_TIME 8 /* 4.096 us * 2^8 */
#define TICK_NS 1000 /* unit of PortXmitWait */

/* Bits of CounterSelect; those of CounterSelect2 follow. */
enum pm_counter {
	PM_SYMBOL_ERRORS,
	PM_LINK_RECOVERY,
	PM_LINK_DOWNED,
	PM_RCV_ERRORS,
	PM_RCV_REMOTE_ERRORS,
	PM_RCV_RELAY_ERRORS,
	PM_XMIT_DISCARDS,
	PM_XMIT_CONSTRAINT,
	PM_RCV_CONSTRAINT,
	PM_LINK_INTEGRITY,
	PM_BUFFER_OVERRUN,
	PM_VL15_DROPPED,
	PM_XMIT_DATA,
	PM_RCV_DATA,
	PM_XMIT_PKTS,
	PM_RCV_PKTS,
	PM_XMIT_WAIT,
	PM_NUM_COUNTERS
};

/* Bits of PortCountersExtended's CounterSelect */
enum pm_ext_counter {
	PM_EXT_XMIT_DATA,
	PM_EXT_RCV_DATA,
	PM_EXT_XMIT_PKTS,
	PM_EXT_RCV_PKTS,
	PM_EXT_XMIT_UNICAST,
	PM_EXT_RCV_UNICAST,
	PM_EXT_XMIT_MCAST,
	PM_EXT_RCV_MCAST,
	PM_NUM_EXT_COUNTERS
};

_Static_assert(PM_NUM_COUNTERS <= IB_PORT_PM_COUNTERS, "room in struct ib_port");
_Static_assert(PM_NUM_EXT_COUNTERS <= IB_PORT_PM_EXT_COUNTERS, "room in struct ib_port");

/* The counters of a port since it was created */
static void count(const struct ib_port *ib, uint64_t val[PM_NUM_COUNTERS])
{
	const struct ib_port_counters *c = &ib->counters;
	struct ib_traffic xmit, rcv;

	ib_traffic_count(ib, &xmit, &rcv);
	memset(val, 0, PM_NUM_COUNTERS * sizeof(*val));
	val[PM_SYMBOL_ERRORS] = c->symbol_errors;
	val[PM_LINK_RECOVERY] = c->link_recovery;
	val[PM_LINK_DOWNED] = c->link_downed;
	val[PM_RCV_ERRORS] = c->rcv_errors;
	val[PM_RCV_REMOTE_ERRORS] = c->rcv_remote_errors;
	val[PM_RCV_RELAY_ERRORS] = c->rcv_relay_errors;
	val[PM_XMIT_DISCARDS] = c->xmit_discards;
	val[PM_XMIT_CONSTRAINT] = c->xmit_constraint;
	val[PM_RCV_CONSTRAINT] = c->rcv_constraint;
	val[PM_LINK_INTEGRITY] = c->link_integrity;
	val[PM_BUFFER_OVERRUN] = c->buffer_overrun;
	val[PM_VL15_DROPPED] = c->vl15_dropped;
	val[PM_XMIT_WAIT] = ib_waited(ib) / TICK_NS;
	val[PM_XMIT_DATA] = xmit.data;
	val[PM_RCV_DATA] = rcv.data;
	val[PM_XMIT_PKTS] = xmit.pkts;
	val[PM_RCV_PKTS] = rcv.pkts;
}

static void count_ext(const struct ib_port *ib, uint64_t val[PM_NUM_EXT_COUNTERS])
{
	struct ib_traffic xmit, rcv;

	ib_traffic_count(ib, &xmit, &rcv);
	val[PM_EXT_XMIT_DATA] = xmit.data;
	val[PM_EXT_RCV_DATA] = rcv.data;
	val[PM_EXT_XMIT_PKTS] = xmit.pkts;
	val[PM_EXT_RCV_PKTS] = rcv.pkts;
	val[PM_EXT_XMIT_UNICAST] = xmit.pkts - xmit.mcast;
	val[PM_EXT_RCV_UNICAST] = rcv.pkts - rcv.mcast;
	val[PM_EXT_XMIT_MCAST] = xmit.mcast;
	val[PM_EXT_RCV_MCAST] = rcv.mcast;
}

/* The value of a counter of @bits bits, which saturates */
static uint32_t saturate(uint64_t val, unsigned int bits)
{
	uint64_t max = (1ULL << bits) - 1;

	return val < max ? val : max;
}

/* The sums of all ports from @first to @last */
static void sum(const struct ib_node *node, unsigned int first, unsigned int last,
		uint64_t val[PM_NUM_COUNTERS])
{
	uint64_t one[PM_NUM_COUNTERS];
	unsigned int i, j;

	memset(val, 0, PM_NUM_COUNTERS * sizeof(*val));
	for (i = first; i <= last; i++) {
		const struct ib_port *ib = node->ports[i];

		if (!ib)
			continue;
		count(ib, one);
		for (j = 0; j < PM_NUM_COUNTERS; j++)
			val[j] += one[j] - ib->pm_base[j];
	}
}

static void sum_ext(const struct ib_node *node, unsigned int first, unsigned int last,
		    uint64_t val[PM_NUM_EXT_COUNTERS])
{
	uint64_t one[PM_NUM_EXT_COUNTERS];
	unsigned int i, j;

	memset(val, 0, PM_NUM_EXT_COUNTERS * sizeof(*val));
	for (i = first; i <= last; i++) {
		const struct ib_port *ib = node->ports[i];

		if (!ib)
			continue;
		count_ext(ib, one);
		for (j = 0; j < PM_NUM_EXT_COUNTERS; j++)
			val[j] += one[j] - ib->pm_ext_base[j];
	}
}

static void put_counters(struct port_counters *to, const uint64_t val[PM_NUM_COUNTERS])
{
	to->symbol_errors = htobe16(saturate(val[PM_SYMBOL_ERRORS], 16));
	to->link_recovery = saturate(val[PM_LINK_RECOVERY], 8);
	to->link_downed = saturate(val[PM_LINK_DOWNED], 8);
	to->rcv_errors = htobe16(saturate(val[PM_RCV_ERRORS], 16));
	to->rcv_remote_errors = htobe16(saturate(val[PM_RCV_REMOTE_ERRORS], 16));
	to->rcv_relay_errors = htobe16(saturate(val[PM_RCV_RELAY_ERRORS], 16));
	to->xmit_discards = htobe16(saturate(val[PM_XMIT_DISCARDS], 16));
	to->xmit_constraint = saturate(val[PM_XMIT_CONSTRAINT], 8);
	to->rcv_constraint = saturate(val[PM_RCV_CONSTRAINT], 8);
	to->integrity_overrun = saturate(val[PM_LINK_INTEGRITY], 4) << 4 |
				saturate(val[PM_BUFFER_OVERRUN], 4);
	to->vl15_dropped = htobe16(saturate(val[PM_VL15_DROPPED], 16));
	to->xmit_data = htobe32(saturate(val[PM_XMIT_DATA], 32));
	to->rcv_data = htobe32(saturate(val[PM_RCV_DATA], 32));
	to->xmit_pkts = htobe32(saturate(val[PM_XMIT_PKTS], 32));
	to->rcv_pkts = htobe32(saturate(val[PM_RCV_PKTS], 32));
	to->xmit_wait = htobe32(saturate(val[PM_XMIT_WAIT], 32));
}

static void take_counters(uint64_t val[PM_NUM_COUNTERS], const struct port_counters *from)
{
	val[PM_SYMBOL_ERRORS] = be16toh(from->symbol_errors);
	val[PM_LINK_RECOVERY] = from->link_recovery;
	val[PM_LINK_DOWNED] = from->link_downed;
	val[PM_RCV_ERRORS] = be16toh(from->rcv_errors);
	val[PM_RCV_REMOTE_ERRORS] = be16toh(from->rcv_remote_errors);
	val[PM_RCV_RELAY_ERRORS] = be16toh(from->rcv_relay_errors);
	val[PM_XMIT_DISCARDS] = be16toh(from->xmit_discards);
	val[PM_XMIT_CONSTRAINT] = from->xmit_constraint;
	val[PM_RCV_CONSTRAINT] = from->rcv_constraint;
	val[PM_LINK_INTEGRITY] = from->integrity_overrun >> 4;
	val[PM_BUFFER_OVERRUN] = from->integrity_overrun & 15;
	val[PM_VL15_DROPPED] = be16toh(from->vl15_dropped);
	val[PM_XMIT_DATA] = be32toh(from->xmit_data);
	val[PM_RCV_DATA] = be32toh(from->rcv_data);
	val[PM_XMIT_PKTS] = be32toh(from->xmit_pkts);
	val[PM_RCV_PKTS] = be32toh(from->rcv_pkts);
	val[PM_XMIT_WAIT] = be32toh(from->xmit_wait);
}

/* The ports that PortSelect names.  False: there is no such port. */
static bool select_ports(const struct ib_port *at, uint8_t num, unsigned int *first,
			 unsigned int *last)
{
	const struct ib_node *node = at->node;

	*first = num;
	*last = num;
	if (num == PM_ALL_PORTS) {
		*first = 1;
		*last = node->num_ports;
		return true;
	}
	return num <= node->num_ports && node->ports[num];
}

static uint16_t counters(struct ib_port *at, uint8_t *data, bool set)
{
	struct port_counters *c = (struct port_counters *)data, in = *c;
	uint32_t mask = be16toh(in.select) | (uint32_t)(in.select2 & 1) << PM_XMIT_WAIT;
	uint64_t val[PM_NUM_COUNTERS], to[PM_NUM_COUNTERS];
	unsigned int first, last, i, j;

	if (!select_ports(at, in.port, &first, &last))
		return MAD_BAD_FIELD;
	take_counters(to, &in);
	for (i = first; set && i <= last; i++) {
		if (!at->node->ports[i])
			continue;
		count(at->node->ports[i], val);
		for (j = 0; j < PM_NUM_COUNTERS; j++) {
			if (mask >> j & 1)
				at->node->ports[i]->pm_base[j] = val[j] - to[j];
		}
	}
	memset(c, 0, sizeof(*c));
	c->port = in.port;
	c->select = in.select;
	c->select2 = in.select2;
	sum(at->node, first, last, val);
	put_counters(c, val);
	return MAD_OK;
}

static uint16_t counters_ext(struct ib_port *at, uint8_t *data, bool set)
{
	struct port_counters_ext *c = (struct port_counters_ext *)data, in = *c;
	unsigned int first, last, i, j;
	uint64_t val[PM_NUM_EXT_COUNTERS];

	if (!select_ports(at, in.port, &first, &last))
		return MAD_BAD_FIELD;
	for (i = first; set && i <= last; i++) {
		if (!at->node->ports[i])
			continue;
		count_ext(at->node->ports[i], val);
		for (j = 0; j < PM_NUM_EXT_COUNTERS; j++) {
			if (be16toh(in.select) >> j & 1)
				at->node->ports[i]->pm_ext_base[j] =
					val[j] - be64toh(in.counter[j]);
		}
	}
	sum_ext(at->node, first, last, val);
	for (j = 0; j < PM_NUM_EXT_COUNTERS; j++)
		c->counter[j] = htobe64(val[j]);
	return MAD_OK;
}

static uint16_t class_port_info(uint8_t *data)
{
	struct class_port_info *info = (struct class_port_info *)data;

	memset(info, 0, sizeof(*info));
	info->base_version = MAD_BASE_VERSION;
	info->class_version = CLASS_VERSION;
	info->cap_mask = htobe16(PM_CAP_ALL_PORTS | PM_CAP_EXT_WIDTH | PM_CAP_XMIT_WAIT);
	info->cap_mask2_resp_time = htobe32(RESP_TIME);
	return MAD_OK;
}

static uint16_t execute(struct ib_port *at, struct mad_packet *p)
{
	uint8_t *data = p->mad + PM_DATA;
	bool set = p->hdr.method == MAD_SET;

	if (p->hdr.class_version != CLASS_VERSION)
		return MAD_BAD_VERSION;
	if (!set && p->hdr.method != MAD_GET)
		return MAD_BAD_METHOD;
	switch (be16toh(p->hdr.attr_id)) {
	case PM_CLASS_PORT_INFO:
		return set ? MAD_BAD_ATTR : class_port_info(data);
	case PM_PORT_COUNTERS:
		return counters(at, data, set);
	case PM_PORT_COUNTERS_EXT:
		return counters_ext(at, data, set);
	default:
		return MAD_BAD_ATTR;
	}
}

void pma_sum(const struct ib_port *ib, struct pma_sums *sums)
{
	uint64_t val[PM_NUM_COUNTERS], ext[PM_NUM_EXT_COUNTERS];
	unsigned int i;

	count(ib, val);
	count_ext(ib, ext);
	sums->xmit_data = ext[PM_EXT_XMIT_DATA] - ib->pm_ext_base[PM_EXT_XMIT_DATA];
	sums->rcv_data = ext[PM_EXT_RCV_DATA] - ib->pm_ext_base[PM_EXT_RCV_DATA];
	sums->errors = 0;
	for (i = PM_SYMBOL_ERRORS; i <= PM_VL15_DROPPED; i++) {
		if (i != PM_LINK_DOWNED && i != PM_RCV_RELAY_ERRORS)
			sums->errors += val[i] - ib->pm_base[i];
	}
}

enum ohca_mad_result pma_process(struct ib_port *at, struct mad_packet *p)
{
	if (p->hdr.method & MAD_RESPONSE || p->hdr.method == MAD_TRAP ||
	    p->hdr.method == MAD_TRAP_REPRESS)
		return OHCA_MAD_PASS;
	p->hdr.status = htobe16(execute(at, p));
	p->hdr.method = MAD_GET_RESP;
	return OHCA_MAD_REPLY;
}
