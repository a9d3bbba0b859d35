// SPDX-License-Identifier: GPL-2.0
/*
 * The owners of MAC addresses and GIDs.
 *
 * A port's own address is compared first.  Only other addresses need a lookup in the table.  One MAC address may
 * have several entries: configured for several HCAs, or learned by one that may use all.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/iov.h"
#include "base/log.h"
#include "base/loop.h"
#include "fabric/fabric.h"
#include "fabric/owner.h"
#include "fabric/uplink.h"
#include "packet/eth_hdr.h"
#include "packet/roce.h"

#define AGE_NS 300000000000ULL /* the ageing time of Linux bridges */
#define LOG_NS 60000000000ULL /* between two log lines of a port */

/**
 * struct owned_gid - a GID that an HCA is configured with
 */
struct owned_gid {
	struct list in_table;
	struct owner *owner;
	uint8_t gid[16];
};

void owners_init(struct owners *owners)
{
	unsigned int i;

	for (i = 0; i < 1U << OWNER_LOG_MACS; i++)
		list_init(&owners->macs[i]);
	list_init(&owners->gids);
	/* The seed only keeps hash chains short against attacks: it may be missing. */
	if (getrandom(&owners->seed, sizeof(owners->seed), GRND_NONBLOCK) < 0)
		owners->seed = 0;
}

static struct list *bucket(const struct owners *owners, const uint8_t mac[6])
{
	uint64_t word = owners->seed;
	uint8_t bytes[8] = {0};
	uint64_t key;

	memcpy(bytes, mac, 6);
	memcpy(&key, bytes, sizeof(key));
	word = (word ^ key) * 0x9e3779b97f4a7c15ULL;
	word = (word ^ word >> 32) * 0xbf58476d1ce4e5b9ULL;
	return (struct list *)&owners->macs[word >> (64 - OWNER_LOG_MACS)];
}

/* The next entry of the address after @at in its bucket, or NULL */
static struct owned_mac *next_of(const struct list *head, const struct list *at,
				 const uint8_t mac[6])
{
	struct list *node;

	for (node = at->next; node != head; node = node->next) {
		struct owned_mac *entry = list_entry(node, struct owned_mac, in_table);

		if (!memcmp(entry->mac, mac, 6))
			return entry;
	}
	return NULL;
}

/* Has the address expired, because no port has used it for the ageing time? */
static bool is_old(const struct owned_mac *entry)
{
	return !entry->configured && !entry->uses &&
	       loop_now(entry->owner->hca->loop) - entry->seen > AGE_NS;
}

static void entry_free(struct owned_mac *entry)
{
	if (!entry->configured)
		entry->owner->num_learned--;
	list_del(&entry->in_table);
	list_del(&entry->by_owner);
	free(entry);
}

static struct owned_mac *find_own(const struct owner *owner, const uint8_t mac[6])
{
	const struct list *head = bucket(&owner->hca->fabric->owners, mac);
	struct owned_mac *entry = next_of(head, head, mac);

	while (entry && entry->owner != owner)
		entry = next_of(head, &entry->in_table, mac);
	return entry;
}

/* Does the address belong to another HCA?  Expired addresses do not. */
static bool is_taken(const struct owner *owner, const uint8_t mac[6])
{
	const struct list *head = bucket(&owner->hca->fabric->owners, mac);
	struct owned_mac *entry, *next;

	for (entry = next_of(head, head, mac); entry; entry = next) {
		next = next_of(head, &entry->in_table, mac);
		if (entry->owner == owner)
			continue;
		if (!is_old(entry))
			return true;
		entry_free(entry);
	}
	return false;
}

static struct owned_mac *entry_new(struct owner *owner, const uint8_t mac[6], bool configured)
{
	struct owned_mac *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->owner = owner;
	entry->configured = configured;
	memcpy(entry->mac, mac, 6);
	list_add_tail(bucket(&owner->hca->fabric->owners, mac), &entry->in_table);
	list_add_tail(configured ? &owner->configured : &owner->idle, &entry->by_owner);
	owner->num_learned += !configured;
	return entry;
}

/* Make room for one more address, if need be by dropping an expired one.  False: there is none. */
static bool make_room(struct owner *owner)
{
	struct owned_mac *oldest;

	if (owner->num_learned < owner->max_learned)
		return true;
	if (list_empty(&owner->idle))
		return false;
	oldest = list_entry(owner->idle.next, struct owned_mac, by_owner);
	if (!is_old(oldest))
		return false;
	entry_free(oldest);
	return owner->num_learned < owner->max_learned;
}

static bool is_outside(const struct owner *owner, const uint8_t mac[6])
{
	const struct uplinks *uplinks = owner->hca->fabric->uplinks;

	return uplinks && uplinks_know(uplinks, mac);
}

/* Find or create the entry of an address that the port uses.  Returns as owner_hold(). */
static int learn(struct port *port, const uint8_t mac[6], struct owned_mac **entry)
{
	struct owner *owner = port->hca->owner;

	*entry = find_own(owner, mac);
	if (!*entry) {
		if (!owner->trust_all && (is_taken(owner, mac) || is_outside(owner, mac)))
			return -EBUSY;
		if (!make_room(owner))
			return -ENOSPC;
		*entry = entry_new(owner, mac, false);
		if (!*entry)
			return -ENOMEM;
	}
	(*entry)->at = port;
	(*entry)->seen = loop_now(port->hca->loop);
	return 0;
}

static void move_to(struct owned_mac *entry, struct list *list)
{
	list_del(&entry->by_owner);
	list_add_tail(list, &entry->by_owner);
}

int owner_hold(struct port *port, const uint8_t mac[6])
{
	struct owned_mac *entry;
	int err = learn(port, mac, &entry);

	if (err)
		return err;
	if (!entry->uses++ && !entry->configured)
		move_to(entry, &entry->owner->held);
	return 0;
}

void owner_release(struct port *port, const uint8_t mac[6])
{
	struct owned_mac *entry = find_own(port->hca->owner, mac);

	if (!entry || !entry->uses || --entry->uses || entry->configured)
		return;
	entry->seen = loop_now(port->hca->loop);
	move_to(entry, &entry->owner->idle);
}

void owner_refuse(struct port *port, uint64_t *count, const char *what, const uint8_t mac[6])
{
	uint64_t now = loop_now(port->hca->loop);

	(*count)++;
	if (port->refused.logged && now - port->refused.logged < LOG_NS)
		return;
	port->refused.logged = now;
	log_info(port->capture.name, "refused: %s, %02x:%02x:%02x:%02x:%02x:%02x", what, mac[0],
		 mac[1], mac[2], mac[3], mac[4], mac[5]);
}

bool owner_admits_other(struct port *port, const uint8_t smac[6])
{
	static const uint8_t none[6];
	struct owned_mac *entry;

	if (!(smac[0] & 1) && memcmp(smac, none, 6)) {
		if (!learn(port, smac, &entry)) {
			if (!entry->uses && !entry->configured)
				move_to(entry, &entry->owner->idle);
			return true;
		}
		if (port->hca->owner->trust_all)
			return true;
	}
	owner_refuse(port, &port->refused.frames, "a frame from an address that is not its own",
		     smac);
	return false;
}

bool owner_knows(const struct fabric *fabric, const uint8_t mac[6])
{
	const struct list *head = bucket(&fabric->owners, mac);
	struct owned_mac *entry = next_of(head, head, mac);

	while (entry && is_old(entry))
		entry = next_of(head, &entry->in_table, mac);
	return entry;
}

bool owner_hears(const struct port *port, const uint8_t dmac[6])
{
	const struct fabric *fabric = port->hca->fabric;
	const struct list *head = bucket(&fabric->owners, dmac);
	const struct owned_mac *entry = next_of(head, head, dmac);
	bool known = false, located = false, own = false;

	if (port->hca->owner->mirror)
		return true;
	for (; entry; entry = next_of(head, &entry->in_table, dmac)) {
		if (is_old(entry))
			continue;
		if (entry->at == port)
			return true;
		known = true;
		located |= !!entry->at;
		own |= entry->owner == port->hca->owner;
	}
	if (known)
		return own && !located;
	return !fabric->uplinks || !uplinks_know(fabric->uplinks, dmac);
}

/* The MAC address that the GID's interface identifier is derived from (RFC 4291, appendix A).  False: none */
static bool mac_of_gid(uint8_t mac[6], const uint8_t gid[16])
{
	if (gid[11] != 0xff || gid[12] != 0xfe)
		return false;
	memcpy(mac, gid + 8, 3);
	memcpy(mac + 3, gid + 13, 3);
	mac[0] ^= 2;
	return true;
}

/* The owner of the GID by configuration */
struct verdict {
	const struct owner *other;
	bool own;
};

static struct verdict judge_gid(const struct fabric *fabric, const struct owner *owner,
				const uint8_t gid[16])
{
	struct verdict v = {NULL, false};
	const struct owned_mac *entry;
	const struct list *head, *node;
	uint8_t mac[6];

	for (node = fabric->owners.gids.next; node != &fabric->owners.gids; node = node->next) {
		const struct owned_gid *owned = list_entry(node, struct owned_gid, in_table);

		if (memcmp(owned->gid, gid, 16) != 0)
			continue;
		if (owned->owner == owner)
			v.own = true;
		else
			v.other = owned->owner;
	}
	if (!mac_of_gid(mac, gid))
		return v;
	head = bucket(&fabric->owners, mac);
	for (entry = next_of(head, head, mac); entry;
	     entry = next_of(head, &entry->in_table, mac)) {
		if (entry->owner == owner)
			v.own = true;
		else if (entry->configured)
			v.other = entry->owner;
	}
	return v;
}

bool owner_may_have_gid(const struct port *port, const uint8_t gid[16])
{
	const struct owner *owner = port->hca->owner;
	struct verdict v;

	if (owner->trust_all)
		return true;
	v = judge_gid(port->hca->fabric, owner, gid);
	return v.own || !v.other;
}

static const struct hca *find_owner(const struct fabric *fabric, const uint8_t gid[16],
				    uint16_t vlan)
{
	struct verdict v = judge_gid(fabric, NULL, gid);
	const struct list *node;

	if (v.other)
		return v.other->hca;
	for (node = fabric->ports.next; node != &fabric->ports; node = node->next) {
		const struct port *port = list_entry(node, struct port, link);

		if (!port->ib && port_has_gid(port, gid, NULL, vlan))
			return port->hca;
	}
	return NULL;
}

const struct hca *owner_of_gid(struct fabric *fabric, const uint8_t gid[16], uint16_t vlan)
{
	struct owner_answer *answer = &fabric->owners.answers[gid_hash(gid, OWNER_LOG_ANSWERS)];

	if (answer->gen == fabric->gen && answer->vlan == vlan && !memcmp(answer->gid, gid, 16))
		return answer->hca;
	memcpy(answer->gid, gid, 16);
	answer->vlan = vlan;
	answer->gen = fabric->gen;
	answer->hca = find_owner(fabric, gid, vlan);
	return answer->hca;
}

/* Has a port of the HCA this GID in the VLAN? */
static bool has_gid(const struct hca *hca, const uint8_t gid[16], uint16_t vlan)
{
	unsigned int i;

	for (i = 0; i < hca->num_ports; i++) {
		if (port_has_gid(hca->ports[i], gid, NULL, vlan))
			return true;
	}
	return false;
}

bool owner_is_forged(struct port *src, const struct iovec *iov, unsigned int num)
{
	uint8_t head[ETH_HDR_LEN + 4 + ROCE_IPV6_LEN + ROCE_UDP_LEN];
	struct fabric *fabric = src->hca->fabric;
	struct roce_packet p;
	const struct hca *hca;

	if (src->hca->owner->trust_all ||
	    roce_peek(&p, head, iov_peek(iov, num, head, sizeof(head))) == PACKET_OTHER)
		return false;
	hca = owner_of_gid(fabric, p.sgid, p.vlan);
	if (!hca || hca == src->hca || has_gid(src->hca, p.sgid, p.vlan))
		return false;
	owner_refuse(src, &src->refused.packets, "a RoCE packet from a GID that is not its own",
		     p.smac);
	return true;
}

static int configure(struct owner *owner, const struct owner_options *opts)
{
	struct hca *hca = owner->hca;
	unsigned int i;

	for (i = 0; i < hca->num_ports; i++) {
		struct owned_mac *entry = entry_new(owner, hca->ports[i]->perm_mac, true);

		if (!entry)
			return -ENOMEM;
		entry->at = hca->ports[i];
	}
	for (i = 0; i < opts->num_macs; i++) {
		if (!find_own(owner, opts->macs[i]) && !entry_new(owner, opts->macs[i], true))
			return -ENOMEM;
	}
	for (i = 0; i < opts->num_gids; i++) {
		struct owned_gid *gid = calloc(1, sizeof(*gid));

		if (!gid)
			return -ENOMEM;
		gid->owner = owner;
		memcpy(gid->gid, opts->gids[i], 16);
		list_add_tail(&hca->fabric->owners.gids, &gid->in_table);
	}
	return 0;
}

int owner_new(struct hca *hca, const struct owner_options *opts)
{
	struct owner *owner = calloc(1, sizeof(*owner));

	if (!owner)
		return -ENOMEM;
	owner->hca = hca;
	list_init(&owner->configured);
	list_init(&owner->held);
	list_init(&owner->idle);
	owner->max_learned = !opts->learn ? OWNER_LEARN : opts->learn < 0 ? 0 : opts->learn;
	owner->trust_all = opts->trust_all;
	owner->mirror = opts->mirror;
	hca->owner = owner;
	if (!configure(owner, opts))
		return 0;
	owner_free(hca);
	return -ENOMEM;
}

static void free_all(struct list *list)
{
	while (!list_empty(list))
		entry_free(list_entry(list->next, struct owned_mac, by_owner));
}

void owner_reset(struct hca *hca)
{
	struct owner *owner = hca->owner;
	struct list *node;
	unsigned int i;

	free_all(&owner->held);
	free_all(&owner->idle);
	for (node = owner->configured.next; node != &owner->configured; node = node->next) {
		struct owned_mac *entry = list_entry(node, struct owned_mac, by_owner);

		entry->uses = 0;
		entry->at = NULL;
	}
	for (i = 0; i < hca->num_ports; i++)
		find_own(owner, hca->ports[i]->perm_mac)->at = hca->ports[i];
}

void owner_free(struct hca *hca)
{
	struct owner *owner = hca->owner;
	struct list *gids = &hca->fabric->owners.gids, *node, *next;

	if (!owner)
		return;
	for (node = gids->next; node != gids; node = next) {
		struct owned_gid *gid = list_entry(node, struct owned_gid, in_table);

		next = node->next;
		if (gid->owner != owner)
			continue;
		list_del(node);
		free(gid);
	}
	free_all(&owner->held);
	free_all(&owner->idle);
	free_all(&owner->configured);
	free(owner);
	hca->owner = NULL;
}
