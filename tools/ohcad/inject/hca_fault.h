/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults of an HCA on demand.  The operator sets them, so a reset of the HCA does not remove them.
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
#define HCA_FAULT_ANY -1 /* for any opcode */
#define HCA_FAULT_TIMEOUT HCA_HOOK_LOST

/**
 * struct hca_cmd_fault - a fault of commands, which are then not executed
 * @opcode: of the commands, or HCA_FAULT_ANY
 * @status: with which they end, or HCA_FAULT_TIMEOUT
 * @left: number of commands that it is still for
 */
struct hca_cmd_fault {
	int opcode;
	int status;
	uint32_t left;
};

/**
 * struct hca_faults - faults of an HCA
 * @cmds: faults of commands; the first one that matches a command is applied
 * @num: number of them
 * @rules: rules of hca_rule.c, @num_rules of them
 * @watched: events that rules wait for: bits of enum hca_rule_event
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
 * never (HCA_FAULT_TIMEOUT).  Returns 0, -EINVAL for an invalid opcode or status, or -ENOSPC.
 */
int hca_fault_cmd(struct hca *hca, int opcode, int status, uint32_t count);

/* Set or clear hca->hooks: faults of commands, or the events that rules wait for, have changed. */
void hca_fault_hook(struct hca *hca);

/*
 * Treat an EQ as full, or no longer: its events wait in the device.  Destroying the EQ ends that as
 * well.  Returns 0 or -ENOENT.
 */
int hca_fault_eq(struct hca *hca, uint32_t eqn, bool overrun);

/* Put a CQ in error.  Returns 0 or -ENOENT. */
int hca_fault_cq(struct hca *hca, uint32_t cqn);

/* Returns 0, -EINVAL for an invalid reason, -EALREADY if the HCA is in the fatal state. */
int hca_fault_fatal(struct hca *hca, enum ohca_fatal why);

/* Unplug the function, or plug it in: see pci_set_present(). */
void hca_fault_silent(struct hca *hca, bool silent);

/* Remove the faults of commands and EQs, and plug the function in. */
void hca_fault_clear(struct hca *hca);

extern const struct object_class fault_class;

#endif
