// SPDX-License-Identifier: GPL-2.0
/* Commands of the control socket about rules for faults. */

#include <errno.h>
#include <string.h>

#include "control/control_cmd.h"
#include "fabric/fabric.h"
#include "inject/hca_rule.h"
#include "inject/node_rule.h"
#include "inject/pkt_fault.h"

/* Result of adding a rule: its number @id, or @err.  @hca is the name of its adapter, or NULL. */
static int added(struct control_call *call, int err, uint32_t id, const char *hca)
{
	if (err == -ENOENT)
		return control_error(call, ENODEV, "there is no HCA %s", hca);
	if (err)
		return control_error(call, -err, "can't add it: %s", strerror(-err));
	control_put_number(call->result, "id", id);
	return 0;
}

static int add_hca_rule(struct control_call *call, const char *text)
{
	struct hca_rule *rule;
	char why[RULE_MAX_WHY];
	int err, res;

	rule = hca_rule_parse(text, why, sizeof(why));
	if (!rule)
		return control_error(call, EINVAL, "%s", why);
	err = hca_rule_add(call->env->fabric, rule);
	res = added(call, err, rule->id, rule->name);
	if (err)
		hca_rule_free(rule);
	return res;
}

static int add_node_rule(struct control_call *call, const char *text)
{
	struct node_rule *rule;
	char why[RULE_MAX_WHY];
	int err;

	rule = node_rule_parse(text, why, sizeof(why));
	if (!rule)
		return control_error(call, EINVAL, "%s", why);
	err = node_rule_add(call->env->fabric, call->env->loop, rule);
	if (err == -ENOENT)
		control_error(call, ENOENT, "there is no node '%s', or no cable at its port",
			      rule->name);
	else
		added(call, err, rule->id, NULL);
	if (err)
		node_rule_free(rule);
	return err;
}

int control_fault_add(struct control_call *call)
{
	const char *text = call->value[0].string;
	struct pkt_rule *rule;
	char why[RULE_MAX_WHY];
	int err, res;

	if (node_rule_is(text))
		return add_node_rule(call, text);
	if (hca_rule_is(text))
		return add_hca_rule(call, text);
	rule = pkt_rule_parse(text, why, sizeof(why));
	if (!rule)
		return control_error(call, EINVAL, "%s", why);
	err = pkt_fault_add(call->env->fabric, call->env->loop, rule);
	res = added(call, err, rule->id, rule->hca);
	if (err)
		pkt_rule_free(rule);
	return res;
}

static void put_rule(struct json_object *rows, uint32_t id, const char *text, uint64_t matched,
		     uint64_t hits, bool done)
{
	struct json_object *row = control_put_row(rows);

	control_put_number(row, "id", id);
	control_put_string(row, "rule", text);
	control_put_number(row, "matched", matched);
	control_put_number(row, "hits", hits);
	control_put_bool(row, "done", done);
}

int control_fault_show(struct control_call *call)
{
	struct json_object *rows = control_put_array(call->result, "faults");
	const struct fabric *fabric = call->env->fabric;
	const struct pkt_faults *faults = fabric->faults;
	const struct node_rule *node_rule = NULL;
	const struct hca_rule *hca_rule = NULL;
	const struct pkt_rule *rule = NULL;

	while ((rule = pkt_fault_next(fabric, rule)))
		put_rule(rows, rule->id, rule->text, rule->matched, rule->hits,
			 pkt_rule_done(rule));
	while ((hca_rule = hca_rule_next(fabric, hca_rule)))
		put_rule(rows, hca_rule->id, hca_rule->text, hca_rule->matched, hca_rule->hits,
			 hca_rule_done(hca_rule));
	while ((node_rule = node_rule_next(fabric, node_rule)))
		put_rule(rows, node_rule->id, node_rule->text, node_rule->hits, node_rule->hits,
			 node_rule_done(node_rule));
	control_put_number(call->result, "waiting", faults ? faults->deferred.num : 0);
	control_put_number(call->result, "lost", faults ? faults->deferred.lost : 0);
	control_put_number(call->result, "bad_crc", faults ? faults->bad_crc : 0);
	return 0;
}

int control_fault_clear(struct control_call *call)
{
	uint64_t id = call->value[0].number;
	bool found;

	if (call->value[0].given && (!id || id > UINT32_MAX))
		return control_error(call, EINVAL, "numbers of faults begin with 1");
	found = pkt_fault_clear(call->env->fabric, id);
	found |= hca_rule_clear(call->env->fabric, id);
	found |= node_rule_clear(call->env->fabric, id);
	if (found)
		return 0;
	return control_error(call, ESRCH, "there is no fault %u", (unsigned int)id);
}
