/* SPDX-License-Identifier: GPL-2.0 */
/* Inputs that are records of one size, some of them with bytes behind them, for a device in the program. */

#ifndef SELFTESTS_OHCAD_FUZZ_RECORDS_H
#define SELFTESTS_OHCAD_FUZZ_RECORDS_H

#include <stddef.h>

#include "input.h"

/* The rounds of the device after each record */
void records_step(void);

/*
 * Read records of @len bytes, to @rec, until the input ends.  @happen executes each, and gets the rest
 * of the input, of which it may take bytes.  Then the device runs, and @after is called if it is not
 * NULL.
 */
void records_run(struct input *in, void *rec, size_t len,
		 void (*happen)(struct input *in, const void *rec), void (*after)(void));

#endif
