/* SPDX-License-Identifier: GPL-2.0 */
/* The user and the capabilities of the process. */

#ifndef OHCAD_USER_H
#define OHCAD_USER_H

#include "sandbox/sandbox.h"

/* Give up all capabilities that @process does not need.  0, or -errno and logs */
int sandbox_drop_caps(const struct sandbox *sandbox, enum sandbox_process process);

#endif
