/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls that should not block, but that another process can make block: they end after some
 * milliseconds, with EINTR.
 */

#ifndef OHCAD_GUARD_H
#define OHCAD_GUARD_H

/*
 * Between these two, a call that blocks is interrupted.  They cost a system call now and then, not
 * each time.  The signal is SIGRTMIN: no other part uses it.
 */
void guard_begin(void);
void guard_end(void);

#endif
