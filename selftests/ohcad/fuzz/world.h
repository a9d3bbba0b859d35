/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The environment of the device in fuzz targets: a clock that advances only when it is read, fixed
 * numbers in place of random ones, and no log.  Linked with --wrap=clock_gettime,--wrap=getrandom.
 */

#ifndef SELFTESTS_OHCAD_FUZZ_WORLD_H
#define SELFTESTS_OHCAD_FUZZ_WORLD_H

#include <stdint.h>

/* An input begins: each one at the same time. */
void world_begin(void);
/* Let time pass. */
void world_sleep(uint64_t ns);

#endif
