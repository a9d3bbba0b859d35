/* SPDX-License-Identifier: GPL-2.0 */
/* The system calls that the process may use. */

#ifndef OHCAD_CALLS_H
#define OHCAD_CALLS_H

#include "sandbox/sandbox.h"

/*
 * From now on, this process uses only the calls of the list of @process.  0, also if the kernel has
 * no such lists, or -errno; both are logged.
 */
int sandbox_calls(const struct sandbox *sandbox, enum sandbox_process process);

#endif
