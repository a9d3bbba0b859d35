/* SPDX-License-Identifier: GPL-2.0 */
/* Pages of this host's memory.  Pages of the hardware interface have 4 KiB on each host. */

#ifndef OHCAD_PAGE_H
#define OHCAD_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/* Size of a page, a power of two: 4 KiB on x86-64, up to 64 KiB elsewhere. */
static inline size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

/* Offset of an address, or of a position in a file, in its page */
static inline size_t page_offset(uint64_t pos)
{
	return pos & (page_size() - 1);
}

#endif
