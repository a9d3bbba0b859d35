// SPDX-License-Identifier: GPL-2.0
/* The cables of ports, and their link layers. */

#include <errno.h>
#include <string.h>

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

/* Software is notified, resets the HCA, and sees the change then. */
int control_port(struct control_call *call)
{
	static const char *const names[] = {
		[OHCA_LINK_CONFIGURED] = "auto",
		[OHCA_LINK_ETHERNET] = "eth",
		[OHCA_LINK_INFINIBAND] = "ib",
	};
	const struct hca *hca = call->value[0].hca;
	uint64_t num = call->value[1].number;
	const char *name = call->value[2].string;
	uint8_t link = 0;

	while (link < sizeof(names) / sizeof(names[0]) && strcmp(names[link], name))
		link++;
	if (link == sizeof(names) / sizeof(names[0]))
		return control_error(call, EINVAL, "type is ib, eth or auto, not '%s'", name);
	if (!num || num > hca->num_ports)
		return control_error(call, ENOENT, "the HCA has no such port");
	if (port_want_link(hca_port(hca, num), link))
		return control_error(call, EOPNOTSUPP,
				     "the ports of the HCA keep their types: a topology or a "
				     "profile has them");
	return 0;
}
