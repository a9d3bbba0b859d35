/* SPDX-License-Identifier: GPL-2.0 */
/* How this process gets memory from the C library. */

#ifndef OHCAD_HEAP_H
#define OHCAD_HEAP_H

/*
 * Large blocks are always mappings of their own, so that calloc() of one does not write to it: the kernel clears each page
 * when it is used first.  By default, the library takes such blocks from its heap after one of their size was freed,
 * and a queue pair with long queues costs the time to clear a megabyte in one piece.  Call this once, when the process begins.
 */
void heap_init(void);

#endif
