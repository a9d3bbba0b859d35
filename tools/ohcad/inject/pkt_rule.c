// SPDX-License-Identifier: GPL-2.0
/* The conditions of rules for packets. */

#include <stdlib.h>
#include <string.h>

#include "fabric/port.h"
#include "device/hca.h"
#include "packet/pkt.h"
#include "inject/pkt_rule.h"

void pkt_rule_free(struct pkt_rule *rule)
{
	if (!rule)
		return;
	free(rule->text);
	free(rule->hca);
	free(rule);
}

/* The generator is SplitMix64, so every seed is good. */
uint32_t pkt_rule_random(struct pkt_rule *rule)
{
	uint64_t z = rule->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31) >> 32;
}

bool pkt_rule_concerns(const struct pkt_rule *rule, const struct pkt_place *place)
{
	return !pkt_rule_done(rule) && rule->rx == place->rx && rule->ops[place->service] &&
	       (rule->qpn == RULE_ANY_QP || rule->qpn == place->qpn) &&
	       (rule->dlid == RULE_ANY_LID || rule->dlid == place->dlid) &&
	       (!rule->hca || !strcmp(rule->hca, place->port->hca->name));
}

/* Packets of QP 0 are only for rules that say what they are about: the subnet lives on them. */
static bool is_about(const struct pkt_rule *rule, const struct mad_hdr *mad, bool smp)
{
	if (!mad_match_given(&rule->mad))
		return !smp;
	if (!mad || !mad_matches(&rule->mad, mad))
		return false;
	return rule->action != RULE_STATUS || mad->method & MAD_RESPONSE;
}

bool pkt_rule_hits(struct pkt_rule *rule, const struct pkt_place *place)
{
	if (!pkt_rule_concerns(rule, place) || !(rule->ops[place->service] >> place->opcode & 1) ||
	    ((place->psn - rule->psn) & PSN_MASK) >= rule->psns)
		return false;
	if (!is_about(rule, place->mad, place->mad && place->qpn == QPN_SMI))
		return false;
	if (rule->matched++ < rule->skip)
		return false;
	/* A random number is drawn for each match, whatever the probability is. */
	if (pkt_rule_random(rule) >= rule->chance)
		return false;
	rule->hits++;
	return true;
}
