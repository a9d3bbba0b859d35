/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fuzz target is a program that executes inputs.  The result of an input is always the same.
 * libFuzzer generates inputs; replay.c reads them from files, and writes the initial ones.
 */

#ifndef SELFTESTS_OHCAD_FUZZ_TARGET_H
#define SELFTESTS_OHCAD_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "input.h"

/* Execute an input; returns 0. libFuzzer requires another symbol for it. */
int fuzz_one(const uint8_t *data, size_t size) __asm__("LLVMFuzzerTestOneInput");

/* Build the initial inputs, and call @emit for each. */
void fuzz_seeds(void (*emit)(const char *name, const struct seed *seed));

#endif
