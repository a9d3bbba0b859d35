// SPDX-License-Identifier: GPL-2.0
/* Commands of the control socket about rules for packets. */

#include <errno.h>
#include <string.h>

#include "control_cmd.h"
#include "fabric.h"
#include "pkt_fault.h"

int control_fault_add(struct control_call *call)
{
	struct pkt_rule *rule;
	char why[128];
	int err;

	rule = pkt_rule_parse(call->value[0].string, why, sizeof(why));
	if (!rule)
		return control_error(call, EINVAL, "%s", why);
	err = pkt_fault_add(call->env->fabric, call->env->loop, rule);
	if (!err) {
		control_put_number(call->result, "id", rule->id);
		return 0;
	}
	if (err == -ENOENT)
		control_error(call, ENODEV, "there is no HCA %s", rule->hca);
	else
		control_error(call, -err, "can't add it: %s", strerror(-err));
	pkt_rule_free(rule);
	return err == -ENOENT ? -ENODEV : err;
}

int control_fault_show(struct control_call *call)
{
	struct json_object *rows = control_put_array(call->result, "faults");
	const struct pkt_faults *faults = call->env->fabric->faulted;
	const struct pkt_rule *rule = NULL;

	while ((rule = pkt_fault_next(call->env->fabric, rule))) {
		struct json_object *row = control_put_row(rows);

		control_put_number(row, "id", rule->id);
		control_put_string(row, "rule", rule->text);
		control_put_number(row, "matched", rule->matched);
		control_put_number(row, "hits", rule->hits);
		control_put_bool(row, "done", pkt_rule_done(rule));
	}
	control_put_number(call->result, "waiting", faults ? faults->held.num : 0);
	control_put_number(call->result, "lost", faults ? faults->held.lost : 0);
	control_put_number(call->result, "bad_crc", faults ? faults->bad_crc : 0);
	return 0;
}

int control_fault_clear(struct control_call *call)
{
	uint64_t id = call->value[0].number;

	if (call->value[0].given && (!id || id > UINT32_MAX))
		return control_error(call, EINVAL, "numbers of faults begin with 1");
	if (pkt_fault_clear(call->env->fabric, id))
		return 0;
	return control_error(call, ESRCH, "there is no fault %u", (unsigned int)id);
}
