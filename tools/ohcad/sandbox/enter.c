// SPDX-License-Identifier: GPL-2.0
/* The sandbox is entered when everything is open. */

#include "sandbox/calls.h"
#include "sandbox/paths.h"
#include "sandbox/sandbox.h"
#include "sandbox/user.h"

int sandbox_enter(const struct sandbox *sandbox, enum sandbox_process process)
{
	int err;

	if (sandbox->mode == SANDBOX_OFF)
		return 0;
	err = sandbox_drop_caps(sandbox, process);
	if (!err)
		err = sandbox_paths(sandbox, process);
	return err ? err : sandbox_calls(sandbox, process);
}
