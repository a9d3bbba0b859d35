// SPDX-License-Identifier: GPL-2.0
/*
 * Subnet management by a directed route of too many hops, which no tool sends: nobody takes it.  The exit status is 0 if
 * a good one is answered before and after that.
 */

#include <endian.h>
#include <errno.h>
#include <infiniband/umad_types.h>
#include <infiniband/umad_sm.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "umad_agent.h"

#define LID_PERMISSIVE 0xffff

/* Those of a datagram, and of a directed route's SMP */
#define HOP_POINTER 6
#define HOP_COUNT 7
#define DR_SLID 32
#define DR_DLID 34

/* NodeInfo by a directed route */
static int ask(struct agent *agent, uint8_t pointer, uint8_t count)
{
	uint8_t *smp = umad_get_mad(agent->umad);
	struct umad_hdr *mad = (struct umad_hdr *)smp;

	memset(agent->umad, 0, umad_size() + sizeof(struct umad_packet));
	mad->base_version = 1;
	mad->mgmt_class = UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	mad->class_version = 1;
	mad->method = UMAD_METHOD_GET;
	mad->attr_id = htobe16(UMAD_SM_ATTR_NODE_INFO);
	smp[HOP_POINTER] = pointer;
	smp[HOP_COUNT] = count;
	memset(smp + DR_SLID, 0xff, 2);
	memset(smp + DR_DLID, 0xff, 2);
	umad_set_addr(agent->umad, LID_PERMISSIVE, 0, 0, 0);
	return agent_ask(agent);
}

static bool is(const char *what, int err, int want)
{
	printf("%s: %s\n", what, err ? strerror(err) : "an answer");
	return err == want;
}

int main(void)
{
	struct agent agent;
	bool ok;

	if (!agent_open(&agent, UMAD_CLASS_SUBN_DIRECTED_ROUTE)) {
		perror("smp_hops");
		return 1;
	}
	ok = is("no hop", ask(&agent, 0, 0), 0) && is("64 hops", ask(&agent, 0, 64), EINVAL) &&
	     is("255 hops", ask(&agent, 0, 255), EINVAL) &&
	     is("64 hops, at the last one", ask(&agent, 64, 64), EINVAL) &&
	     is("one hop, beyond the second one", ask(&agent, 3, 1), EINVAL) &&
	     is("no hop again", ask(&agent, 0, 0), 0);
	return !ok;
}
