// SPDX-License-Identifier: GPL-2.0
/* The text of rules for faults of InfiniBand nodes and their cables. */

#include <stdlib.h>
#include <string.h>

#include "fabric/topology.h"
#include "inject/node_rule.h"

static char *const actions[] = {
	[NODE_RULE_NODE_DOWN] = (char *)"node-down",
	[NODE_RULE_CABLE_DOWN] = (char *)"cable-down",
	[NODE_RULE_CABLE_ERROR] = (char *)"cable-error",
	NULL,
};

enum key {
	NODE,
	PORT,
	NUM,
	COUNT,
	AFTER,
	EVERY,
	FOR,
};

static char *const keys[] = {
	[NODE] = (char *)"node",   [PORT] = (char *)"port",
	[NUM] = (char *)"num",	   [COUNT] = (char *)"count",
	[AFTER] = (char *)"after", [EVERY] = (char *)"every",
	[FOR] = (char *)"for",	   NULL,
};

static bool parse_action(const struct rule_error *error, struct node_rule *rule, char **text)
{
	char *value;
	int action = getsubopt(text, actions, &value);

	if (action < 0)
		return rule_bad(error, "there is no such fault");
	rule->action = action;
	if (action == NODE_RULE_CABLE_ERROR)
		return rule_link_error(error, actions[action], value, &rule->kind);
	return !value || rule_bad(error, "%s takes no value", actions[action]);
}

static bool parse_value(const struct rule_error *error, void *arg, unsigned int key, char *value)
{
	struct node_rule *rule = arg;
	uint64_t number = 0;
	bool good;

	switch (key) {
	case NODE:
		rule->name = strdup(value);
		return rule->name || rule_bad(error, "out of memory");
	case PORT:
		good = rule_number_from(error, keys[key], value, 1, TOPOLOGY_MAX_PORTS, &number);
		rule->port = number;
		return good;
	case NUM:
		good = rule_number_from(error, keys[key], value, 1, UINT32_MAX, &number);
		rule->num = number;
		return good;
	case COUNT:
		return rule_number_from(error, keys[key], value, 1, UINT64_MAX - 1, &rule->count);
	case AFTER:
		return rule_time(error, keys[key], value, RULE_MAX_TIME_S, &rule->after);
	case EVERY:
		return rule_time(error, keys[key], value, RULE_MAX_TIME_S, &rule->every);
	default:
		return rule_time(error, keys[key], value, RULE_MAX_TIME_S, &rule->duration);
	}
}

/* Check that the conditions are valid for the action, and together. */
static bool check(const struct rule_error *error, const struct node_rule *rule, unsigned int given)
{
	const char *action = actions[rule->action];
	bool of_node = rule->action == NODE_RULE_NODE_DOWN;
	bool ends = rule->action != NODE_RULE_CABLE_ERROR;

	if (!rule->name)
		return rule_bad(error, "node=NAME is missing");
	if (of_node && rule->port)
		return rule_bad(error, "node-down can't have port");
	if (!of_node && !rule->port)
		return rule_bad(error, "%s needs port=N", action);
	if (ends && given & 1U << NUM)
		return rule_bad(error, "num needs cable-error");
	if (!ends && rule->duration)
		return rule_bad(error, "cable-error can't have for");
	if (rule->count > 1 && ends && !rule->duration)
		return rule_bad(error, "count needs for, so that the fault ends");
	if (rule->count > 1 && !rule->every)
		return rule_bad(error, "count needs every");
	if (rule->every && rule->every <= rule->duration)
		return rule_bad(error, "every must be longer than for");
	return true;
}

static bool parse(const struct rule_error *error, struct node_rule *rule, char *text)
{
	unsigned int given = 0;

	return parse_action(error, rule, &text) &&
	       rule_conditions(error, text, keys, parse_value, rule, &given) &&
	       check(error, rule, given);
}

bool node_rule_is(const char *text)
{
	return rule_is(text, actions);
}

struct node_rule *node_rule_parse(const char *text, char *why, size_t max)
{
	struct node_rule *rule = calloc(1, sizeof(*rule));
	const struct rule_error error = {why, max};
	char *copy = strdup(text);
	bool good = false;

	if (rule)
		rule->text = strdup(text);
	if (!rule || !copy || !rule->text) {
		rule_bad(&error, "out of memory");
	} else {
		list_init(&rule->link);
		rule->count = 1;
		rule->num = 1;
		good = rule_fits(&error, text) && parse(&error, rule, copy);
	}
	free(copy);
	if (good)
		return rule;
	node_rule_free(rule);
	return NULL;
}
