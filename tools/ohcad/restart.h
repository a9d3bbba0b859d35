/* SPDX-License-Identifier: GPL-2.0 */
/* A process that dies is started again. */

#ifndef OHCAD_RESTART_H
#define OHCAD_RESTART_H

#include <stdbool.h>

/*
 * Fork a process that continues here, and another one each time that a signal has ended it.  Returns
 * true in each of them.  This process only waits, passes SIGTERM and SIGINT on, and returns false when
 * one has ended by itself, or was asked to: *@status is then what to exit with.  Call it before
 * anything is opened.
 */
bool restart_on_death(int *status);

#endif
