/* SPDX-License-Identifier: GPL-2.0 */
/* All classes of objects of an HCA. */

#ifndef OHCAD_CMD_TABLE_H
#define OHCAD_CMD_TABLE_H

#include "device/hca.h"

/*
 * Initialize the tables of all classes, and hca->cmds.  Returns 0 or -errno; on failure nothing
 * remains.
 */
int objects_init(struct hca *hca);
void objects_fini(struct hca *hca);
/*
 * Free all objects, users before what they use, without access to host memory.  objects_reset() is called until it
 * returns true; it returns false when loop_clock() has passed @end, about.  Between the calls, objects that are left
 * must not be used: the HCA is not ready.
 */
void objects_reset_start(struct hca *hca);
bool objects_reset(struct hca *hca, uint64_t end);
/* The HCA has entered the fatal state. */
void objects_stop(struct hca *hca);

#endif
