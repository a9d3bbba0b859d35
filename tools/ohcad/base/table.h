/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Objects by number: a two-level table that grows with use.  Numbers are given out in a cycle, so
 * that one that was just freed is the last to be used again.
 */

#ifndef OHCAD_TABLE_H
#define OHCAD_TABLE_H

#include <stdint.h>

#define TABLE_LEAF 1024

/**
 * struct table - objects by number
 * @leaves: TABLE_LEAF pointers each, NULL where unused
 * @first: lowest number
 * @limit: one past the highest number
 * @max: table_add() gives out the numbers from @first on, so many; an empty table may get another value
 * @next: where the search for a free number starts
 * @count: objects in the table
 */
struct table {
	void ***leaves;
	uint32_t first, limit;
	uint32_t max;
	uint32_t next;
	uint32_t count;
};

/* 0 or -ENOMEM; then it is as after table_fini(): empty and full. */
int table_init(struct table *table, uint32_t first, uint32_t limit);
void table_fini(struct table *table); /* the objects themselves are not freed */
void table_restart(struct table *table); /* start with the first number again; the table is empty */
int table_add(struct table *table, void *object, uint32_t *id); /* 0, -ENOSPC or -ENOMEM */
/* At this number, which is less than @first: it is not one of those given out. */
int table_add_at(struct table *table, void *object, uint32_t id); /* 0, -EEXIST or -ENOMEM */
void table_del(struct table *table, uint32_t id);
/* The next object with a number of at least *@id, which is set to its number; NULL at the end. */
void *table_next(const struct table *table, uint32_t *id);

static inline void *table_get(const struct table *table, uint32_t id)
{
	void **leaf;

	if (id >= table->limit)
		return 0;
	leaf = table->leaves[id / TABLE_LEAF];
	return leaf ? leaf[id % TABLE_LEAF] : 0;
}

#endif
