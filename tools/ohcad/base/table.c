// SPDX-License-Identifier: GPL-2.0
/*
 * Objects by number.  A leaf carries the number of its objects behind its TABLE_LEAF pointers, so
 * that full leaves are skipped and empty ones are freed.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

static uint32_t leaf_count(void **leaf)
{
	return (uint32_t)(uintptr_t)leaf[TABLE_LEAF];
}

static void leaf_set_count(void **leaf, uint32_t count)
{
	leaf[TABLE_LEAF] = (void *)(uintptr_t)count;
}

static uint32_t num_leaves(const struct table *table)
{
	return (table->limit + TABLE_LEAF - 1) / TABLE_LEAF;
}

int table_init(struct table *table, uint32_t first, uint32_t limit)
{
	memset(table, 0, sizeof(*table));
	table->leaves = calloc((limit + TABLE_LEAF - 1) / TABLE_LEAF, sizeof(*table->leaves));
	if (!table->leaves)
		return -ENOMEM;
	table->first = first;
	table->limit = limit;
	table->max = limit - first;
	table->next = first;
	return 0;
}

void table_fini(struct table *table)
{
	uint32_t i;

	if (!table->leaves)
		return;
	for (i = 0; i < num_leaves(table); i++)
		free(table->leaves[i]);
	free(table->leaves);
	memset(table, 0, sizeof(*table));
}

void table_restart(struct table *table)
{
	table->next = table->first;
}

/* First free number in [from, to); @to if there is none. */
static uint32_t find_free(const struct table *table, uint32_t from, uint32_t to)
{
	while (from < to) {
		void **leaf = table->leaves[from / TABLE_LEAF];

		if (!leaf)
			return from;
		if (leaf_count(leaf) == TABLE_LEAF) {
			from = (from / TABLE_LEAF + 1) * TABLE_LEAF;
			continue;
		}
		if (!leaf[from % TABLE_LEAF])
			return from;
		from++;
	}
	return to;
}

/* Store an object; its leaf is made if need be. */
static int put(struct table *table, void *object, uint32_t n)
{
	void ***leaf = &table->leaves[n / TABLE_LEAF];

	if (!*leaf)
		*leaf = calloc(TABLE_LEAF + 1, sizeof(**leaf));
	if (!*leaf)
		return -ENOMEM;
	(*leaf)[n % TABLE_LEAF] = object;
	leaf_set_count(*leaf, leaf_count(*leaf) + 1);
	return 0;
}

int table_add_at(struct table *table, void *object, uint32_t id)
{
	return table_get(table, id) ? -EEXIST : put(table, object, id);
}

int table_add(struct table *table, void *object, uint32_t *id)
{
	uint32_t end = table->first + table->max, n;

	if (table->count >= table->max)
		return -ENOSPC;
	if (table->next >= end)
		table->next = table->first;
	n = find_free(table, table->next, end);
	if (n == end)
		n = find_free(table, table->first, table->next);

	if (put(table, object, n))
		return -ENOMEM;
	table->count++;
	table->next = n + 1;
	*id = n;
	return 0;
}

void table_del(struct table *table, uint32_t id)
{
	void **leaf;

	if (!table_get(table, id))
		return;
	leaf = table->leaves[id / TABLE_LEAF];
	leaf[id % TABLE_LEAF] = NULL;
	leaf_set_count(leaf, leaf_count(leaf) - 1);
	if (id >= table->first)
		table->count--;
	/*
	 * The leaf that the next number comes from stays, so that alternating add and del do not
	 * allocate it each time.
	 */
	if (!leaf_count(leaf) && table->next / TABLE_LEAF != id / TABLE_LEAF) {
		table->leaves[id / TABLE_LEAF] = NULL;
		free(leaf);
	}
}

void *table_next(const struct table *table, uint32_t *id)
{
	uint32_t n = *id;

	while (n < table->limit) {
		void **leaf = table->leaves[n / TABLE_LEAF];

		if (!leaf || !leaf_count(leaf)) {
			n = (n / TABLE_LEAF + 1) * TABLE_LEAF;
			continue;
		}
		if (leaf[n % TABLE_LEAF]) {
			*id = n;
			return leaf[n % TABLE_LEAF];
		}
		n++;
	}
	return NULL;
}
