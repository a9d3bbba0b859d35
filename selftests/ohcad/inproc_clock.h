/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A clock that the test program controls, for the device in it: a round of the device takes a
 * microsecond.  The program is linked with --wrap=clock_gettime.
 */

#ifndef SELFTESTS_OHCAD_INPROC_CLOCK_H
#define SELFTESTS_OHCAD_INPROC_CLOCK_H

#include <stdint.h>

#define MS 1000000ULL /* ns */

/* From now on only rounds advance the clock; it uses inproc_hook. */
void inproc_clock_start(void);
void inproc_clock_stop(void);
/* Now, in ns */
uint64_t inproc_clock(void);
/* Let time pass in steps, and run the device after each. */
void inproc_elapse(uint64_t ns);

#endif
