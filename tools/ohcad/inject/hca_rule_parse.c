// SPDX-License-Identifier: GPL-2.0
/* The text of rules for faults of an HCA. */

#include <stdlib.h>
#include <string.h>

#include "device/hca.h"
#include "inject/hca_rule.h"
#include "ohca/ohca_cmd.h"
#include "ohca/ohca_queue.h"
#include "ohca/ohca_regs.h"
#include "inject/rule_text.h"

static char *const actions[] = {
	[HCA_RULE_FAIL_COMMAND] = (char *)"fail-command",
	[HCA_RULE_FAIL_EQ] = (char *)"fail-eq",
	[HCA_RULE_FAIL_CQ] = (char *)"fail-cq",
	[HCA_RULE_FAIL_HCA] = (char *)"fail-hca",
	[HCA_RULE_UNPLUG] = (char *)"unplug",
	[HCA_RULE_LINK_DOWN] = (char *)"link-down",
	[HCA_RULE_LINK_ERROR] = (char *)"link-error",
	[HCA_RULE_SLOW_RESET] = (char *)"slow-reset",
	[HCA_RULE_CUT_OUTPUT] = (char *)"cut-output",
	[HCA_RULE_SET_OUTPUT] = (char *)"set-output",
	[HCA_RULE_SET_CQE] = (char *)"set-cqe",
	[HCA_RULE_SET_EQE] = (char *)"set-eqe",
	[HCA_RULE_ADD_EVENT] = (char *)"add-event",
	NULL,
};

static const char *const opcodes[] = {
	[OHCA_CMD_QUERY_DEVICE] = "query-device",
	[OHCA_CMD_QUERY_PORT] = "query-port",
	[OHCA_CMD_MODIFY_PORT] = "modify-port",
	[OHCA_CMD_SET_GID] = "set-gid",
	[OHCA_CMD_QUERY_GID] = "query-gid",
	[OHCA_CMD_QUERY_PKEY] = "query-pkey",
	[OHCA_CMD_MAD] = "mad",
	[OHCA_CMD_SET_NODE_DESC] = "set-node-desc",
	[OHCA_CMD_SET_LINK_LAYER] = "set-link-layer",
	[OHCA_CMD_QUERY_COUNTERS] = "query-counters",
	[OHCA_CMD_ALLOC_UAR] = "alloc-uar",
	[OHCA_CMD_FREE_UAR] = "free-uar",
	[OHCA_CMD_ALLOC_PD] = "alloc-pd",
	[OHCA_CMD_FREE_PD] = "free-pd",
	[OHCA_CMD_ALLOC_XRCD] = "alloc-xrcd",
	[OHCA_CMD_FREE_XRCD] = "free-xrcd",
	[OHCA_CMD_ALLOC_COUNTERS] = "alloc-counters",
	[OHCA_CMD_FREE_COUNTERS] = "free-counters",
	[OHCA_CMD_CREATE_EQ] = "create-eq",
	[OHCA_CMD_DESTROY_EQ] = "destroy-eq",
	[OHCA_CMD_CREATE_CQ] = "create-cq",
	[OHCA_CMD_DESTROY_CQ] = "destroy-cq",
	[OHCA_CMD_MODIFY_CQ] = "modify-cq",
	[OHCA_CMD_RESIZE_CQ] = "resize-cq",
	[OHCA_CMD_CREATE_MKEY] = "create-mkey",
	[OHCA_CMD_DESTROY_MKEY] = "destroy-mkey",
	[OHCA_CMD_MODIFY_MKEY] = "modify-mkey",
	[OHCA_CMD_MODIFY_PAGES] = "modify-pages",
	[OHCA_CMD_QUERY_MKEY] = "query-mkey",
	[OHCA_CMD_ALLOC_DM] = "alloc-dm",
	[OHCA_CMD_FREE_DM] = "free-dm",
	[OHCA_CMD_CREATE_QP] = "create-qp",
	[OHCA_CMD_MODIFY_QP] = "modify-qp",
	[OHCA_CMD_QUERY_QP] = "query-qp",
	[OHCA_CMD_DESTROY_QP] = "destroy-qp",
	[OHCA_CMD_ATTACH_MCAST] = "attach-mcast",
	[OHCA_CMD_DETACH_MCAST] = "detach-mcast",
	[OHCA_CMD_CREATE_IND_TBL] = "create-ind-tbl",
	[OHCA_CMD_DESTROY_IND_TBL] = "destroy-ind-tbl",
	[OHCA_CMD_CREATE_RSS] = "create-rss",
	[OHCA_CMD_CREATE_SRQ] = "create-srq",
	[OHCA_CMD_MODIFY_SRQ] = "modify-srq",
	[OHCA_CMD_QUERY_SRQ] = "query-srq",
	[OHCA_CMD_DESTROY_SRQ] = "destroy-srq",
	[OHCA_CMD_CREATE_FLOW] = "create-flow",
	[OHCA_CMD_DESTROY_FLOW] = "destroy-flow",
};

#define TYPE(type) (1U << OHCA_QPT_##type)
static const struct {
	const char *name;
	uint32_t types;
} qp_types[] = {
	{"rc", TYPE(RC)},   {"uc", TYPE(UC)},
	{"ud", TYPE(UD)},   {"xrc", TYPE(XRC_INI) | TYPE(XRC_TGT)},
	{"gsi", TYPE(GSI)}, {"eth", TYPE(ETH) | TYPE(RWQ)},
};

enum key {
	HCA,
	ON,
	OP,
	TYPE_,
	SKIP,
	COUNT,
	AFTER,
	EVERY,
	FOR,
	NUM,
	AT,
	PORT,
};

static char *const keys[] = {
	[HCA] = (char *)"hca",
	[ON] = (char *)"on",
	[OP] = (char *)"op",
	[TYPE_] = (char *)"type",
	[SKIP] = (char *)"skip",
	[COUNT] = (char *)"count",
	[AFTER] = (char *)"after",
	[EVERY] = (char *)"every",
	[FOR] = (char *)"for",
	[NUM] = (char *)"num",
	[AT] = (char *)"at",
	[PORT] = (char *)"port",
	NULL,
};

/* Parse the value of @what, from @min to @max. */
static bool parse_number(const struct rule_error *error, const char *what, const char *text,
			 uint64_t min, uint64_t max, uint32_t *res)
{
	uint64_t val = 0;
	bool good = rule_number_from(error, what, text, min, max, &val);

	*res = val;
	return good;
}

static bool parse_link_error(const struct rule_error *error, struct hca_rule *rule,
			     const char *text)
{
	uint8_t kind = 0;
	bool good = rule_link_error(error, actions[HCA_RULE_LINK_ERROR], text, &kind);

	rule->value = kind;
	return good;
}

static bool parse_cut_output(const struct rule_error *error, struct hca_rule *rule,
			     const char *text)
{
	rule->event = HCA_RULE_COMMAND;
	return text ? parse_number(error, actions[rule->action], text, 0, OHCA_CMD_MAX_LEN,
				   &rule->value)
		    : rule_bad(error, "cut-output needs a number of bytes");
}

/* Two numbers with a colon between them */
static bool parse_pair(const struct rule_error *error, const struct hca_rule *rule, char *text,
		       const char *what, uint32_t max_first, uint32_t *first, uint32_t max_second,
		       uint32_t *second)
{
	char *colon = text ? strchr(text, ':') : NULL;
	const char *name = actions[rule->action];

	if (!colon)
		return rule_bad(error, "%s needs %s", name, what);
	*colon++ = '\0';
	return parse_number(error, name, text, 0, max_first, first) &&
	       parse_number(error, name, colon, 0, max_second, second);
}

/* An offset in what the device writes, and the value of the byte there.  The owner can't be set. */
static bool parse_byte(const struct rule_error *error, struct hca_rule *rule, char *text)
{
	uint32_t max = OHCA_CMD_MAX_LEN - 1;

	rule->event = HCA_RULE_COMMAND;
	if (rule->action == HCA_RULE_SET_CQE) {
		rule->event = HCA_RULE_COMPLETION;
		max = offsetof(struct ohca_cqe, owner) - 1;
	} else if (rule->action == HCA_RULE_SET_EQE) {
		rule->event = HCA_RULE_EQE;
		max = offsetof(struct ohca_eqe, owner) - 1;
	}
	return parse_pair(error, rule, text, "OFFSET:VALUE", max, &rule->num, UINT8_MAX,
			  &rule->value);
}

static bool parse_add_event(const struct rule_error *error, struct hca_rule *rule, char *text)
{
	uint32_t type = 0;

	if (!parse_pair(error, rule, text, "TYPE:NUMBER", UINT8_MAX, &type, UINT32_MAX,
			&rule->value))
		return false;
	rule->event_type = type;
	return true;
}

/* Without a time, the reset does not end. */
static bool parse_slow_reset(const struct rule_error *error, struct hca_rule *rule,
			     const char *text)
{
	rule->event = HCA_RULE_RESET;
	return !text ||
	       rule_time(error, actions[rule->action], text, RULE_MAX_TIME_S, &rule->duration);
}

static bool parse_at(const struct rule_error *error, struct hca_rule *rule, const char *text)
{
	rule->at_switch = !strcmp(text, "switch");
	return rule->at_switch || !strcmp(text, "hca") ||
	       rule_bad(error, "at: '%s' is not hca or switch", text);
}

static bool parse_port(const struct rule_error *error, struct hca_rule *rule, const char *text)
{
	uint32_t port;

	if (!parse_number(error, keys[PORT], text, 1, HCA_MAX_PORTS, &port))
		return false;
	rule->port = port;
	return true;
}

static bool parse_action(const struct rule_error *error, struct hca_rule *rule, char **text)
{
	static const struct {
		uint32_t min, max;
	} limits[] = {
		[HCA_RULE_FAIL_COMMAND] = {1, UINT8_MAX},
		[HCA_RULE_FAIL_EQ] = {0, HCA_RULE_NONE - 1},
		[HCA_RULE_FAIL_CQ] = {0, HCA_RULE_NONE - 1},
		[HCA_RULE_FAIL_HCA] = {OHCA_FATAL_NONE + 1, OHCA_FATAL_INTERNAL},
		[HCA_RULE_UNPLUG] = {},
		[HCA_RULE_LINK_DOWN] = {},
	};
	char *value;
	int action = getsubopt(text, actions, &value);

	if (action < 0)
		return rule_bad(error, "there is no such fault");
	rule->action = action;
	if (action == HCA_RULE_LINK_ERROR)
		return parse_link_error(error, rule, value);
	if (action == HCA_RULE_SLOW_RESET)
		return parse_slow_reset(error, rule, value);
	if (action == HCA_RULE_CUT_OUTPUT)
		return parse_cut_output(error, rule, value);
	if (action == HCA_RULE_ADD_EVENT)
		return parse_add_event(error, rule, value);
	if (action >= HCA_RULE_SET_OUTPUT)
		return parse_byte(error, rule, value);
	rule->value = action == HCA_RULE_FAIL_HCA ? OHCA_FATAL_INTERNAL : HCA_RULE_NONE;
	if (!value)
		return action != HCA_RULE_FAIL_EQ || rule_bad(error, "fail-eq needs a number");
	if (!limits[action].max)
		return rule_bad(error, "%s takes no value", actions[action]);
	return parse_number(error, actions[action], value, limits[action].min, limits[action].max,
			    &rule->value);
}

static bool parse_event(const struct rule_error *error, struct hca_rule *rule, const char *text)
{
	if (!strcmp(text, "command"))
		rule->event = HCA_RULE_COMMAND;
	else if (!strcmp(text, "doorbell"))
		rule->event = HCA_RULE_DOORBELL;
	else if (!strcmp(text, "completion"))
		rule->event = HCA_RULE_COMPLETION;
	return rule->event ||
	       rule_bad(error, "on: '%s' is not command, doorbell or completion", text);
}

/* Parse the name of a command, or its number. */
static bool parse_opcode(const struct rule_error *error, struct hca_rule *rule, const char *text)
{
	const char *end;
	uint64_t val;
	uint32_t i;

	for (i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		if (opcodes[i] && !strcmp(text, opcodes[i])) {
			rule->op = i;
			return true;
		}
	}
	if (!rule_get_number(text, UINT16_MAX, &val, &end) || *end)
		return rule_bad(error, "op: there is no '%s'", text);
	rule->op = val;
	return true;
}

static bool parse_types(const struct rule_error *error, struct hca_rule *rule, char *text)
{
	const size_t num = sizeof(qp_types) / sizeof(qp_types[0]);
	char *name;
	size_t i;

	rule->types = 0;
	while ((name = strsep(&text, "+"))) {
		for (i = 0; i < num && strcmp(name, qp_types[i].name); i++)
			;
		if (i == num)
			return rule_bad(error, "type: there is no '%s'", name);
		rule->types |= qp_types[i].types;
	}
	return true;
}

static bool parse_value(const struct rule_error *error, void *arg, unsigned int key, char *value)
{
	struct hca_rule *rule = arg;

	switch (key) {
	case HCA:
		rule->name = strdup(value);
		return rule->name || rule_bad(error, "out of memory");
	case ON:
		return parse_event(error, rule, value);
	case OP:
		return parse_opcode(error, rule, value);
	case TYPE_:
		return parse_types(error, rule, value);
	case SKIP:
		return rule_number(error, keys[key], value, UINT64_MAX - 1, &rule->skip);
	case COUNT:
		return (rule_number(error, keys[key], value, UINT64_MAX - 1, &rule->count) &&
			rule->count) ||
		       rule_bad(error, "count: '%s' is not a number of at least 1", value);
	case AFTER:
		return rule_time(error, keys[key], value, RULE_MAX_TIME_S, &rule->after);
	case EVERY:
		return rule_time(error, keys[key], value, RULE_MAX_TIME_S, &rule->every);
	case NUM:
		return parse_number(error, keys[key], value, 1, UINT32_MAX, &rule->num);
	case AT:
		return parse_at(error, rule, value);
	case PORT:
		return parse_port(error, rule, value);
	default:
		return rule_time(error, keys[key], value, RULE_MAX_TIME_S, &rule->duration);
	}
}

/* Check that the conditions are valid for the action, and together. */
static bool check(const struct rule_error *error, struct hca_rule *rule, unsigned int given)
{
	bool of_command = rule->action == HCA_RULE_FAIL_COMMAND ||
			  rule->action == HCA_RULE_CUT_OUTPUT ||
			  rule->action == HCA_RULE_SET_OUTPUT;
	bool of_bytes = rule->action == HCA_RULE_SET_CQE || rule->action == HCA_RULE_SET_EQE;
	bool of_many = rule->action == HCA_RULE_LINK_ERROR || rule->action == HCA_RULE_ADD_EVENT;
	bool ends = rule->action == HCA_RULE_FAIL_EQ || rule->action == HCA_RULE_UNPLUG ||
		    rule->action == HCA_RULE_LINK_DOWN;

	if (!rule->name)
		return rule_bad(error, "hca=NAME is missing");
	if (!of_many && given & 1U << NUM)
		return rule_bad(error, "num needs link-error or add-event");
	if (rule->action != HCA_RULE_LINK_ERROR && given & 1U << AT)
		return rule_bad(error, "at needs link-error");
	if (of_bytes && given & 1U << ON)
		return rule_bad(error, "%s can't have on", actions[rule->action]);
	if (rule->port && rule->action != HCA_RULE_LINK_ERROR && rule->action != HCA_RULE_LINK_DOWN)
		return rule_bad(error, "port needs link-down or link-error");
	if (rule->action == HCA_RULE_SLOW_RESET && given & ~(1U << HCA | 1U << SKIP | 1U << COUNT))
		return rule_bad(error, "slow-reset can only have hca, skip and count");
	if (of_command) {
		if (rule->event && rule->event != HCA_RULE_COMMAND)
			return rule_bad(error, "%s can only have on=command",
					actions[rule->action]);
		rule->event = HCA_RULE_COMMAND;
	}
	if (rule->action == HCA_RULE_FAIL_CQ && rule->value == HCA_RULE_NONE &&
	    rule->event != HCA_RULE_COMPLETION)
		return rule_bad(error, "fail-cq needs a number, or on=completion");
	if (given & 1U << OP && rule->event != HCA_RULE_COMMAND)
		return rule_bad(error, "op needs on=command");
	if (given & 1U << TYPE_ && !(rule->event & (HCA_RULE_DOORBELL | HCA_RULE_COMPLETION)))
		return rule_bad(error, "type needs on=doorbell or on=completion");
	if (given & 1U << SKIP && !rule->event)
		return rule_bad(error, "skip needs on=");
	if (rule->every && rule->event)
		return rule_bad(error, "every and on= exclude each other");
	if (given & 1U << FOR && !ends)
		return rule_bad(error, "%s can't have for", actions[rule->action]);
	if (rule->count > 1 && ends && !rule->duration)
		return rule_bad(error, "count needs for, so that the fault ends");
	if (rule->count > 1 && !rule->event && !rule->every)
		return rule_bad(error, "count needs every, or on=");
	if (rule->every && rule->every <= rule->duration)
		return rule_bad(error, "every must be longer than for");
	return true;
}

static bool parse(const struct rule_error *error, struct hca_rule *rule, char *text)
{
	unsigned int given = 0;

	return parse_action(error, rule, &text) &&
	       rule_conditions(error, text, keys, parse_value, rule, &given) &&
	       check(error, rule, given);
}

bool hca_rule_is(const char *text)
{
	return rule_is(text, actions);
}

struct hca_rule *hca_rule_parse(const char *text, char *why, size_t max)
{
	struct hca_rule *rule = calloc(1, sizeof(*rule));
	const struct rule_error error = {why, max};
	char *copy = strdup(text);
	bool good = false;

	if (rule)
		rule->text = strdup(text);
	if (!rule || !copy || !rule->text) {
		rule_bad(&error, "out of memory");
	} else {
		list_init(&rule->link);
		rule->op = HCA_RULE_NONE;
		rule->types = UINT32_MAX;
		rule->count = 1;
		rule->num = 1;
		good = rule_fits(&error, text) && parse(&error, rule, copy);
	}
	free(copy);
	if (good)
		return rule;
	hca_rule_free(rule);
	return NULL;
}
