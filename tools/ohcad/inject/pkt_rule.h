/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules for faults of packets.  Documentation/faults.rst describes their text, and pkt_fault.h how
 * they are applied.
 */

#ifndef OHCAD_PKT_RULE_H
#define OHCAD_PKT_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "inject/mad_match.h"

struct port;

enum rule_action {
	RULE_DROP,
	RULE_DELAY,
	RULE_REORDER,
	RULE_DUPLICATE,
	RULE_CORRUPT,
	RULE_PKEY,
	RULE_STATUS,
};

#define RULE_ANY_QP UINT32_MAX
#define RULE_ANY_LID UINT32_MAX
#define RULE_NO_LIMIT UINT64_MAX
#define RULE_SERVICES 8 /* more than the values of enum bth_service */

/**
 * struct pkt_place - a packet on its way, as a rule sees it
 * @port: the sender's port, or the receiver's
 * @rx: it is at the receiver
 * @service: enum bth_service
 * @opcode: enum bth_opcode
 * @dlid: destination LID; of an Ethernet port 0
 * @qpn: the port's QP that sends it, or that it is for
 * @mad: the datagram that it is, if that is one of management; else NULL
 */
struct pkt_place {
	const struct port *port;
	bool rx;
	uint8_t service;
	uint8_t opcode;
	uint16_t dlid;
	uint32_t qpn;
	uint32_t psn;
	const struct mad_hdr *mad;
};

/**
 * struct pkt_rule - a rule
 * @link: in pkt_faults.rules
 * @id: its number there
 * @text: its text
 * @action: enum rule_action
 * @delay: RULE_DELAY: for so long, ns
 * @after: RULE_REORDER: behind so many others
 * @value: RULE_PKEY: the P_Key; RULE_STATUS: the status
 * @mad: only these management datagrams
 * @hca: name of the adapter, NULL: any
 * @rx: packets that come there; else those that go
 * @qpn: or RULE_ANY_QP
 * @dlid: destination LID, or RULE_ANY_LID
 * @psn: first one
 * @psns: number of them, from there on
 * @ops: by enum bth_service: bit n is for opcode n
 * @chance: probability, in units of 2^-32
 * @skip: number of matches that are not hit at first
 * @count: number of hits, after which the rule is done; or RULE_NO_LIMIT
 * @state: of its random numbers
 * @matched: number of packets that matched
 * @hits: number of packets to which it was applied
 */
struct pkt_rule {
	struct list link;
	uint32_t id;
	char *text;
	uint8_t action;
	uint64_t delay;
	uint32_t after;
	uint16_t value;
	struct mad_match mad;
	char *hca;
	bool rx;
	uint32_t qpn;
	uint32_t dlid;
	uint32_t psn;
	uint32_t psns;
	uint32_t ops[RULE_SERVICES];
	uint64_t chance;
	uint64_t skip;
	uint64_t count;
	uint64_t state;
	uint64_t matched;
	uint64_t hits;
};

/* Returns NULL if the text is invalid; then @why, of @max bytes, says what is wrong. */
struct pkt_rule *pkt_rule_parse(const char *text, char *why, size_t max);
void pkt_rule_free(struct pkt_rule *rule);

/* Whether the rule may hit a packet at this place, regardless of @opcode and @psn */
bool pkt_rule_concerns(const struct pkt_rule *rule, const struct pkt_place *place);
/* Whether the rule hits this packet; counts it. */
bool pkt_rule_hits(struct pkt_rule *rule, const struct pkt_place *place);
/* Whether the rule will not hit any more */
static inline bool pkt_rule_done(const struct pkt_rule *rule)
{
	return rule->hits >= rule->count;
}

/* The next random number of the rule */
uint32_t pkt_rule_random(struct pkt_rule *rule);

#endif
