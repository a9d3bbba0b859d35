/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The world outside of the device as fuzz targets have it: a clock that only goes as often as it is
 * read, random numbers that are none, and nobody who reads log lines.  Linked with
 * --wrap=clock_gettime,--wrap=getrandom.
 */

#ifndef SELFTESTS_OHCAD_FUZZ_WORLD_H
#define SELFTESTS_OHCAD_FUZZ_WORLD_H

#include <stdint.h>

/* An input begins: at the same time as each. */
void world_begin(void);
/* Time goes by. */
void world_sleep(uint64_t ns);

#endif
