// SPDX-License-Identifier: GPL-2.0
/*
 * Hash tables that grow by one bucket at a time (linear hashing): a bucket beyond half of the room for them has been
 * split off from the one that is that half below it.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/hash_table.h"

#define MIN_HALF 8

uint64_t hash_of(const struct hash_table *table, uint64_t number, const uint64_t *words,
		 unsigned int num)
{
	uint64_t hash = table->seed ^ number;
	unsigned int i;

	for (i = 0; i < num; i++) {
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	hash = (hash ^ table->seed) * 0x94d049bb133111ebULL;
	return hash ^ hash >> 32;
}

static struct hash_node **bucket(const struct hash_table *table, uint64_t hash)
{
	uint64_t i = hash & (2 * table->half - 1);

	return &table->buckets[i < table->num ? i : i - table->half];
}

static struct hash_node **end_of(struct hash_node **at)
{
	while (*at)
		at = &(*at)->next;
	return at;
}

/* Room for twice as many buckets, or for the first ones */
static bool make_room(struct hash_table *table)
{
	uint32_t half = table->num ?: MIN_HALF;
	struct hash_node **buckets = realloc(table->buckets, 2 * half * sizeof(*buckets));

	if (!buckets)
		return false;
	if (!table->num)
		memset(buckets, 0, half * sizeof(*buckets));
	table->buckets = buckets;
	table->half = half;
	table->num = half;
	return true;
}

bool hash_table_grow(struct hash_table *table)
{
	struct hash_node **from, **to;

	if (!table->num && getrandom(&table->seed, sizeof(table->seed), 0) != sizeof(table->seed))
		return false;
	if (table->num && table->count < table->num)
		return true;
	if (table->num == 2 * table->half && !make_room(table))
		return false;
	from = &table->buckets[table->num - table->half];
	to = &table->buckets[table->num++];
	*to = NULL;
	while (*from) {
		struct hash_node *node = *from;

		if (!(node->hash & table->half)) {
			from = &node->next;
			continue;
		}
		*from = node->next;
		node->next = NULL;
		*to = node;
		to = &node->next;
	}
	return true;
}

void hash_table_add(struct hash_table *table, struct hash_node *node, uint64_t hash)
{
	node->hash = hash;
	node->next = NULL;
	*end_of(bucket(table, hash)) = node;
	table->count++;
}

void hash_table_del(struct hash_table *table, struct hash_node *node)
{
	struct hash_node **at = bucket(table, node->hash);

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	table->count--;
}

static struct hash_node *first_with(struct hash_node *node, uint64_t hash)
{
	while (node && node->hash != hash)
		node = node->next;
	return node;
}

struct hash_node *hash_table_find(const struct hash_table *table, uint64_t hash)
{
	return table->num ? first_with(*bucket(table, hash), hash) : NULL;
}

struct hash_node *hash_table_next(const struct hash_node *node)
{
	return first_with(node->next, node->hash);
}

void hash_table_fini(struct hash_table *table)
{
	free(table->buckets);
	memset(table, 0, sizeof(*table));
}
