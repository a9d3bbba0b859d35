/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hash tables of nodes that are a part of their objects.  A table grows by one bucket with each node, so that no node
 * takes longer than others.  The hash has a random seed, so that a client that chooses the keys does not choose the buckets.
 */

#ifndef OHCAD_HASH_TABLE_H
#define OHCAD_HASH_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct hash_node - an object in a table
 * @next: in its bucket
 * @hash: hash_of() its key
 */
struct hash_node {
	struct hash_node *next;
	uint64_t hash;
};

/**
 * struct hash_table - all zero, it is empty
 * @buckets: chains of nodes, the oldest first; NULL while there are none
 * @num: buckets that are in use: at least as many as there are nodes
 * @half: a power of two, half of the room for buckets; @half < @num <= 2 * @half
 * @count: nodes
 * @seed: of the hash
 */
struct hash_table {
	struct hash_node **buckets;
	uint32_t num;
	uint32_t half;
	uint32_t count;
	uint64_t seed;
};

/* The hash of a key: @num words and a number */
uint64_t hash_of(const struct hash_table *table, uint64_t number, const uint64_t *words,
		 unsigned int num);

/* Make room for a node.  Returns false if there is no memory.  The first call sets the seed: hash_of() comes after it. */
bool hash_table_grow(struct hash_table *table);
/* Add a node with this hash, behind others that have it, after hash_table_grow(). */
void hash_table_add(struct hash_table *table, struct hash_node *node, uint64_t hash);
void hash_table_del(struct hash_table *table, struct hash_node *node);

/* The first node with this hash, and the next one with the same hash; NULL: there is none */
struct hash_node *hash_table_find(const struct hash_table *table, uint64_t hash);
struct hash_node *hash_table_next(const struct hash_node *node);

/* Free the table, but no nodes: it is empty again. */
void hash_table_fini(struct hash_table *table);

#endif
