/* SPDX-License-Identifier: GPL-2.0 */
/* The processors that this process may run on, and who else wants them. */

#ifndef OHCAD_CPUS_H
#define OHCAD_CPUS_H

#include <stdbool.h>

/* Whether the host has no more threads that want to run than we have processors; if unknown: no. */
bool cpus_suffice(void);

/* Move the calling thread to another processor, if it may run on any other one; it does not come back
 * before cpus_any().  Of one thread in the process.
 */
void cpus_hop(void);

/* It may again be where it might be before cpus_hop(). */
void cpus_any(void);

#endif
