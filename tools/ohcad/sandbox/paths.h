/* SPDX-License-Identifier: GPL-2.0 */
/* The files that the process may use. */

#ifndef OHCAD_PATHS_H
#define OHCAD_PATHS_H

#include "sandbox/sandbox.h"

/*
 * From now on, this thread, and those that it starts, use only the files and ports that @process
 * needs.  0, also if the kernel can't do that, or -errno; both are logged.
 */
int sandbox_paths(const struct sandbox *sandbox, enum sandbox_process process);

#endif
