// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory of queues.
 */

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ohca.h"

int ohca_buf_alloc(struct ohca_buf *buf, uint64_t size)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	int ret;

	if (!size || size > SIZE_MAX - page)
		return ENOMEM;
	buf->size = (size + page - 1) & ~(page - 1);
	buf->addr =
		mmap(NULL, buf->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf->addr == MAP_FAILED)
		return errno;
	ret = ibv_dontfork_range(buf->addr, buf->size);
	if (ret) {
		ret = errno;
		munmap(buf->addr, buf->size);
	}
	return ret;
}

void ohca_buf_free(struct ohca_buf *buf)
{
	ibv_dofork_range(buf->addr, buf->size);
	munmap(buf->addr, buf->size);
}
