// SPDX-License-Identifier: GPL-2.0
/* The cables of ports. */

#include <errno.h>
#include <string.h>

#include "fabric/port.h"
#include "control/control_cmd.h"
#include "device/hca.h"

int control_link(struct control_call *call)
{
	const struct hca *hca = call->value[0].hca;
	const char *state = call->value[1].string;
	uint64_t num = call->value[2].number;
	unsigned int i;

	if (strcmp(state, "up") && strcmp(state, "down"))
		return control_error(call, EINVAL, "state is neither up nor down");
	if (call->value[2].given && (!num || num > hca->num_ports))
		return control_error(call, ENOENT, "the HCA has no such port");
	for (i = 1; i <= hca->num_ports; i++) {
		if (!num || i == num)
			port_plug(hca_port(hca, i), !strcmp(state, "up"));
	}
	return 0;
}
