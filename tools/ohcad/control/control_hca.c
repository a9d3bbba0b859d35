// SPDX-License-Identifier: GPL-2.0
/* Commands of the control socket: faults of an adapter. */

#include <errno.h>

#include "control/control_cmd.h"
#include "device/eq.h"
#include "device/hca.h"
#include "device/profile.h"
#include "inject/hca_fault.h"

/* A number of @max at most; @none if the argument was not given. */
static int control_bounded(struct control_call *call, const struct control_value *value,
			   uint64_t max, int none, int *res)
{
	*res = value->given ? (int)value->number : none;
	if (value->number > max)
		return control_error(call, EINVAL, "%llu is more than %llu",
				     (unsigned long long)value->number, (unsigned long long)max);
	return 0;
}

int control_fail_command(struct control_call *call)
{
	const struct control_value *v = call->value;
	uint64_t count = v[1].given ? v[1].number : 1;
	int opcode, status, err;

	err = control_bounded(call, &v[2], UINT16_MAX, HCA_FAULT_ANY, &opcode);
	if (!err)
		err = control_bounded(call, &v[3], UINT8_MAX, HCA_FAULT_TIMEOUT, &status);
	if (err)
		return err;
	if (!count || count > UINT32_MAX)
		return control_error(call, EINVAL, "count is from 1 to %u", UINT32_MAX);
	err = hca_fault_cmd(v[0].hca, opcode, status, count);
	if (err == -ENOSPC)
		return control_error(call, ENOSPC, "more than %u faults of commands",
				     HCA_FAULT_CMDS);
	return err ? control_error(call, -err, "status %d is none of a failure", status) : 0;
}

int control_fail_eq(struct control_call *call)
{
	const struct control_value *v = call->value;
	bool overrun = !v[2].given || v[2].boolean;

	if (v[1].number > UINT32_MAX || hca_fault_eq(v[0].hca, v[1].number, overrun))
		return control_error(call, ENOENT, "no such event queue");
	return 0;
}

int control_fail_cq(struct control_call *call)
{
	const struct control_value *v = call->value;

	if (v[1].number > UINT32_MAX || hca_fault_cq(v[0].hca, v[1].number))
		return control_error(call, ENOENT, "no such completion queue");
	return 0;
}

int control_fail_hca(struct control_call *call)
{
	const struct control_value *v = call->value;
	int reason, err;

	err = control_bounded(call, &v[1], OHCA_FATAL_INTERNAL, OHCA_FATAL_INTERNAL, &reason);
	if (err)
		return err;
	err = hca_fault_fatal(v[0].hca, reason);
	if (err == -EALREADY)
		return control_error(call, EALREADY, "it has failed already");
	return err ? control_error(call, -err, "%d is no reason", reason) : 0;
}

int control_unplug(struct control_call *call)
{
	hca_fault_silent(call->value[0].hca, true);
	return 0;
}

int control_plug(struct control_call *call)
{
	hca_fault_silent(call->value[0].hca, false);
	return 0;
}

int control_fail_clear(struct control_call *call)
{
	hca_fault_clear(call->value[0].hca);
	return 0;
}

int control_fail_show(struct control_call *call)
{
	struct hca *hca = call->value[0].hca;
	const struct hca_cmd_fault *fault = hca->faults->cmds;
	struct json_object *commands, *eqs;
	unsigned int i;
	uint32_t id = 0;
	struct eq *eq;

	control_put_bool(call->result, "unplugged", !pci_present(hca->fn));
	commands = control_put_array(call->result, "commands");
	for (i = 0; i < hca->faults->num; i++, fault++) {
		struct json_object *row = control_put_row(commands);

		control_put_number(row, "count", fault->left);
		if (fault->opcode != HCA_FAULT_ANY)
			control_put_number(row, "opcode", fault->opcode);
		if (fault->status != HCA_FAULT_TIMEOUT)
			control_put_number(row, "status", fault->status);
	}
	eqs = control_put_array(call->result, "eqs");
	for (; (eq = table_next(&hca->eqs, &id)); id++)
		if (eq->overrun)
			control_put_number(control_put_row(eqs), "eq", id);
	return 0;
}

/* Software sees it from the next reset on, as the objects of the present one may not fit. */
int control_profile(struct control_call *call)
{
	const struct hca_profile *profile = hca_profile_find(call->value[1].string);

	if (!profile)
		return control_error(call, EINVAL, "there is no profile '%s'",
				     call->value[1].string);
	call->value[0].hca->next_profile = profile;
	return 0;
}
