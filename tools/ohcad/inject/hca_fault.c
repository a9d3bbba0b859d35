// SPDX-License-Identifier: GPL-2.0
/* Faults of an HCA on demand. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/cq.h"
#include "device/eq.h"
#include "device/object.h"
#include "inject/hca_fault.h"
#include "inject/hca_rule.h"
#include "base/log.h"

/*
 * The first fault that applies to a command: its status, or HCA_FAULT_TIMEOUT; 0: none.  It is
 * counted.
 */
static int take_cmd(struct hca *hca, uint16_t opcode)
{
	struct hca_faults *faults = hca->faults;
	struct hca_cmd_fault *fault = faults->cmds, *end = fault + faults->num;
	int status = hca_rule_command(hca, opcode);

	while (!status && fault < end && fault->opcode != HCA_FAULT_ANY && fault->opcode != opcode)
		fault++;
	if (!status && fault == end)
		return 0;
	if (!status) {
		status = fault->status;
		if (!--fault->left) {
			memmove(fault, fault + 1, (end - fault - 1) * sizeof(*fault));
			faults->num--;
			hca_fault_hook(hca);
		}
	}
	if (hca_may_log(hca))
		log_info(hca->name, "fault: command %#x %s", opcode,
			 status == HCA_FAULT_TIMEOUT ? "is lost" : "fails");
	return status;
}

void hca_fault_hook(struct hca *hca)
{
	static const struct hca_hooks hooks = {
		.command = take_cmd,
		.output = hca_rule_output,
		.doorbell = hca_rule_doorbell,
		.completion = hca_rule_completion,
		.event = hca_rule_event,
		.reset = hca_rule_reset,
	};

	hca->hooks = hca->faults->num || hca->faults->watched ? &hooks : NULL;
}

int hca_fault_cmd(struct hca *hca, int opcode, int status, uint32_t count)
{
	struct hca_faults *faults = hca->faults;

	if (opcode < HCA_FAULT_ANY || opcode > UINT16_MAX || !count || status < HCA_FAULT_TIMEOUT ||
	    status == OHCA_CMD_OK || status > UINT8_MAX)
		return -EINVAL;
	if (faults->num == HCA_FAULT_CMDS)
		return -ENOSPC;
	faults->cmds[faults->num++] = (struct hca_cmd_fault){opcode, status, count};
	hca_fault_hook(hca);
	return 0;
}

int hca_fault_eq(struct hca *hca, uint32_t eqn, bool overrun)
{
	struct eq *eq = eq_get(hca, eqn);

	if (!eq)
		return -ENOENT;
	log_info(hca->name, "fault: EQ %u is %s", eqn, overrun ? "full" : "not full any more");
	eq_set_overrun(eq, overrun);
	return 0;
}

int hca_fault_cq(struct hca *hca, uint32_t cqn)
{
	struct cq *cq = cq_get(hca, cqn);

	if (!cq)
		return -ENOENT;
	log_info(hca->name, "fault: CQ %u is in error", cqn);
	if (!cq->error)
		cq_error(cq, "fault on demand");
	eq_flush(hca);
	return 0;
}

int hca_fault_fatal(struct hca *hca, enum ohca_fatal why)
{
	if (why <= OHCA_FATAL_NONE || why > OHCA_FATAL_INTERNAL)
		return -EINVAL;
	if (hca->fatal)
		return -EALREADY;
	log_info(hca->name, "fault: fatal error %u", why);
	hca_fatal(hca, why);
	return 0;
}

void hca_fault_silent(struct hca *hca, bool silent)
{
	log_info(hca->name, "fault: %s", silent ? "gone" : "back");
	pci_set_present(hca->fn, !silent);
}

void hca_fault_clear(struct hca *hca)
{
	uint32_t id = 0;
	struct eq *eq;

	hca->faults->num = 0;
	hca_fault_hook(hca);
	for (; (eq = table_next(&hca->eqs, &id)); id++)
		eq_set_overrun(eq, false);
	pci_set_present(hca->fn, true);
}

static int fault_init(struct hca *hca)
{
	hca->faults = calloc(1, sizeof(*hca->faults));
	if (!hca->faults)
		return -ENOMEM;
	list_init(&hca->faults->rules);
	return 0;
}

static void fault_fini(struct hca *hca)
{
	free(hca->faults);
}

/* A reset does not remove faults. */
const struct object_class fault_class = {
	.init = fault_init,
	.fini = fault_fini,
};
