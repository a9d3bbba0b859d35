// SPDX-License-Identifier: GPL-2.0
/* The cable of a port. */

#include <errno.h>
#include <string.h>

#include "fabric/port.h"
#include "control/control_cmd.h"
#include "device/hca.h"

int control_link(struct control_call *call)
{
	struct port *port = call->value[0].hca->port;
	const char *state = call->value[1].string;

	if (strcmp(state, "up") && strcmp(state, "down"))
		return control_error(call, EINVAL, "state is neither up nor down");
	port_plug(port, !strcmp(state, "up"));
	return 0;
}
