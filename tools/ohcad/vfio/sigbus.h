/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that a client shares can vanish: the client may truncate the file under the mapping, and
 * the next access raises SIGBUS.  In the ranges that are registered here, the missing page
 * and, if there are many, pages around it are replaced by zeroes, so that the client damages only its
 * own data.
 */

#ifndef OHCAD_SIGBUS_H
#define OHCAD_SIGBUS_H

#include <stddef.h>

/*
 * Register the mapping [va, va + size) of a file with pages of @page_size, a power of two (larger
 * than the system's for huge pages).  Returns 0 or -ENOMEM.
 */
int sigbus_add(void *va, size_t size, size_t page_size);
void sigbus_del(const void *va);

#endif
