/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls that should not block, but that somebody else can make block: they end after some
 * milliseconds, with EINTR.
 */

#ifndef OHCAD_GUARD_H
#define OHCAD_GUARD_H

/*
 * Between these two, a call that blocks is interrupted.  They cost a system call now and then, not
 * each time.  The signal is SIGRTMIN: nobody else uses it.
 */
void guard_begin(void);
void guard_end(void);

#endif
