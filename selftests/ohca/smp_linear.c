// SPDX-License-Identifier: GPL-2.0
/*
 * smp_linear LID DLID PORT: sets the entry of DLID in the linear forwarding table of the switch with that LID, which no tool does.
 * The exit status is 0 if the switch has taken it.
 */

#include <endian.h>
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umad_agent.h"

#define PER_BLOCK 64
#define DATA 64 /* offset of an SMP's data */

/* Get or Set of a block of the table; its data are in the umad before and after that. */
static int ask(struct agent *agent, uint16_t lid, uint8_t method, uint32_t block)
{
	struct umad_hdr *mad = umad_get_mad(agent->umad);
	int err;

	memset(mad, 0, DATA);
	mad->base_version = 1;
	mad->mgmt_class = UMAD_CLASS_SUBN_LID_ROUTED;
	mad->class_version = 1;
	mad->method = method;
	mad->attr_id = htobe16(UMAD_SM_ATTR_LINEAR_FT);
	mad->attr_mod = htobe32(block);
	umad_set_addr(agent->umad, lid, 0, 0, 0);
	err = agent_ask(agent);
	return err || !mad->status ? err : EPROTO;
}

static int set(struct agent *agent, uint16_t lid, uint16_t dlid, uint8_t port)
{
	uint8_t *data = (uint8_t *)umad_get_mad(agent->umad) + DATA;
	int err = ask(agent, lid, UMAD_METHOD_GET, dlid / PER_BLOCK);

	if (err)
		return err;
	data[dlid % PER_BLOCK] = port;
	err = ask(agent, lid, UMAD_METHOD_SET, dlid / PER_BLOCK);
	return err || data[dlid % PER_BLOCK] == port ? err : EPROTO;
}

int main(int argc, char **argv)
{
	struct agent agent;
	int err;

	if (argc != 4) {
		fprintf(stderr, "usage: smp_linear LID DLID PORT\n");
		return 2;
	}
	if (!agent_open(&agent, UMAD_CLASS_SUBN_LID_ROUTED)) {
		perror("smp_linear");
		return 1;
	}
	err = set(&agent, atoi(argv[1]), atoi(argv[2]), atoi(argv[3]));
	if (err)
		fprintf(stderr, "smp_linear: %s\n", strerror(err));
	return err != 0;
}
