// SPDX-License-Identifier: GPL-2.0
/* Errors of InfiniBand links. */

#include <endian.h>

#include "fabric/fabric.h"
#include "fabric/ib_error.h"
#include "fabric/ib_node.h"

/* Send a trap 129 to 131 about the link of a port. */
static void trap(struct ib_port *ib, uint16_t number)
{
	const struct ib_agent_ops *agent = ib->node->fabric->ib_agent;
	const struct notice notice = {
		.generic_type = NOTICE_GENERIC | NOTICE_URGENT,
		.trap = htobe16(number),
		.local.lid = htobe16(ib_managed_port(ib)->lid),
		.local.port = ib->num,
	};

	if (agent)
		agent->trap(ib, &notice);
}

/* Add errors.  Returns how often the threshold @per is reached. */
static uint64_t gather(uint32_t *errors, uint32_t num, uint32_t per)
{
	uint64_t sum = (uint64_t)*errors + num;

	*errors = sum % per;
	return sum / per;
}

static void physical(struct ib_port *ib, uint32_t num)
{
	uint32_t threshold = ib->phy_errors_overrun >> 4;
	uint64_t times = gather(&ib->phy_errors, num, threshold + 1);

	ib->counters.link_integrity += times;
	if (times)
		trap(ib, TRAP_LINK_INTEGRITY);
}

static void overrun(struct ib_port *ib, uint32_t num)
{
	uint32_t threshold = ib->phy_errors_overrun & 15;
	uint64_t times = gather(&ib->overruns, num, threshold ? threshold : 1);

	ib->counters.buffer_overrun += times;
	if (times)
		trap(ib, TRAP_BUFFER_OVERRUN);
}

void ib_port_error(struct ib_port *ib, enum ib_error error, uint32_t num)
{
	struct ib_port_counters *c = &ib->counters;

	switch (error) {
	case IB_ERROR_SYMBOL:
		c->symbol_errors += num;
		physical(ib, num);
		break;
	case IB_ERROR_RECOVERY:
		c->link_recovery += num;
		break;
	case IB_ERROR_DOWNED:
		c->link_downed += num;
		break;
	case IB_ERROR_RCV:
		c->rcv_errors += num;
		physical(ib, num);
		break;
	case IB_ERROR_RCV_REMOTE:
		c->rcv_remote_errors += num;
		break;
	case IB_ERROR_OVERRUN:
		overrun(ib, num);
		break;
	default:
		trap(ib, TRAP_FLOW_CONTROL);
	}
}
