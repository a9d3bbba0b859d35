/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults of packets: rules (pkt_rule.h, Documentation/faults.rst) drop, delay, reorder, duplicate
 * or corrupt packets.  If there are rules for a QP, its packets pass here twice: when they leave
 * the sender, and when they reach the receiver's port.  The first rule that hits a packet is
 * applied.  Then the packet is forwarded.
 *
 * fabric->link_hooks is NULL while there is no rule and no deferred packet, and then no packet
 * passes here.
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
 * @rules: in the order in which they are applied
 * @num: number of them
 * @node_rules: rules of node_rule.c, @num_node_rules of them
 * @last_id: number of the last rule, whatever it is for
 * @deferred: packets that are deferred
 * @corrupt: the packet that is being forwarded is corrupted, in bit @bit
 * @bad_crc: number of corrupted packets within the process, which were dropped where they arrived
 */
struct pkt_faults {
	struct fabric *fabric;
	struct list rules;
	unsigned int num;
	struct list node_rules;
	unsigned int num_node_rules;
	uint32_t last_id;
	struct pkt_deferred_list deferred;
	bool corrupt;
	uint32_t bit;
	uint64_t bad_crc;
};

/* fabric->faults, created if there is none.  Returns NULL if there is no memory. */
struct pkt_faults *pkt_faults_get(struct fabric *fabric, struct loop *loop);

/*
 * Add a rule after the others.  The fabric owns it from then on, and it has a number.  Returns 0,
 * -ENOENT if there is no such adapter, -ENOSPC or -ENOMEM.
 */
int pkt_fault_add(struct fabric *fabric, struct loop *loop, struct pkt_rule *rule);
/* Remove a rule, or all (0).  Returns false if there is no such rule.  Deferred packets arrive. */
bool pkt_fault_clear(struct fabric *fabric, uint32_t id);
/* The next rule, or the first one for NULL.  Returns NULL at the end. */
const struct pkt_rule *pkt_fault_next(const struct fabric *fabric, const struct pkt_rule *rule);
/* What waits at @port is lost. */
void pkt_fault_forget(struct fabric *fabric, const struct port *port);
/* Free everything, and log the statistics of the rules. */
void pkt_fault_fini(struct fabric *fabric);

#endif
