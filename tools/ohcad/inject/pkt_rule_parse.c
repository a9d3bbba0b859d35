// SPDX-License-Identifier: GPL-2.0
/* The text of rules for packets. */

#include <stdlib.h>
#include <string.h>

#include "inject/pkt_rule.h"
#include "packet/roce.h"
#include "inject/rule_text.h"

#define MAX_DELAY_S 10
#define MAX_AFTER 1000
#define DEFAULT_SEED 1
#define CHANCE_ALWAYS (1ULL << 32)

/**
 * struct parser - state of the parser
 * @error: for messages
 */
struct parser {
	struct pkt_rule *rule;
	struct rule_error error;
};

static bool parse_reorder(struct parser *p, const char *text)
{
	uint64_t val = 1;

	if (text && (!rule_number(&p->error, "reorder", text, MAX_AFTER, &val) || !val))
		return rule_bad(&p->error, "reorder: '%s' is not a number from 1 to %u", text,
				MAX_AFTER);
	p->rule->after = val;
	return true;
}

static bool parse_number16(struct parser *p, const char *what, const char *text)
{
	uint64_t val;

	if (!text)
		return rule_bad(&p->error, "%s needs a number", what);
	if (!rule_number(&p->error, what, text, UINT16_MAX, &val))
		return false;
	p->rule->value = val;
	return true;
}

/* What is done; it comes first. */
static bool parse_action(struct parser *p, char **text)
{
	static char *const actions[] = {
		[RULE_DROP] = (char *)"drop",	    [RULE_DELAY] = (char *)"delay",
		[RULE_REORDER] = (char *)"reorder", [RULE_DUPLICATE] = (char *)"duplicate",
		[RULE_CORRUPT] = (char *)"corrupt", [RULE_PKEY] = (char *)"pkey",
		[RULE_STATUS] = (char *)"status",   NULL,
	};
	char *value;
	int action = getsubopt(text, actions, &value);

	if (action < 0)
		return rule_bad(&p->error, "it begins with drop, delay=TIME, reorder, duplicate, "
					   "corrupt, pkey=KEY, status=STATUS, "
					   "fail-command, fail-eq, fail-cq, fail-hca, unplug, "
					   "link-down, link-error, slow-reset, cut-output, "
					   "set-output, set-cqe, set-eqe, add-event, node-down, "
					   "cable-down or cable-error");
	p->rule->action = action;
	if (action == RULE_DELAY)
		return value ? rule_time(&p->error, "delay", value, MAX_DELAY_S, &p->rule->delay)
			     : rule_bad(&p->error, "delay needs a time");
	if (action == RULE_REORDER)
		return parse_reorder(p, value);
	if (action == RULE_PKEY || action == RULE_STATUS)
		return parse_number16(p, actions[action], value);
	return value ? rule_bad(&p->error, "%s takes no value", actions[action]) : true;
}

/* Classes of opcodes, as sets of enum pkt_op */
#define OP(op) (1U << (op))
static const struct {
	const char *name;
	uint32_t ops;
} classes[] = {
	{"request", OP(PKT_READ_RESP) - 1},
	{"response", OP(PKT_READ_RESP) | OP(PKT_ATOMIC_RESP) | OP(PKT_ACK)},
	{"ack", OP(PKT_ACK)},
	{"send", OP(PKT_SEND)},
	{"write", OP(PKT_WRITE)},
	{"read", OP(PKT_READ_REQ) | OP(PKT_READ_RESP)},
	{"atomic", OP(PKT_CMP_SWAP) | OP(PKT_FETCH_ADD) | OP(PKT_ATOMIC_RESP)},
};

/* Whether @name, of an opcode or of a class, includes this opcode; an empty name includes all */
static bool names_op(const char *name, uint8_t opcode, const struct bth_op *op)
{
	size_t i;

	if (!*name || !strcmp(name, bth_op_name(opcode)))
		return true;
	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (!strcmp(name, classes[i].name))
			return classes[i].ops & OP(op->op);
	}
	return false;
}

/* Add the opcodes that @name includes in a service.  Returns false if there are none. */
static bool add_ops(struct pkt_rule *rule, uint8_t service, const char *name)
{
	const struct bth_op *op;
	bool found = false;
	uint8_t i;

	for (i = 0; i < BTH_NUM_OPS; i++) {
		op = bth_op(service, i);
		if (!op || !names_op(name, i, op))
			continue;
		rule->ops[service] |= 1U << i;
		found = true;
	}
	return found;
}

/*
 * Parse the name of an opcode or of a class, with or without a service before it, or of a service.
 */
static bool add_name(struct parser *p, const char *name)
{
	static const struct {
		const char *name;
		uint8_t service;
	} services[] = {{"rc", BTH_RC}, {"uc", BTH_UC}, {"ud", BTH_UD}, {"xrc", BTH_XRC}};
	bool found = false;
	size_t i;

	for (i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
		size_t len = strlen(services[i].name);

		if (strncmp(name, services[i].name, len))
			continue;
		if (!name[len])
			return add_ops(p->rule, services[i].service, "");
		if (name[len] == '-' && name[len + 1])
			return add_ops(p->rule, services[i].service, name + len + 1) ||
			       rule_bad(&p->error, "op: there is no '%s'", name);
	}
	for (i = 0; i < sizeof(services) / sizeof(services[0]); i++)
		found |= *name && add_ops(p->rule, services[i].service, name);
	return found || rule_bad(&p->error, "op: there is no '%s'", name);
}

static bool parse_ops(struct parser *p, char *text)
{
	char *name;

	while ((name = strsep(&text, "+"))) {
		if (!add_name(p, name))
			return false;
	}
	return true;
}

static bool parse_psn(struct parser *p, const char *text)
{
	uint64_t first, last;
	const char *end;

	if (rule_get_number(text, PSN_MASK, &first, &end)) {
		last = first;
		if (!*end ||
		    (*end == '-' && rule_get_number(end + 1, PSN_MASK, &last, &end) && !*end)) {
			p->rule->psn = first;
			p->rule->psns = ((last - first) & PSN_MASK) + 1;
			return true;
		}
	}
	return rule_bad(&p->error, "psn: '%s' is not N or N-N, numbers from 0 to %u", text,
			PSN_MASK);
}

static bool parse_chance(struct parser *p, const char *text)
{
	double max = 1, val;
	char *end;

	val = strtod(text, &end);
	if (*end == '%') {
		max = 100;
		end++;
	}
	/* strtod() would accept spaces, signs, infinities and hexadecimal digits as well. */
	if (strspn(text, "0123456789.") != strcspn(text, "%") || end == text || *end || val > max)
		return rule_bad(&p->error,
				"p: '%s' is not a number from 0 to 1, nor one from 0%% to 100%%",
				text);
	p->rule->chance = val / max * CHANCE_ALWAYS;
	return true;
}

static bool parse_dir(struct parser *p, const char *text)
{
	p->rule->rx = !strcmp(text, "rx");
	return p->rule->rx || !strcmp(text, "tx") ||
	       rule_bad(&p->error, "dir: '%s' is not tx or rx", text);
}

static bool parse_dlid(struct parser *p, const char *text)
{
	uint64_t lid;

	if (!rule_number(&p->error, "dlid", text, UINT16_MAX, &lid) || !lid)
		return rule_bad(&p->error, "dlid: '%s' is not a number from 1 to %u", text,
				UINT16_MAX);
	p->rule->dlid = lid;
	return true;
}

static bool parse_hca(struct parser *p, const char *text)
{
	p->rule->hca = strdup(text);
	return p->rule->hca || rule_bad(&p->error, "out of memory");
}

enum key {
	HCA,
	DIR,
	OP_,
	QP,
	DLID,
	PSN,
	P,
	COUNT,
	SKIP,
	SEED,
	CLASS,
	ATTR,
	METHOD,
};

static char *const keys[] = {
	[HCA] = (char *)"hca",	     [DIR] = (char *)"dir",
	[OP_] = (char *)"op",	     [QP] = (char *)"qp",
	[DLID] = (char *)"dlid",     [PSN] = (char *)"psn",
	[P] = (char *)"p",	     [COUNT] = (char *)"count",
	[SKIP] = (char *)"skip",     [SEED] = (char *)"seed",
	[CLASS] = (char *)"class",   [ATTR] = (char *)"attr",
	[METHOD] = (char *)"method", NULL,
};

static bool parse_value(const struct rule_error *error, void *arg, unsigned int key, char *value)
{
	struct parser *p = arg;
	struct pkt_rule *rule = p->rule;
	uint64_t qpn;

	switch (key) {
	case HCA:
		return parse_hca(p, value);
	case DIR:
		return parse_dir(p, value);
	case OP_:
		return parse_ops(p, value);
	case QP:
		if (!rule_number(error, keys[key], value, QPN_MASK, &qpn))
			return false;
		rule->qpn = qpn;
		return true;
	case DLID:
		return parse_dlid(p, value);
	case PSN:
		return parse_psn(p, value);
	case P:
		return parse_chance(p, value);
	case COUNT:
		return (rule_number(error, keys[key], value, RULE_NO_LIMIT - 1, &rule->count) &&
			rule->count) ||
		       rule_bad(error, "count: '%s' is not a number of at least 1", value);
	case SKIP:
		return rule_number(error, keys[key], value, RULE_NO_LIMIT - 1, &rule->skip);
	case CLASS:
		return mad_match_class(error, &rule->mad, value);
	case ATTR:
		return mad_match_attr(error, &rule->mad, value);
	case METHOD:
		return mad_match_method(error, &rule->mad, value);
	default:
		return rule_number(error, keys[key], value, UINT64_MAX, &rule->state);
	}
}

/* Do the conditions go with the action, and with each other? */
static bool check(const struct parser *p)
{
	const struct pkt_rule *rule = p->rule;
	unsigned int i;

	if (rule->action == RULE_STATUS && !mad_match_given(&rule->mad))
		return rule_bad(&p->error, "status needs class, attr or method");
	if (rule->action == RULE_PKEY && rule->rx)
		return rule_bad(&p->error, "pkey is for packets that leave: no dir=rx");
	for (i = 0; mad_match_given(&rule->mad) && i < RULE_SERVICES; i++) {
		if (i != BTH_UD && rule->ops[i])
			return rule_bad(&p->error, "class, attr and method are of ud packets only");
	}
	return true;
}

static bool parse(struct parser *p, char *text)
{
	unsigned int given = 0;

	if (!parse_action(p, &text) ||
	    !rule_conditions(&p->error, text, keys, parse_value, p, &given))
		return false;
	if (!(given & 1U << OP_))
		parse_ops(p, mad_match_given(&p->rule->mad) ? (char[]){"ud"}
							    : (char[]){"rc+uc+ud+xrc"});
	return check(p);
}

struct pkt_rule *pkt_rule_parse(const char *text, char *why, size_t max)
{
	struct pkt_rule *rule = calloc(1, sizeof(*rule));
	struct parser p = {.rule = rule, .error = {why, max}};
	char *copy = strdup(text);
	bool good = false;

	if (rule)
		rule->text = strdup(text);
	if (!rule || !copy || !rule->text) {
		rule_bad(&p.error, "out of memory");
	} else {
		list_init(&rule->link);
		rule->qpn = RULE_ANY_QP;
		rule->dlid = RULE_ANY_LID;
		rule->mad = (struct mad_match){MAD_ANY, MAD_ANY, MAD_ANY};
		rule->psns = PSN_MASK + 1;
		rule->chance = CHANCE_ALWAYS;
		rule->count = RULE_NO_LIMIT;
		rule->state = DEFAULT_SEED;
		good = rule_fits(&p.error, text) && parse(&p, copy);
	}
	free(copy);
	if (good)
		return rule;
	pkt_rule_free(rule);
	return NULL;
}
