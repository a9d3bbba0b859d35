// SPDX-License-Identifier: GPL-2.0
/* Faults of packets: the rules of a fabric, and how they are applied. */

#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "fabric/ib_link.h"
#include "fabric/ib_node.h"
#include "base/log.h"
#include "inject/pkt_fault.h"
#include "qp/qp.h"
#include "packet/bth.h"
#include "net/datagram.h"
#include "net/link.h"
#include "net/wire.h"

/* A packet that waits for others to overtake it is forwarded after this time anyway. */
#define REORDER_NS 1000000ULL

/* Rules */

static bool has_hca(const struct fabric *fabric, const char *name)
{
	const struct list *node;

	for (node = fabric->ports.next; node != &fabric->ports; node = node->next) {
		if (!strcmp(list_entry(node, struct port, link)->hca->name, name))
			return true;
	}
	return false;
}

static bool has_port(const struct fabric *fabric, const struct port *port)
{
	const struct list *node;

	for (node = fabric->ports.next; node != &fabric->ports; node = node->next) {
		if (list_entry(node, struct port, link) == port)
			return true;
	}
	return false;
}

static void requeue(struct pkt_deferred_list *list, struct pkt_deferred *deferred);
static void fault_smp(struct ib_port *from, const struct mad_packet *p);
static const struct link_hooks hooks;

struct pkt_faults *pkt_faults_get(struct fabric *fabric, struct loop *loop)
{
	struct pkt_faults *faults = fabric->faults;

	if (faults)
		return faults;
	faults = calloc(1, sizeof(*faults));
	if (!faults)
		return NULL;
	faults->fabric = fabric;
	list_init(&faults->rules);
	list_init(&faults->node_rules);
	pkt_deferred_init(&faults->deferred, loop, requeue);
	fabric->faults = faults;
	return faults;
}

int pkt_fault_add(struct fabric *fabric, struct loop *loop, struct pkt_rule *rule)
{
	struct pkt_faults *faults;

	if (rule->hca && !has_hca(fabric, rule->hca))
		return -ENOENT;
	faults = pkt_faults_get(fabric, loop);
	if (!faults)
		return -ENOMEM;
	if (faults->num == PKT_FAULT_MAX_RULES)
		return -ENOSPC;
	rule->id = ++faults->last_id;
	faults->num++;
	fabric->link_hooks = &hooks;
	fabric->smp_hook = fault_smp;
	list_add_tail(&faults->rules, &rule->link);
	fabric_changed(fabric);
	log_info(NULL, "fault %u added: %s", rule->id, rule->text);
	return 0;
}

/* Remove the hooks if there are no rules and no deferred packets. */
static void disable_if_idle(struct pkt_faults *faults)
{
	if (faults->num || faults->deferred.num)
		return;
	faults->fabric->link_hooks = NULL;
	faults->fabric->smp_hook = NULL;
	fabric_changed(faults->fabric);
}

static void remove_rule(struct pkt_faults *faults, struct pkt_rule *rule)
{
	log_info(NULL, "fault %u: %llu matched, %llu hit: %s", rule->id,
		 (unsigned long long)rule->matched, (unsigned long long)rule->hits, rule->text);
	list_del(&rule->link);
	pkt_rule_free(rule);
	faults->num--;
	fabric_changed(faults->fabric);
	disable_if_idle(faults);
}

bool pkt_fault_clear(struct fabric *fabric, uint32_t id)
{
	struct pkt_faults *faults = fabric->faults;
	struct list *node, *next;
	bool found = !id;

	if (!faults)
		return found;
	for (node = faults->rules.next; node != &faults->rules; node = next) {
		struct pkt_rule *rule = list_entry(node, struct pkt_rule, link);

		next = node->next;
		if (id && rule->id != id)
			continue;
		found = true;
		remove_rule(faults, rule);
	}
	return found;
}

const struct pkt_rule *pkt_fault_next(const struct fabric *fabric, const struct pkt_rule *rule)
{
	const struct list *node;

	if (!fabric->faults)
		return NULL;
	node = rule ? rule->link.next : fabric->faults->rules.next;
	return node == &fabric->faults->rules ? NULL : list_entry(node, struct pkt_rule, link);
}

void pkt_fault_forget(struct fabric *fabric, const struct port *port)
{
	struct pkt_faults *faults = fabric->faults;

	if (!faults)
		return;
	pkt_deferred_forget(&faults->deferred, NULL, port);
	disable_if_idle(faults);
}

void pkt_fault_fini(struct fabric *fabric)
{
	struct pkt_faults *faults = fabric->faults;

	if (!faults)
		return;
	pkt_fault_clear(fabric, 0);
	pkt_deferred_forget(&faults->deferred, NULL, NULL);
	if (faults->bad_crc || faults->deferred.lost)
		log_info(NULL, "faults: packets dropped: %llu for a bad CRC, %llu for lack of room",
			 (unsigned long long)faults->bad_crc,
			 (unsigned long long)faults->deferred.lost);
	fabric->link_hooks = NULL;
	fabric->smp_hook = NULL;
	fabric->faults = NULL;
	free(faults);
}

/* Whether a rule, or a deferred packet that waits for others, is concerned with this place */
static bool concerns(const struct pkt_faults *faults, const struct pkt_place *place)
{
	const struct list *node;

	for (node = faults->rules.next; node != &faults->rules; node = node->next) {
		if (pkt_rule_concerns(list_entry(node, struct pkt_rule, link), place))
			return true;
	}
	return pkt_deferred_at(&faults->deferred, place);
}

/* The rule that hits the packet, or NULL */
static struct pkt_rule *find_hit(struct pkt_faults *faults, const struct pkt_place *place)
{
	struct list *node;

	for (node = faults->rules.next; node != &faults->rules; node = node->next) {
		struct pkt_rule *rule = list_entry(node, struct pkt_rule, link);

		if (!pkt_rule_hits(rule, place))
			continue;
		/* QPs that only this rule was for may use the fast path again. */
		if (pkt_rule_done(rule))
			fabric_changed(faults->fabric);
		return rule;
	}
	return NULL;
}

/* Packets */

/* It goes on from where it is; returns the bytes of a datagram that were received. */
static uint64_t pass(const struct pkt_ref *ref)
{
	const struct pkt_place *place = &ref->place;
	struct port *port = (struct port *)place->port;

	if (ref->pkt) {
		if (place->rx)
			link_arrive(ref->src, ref->pkt);
		else
			link_forward(ref->src, ref->pkt);
		return 0;
	}
	if (ref->dg)
		return place->rx ? link_arrive_datagram(ref->src, port, ref->dg)
				 : link_forward_datagram(ref->src, ref->dg);
	if (ref->smp)
		ib_link_arrive(ref->from, ref->smp);
	else
		wire_receive_late(port, ref->frame, ref->len);
	return 0;
}

/* Forward a packet that was deferred. */
static void requeue(struct pkt_deferred_list *list, struct pkt_deferred *deferred)
{
	struct pkt_faults *faults = list_entry(list, struct pkt_faults, deferred);
	const struct pkt_ref *ref = &deferred->ref;
	bool counted = deferred->counts;

	/* Its port may have been removed, and so may the source GID of a datagram. */
	if (has_port(faults->fabric, ref->place.port) &&
	    !(ref->dg && ref->dg->from && ref->dg->from->type == OHCA_GID_NONE))
		pass(ref);
	free(deferred);
	/* Other packets of that QP need not be counted any more. */
	if (counted && !list->counting)
		fabric_changed(faults->fabric);
	disable_if_idle(faults);
}

/* Of @len bytes from the BTH on; byte 4 is not in the CRC. */
static void flip_bit(uint8_t *bth, size_t len, uint32_t random)
{
	size_t bit = random % ((len - 1) * 8);
	size_t byte = bit / 8 < 4 ? bit / 8 : bit / 8 + 1;

	bth[byte] ^= 1 << bit % 8;
}

static void encoded(struct fabric *fabric, uint8_t *bth, size_t len)
{
	const struct pkt_faults *faults = fabric->faults;

	if (faults->corrupt)
		flip_bit(bth, len, faults->bit);
}

/*
 * Corrupt a bit of the packet.  Within the process it is dropped where it arrives.  On an uplink
 * the bit is changed in the frame, and the other side has to detect it.
 */
static void corrupt(struct pkt_faults *faults, const struct pkt_ref *ref, uint32_t bit)
{
	if (ref->frame) {
		struct pkt_deferred *copy = pkt_deferred_copy(ref);
		uint8_t *bth;
		size_t len;

		if (!copy)
			return;
		bth = wire_transport(ref->place.port, (uint8_t *)copy->data, ref->len, &len);
		if (bth)
			flip_bit(bth, len, bit);
		pass(&copy->ref);
		free(copy);
	} else if (ref->place.rx || ref->smp) {
		faults->bad_crc++;
	} else {
		faults->corrupt = true;
		faults->bit = bit;
		pass(ref);
		faults->corrupt = false;
	}
}

/* Whether the packet that arrives at a port of this process is corrupted; counts it. */
static bool is_bad(struct pkt_faults *faults)
{
	faults->bad_crc += faults->corrupt;
	return faults->corrupt;
}

static uint64_t duplicate(const struct pkt_ref *ref)
{
	/* The payload in memory may change when the first packet has arrived. */
	struct pkt_deferred *copy = pkt_deferred_copy(ref);
	uint64_t sum = pass(ref);

	if (copy)
		sum += pass(&copy->ref);
	free(copy);
	return sum;
}

/* It has this P_Key; packets of QP 0 have none. */
static uint64_t change_pkey(const struct pkt_ref *ref, uint16_t pkey)
{
	struct pkt_ref changed = *ref;
	struct datagram dg;

	if (ref->pkt) {
		link_forward_pkey(ref->src, ref->pkt, pkey);
		return 0;
	}
	if (ref->dg) {
		dg = *ref->dg;
		dg.pkey = pkey;
		changed.dg = &dg;
	}
	return pass(&changed);
}

/* The management datagram that the copy is */
static uint8_t *mad_of(struct pkt_ref *copy)
{
	size_t len;

	if (copy->smp)
		return (uint8_t *)copy->smp->mad;
	if (copy->dg)
		return copy->dg->iov[1].iov_base;
	return wire_transport(copy->place.port, (uint8_t *)copy->frame, copy->len, &len) + BTH_LEN +
	       DETH_LEN;
}

/* A management datagram has this status. */
static uint64_t change_status(const struct pkt_ref *ref, uint16_t status)
{
	struct pkt_deferred *copy = pkt_deferred_copy(ref);
	uint8_t *at;
	uint64_t sum;

	if (!copy)
		return 0;
	at = mad_of(&copy->ref) + offsetof(struct mad_hdr, status);
	if (ref->place.mad->mgmt_class == MAD_CLASS_SM_DR)
		status = (status & ~MAD_DIRECTION) | (get_be16(at) & MAD_DIRECTION);
	put_be16(at, status);
	if (ref->frame)
		wire_put_crcs(ref->place.port, (uint8_t *)copy->ref.frame, ref->len);
	sum = pass(&copy->ref);
	free(copy);
	return sum;
}

/* Apply the rules to a packet.  Returns the bytes of a datagram that were received. */
static uint64_t apply_rules(struct pkt_faults *faults, const struct pkt_ref *ref)
{
	struct pkt_rule *rule = find_hit(faults, &ref->place);
	uint64_t sum = 0;

	if (!rule) {
		sum = pass(ref);
	} else if (rule->action == RULE_DUPLICATE) {
		sum = duplicate(ref);
	} else if (rule->action == RULE_PKEY) {
		sum = change_pkey(ref, rule->value);
	} else if (rule->action == RULE_STATUS) {
		sum = change_status(ref, rule->value);
	} else {
		if (rule->action == RULE_DELAY)
			pkt_deferred_add(&faults->deferred, ref, rule->delay, 0);
		else if (rule->action == RULE_REORDER)
			pkt_deferred_add(&faults->deferred, ref, REORDER_NS, rule->after);
		else if (rule->action == RULE_CORRUPT)
			corrupt(faults, ref, pkt_rule_random(rule));
		return 0;
	}
	pkt_deferred_passed(&faults->deferred, &ref->place);
	return sum;
}

static uint16_t dlid_of(const struct port *port, const struct ohca_av *av)
{
	return port->ib ? le16toh(av->ib.dlid) : 0;
}

/* Places of a connection's packets */

static struct pkt_place leaving(const struct qp *src)
{
	return (struct pkt_place){
		.port = src->port,
		.service = wire_service(src),
		.dlid = dlid_of(src->port, &src->attr.av),
		.qpn = qp_link_num(src),
	};
}

static struct pkt_place arriving(const struct qp *src, const struct qp *dst)
{
	return (struct pkt_place){
		.port = dst->port,
		.rx = true,
		.service = wire_service(src),
		.dlid = dlid_of(src->port, &src->attr.av),
		.qpn = qp_link_num(dst),
	};
}

static bool between(struct fabric *fabric, const struct qp *src, const struct qp *dst)
{
	const struct pkt_faults *faults = fabric->faults;
	struct pkt_place place = leaving(src);

	if (concerns(faults, &place))
		return true;
	if (!dst)
		return false;
	place = arriving(src, dst);
	return concerns(faults, &place);
}

static void fault_send(struct qp *src, const struct pkt *burst)
{
	struct pkt_faults *faults = src->hca->fabric->faults;
	uint32_t i, num = pkt_num_parts(burst);
	struct iov_pos pos = {.iov = burst->iov};
	uint8_t bytes[PKT_MAX_MTU];
	struct iovec iov = {.iov_base = bytes};
	struct pkt part;
	struct pkt_ref ref = {.place = leaving(src), .src = src, .pkt = &part};

	for (i = 0; i < num; i++) {
		part = pkt_part(burst, i, src->mtu_shift);
		iov.iov_len = part.len;
		if (part.len)
			iov_copy(&iov, 1, &pos, false);
		part.iov = &iov;
		part.num = part.len ? 1 : 0;
		ref.place.opcode = bth_opcode(&part);
		ref.place.psn = part.psn;
		apply_rules(faults, &ref);
	}
}

static void fault_arrive(struct qp *src, struct qp *dst, const struct pkt *pkt)
{
	struct pkt_faults *faults = src->hca->fabric->faults;
	struct pkt_ref ref = {.place = arriving(src, dst), .src = src, .pkt = pkt};

	if (is_bad(faults))
		return;
	ref.place.opcode = bth_opcode(pkt);
	ref.place.psn = pkt->psn;
	apply_rules(faults, &ref);
}

static void describe(struct pkt_ref *ref, struct qp *src, const struct datagram *dg)
{
	bool imm = dg->cqe.flags & OHCA_CQE_F_IMM;

	ref->src = src;
	ref->dg = dg;
	ref->place.service = BTH_UD;
	ref->place.opcode = imm ? BTH_OP_SEND_ONLY_IMM : BTH_OP_SEND_ONLY;
	ref->place.dlid = dlid_of(ref->place.port, dg->av);
	ref->place.psn = dg->psn;
	if (dg->dest_qpn != QPN_GSI || dg->len != OHCA_GRH_LEN + MAD_LEN)
		return;
	iov_peek(dg->iov + 1, dg->num - 1, (uint8_t *)&ref->mad, sizeof(ref->mad));
	ref->place.mad = &ref->mad;
}

static uint64_t fault_send_datagram(struct qp *src, const struct datagram *dg)
{
	struct pkt_ref ref = {.place = {.port = src->port, .qpn = qp_link_num(src)}};

	describe(&ref, src, dg);
	return apply_rules(src->hca->fabric->faults, &ref);
}

static uint64_t fault_arrive_datagram(struct qp *src, struct port *port, const struct datagram *dg)
{
	struct pkt_faults *faults = port->hca->fabric->faults;
	struct pkt_ref ref = {.place = {.port = port, .rx = true, .qpn = dg->dest_qpn}};

	if (is_bad(faults))
		return 0;
	describe(&ref, src, dg);
	return apply_rules(faults, &ref);
}

/* The link of an HCA's port: what leaves by it, or comes by it */
static void fault_smp(struct ib_port *from, const struct mad_packet *p)
{
	struct pkt_faults *faults = from->node->fabric->faults;
	const struct ib_port *end = from->port ? from : from->peer;
	const struct pkt_ref ref = {
		.place = {.port = end->port,
			  .rx = end != from,
			  .service = BTH_UD,
			  .opcode = BTH_OP_SEND_ONLY,
			  .qpn = QPN_SMI,
			  .mad = &p->hdr},
		.smp = p,
		.from = from,
	};

	/* Of a cable between switches, neither end is an HCA's. */
	if (end->port)
		apply_rules(faults, &ref);
	else
		ib_link_arrive(from, p);
}

/* Is it a general management datagram? */
static bool is_gmp(const struct bth_packet *p)
{
	return p->service == BTH_UD && p->dest_qpn == QPN_GSI && p->pkt.len == MAD_LEN &&
	       !(p->pkt.flags & PKT_IMM);
}

static bool fault_frame(struct port *port, const struct bth_packet *p, const uint8_t *frame,
			size_t len)
{
	struct pkt_faults *faults = port->hca->fabric->faults;
	struct pkt_ref ref = {
		.place =
			{
				.port = port,
				.rx = true,
				.service = p->service,
				.opcode = p->data[0] % BTH_NUM_OPS,
				.dlid = port->ib ? get_be16(frame + 2) : 0,
				.qpn = p->dest_qpn,
				.psn = p->pkt.psn,
			},
		.frame = frame,
		.len = len,
	};

	if (!concerns(faults, &ref.place))
		return false;
	if (is_gmp(p)) {
		memcpy(&ref.mad, p->payload.iov_base, sizeof(ref.mad));
		ref.place.mad = &ref.mad;
	}
	apply_rules(faults, &ref);
	return true;
}

static void forget(struct qp *qp)
{
	struct pkt_faults *faults = qp->hca->fabric->faults;

	pkt_deferred_forget(&faults->deferred, qp, NULL);
	disable_if_idle(faults);
}

static const struct link_hooks hooks = {
	.between = between,
	.send = fault_send,
	.arrive = fault_arrive,
	.send_datagram = fault_send_datagram,
	.arrive_datagram = fault_arrive_datagram,
	.frame = fault_frame,
	.encoded = encoded,
	.forget = forget,
};
