/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files with guest memory.  A client passes any descriptor it likes; one of a file system that asks
 * another process or computer (FUSE, 9p, NFS) would stop this process for as long as that one does
 * not answer.
 */

#ifndef OHCAD_MEM_FILE_H
#define OHCAD_MEM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct mem_file - a file
 * @regular: it is a regular file; else there is nothing more to know
 * @in_memory: it is in memory alone (memfd, tmpfs, hugetlbfs): there is nothing to write back
 * @size: in bytes
 * @page_size: of its pages in memory, a power of two
 */
struct mem_file {
	bool regular;
	bool in_memory;
	uint64_t size;
	size_t page_size;
};

/*
 * Find out what @fd is, without asking its file system anything that can take long.  Returns 0,
 * -EPERM for a regular file that is neither in memory nor on a file system of this computer, or
 * another -errno.
 */
int mem_file_check(int fd, struct mem_file *file);

/*
 * Open what mem_file_check() reads, for a process that can't later.  Without this, it is opened when it
 * is needed first.
 */
void mem_file_prepare(void);

#endif
