// SPDX-License-Identifier: GPL-2.0
/*
 * The cache of routes with hops between switches.  Each source port has a cache of its own, which is valid until forwarding
 * tables or ports change.  Packets are counted in the cached route.  The sums are added to the counters of the ports on the
 * route before these are read, and when the route is dropped.
 */

#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "fabric/ib_route_cache.h"
#include "fabric/ib_traffic.h"

#define LOG_SLOTS 6
#define MAX_ROUTES 1024 /* in the cache of a port */

/**
 * struct ib_hops - a cached route
 * @next: next entry of its hash slot
 * @link: in fabric->ib_routes
 * @num, @bytes: packets and their bytes that are not in the counters of ports yet
 * @out: @hops ports, as in struct ib_trace
 */
struct ib_hops {
	struct ib_hops *next;
	struct list link;
	struct ib_flow flow;
	struct ib_route route;
	uint64_t num, bytes;
	unsigned int hops;
	struct ib_port *out[];
};

/**
 * struct ib_route_cache - cached routes from a port
 * @gen: fabric->gen at which they were found
 */
struct ib_route_cache {
	uint64_t gen;
	unsigned int num;
	struct ib_hops *slots[1 << LOG_SLOTS];
};

void ib_hop_count(struct ib_port *out, uint64_t num, uint64_t bytes, uint64_t mcast)
{
	ib_traffic_add(&out->counters.hop_xmit, num, bytes, mcast);
	ib_traffic_add(&out->peer->counters.hop_rcv, num, bytes, mcast);
}

void ib_hops_count(struct ib_hops *hops, uint64_t num, uint64_t bytes)
{
	hops->num += num;
	hops->bytes += bytes;
}

static void flush_counters(struct ib_hops *hops)
{
	unsigned int i;

	if (!hops->num)
		return;
	for (i = 0; i < hops->hops; i++)
		ib_hop_count(hops->out[i], hops->num, hops->bytes, 0);
	hops->num = 0;
	hops->bytes = 0;
}

void ib_routes_flush_counters(struct fabric *fabric)
{
	struct list *node;

	for (node = fabric->ib_routes.next; node != &fabric->ib_routes; node = node->next)
		flush_counters(list_entry(node, struct ib_hops, link));
}

static void drop_all(struct ib_route_cache *cache)
{
	struct ib_hops *hops;
	unsigned int i;

	for (i = 0; i < 1 << LOG_SLOTS; i++) {
		while ((hops = cache->slots[i])) {
			cache->slots[i] = hops->next;
			flush_counters(hops);
			list_del(&hops->link);
			free(hops);
		}
	}
	cache->num = 0;
}

void ib_route_cache_free(struct ib_port *from)
{
	if (!from->route_cache)
		return;
	drop_all(from->route_cache);
	free(from->route_cache);
	from->route_cache = NULL;
}

static unsigned int slot_of(const struct ib_flow *flow)
{
	uint32_t key = flow->dlid << 4 ^ flow->sl ^ (uint32_t)flow->pkey << 16;

	return (key * 0x9e3779b1U) >> (32 - LOG_SLOTS);
}

static struct ib_hops *lookup(const struct ib_route_cache *cache, const struct ib_flow *flow)
{
	struct ib_hops *hops = cache->slots[slot_of(flow)];

	while (hops && (hops->flow.dlid != flow->dlid || hops->flow.sl != flow->sl ||
			hops->flow.pkey != flow->pkey))
		hops = hops->next;
	return hops;
}

/* The cache of @from, without outdated routes; NULL: no memory */
static struct ib_route_cache *cache_of(struct ib_port *from)
{
	struct fabric *fabric = from->node->fabric;
	struct ib_route_cache *cache = from->route_cache;

	if (!cache)
		cache = from->route_cache = calloc(1, sizeof(*cache));
	if (!cache)
		return NULL;
	/* QPs may hold pointers to the routes until fabric->gen changes. */
	if (cache->num == MAX_ROUTES)
		fabric_changed(fabric);
	if (cache->gen != fabric->gen)
		drop_all(cache);
	cache->gen = fabric->gen;
	return cache;
}

static void keep(struct ib_route_cache *cache, struct ib_route *route, const struct ib_trace *trace,
		 const struct ib_flow *flow, struct fabric *fabric)
{
	struct ib_hops **slot = &cache->slots[slot_of(flow)], *hops;
	size_t len = trace->num * sizeof(trace->out[0]);

	hops = malloc(sizeof(*hops) + len);
	if (!hops)
		return;
	route->hops = trace->num ? hops : NULL;
	*hops = (struct ib_hops){
		.next = *slot,
		.flow = *flow,
		.route = *route,
		.hops = trace->num,
	};
	memcpy(hops->out, trace->out, len);
	list_add_tail(&fabric->ib_routes, &hops->link);
	*slot = hops;
	cache->num++;
}

void ib_route_cache_get(struct ib_route *route, struct ib_port *from, const struct ib_flow *flow,
			ib_find_fn *find)
{
	struct ib_route_cache *cache = from->route_cache;
	struct fabric *fabric = from->node->fabric;
	struct ib_hops *hops;
	struct ib_trace trace;

	hops = cache && cache->gen == fabric->gen ? lookup(cache, flow) : NULL;
	if (hops) {
		*route = hops->route;
		return;
	}
	trace.num = 0;
	find(route, &trace, from, flow);
	cache = cache_of(from);
	if (cache)
		keep(cache, route, &trace, flow, fabric);
}
