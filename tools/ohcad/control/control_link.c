// SPDX-License-Identifier: GPL-2.0
/* The cables of ports. */

#include <errno.h>

#include "fabric/port.h"
#include "control/control_cmd.h"
#include "device/hca.h"

int control_link(struct control_call *call)
{
	const struct hca *hca = call->value[0].hca;
	uint64_t num = call->value[2].number;
	unsigned int i;
	bool up;
	int err;

	err = control_take_state(call, 1, &up);
	if (err)
		return err;
	if (call->value[2].given && (!num || num > hca->num_ports))
		return control_error(call, ENOENT, "the HCA has no such port");
	for (i = 1; i <= hca->num_ports; i++) {
		if (!num || i == num)
			port_plug(hca_port(hca, i), up);
	}
	return 0;
}
