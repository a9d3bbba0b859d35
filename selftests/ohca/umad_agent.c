// SPDX-License-Identifier: GPL-2.0
/* An agent of a program for management datagrams. */

#include <errno.h>
#include <infiniband/umad_types.h>
#include <stdlib.h>

#include "umad_agent.h"

#define TIMEOUT 500 /* ms */

/* The size of a umad is known when a port is open. */
bool agent_open(struct agent *agent, uint8_t mgmt_class)
{
	if (umad_init())
		return false;
	agent->fd = umad_open_port(getenv("OHCA_IBDEV"), 1);
	if (agent->fd < 0)
		return false;
	agent->umad = umad_alloc(1, umad_size() + sizeof(struct umad_packet));
	agent->id = umad_register(agent->fd, mgmt_class, 1, 0, NULL);
	return agent->umad && agent->id >= 0;
}

int agent_ask(struct agent *agent)
{
	int len = sizeof(struct umad_packet);

	if (umad_send(agent->fd, agent->id, agent->umad, len, TIMEOUT, 0) < 0)
		return errno;
	if (umad_recv(agent->fd, agent->umad, &len, 10 * TIMEOUT) < 0)
		return errno;
	return umad_status(agent->umad);
}
