/* SPDX-License-Identifier: GPL-2.0 */
/* Lists of pieces of memory (struct iovec): to look at them, and to copy between them. */

#ifndef OHCAD_IOV_H
#define OHCAD_IOV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

/* Copy the first @len bytes to @buf; returns how many there are. */
size_t iov_peek(const struct iovec *iov, unsigned int num, uint8_t *buf, size_t len);

/**
 * struct iov_pos - a place in a list of pieces
 */
struct iov_pos {
	const struct iovec *iov;
	size_t off;
};

/* Move on by @len bytes, all of them there. */
static inline void iov_skip(struct iov_pos *pos, size_t len)
{
	while (len && len >= pos->iov->iov_len - pos->off) {
		len -= pos->iov->iov_len - pos->off;
		pos->iov++;
		pos->off = 0;
	}
	pos->off += len;
}

/* The pieces of the next @len bytes, all of them there, which @pos moves over.  Returns how many there are. */
unsigned int iov_take(struct iov_pos *pos, size_t len, struct iovec *iov);

/*
 * The first @len bytes of the @num pieces, all of them there, are those at @buf from now on.  There is
 * room for one piece more.  Returns how many there are.
 */
unsigned int iov_replace(struct iovec *iov, unsigned int num, void *buf, size_t len);

/*
 * Copy from @src, which moves on, to all of the @num pieces @dst.  With @tail the last bytes (up
 * to 8) are written after all others, in ascending order: software may wait for them in memory.
 */
void iov_copy_slow(const struct iovec *dst, unsigned int num, struct iov_pos *src, bool tail);

/* Store the largest naturally aligned piece, up to 8 bytes, of what is left; returns its size. */
static inline size_t store_piece(uint8_t *dst, const uint8_t *src, size_t left)
{
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;

	if (left >= 8 && (uintptr_t)dst % 8 == 0) {
		memcpy(&v8, src, 8);
		__atomic_store_n((uint64_t *)dst, v8, __ATOMIC_RELEASE);
		return 8;
	}
	if (left >= 4 && (uintptr_t)dst % 4 == 0) {
		memcpy(&v4, src, 4);
		__atomic_store_n((uint32_t *)dst, v4, __ATOMIC_RELEASE);
		return 4;
	}
	if (left >= 2 && (uintptr_t)dst % 2 == 0) {
		memcpy(&v2, src, 2);
		__atomic_store_n((uint16_t *)dst, v2, __ATOMIC_RELEASE);
		return 2;
	}
	__atomic_store_n(dst, *src, __ATOMIC_RELEASE);
	return 1;
}

/*
 * Copy @len bytes, the last ones last: in pieces that cross no cache line, so that they show in
 * order, and none of which tears an integer in which software waits.
 */
static inline void copy_tail(uint8_t *dst, const uint8_t *src, size_t len)
{
	size_t body = len > 8 ? len - 8 : 0;
	size_t i, num = len - body;
	uint8_t last[8];

	memcpy(last, src + body, num);
	memmove(dst, src, body);
	for (i = 0; i < num;)
		i += store_piece(dst + body + i, last + i, num - i);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void iov_copy(const struct iovec *dst, unsigned int num, struct iov_pos *src,
			    bool tail)
{
	if (num == 1 && src->iov->iov_len - src->off >= dst->iov_len && tail) {
		copy_tail(dst->iov_base, (const uint8_t *)src->iov->iov_base + src->off,
			  dst->iov_len);
		src->off += dst->iov_len;
		return;
	}
	iov_copy_slow(dst, num, src, tail);
}

#endif
