// SPDX-License-Identifier: GPL-2.0
/* What classes of objects share. */

#include "device/hca.h"
#include "device/object.h"

/* Objects between two looks at the clock: few of them are freed at once, however long that takes */
#define DROP_BATCH 4

bool objects_drop(struct hca *hca, const struct object_class *class, uint64_t end)
{
	struct table *table = (void *)((char *)hca + class->table);
	unsigned int num = 0;
	uint32_t id = 0;
	void *object;

	while ((object = table_next(table, &id))) {
		if (class->shrink && !class->shrink(hca, object, end))
			return false;
		class->drop(hca, object, id);
		if (!(++num % DROP_BATCH) && loop_clock() >= end && table_next(table, &id))
			return false;
	}
	if (!class->keeps_numbers)
		table_restart(table);
	return true;
}
