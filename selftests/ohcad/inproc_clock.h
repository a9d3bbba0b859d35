/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Time as a test program makes it, for the device inside of it: a round of the device is a
 * microsecond.  The program is linked with --wrap=clock_gettime.
 */

#ifndef SELFTESTS_OHCAD_INPROC_CLOCK_H
#define SELFTESTS_OHCAD_INPROC_CLOCK_H

#include <stdint.h>

#define MS 1000000ULL /* ns */

/* Rounds take time from now on, and no more; inproc_hook belongs to the clock meanwhile. */
void inproc_clock_start(void);
void inproc_clock_stop(void);
/* Now, in ns */
uint64_t inproc_clock(void);
/* Let time pass, and the device see each part of it. */
void inproc_elapse(uint64_t ns);

#endif
