/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults on demand: packets that are lost, late, out of order, doubled or corrupted by rules
 * (pkt_rule.h; Documentation/faults.rst).  Packets pass here twice, if there are rules for their QPs:
 * when they leave their sender, and when they reach the port of their receiver.  The first rule that
 * hits is what happens to the packet; then it goes on.
 *
 * fabric->link_hooks is NULL while there is no rule and no packet waits: then none comes here.
 */

#ifndef OHCAD_PKT_FAULT_H
#define OHCAD_PKT_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/loop.h"
#include "inject/pkt_deferred.h"
#include "inject/pkt_rule.h"

struct fabric;

#define PKT_FAULT_MAX_RULES 256

/**
 * struct pkt_faults - the rules of a fabric
 * @rules: in the order in which they look at a packet
 * @num: of them
 * @last_id: number of the last rule, for packets or for an HCA
 * @deferred: packets that wait
 * @corrupt: the packet that goes on just now is corrupted, in bit @bit
 * @bad_crc: corrupted packets that never left the process, and were dropped where they arrived
 */
struct pkt_faults {
	struct fabric *fabric;
	struct list rules;
	unsigned int num;
	uint32_t last_id;
	struct pkt_deferred_list deferred;
	bool corrupt;
	uint32_t bit;
	uint64_t bad_crc;
};

/* fabric->faults, made if need be; NULL: there is no memory. */
struct pkt_faults *pkt_faults_get(struct fabric *fabric, struct loop *loop);

/*
 * Add a rule after the others; it belongs to the fabric then, and has its number.  Returns 0, or
 * -errno: -ENOENT for an adapter that is not there, -ENOSPC, -ENOMEM.
 */
int pkt_fault_add(struct fabric *fabric, struct loop *loop, struct pkt_rule *rule);
/* Remove a rule, or all (0).  False: there is no such rule.  Packets that wait arrive. */
bool pkt_fault_clear(struct fabric *fabric, uint32_t id);
/* The rule after this one, the first one after NULL; NULL: there is none. */
const struct pkt_rule *pkt_fault_next(const struct fabric *fabric, const struct pkt_rule *rule);
/* All is freed; what the rules did is logged. */
void pkt_fault_fini(struct fabric *fabric);

#endif
