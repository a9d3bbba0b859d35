/* SPDX-License-Identifier: GPL-2.0 */
/* The processors that this process may run on, and how busy they are. */

#ifndef OHCAD_CPUS_H
#define OHCAD_CPUS_H

#include <stdbool.h>

/*
 * Returns whether the host has no more runnable threads than we have processors; false if unknown.
 */
bool cpus_suffice(void);

/*
 * Move the calling thread to another processor, if it may run on another one.  It stays away from
 * the old one until cpus_any().  Only one thread of the process may use these functions.
 */
void cpus_hop(void);

/* Restore the affinity that the thread had before cpus_hop(). */
void cpus_any(void);

#endif
