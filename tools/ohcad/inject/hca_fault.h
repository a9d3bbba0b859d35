/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults of an HCA on demand.  They are not the device's but its operator's: a reset does not
 * undo them.
 */

#ifndef OHCAD_HCA_FAULT_H
#define OHCAD_HCA_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "device/hca_hooks.h"
#include "ohca/ohca_cmd.h"
#include "ohca/ohca_regs.h"

struct hca;
struct object_class;

#define HCA_FAULT_CMDS 16
#define HCA_FAULT_ANY -1 /* every opcode */
#define HCA_FAULT_TIMEOUT HCA_HOOK_LOST

/**
 * struct hca_cmd_fault - commands that are not executed
 * @opcode: which ones, or HCA_FAULT_ANY
 * @status: how they end, or HCA_FAULT_TIMEOUT
 * @left: how many of them there will be
 */
struct hca_cmd_fault {
	int opcode;
	int status;
	uint32_t left;
};

/**
 * struct hca_faults - what is to happen
 * @cmds: to commands; each takes the first fault that fits
 * @num: of them
 * @rules: hca_rule.c's, @num_rules of them
 * @watched: what the rules want to know of: bits of enum hca_rule_event
 */
struct hca_faults {
	struct hca_cmd_fault cmds[HCA_FAULT_CMDS];
	unsigned int num;
	struct list rules;
	unsigned int num_rules;
	uint8_t watched;
};

/*
 * Do not execute the next @count commands of @opcode (or HCA_FAULT_ANY): end them with @status, or
 * never (HCA_FAULT_TIMEOUT).  Returns 0, -EINVAL for an opcode or status that can't be, -ENOSPC.
 */
int hca_fault_cmd(struct hca *hca, int opcode, int status, uint32_t count);

/* Look after hca->hooks: what is to fail, or what rules watch, has changed. */
void hca_fault_hook(struct hca *hca);

/*
 * Take an EQ for full, or no more: its events wait in the device.  Destroying it ends that, too.
 * Returns 0 or -ENOENT.
 */
int hca_fault_eq(struct hca *hca, uint32_t eqn, bool overrun);

/* Put a CQ in error.  Returns 0 or -ENOENT. */
int hca_fault_cq(struct hca *hca, uint32_t cqn);

/* Returns 0, -EINVAL for a reason that is none, -EALREADY if the device has stopped already. */
int hca_fault_fatal(struct hca *hca, enum ohca_fatal why);

/* As if it were pulled out, or put back: pci_set_present(). */
void hca_fault_silent(struct hca *hca, bool silent);

/* No more of what was asked for: commands, EQs, silence. */
void hca_fault_clear(struct hca *hca);

extern const struct object_class fault_class;

#endif
