/* SPDX-License-Identifier: GPL-2.0 */
/* Hooks: who makes an HCA fail on demand sees what happens to it, and may end a command. */

#ifndef OHCAD_HCA_HOOKS_H
#define OHCAD_HCA_HOOKS_H

#include "device/hca.h"

#define HCA_HOOK_LOST -1 /* in place of a status: no completion at all */

/**
 * struct hca_hooks - called while hca->hooks is set
 * @command: one of @opcode was taken from the command queue.  0: execute it; else it is not, and its
 *	status is this, or HCA_HOOK_LOST
 * @doorbell: that of a QP rang
 * @completion: one of a QP is about to be written to a CQ
 */
struct hca_hooks {
	int (*command)(struct hca *hca, uint16_t opcode);
	void (*doorbell)(struct hca *hca, uint32_t qpn);
	void (*completion)(struct hca *hca, uint32_t qpn, uint32_t cqn);
};

#endif
