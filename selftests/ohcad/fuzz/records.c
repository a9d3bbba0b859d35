// SPDX-License-Identifier: GPL-2.0
/* Inputs that are records. */

#include "inproc.h"
#include "records.h"

#define STEPS 3 /* rounds of the device after each record */

void records_step(void)
{
	unsigned int i;

	for (i = 0; i < STEPS; i++)
		inproc_step();
}

void records_run(struct input *in, void *rec, size_t len,
		 void (*happen)(struct input *in, const void *rec), void (*after)(void))
{
	while (input_get(in, rec, len)) {
		happen(in, rec);
		records_step();
		if (after)
			after();
	}
}
