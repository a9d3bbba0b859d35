// SPDX-License-Identifier: GPL-2.0
/* How this process gets memory from the C library. */

#include <malloc.h>

#include "base/heap.h"

/* The library's initial value; that it is set ends its growth. */
#define LARGE (128 << 10)

void heap_init(void)
{
	mallopt(M_MMAP_THRESHOLD, LARGE);
}
