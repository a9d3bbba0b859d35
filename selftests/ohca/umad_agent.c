// SPDX-License-Identifier: GPL-2.0
/* An agent of a program for management datagrams. */

#include <endian.h>
#include <errno.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_types.h>
#include <stdlib.h>
#include <string.h>

#include "umad_agent.h"

#define TIMEOUT 500 /* ms */
#define SA_VERSION 2
#define SA_RETRIES 20 /* a manager that sweeps answers late */
#define SA_QKEY 0x80010000

/* The size of a umad is known when a port is open. */
bool agent_open(struct agent *agent, uint8_t mgmt_class)
{
	if (umad_init())
		return false;
	agent->fd = umad_open_port(getenv("OHCA_IBDEV"), 1);
	if (agent->fd < 0)
		return false;
	agent->umad = umad_alloc(1, umad_size() + sizeof(struct umad_packet));
	agent->id = umad_register(agent->fd, mgmt_class,
				  mgmt_class == UMAD_CLASS_SUBN_ADM ? SA_VERSION : 1, 0, NULL);
	agent->tid = 0;
	return agent->umad && agent->id >= 0;
}

static int ask(struct agent *agent, int retries)
{
	struct umad_hdr *mad = umad_get_mad(agent->umad);
	int len = sizeof(struct umad_packet);

	mad->tid = htobe64(++agent->tid);
	if (umad_send(agent->fd, agent->id, agent->umad, len, TIMEOUT, retries) < 0)
		return errno;
	if (umad_recv(agent->fd, agent->umad, &len, 10 * (1 + retries) * TIMEOUT) < 0)
		return errno;
	return umad_status(agent->umad);
}

int agent_ask(struct agent *agent)
{
	return ask(agent, 0);
}

int agent_ask_sa(struct agent *agent, struct sa_request *request)
{
	struct umad_sa_packet *mad = umad_get_mad(agent->umad);
	int err;

	memset(mad, 0, sizeof(*mad));
	mad->mad_hdr.base_version = 1;
	mad->mad_hdr.mgmt_class = UMAD_CLASS_SUBN_ADM;
	mad->mad_hdr.class_version = SA_VERSION;
	mad->mad_hdr.method = request->method;
	mad->mad_hdr.attr_id = htobe16(request->attr_id);
	mad->comp_mask = htobe64(request->comp_mask);
	memcpy(mad->data, request->record, request->len);
	umad_set_addr(agent->umad, request->lid, 1, 0, SA_QKEY);
	err = ask(agent, SA_RETRIES);
	if (err)
		return err;
	request->status = be16toh(mad->mad_hdr.status);
	memcpy(request->record, mad->data, request->len);
	return request->status ? EPROTO : 0;
}
