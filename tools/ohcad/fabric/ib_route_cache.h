/* SPDX-License-Identifier: GPL-2.0 */
/* A cache of the routes that ib_route.c finds, for routes with hops between switches. */

#ifndef OHCAD_IB_ROUTE_CACHE_H
#define OHCAD_IB_ROUTE_CACHE_H

#include "fabric/ib_route.h"
#include "packet/ib.h"

/**
 * struct ib_trace - the hops of a route
 * @out: ports of switches by which packets leave for the next switch
 */
struct ib_trace {
	unsigned int num;
	struct ib_port *out[IB_MAX_HOPS];
};

/* Finds the route from a port, and its hops. */
typedef void ib_find_fn(struct ib_route *route, struct ib_trace *trace, struct ib_port *from,
			const struct ib_flow *flow);

/* The route of @flow from @from.  If it is not in the cache, @find finds it, and it is added. */
void ib_route_cache_get(struct ib_route *route, struct ib_port *from, const struct ib_flow *flow,
			ib_find_fn *find);

/* Count packets that pass the cable from @out to another switch. */
void ib_hop_count(struct ib_port *out, uint64_t num, uint64_t bytes, uint64_t mcast);

#endif
