// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table that finds a QP by its number.
 */

#include <errno.h>
#include <stdlib.h>

#include "ohca.h"

void ohca_qp_table_init(struct ohca_qp_table *table)
{
	pthread_mutex_init(&table->mutex, NULL);
}

void ohca_qp_table_free(struct ohca_qp_table *table)
{
	int i;

	for (i = 0; i < OHCA_ROOT_SIZE; i++)
		free(atomic_load(&table->leaf[i]));
	pthread_mutex_destroy(&table->mutex);
}

int ohca_qp_table_add(struct ohca_qp_table *table, struct ohca_qp *qp)
{
	_Atomic(struct ohca_qp_leaf *) *root;
	struct ohca_qp_leaf *leaf;

	if (qp->qpn >> 24)
		return EINVAL;
	root = &table->leaf[qp->qpn >> OHCA_LEAF_SHIFT];
	leaf = atomic_load_explicit(root, memory_order_relaxed);
	if (!leaf) {
		leaf = calloc(1, sizeof(*leaf));
		if (!leaf)
			return ENOMEM;
		atomic_store_explicit(root, leaf, memory_order_release);
	}
	atomic_store_explicit(&leaf->qp[qp->qpn & (OHCA_LEAF_SIZE - 1)], qp, memory_order_release);
	return 0;
}

void ohca_qp_table_del(struct ohca_qp_table *table, uint32_t qpn)
{
	struct ohca_qp_leaf *leaf;

	leaf = atomic_load_explicit(&table->leaf[qpn >> OHCA_LEAF_SHIFT], memory_order_relaxed);
	atomic_store_explicit(&leaf->qp[qpn & (OHCA_LEAF_SIZE - 1)], NULL, memory_order_release);
}
