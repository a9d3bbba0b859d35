// SPDX-License-Identifier: GPL-2.0
/* The subnet management interface of a node. */

#include <endian.h>

#include "fabric/ib_link.h"
#include "fabric/ib_node.h"
#include "fabric/ib_switch.h"
#include "mgmt/sma.h"
#include "mgmt/smi.h"

/* Deliver an unmodified packet that is not for the agent to the host.  Switches and some HCAs have no host. */
static void give_to_host(struct ib_port *at, const struct mad_packet *p)
{
	if (at->port && at->port->ib_client && !at->port->ib_client->receive_smp(at->port, p))
		at->counters.vl15_dropped++;
}

/* Forward a directed route by one of the node's ports. */
static void send_out(struct ib_port *at, struct mad_packet *p, uint8_t num)
{
	const struct ib_node *node = at->node;

	if (!num || num > node->num_ports || !node->ports[num])
		return;
	p->slid = LID_PERMISSIVE;
	p->dlid = LID_PERMISSIVE;
	ib_link_send(node->ports[num], p);
}

static void send_from(struct ib_port *at, struct mad_packet *p, uint16_t slid, uint16_t dlid)
{
	struct ib_port *from = ib_managed_port(at);

	if (!from->lid)
		return;
	p->slid = slid;
	p->dlid = dlid;
	ib_node_send(at->node->sw ? at : from, p);
}

/* Forward by LID, for the part of a route that is not directed. */
static void send_by_lid(struct ib_port *at, struct mad_packet *p, uint16_t dlid)
{
	send_from(at, p, ib_managed_port(at)->lid, dlid);
}

/* A port answers from the LID that was asked, which may be any of its own, or was one before the request changed it. */
static void answer_by_lid(struct ib_port *at, struct mad_packet *p)
{
	uint16_t asked = p->dlid;

	send_from(at, p, asked == LID_PERMISSIVE ? ib_managed_port(at)->lid : asked, p->slid);
}

/* Send the response of the agent.  @p has the addresses of the request. */
static void send_reply(struct ib_port *at, struct mad_packet *p)
{
	struct smp *smp = &p->smp;

	p->hops = 0;
	if (smp->hdr.mgmt_class == MAD_CLASS_SM_DR && smp->dr_dlid == htobe16(LID_PERMISSIVE) &&
	    smp->hdr.hop_cnt) {
		smp->hdr.hop_ptr--;
		send_out(at, p, smp->return_path[smp->hdr.hop_ptr]);
	} else if (p->slid != LID_PERMISSIVE) {
		answer_by_lid(at, p);
	}
}

/* Let the agent process the packet, or deliver @raw, the unmodified packet, to the host. */
static void process(struct ib_port *at, struct mad_packet *p, const struct mad_packet *raw)
{
	switch (sma_process(at, p, false)) {
	case OHCA_MAD_PASS:
		give_to_host(at, raw);
		break;
	case OHCA_MAD_REPLY:
		send_reply(at, p);
		break;
	case OHCA_MAD_CONSUMED:
		break;
	}
}

/* Outgoing directed route: C14-9 */
static void receive_outgoing(struct ib_port *at, struct mad_packet *p, const struct mad_packet *raw)
{
	struct smp *smp = &p->smp;
	uint8_t ptr = smp->hdr.hop_ptr, cnt = smp->hdr.hop_cnt;

	if (ptr > cnt + 1)
		return;
	if (ptr > cnt) {
		process(at, p, raw);
		return;
	}
	/* A directed part after a part by LID could not be returned. */
	if (!ptr && cnt && raw->dlid == LID_PERMISSIVE)
		return;
	if (ptr)
		smp->return_path[ptr] = at->num;
	smp->hdr.hop_ptr++;
	if (ptr < cnt) {
		if (at->node->sw)
			send_out(at, p, smp->initial_path[ptr + 1]);
	} else if (smp->dr_dlid == htobe16(LID_PERMISSIVE)) {
		process(at, p, raw);
	} else if (at->node->sw) {
		send_by_lid(at, p, be16toh(smp->dr_dlid));
	}
}

/* Returning directed route: C14-13 */
static void receive_returning(struct ib_port *at, struct mad_packet *p,
			      const struct mad_packet *raw)
{
	struct smp *smp = &p->smp;
	uint8_t ptr = smp->hdr.hop_ptr, cnt = smp->hdr.hop_cnt;

	if (ptr > cnt + 1)
		return;
	if (!ptr || (ptr == 1 && smp->dr_slid == htobe16(LID_PERMISSIVE) && cnt)) {
		give_to_host(at, raw);
		return;
	}
	if (!at->node->sw)
		return;
	smp->hdr.hop_ptr--;
	if (ptr == 1)
		send_by_lid(at, p, be16toh(smp->dr_slid));
	else
		send_out(at, p, smp->return_path[ptr - 1]);
}

void smi_receive(struct ib_port *at, const struct mad_packet *raw)
{
	struct mad_packet p = *raw;

	if (p.dest_qpn || p.hdr.base_version != MAD_BASE_VERSION)
		return;
	if (p.hdr.mgmt_class == MAD_CLASS_SM_LID)
		process(at, &p, raw);
	else if (p.hdr.mgmt_class != MAD_CLASS_SM_DR || p.hdr.hop_cnt > SMP_MAX_HOPS)
		return;
	else if (p.hdr.status & htobe16(MAD_DIRECTION))
		receive_returning(at, &p, raw);
	else
		receive_outgoing(at, &p, raw);
}
