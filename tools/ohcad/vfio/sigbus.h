/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that a client shares can vanish: it may truncate the file under our mapping, and the next
 * access is a SIGBUS. In ranges known here the missing page is replaced by one of zeroes, so that
 * the client harms only itself.
 */

#ifndef OHCAD_SIGBUS_H
#define OHCAD_SIGBUS_H

#include <stddef.h>

/*
 * Know the mapping [va, va + size) of a file with pages of @page_size, a power of two (larger than
 * the system's for huge pages).  Returns 0 or -ENOMEM.
 */
int sigbus_add(void *va, size_t size, size_t page_size);
void sigbus_del(const void *va);

#endif
