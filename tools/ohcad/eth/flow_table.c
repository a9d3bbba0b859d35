// SPDX-License-Identifier: GPL-2.0
/* The flows of a port, hashed. */

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "eth/flow_table.h"

#define MIN_LOG_SIZE 4

void flow_table_init(struct flow_table *table)
{
	memset(table, 0, sizeof(*table));
	list_init(&table->masks);
}

void flow_table_fini(struct flow_table *table)
{
	free(table->buckets);
}

static struct flow_rule **bucket(const struct flow_table *table, const struct flow_mask *mask,
				 const union match *value)
{
	uint64_t hash = table->seed ^ mask->id;
	unsigned int i;

	for (i = 0; i < MATCH_WORDS; i++) {
		hash = (hash ^ value->words[i]) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	hash = (hash ^ table->seed) * 0x94d049bb133111ebULL;
	return &table->buckets[hash >> (64 - table->log_size)];
}

static bool is_same(const struct flow_rule *a, const struct flow_mask *mask,
		    const union match *value)
{
	return a->mask == mask && !memcmp(a->value.words, value->words, sizeof(value->words));
}

static struct flow_rule *first_same(struct flow_rule *rule, const struct flow_mask *mask,
				    const union match *value)
{
	while (rule && !is_same(rule, mask, value))
		rule = rule->next;
	return rule;
}

struct flow_rule *flow_table_next(const struct flow_rule *rule)
{
	return first_same(rule->next, rule->mask, &rule->value);
}

struct flow_rule *flow_table_find(const struct flow_table *table, const struct flow_mask *mask,
				  const union match *match)
{
	union match value;
	unsigned int i;

	for (i = 0; i < MATCH_WORDS; i++)
		value.words[i] = match->words[i] & mask->mask.words[i];
	return first_same(*bucket(table, mask, &value), mask, &value);
}

/* Behind those of the chain, so that equal rules are in the order in which they were added */
static void append(struct flow_rule **at, struct flow_rule *rule)
{
	while (*at)
		at = &(*at)->next;
	rule->next = NULL;
	*at = rule;
}

/* Room for one rule more; false if there is no memory. */
static bool grow(struct flow_table *table)
{
	struct flow_table old = *table;
	struct flow_rule *rule;
	uint32_t i;

	if (table->buckets && table->count < 1U << table->log_size)
		return true;
	if (!old.buckets && getrandom(&table->seed, sizeof(table->seed), 0) != sizeof(table->seed))
		return false;
	table->log_size = old.buckets ? old.log_size + 1 : MIN_LOG_SIZE;
	table->buckets = calloc(1U << table->log_size, sizeof(struct flow_rule *));
	if (!table->buckets) {
		*table = old;
		return false;
	}
	for (i = 0; old.buckets && i < 1U << old.log_size; i++) {
		while ((rule = old.buckets[i])) {
			old.buckets[i] = rule->next;
			append(bucket(table, rule->mask, &rule->value), rule);
		}
	}
	free(old.buckets);
	return true;
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

	if (!grow(table))
		return false;
	rule->mask = get_mask(table, mask, priority);
	if (!rule->mask)
		return false;
	for (same = flow_table_find(table, rule->mask, &rule->value); same;
	     same = flow_table_next(same))
		num++;
	if (num >= FLOW_MAX_SAME)
		return false;
	append(bucket(table, rule->mask, &rule->value), rule);
	rule->mask->num++;
	table->count++;
	return true;
}

void flow_table_del(struct flow_table *table, struct flow_rule *rule)
{
	struct flow_rule **at = bucket(table, rule->mask, &rule->value);

	while (*at != rule)
		at = &(*at)->next;
	*at = rule->next;
	rule->mask->num--;
	put_mask(table, rule->mask);
	table->count--;
}
