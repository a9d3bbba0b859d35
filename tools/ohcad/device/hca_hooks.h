/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hooks of fault injection: it sees commands, doorbells, completions, events and resets, may fail a
 * command, and may change what the device writes.
 */

#ifndef OHCAD_HCA_HOOKS_H
#define OHCAD_HCA_HOOKS_H

#include "device/hca.h"
#include "ohca/ohca_queue.h"

#define HCA_HOOK_LOST -1 /* in place of a status: no completion at all */

/**
 * struct hca_hooks - called while hca->hooks is set
 * @command: a command was taken from the command queue.  Returns 0: execute it; else do not, and
 *	complete it with this status, or not at all (HCA_HOOK_LOST)
 * @output: a command has succeeded, with @len bytes of output at @out.  Returns how many bytes are
 *	passed to the host, at most @len; may change them
 * @doorbell: the doorbell of a QP was rung
 * @completion: a completion of a QP is about to be written to a CQ; may be changed, except for @owner
 * @event: an event is about to be written to an EQ; may be changed, except for @owner
 * @reset: the HCA was reset.  Returns whether the reset goes on, until the hook clears
 *	hca->resetting
 */
struct hca_hooks {
	int (*command)(struct hca *hca, uint16_t opcode);
	uint16_t (*output)(struct hca *hca, uint16_t opcode, uint8_t *out, uint16_t len);
	void (*doorbell)(struct hca *hca, uint32_t qpn);
	void (*completion)(struct hca *hca, struct ohca_cqe *cqe, uint32_t cqn);
	void (*event)(struct hca *hca, struct ohca_eqe *eqe);
	bool (*reset)(struct hca *hca);
};

#endif
