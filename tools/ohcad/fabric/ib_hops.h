/* SPDX-License-Identifier: GPL-2.0 */
/* Ways with hops between switches, which are kept until tables or ports change: ib_way.c finds them. */

#ifndef OHCAD_IB_HOPS_H
#define OHCAD_IB_HOPS_H

#include "fabric/ib_way.h"
#include "packet/ib.h"

/**
 * struct ib_trace - the hops of a way that is being found
 * @out: ports of switches by which packets leave for the next switch
 */
struct ib_trace {
	unsigned int num;
	struct ib_port *out[IB_MAX_HOPS];
};

/* Finds the way from a port, and its hops. */
typedef void ib_find_fn(struct ib_way *way, struct ib_trace *trace, struct ib_port *from,
			const struct ib_flow *flow);

/* The way of @flow from @from: the one that is kept, or what @find finds, which is kept then. */
void ib_ways_get(struct ib_way *way, struct ib_port *from, const struct ib_flow *flow,
		 ib_find_fn *find);

/* Packets pass the cable of @out, which leads to another switch. */
void ib_hop_pass(struct ib_port *out, uint64_t num, uint64_t bytes, uint64_t mcast);

#endif
