/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a fuzz target is: a program that executes inputs, each of them in the same way whenever it
 * comes.  libFuzzer makes inputs up; replay.c takes them from files, and writes the first ones.
 */

#ifndef SELFTESTS_OHCAD_FUZZ_TARGET_H
#define SELFTESTS_OHCAD_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "input.h"

/* Execute an input; returns 0.  libFuzzer has a name of its own for it. */
int fuzz_one(const uint8_t *data, size_t size) __asm__("LLVMFuzzerTestOneInput");

/* Make the inputs to begin with, of which each goes to @emit. */
void fuzz_seeds(void (*emit)(const char *name, const struct seed *seed));

#endif
