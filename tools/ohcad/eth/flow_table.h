/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flows of a port by what they match, so that the search for those of a frame does not take longer the more flows there
 * are: the flows of one mask and priority are hashed by their value, and there are few masks.
 */

#ifndef OHCAD_FLOW_TABLE_H
#define OHCAD_FLOW_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash_table.h"
#include "base/list.h"
#include "packet/frame.h"

/* Masks and priorities of a port's flows, and flows of one mask, priority and value */
#define FLOW_MAX_MASKS 64
#define FLOW_MAX_SAME 64

struct flow_rule;

/**
 * struct flow_mask - the flows of one mask and priority
 * @link: in flow_table.masks
 * @num: how many
 * @id: differs from those of the other masks
 */
struct flow_mask {
	struct list link;
	union match mask;
	uint32_t num;
	uint32_t id;
	uint16_t priority;
};

/**
 * struct flow_rule - what a flow matches; a part of the flow
 * @mask: set by flow_table_add()
 * @seq: later rules have higher ones
 * @value: zero where the mask is
 * @node: in flow_table.rules
 */
struct flow_rule {
	struct flow_mask *mask;
	uint64_t seq;
	union match value;
	struct hash_node node;
};

/**
 * struct flow_table - the flows of a port
 * @masks: by priority, the first one first
 * @num_masks: how many
 * @next_id: of the next mask
 * @seq: of the last rule
 * @rules: by mask and value, the oldest of equal ones first
 */
struct flow_table {
	struct list masks;
	unsigned int num_masks;
	uint32_t next_id;
	uint64_t seq;
	struct hash_table rules;
};

void flow_table_init(struct flow_table *table);
void flow_table_fini(struct flow_table *table); /* There are no rules. */

/* Returns false, and changes nothing, if there are too many masks, too many equal rules, or no memory. */
bool flow_table_add(struct flow_table *table, struct flow_rule *rule, const union match *mask,
		    uint16_t priority);
void flow_table_del(struct flow_table *table, struct flow_rule *rule);

/*
 * The first rule of @mask that matches @match, or the next one after @rule, or NULL.
 */
struct flow_rule *flow_table_find(const struct flow_table *table, const struct flow_mask *mask,
				  const union match *match);
struct flow_rule *flow_table_next(const struct flow_rule *rule);

#endif
