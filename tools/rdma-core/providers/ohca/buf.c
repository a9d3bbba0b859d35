// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory of queues.
 */

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <util/util.h>

#include "ohca.h"

/* Buffers up to this size share a chunk of memory with others. */
#define OHCA_SHARED_MAX 65536

/*
 * Allocate memory by the application's allocator; @buf->addr is NULL if that leaves it to the
 * library.
 */
static int ohca_buf_ask(struct ohca_buf *buf, struct ohca_pd *pd, uint64_t size)
{
	uint64_t page = getpagesize();
	void *addr;

	buf->size = align(size, page);
	addr = pd->alloc(&pd->pd, pd->alloc_context, buf->size, page, buf->type);
	if (addr == IBV_ALLOCATOR_USE_DEFAULT)
		return 0;
	if (!addr)
		return ENOMEM;
	memset(addr, 0, buf->size);
	buf->addr = addr;
	buf->pd = pd;
	return 0;
}

static int ohca_buf_map(struct ohca_buf *buf)
{
	buf->addr =
		mmap(NULL, buf->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return buf->addr == MAP_FAILED ? errno : 0;
}

static int ohca_buf_from_chunk(struct ohca_buf *buf)
{
	buf->addr = ohca_block_alloc(buf->size, &buf->chunk);
	if (!buf->addr)
		return ENOMEM;
	memset(buf->addr, 0, buf->size);
	return 0;
}

/* Free memory in the way in which it was allocated. */
static void ohca_buf_release(struct ohca_buf *buf)
{
	if (buf->pd)
		buf->pd->free(&buf->pd->pd, buf->pd->alloc_context, buf->addr, buf->type);
	else if (buf->chunk)
		ohca_block_free(buf->addr, buf->size, buf->chunk);
	else
		munmap(buf->addr, buf->size);
}

int ohca_buf_alloc(struct ohca_buf *buf, uint64_t size, struct ohca_pd *pd, enum ohca_res_type type)
{
	int ret = 0;

	if (!size || size > SIZE_MAX - getpagesize())
		return ENOMEM;
	*buf = (struct ohca_buf){
		.type = type,
	};
	if (pd && pd->alloc)
		ret = ohca_buf_ask(buf, pd, size);
	if (!ret && !buf->addr) {
		buf->size = ohca_block_size(size);
		ret = buf->size <= OHCA_SHARED_MAX ? ohca_buf_from_chunk(buf) : ohca_buf_map(buf);
	}
	if (ret)
		return ret;
	ret = ibv_dontfork_range(buf->addr, buf->size);
	if (ret) {
		ret = errno;
		ohca_buf_release(buf);
	}
	return ret;
}

void ohca_buf_free(struct ohca_buf *buf)
{
	ibv_dofork_range(buf->addr, buf->size);
	ohca_buf_release(buf);
}
