// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tables that find an object by its number.
 */

#include <errno.h>
#include <stdlib.h>

#include "ohca.h"

void ohca_table_init(struct ohca_table *table)
{
	pthread_mutex_init(&table->mutex, NULL);
}

void ohca_table_free(struct ohca_table *table)
{
	int i;

	for (i = 0; i < OHCA_ROOT_SIZE; i++)
		free(atomic_load(&table->leaf[i]));
	pthread_mutex_destroy(&table->mutex);
}

int ohca_table_add(struct ohca_table *table, uint32_t num, void *obj)
{
	_Atomic(struct ohca_leaf *) *root;
	struct ohca_leaf *leaf;

	if (num >> 24)
		return EINVAL;
	root = &table->leaf[num >> OHCA_LEAF_SHIFT];
	leaf = atomic_load_explicit(root, memory_order_relaxed);
	if (!leaf) {
		leaf = calloc(1, sizeof(*leaf));
		if (!leaf)
			return ENOMEM;
		atomic_store_explicit(root, leaf, memory_order_release);
	}
	atomic_store_explicit(&leaf->obj[num & (OHCA_LEAF_SIZE - 1)], obj, memory_order_release);
	return 0;
}

void ohca_table_del(struct ohca_table *table, uint32_t num)
{
	struct ohca_leaf *leaf;

	leaf = atomic_load_explicit(&table->leaf[num >> OHCA_LEAF_SHIFT], memory_order_relaxed);
	atomic_store_explicit(&leaf->obj[num & (OHCA_LEAF_SIZE - 1)], NULL, memory_order_release);
}
