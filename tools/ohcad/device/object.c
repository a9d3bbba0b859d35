// SPDX-License-Identifier: GPL-2.0
/* What classes of objects share. */

#include "device/object.h"

/* Objects between two looks at the clock */
#define DROP_BATCH 8

bool objects_drain(struct hca *hca, struct table *table,
		   void (*drop)(struct hca *hca, void *object, uint32_t id), uint64_t end)
{
	unsigned int num = 0;
	uint32_t id = 0;
	void *object;

	for (; (object = table_next(table, &id)); id++) {
		drop(hca, object, id);
		if (!(++num % DROP_BATCH) && loop_clock() >= end)
			return !table_next(table, &id);
	}
	return true;
}
