// SPDX-License-Identifier: GPL-2.0
/*
 * Ways with hops between switches.  They are kept for each port that packets come from, until tables or ports change.  What
 * passes is counted in the way; ports get it before somebody reads their counters, and when the way is not good any more.
 */

#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "fabric/ib_hops.h"
#include "fabric/ib_traffic.h"

#define LOG_SLOTS 6
#define MAX_WAYS 1024 /* that are kept for a port */

/**
 * struct ib_hops - a way that is kept
 * @next: in its slot
 * @link: in fabric->ib_ways
 * @num, @bytes: what has passed, and is not in the counters of ports yet
 * @out: as in struct ib_trace, @hops of them
 */
struct ib_hops {
	struct ib_hops *next;
	struct list link;
	struct ib_flow flow;
	struct ib_way way;
	uint64_t num, bytes;
	unsigned int hops;
	struct ib_port *out[];
};

/**
 * struct ib_ways - those from a port
 * @gen: fabric->gen at which they were found
 */
struct ib_ways {
	uint64_t gen;
	unsigned int num;
	struct ib_hops *slots[1 << LOG_SLOTS];
};

void ib_hop_pass(struct ib_port *out, uint64_t num, uint64_t bytes, uint64_t mcast)
{
	ib_traffic_add(&out->counters.hop_xmit, num, bytes, mcast);
	ib_traffic_add(&out->peer->counters.hop_rcv, num, bytes, mcast);
}

void ib_hops_pass(struct ib_hops *hops, uint64_t num, uint64_t bytes)
{
	hops->num += num;
	hops->bytes += bytes;
}

static void settle(struct ib_hops *hops)
{
	unsigned int i;

	if (!hops->num)
		return;
	for (i = 0; i < hops->hops; i++)
		ib_hop_pass(hops->out[i], hops->num, hops->bytes, 0);
	hops->num = 0;
	hops->bytes = 0;
}

void ib_ways_settle(struct fabric *fabric)
{
	struct list *node;

	for (node = fabric->ib_ways.next; node != &fabric->ib_ways; node = node->next)
		settle(list_entry(node, struct ib_hops, link));
}

static void drop_all(struct ib_ways *ways)
{
	struct ib_hops *hops;
	unsigned int i;

	for (i = 0; i < 1 << LOG_SLOTS; i++) {
		while ((hops = ways->slots[i])) {
			ways->slots[i] = hops->next;
			settle(hops);
			list_del(&hops->link);
			free(hops);
		}
	}
	ways->num = 0;
}

void ib_ways_forget(struct ib_port *from)
{
	if (!from->ways)
		return;
	drop_all(from->ways);
	free(from->ways);
	from->ways = NULL;
}

static unsigned int slot_of(const struct ib_flow *flow)
{
	uint32_t key = flow->dlid << 4 ^ flow->sl ^ (uint32_t)flow->pkey << 16;

	return (key * 0x9e3779b1U) >> (32 - LOG_SLOTS);
}

static struct ib_hops *lookup(const struct ib_ways *ways, const struct ib_flow *flow)
{
	struct ib_hops *hops = ways->slots[slot_of(flow)];

	while (hops && (hops->flow.dlid != flow->dlid || hops->flow.sl != flow->sl ||
			hops->flow.pkey != flow->pkey))
		hops = hops->next;
	return hops;
}

/* Those of @from that are good; NULL: no memory */
static struct ib_ways *ways_of(struct ib_port *from)
{
	struct fabric *fabric = from->node->fabric;
	struct ib_ways *ways = from->ways;

	if (!ways)
		ways = from->ways = calloc(1, sizeof(*ways));
	if (!ways)
		return NULL;
	/* QPs may have one of them until they look again. */
	if (ways->num == MAX_WAYS)
		fabric_changed(fabric);
	if (ways->gen != fabric->gen)
		drop_all(ways);
	ways->gen = fabric->gen;
	return ways;
}

static void keep(struct ib_ways *ways, struct ib_way *way, const struct ib_trace *trace,
		 const struct ib_flow *flow, struct fabric *fabric)
{
	struct ib_hops **slot = &ways->slots[slot_of(flow)], *hops;
	size_t len = trace->num * sizeof(trace->out[0]);

	hops = malloc(sizeof(*hops) + len);
	if (!hops)
		return;
	way->hops = trace->num ? hops : NULL;
	*hops = (struct ib_hops){
		.next = *slot,
		.flow = *flow,
		.way = *way,
		.hops = trace->num,
	};
	memcpy(hops->out, trace->out, len);
	list_add_tail(&fabric->ib_ways, &hops->link);
	*slot = hops;
	ways->num++;
}

void ib_ways_get(struct ib_way *way, struct ib_port *from, const struct ib_flow *flow,
		 ib_find_fn *find)
{
	struct ib_ways *ways = from->ways;
	struct fabric *fabric = from->node->fabric;
	struct ib_hops *hops;
	struct ib_trace trace;

	hops = ways && ways->gen == fabric->gen ? lookup(ways, flow) : NULL;
	if (hops) {
		*way = hops->way;
		return;
	}
	trace.num = 0;
	find(way, &trace, from, flow);
	ways = ways_of(from);
	if (ways)
		keep(ways, way, &trace, flow, fabric);
}
