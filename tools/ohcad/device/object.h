/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Classes of objects: UARs, protection domains, QPs and so on.  The file of each defines its class,
 * and the adapter has the list of all.
 */

#ifndef OHCAD_OBJECT_H
#define OHCAD_OBJECT_H

#include "device/cmd.h"

/**
 * struct object_class - a class of objects; what it does not need is NULL
 * @init: the HCA is created: make an empty table.  0 or -errno; then @fini is not called.
 * @fini: the HCA is destroyed, and all objects are freed already
 * @drain: the HCA is reset: free objects without touching host memory; their users are freed already.
 *	Returns whether all are freed.  If not, loop_clock() has passed @end, and it is called again.
 * @reset: free what @drain has not.  Numbers start anew.
 * @stop: the HCA is fatal: no object may touch host memory any more
 * @cmds: commands on them, @num_cmds
 */
struct object_class {
	int (*init)(struct hca *hca);
	void (*fini)(struct hca *hca);
	bool (*drain)(struct hca *hca, uint64_t end);
	void (*reset)(struct hca *hca);
	void (*stop)(struct hca *hca);
	const struct cmd_desc *cmds;
	unsigned int num_cmds;
};

/*
 * For object_class.drain: call @drop, which removes the object from the table and frees it, for all objects of a table,
 * or until @end (loop_clock()).  Some are freed in any case.  Returns whether the table is empty.
 */
bool objects_drain(struct hca *hca, struct table *table,
		   void (*drop)(struct hca *hca, void *object, uint32_t id), uint64_t end);

/* The commands of a class: an array. */
#define OBJECT_CMDS(array) .cmds = (array), .num_cmds = sizeof(array) / sizeof((array)[0])

#endif
