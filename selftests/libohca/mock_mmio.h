/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers of the mock are memory.  On s390x, rdma-core accesses registers by instructions, or system calls, that are for PCI
 * devices alone; there, its functions for all other processors are used.  Included before the source of each file.
 */

#ifndef MOCK_MMIO_H
#define MOCK_MMIO_H

#ifdef __s390x__
#include <config.h>
#include <endian.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <util/compiler.h>

#undef __s390x__
#include <util/mmio.h>
#define __s390x__ 1
#endif

#endif
