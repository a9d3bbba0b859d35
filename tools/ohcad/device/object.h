/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Classes of objects: UARs, protection domains, QPs and so on.  The file of each defines its class,
 * and the adapter has the list of all.
 */

#ifndef OHCAD_OBJECT_H
#define OHCAD_OBJECT_H

#include <stddef.h>

#include "device/cmd.h"

/**
 * struct object_class - a class of objects; what it does not need is NULL
 * @init: the HCA is created: make an empty table.  0 or -errno; then @fini is not called.
 * @fini: the HCA is destroyed, and all objects are freed already
 * @table, @drop: OBJECT_TABLE(); a reset frees the objects of this table by @drop, which removes an object from the table
 *	and frees it without touching host memory.  Its users are freed already.
 * @shrink: before that, free what an object may have much of, until @end (loop_clock()), some in any case.  Returns whether
 *	all of it is freed
 * @keeps_numbers: numbering of objects continues after a reset; false: it starts again
 * @reset: what else a reset does, when @table is empty
 * @stop: the HCA is fatal: no object may touch host memory any more
 * @cmds: commands on them, @num_cmds
 */
struct object_class {
	int (*init)(struct hca *hca);
	void (*fini)(struct hca *hca);
	size_t table;
	void (*drop)(struct hca *hca, void *object, uint32_t id);
	bool (*shrink)(struct hca *hca, void *object, uint64_t end);
	bool keeps_numbers;
	void (*reset)(struct hca *hca);
	void (*stop)(struct hca *hca);
	const struct cmd_desc *cmds;
	unsigned int num_cmds;
};

/*
 * Free the objects of a class that has @drop, or as many as there is time for until @end (loop_clock()), some in any case.
 * Returns whether all are freed.
 */
bool objects_drop(struct hca *hca, const struct object_class *class, uint64_t end);

/* The table of a class, a member of struct hca, and the function that frees one of its objects */
#define OBJECT_TABLE(member, fn) .table = offsetof(struct hca, member), .drop = (fn)

/* The commands of a class: an array. */
#define OBJECT_CMDS(array) .cmds = (array), .num_cmds = sizeof(array) / sizeof((array)[0])

#endif
