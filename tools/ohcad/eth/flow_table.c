// SPDX-License-Identifier: GPL-2.0
/* The flows of a port, hashed. */

#include <stdlib.h>
#include <string.h>

#include "eth/flow_table.h"

void flow_table_init(struct flow_table *table)
{
	memset(table, 0, sizeof(*table));
	list_init(&table->masks);
}

void flow_table_fini(struct flow_table *table)
{
	hash_table_fini(&table->rules);
}

static uint64_t hash(const struct flow_table *table, const struct flow_mask *mask,
		     const union match *value)
{
	return hash_of(&table->rules, mask->id, value->words, MATCH_WORDS);
}

/* The first rule from @node on that has this mask and value */
static struct flow_rule *first_same(struct hash_node *node, const struct flow_mask *mask,
				    const union match *value)
{
	for (; node; node = hash_table_next(node)) {
		struct flow_rule *rule = list_entry(node, struct flow_rule, node);

		if (rule->mask == mask && !memcmp(rule->value.words, value->words, sizeof(*value)))
			return rule;
	}
	return NULL;
}

struct flow_rule *flow_table_next(const struct flow_rule *rule)
{
	return first_same(hash_table_next(&rule->node), rule->mask, &rule->value);
}

struct flow_rule *flow_table_find(const struct flow_table *table, const struct flow_mask *mask,
				  const union match *match)
{
	union match value;
	unsigned int i;

	for (i = 0; i < MATCH_WORDS; i++)
		value.words[i] = match->words[i] & mask->mask.words[i];
	return first_same(hash_table_find(&table->rules, hash(table, mask, &value)), mask, &value);
}

/* Of this mask and priority: it is made if need be, behind those of the same priority. */
static struct flow_mask *get_mask(struct flow_table *table, const union match *mask,
				  uint16_t priority)
{
	struct list *node;
	struct flow_mask *entry;

	for (node = table->masks.next; node != &table->masks; node = node->next) {
		entry = list_entry(node, struct flow_mask, link);
		if (entry->priority > priority)
			break;
		if (entry->priority == priority && !memcmp(&entry->mask, mask, sizeof(*mask)))
			return entry;
	}
	entry = table->num_masks < FLOW_MAX_MASKS ? calloc(1, sizeof(*entry)) : NULL;
	if (!entry)
		return NULL;
	entry->mask = *mask;
	entry->priority = priority;
	entry->id = table->next_id++;
	list_add_tail(node, &entry->link);
	table->num_masks++;
	return entry;
}

static void put_mask(struct flow_table *table, struct flow_mask *mask)
{
	if (mask->num)
		return;
	list_del(&mask->link);
	table->num_masks--;
	free(mask);
}

bool flow_table_add(struct flow_table *table, struct flow_rule *rule, const union match *mask,
		    uint16_t priority)
{
	struct flow_rule *same;
	unsigned int num = 0;

	if (!hash_table_grow(&table->rules))
		return false;
	rule->mask = get_mask(table, mask, priority);
	if (!rule->mask)
		return false;
	for (same = flow_table_find(table, rule->mask, &rule->value); same;
	     same = flow_table_next(same))
		num++;
	if (num >= FLOW_MAX_SAME)
		return false;
	rule->seq = ++table->seq;
	hash_table_add(&table->rules, &rule->node, hash(table, rule->mask, &rule->value));
	rule->mask->num++;
	return true;
}

void flow_table_del(struct flow_table *table, struct flow_rule *rule)
{
	hash_table_del(&table->rules, &rule->node);
	rule->mask->num--;
	put_mask(table, rule->mask);
}
