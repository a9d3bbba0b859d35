// SPDX-License-Identifier: GPL-2.0
/* Lists of pieces of memory. */

#include "base/iov.h"

size_t iov_peek(const struct iovec *iov, unsigned int num, uint8_t *buf, size_t len)
{
	size_t sum = 0;
	unsigned int i;

	for (i = 0; i < num && sum < len; i++) {
		size_t n = iov[i].iov_len < len - sum ? iov[i].iov_len : len - sum;

		memcpy(buf + sum, iov[i].iov_base, n);
		sum += n;
	}
	return sum;
}

unsigned int iov_take(struct iov_pos *pos, size_t len, struct iovec *iov)
{
	unsigned int num = 0;

	while (len) {
		size_t part = pos->iov->iov_len - pos->off;

		if (part > len)
			part = len;
		iov[num].iov_base = (uint8_t *)pos->iov->iov_base + pos->off;
		iov[num++].iov_len = part;
		len -= part;
		iov_skip(pos, part);
	}
	return num;
}

unsigned int iov_replace(struct iovec *iov, unsigned int num, void *buf, size_t len)
{
	struct iov_pos rest = {.iov = iov};

	iov_skip(&rest, len);
	num -= rest.iov - iov;
	memmove(iov + 1, rest.iov, num * sizeof(*iov));
	if (rest.off) {
		iov[1].iov_base = (uint8_t *)iov[1].iov_base + rest.off;
		iov[1].iov_len -= rest.off;
	}
	iov[0] = (struct iovec){.iov_base = buf, .iov_len = len};
	return num + 1;
}

/*
 * Memory of a machine that this process has not accessed before is a page fault.  After one for a store,
 * the kernel maps that page only, but after one for a load also those around it, this many bytes.
 */
#define AROUND 65536

static void touch(const uint8_t *at, size_t len)
{
	size_t off;

	for (off = 0; off < len; off += AROUND)
		*(const volatile uint8_t *)(at + off);
}

void iov_copy_slow(const struct iovec *dst, unsigned int num, struct iov_pos *src, bool tail)
{
	const struct iovec *from = src->iov, *last = dst + num - 1;
	size_t off = src->off;

	/* Whole pages, aligned alike on both sides: most of a long message */
	for (; !off && dst < last && dst->iov_len == from->iov_len; dst++, from++) {
		touch(dst->iov_base, dst->iov_len);
		memmove(dst->iov_base, from->iov_base, dst->iov_len);
	}

	for (; dst <= last; dst++) {
		uint8_t *to = dst->iov_base;
		size_t left = dst->iov_len;

		touch(to, left);
		while (left) {
			const uint8_t *at = (const uint8_t *)from->iov_base + off;
			size_t len = from->iov_len - off;

			if (len > left)
				len = left;
			if (len == left && dst == last && tail) {
				__atomic_thread_fence(__ATOMIC_RELEASE);
				copy_tail(to, at, len);
			} else {
				memmove(to, at, len);
			}
			to += len;
			left -= len;
			off += len;
			if (off == from->iov_len && (left || dst < last)) {
				from++;
				off = 0;
			}
		}
	}
	src->iov = from;
	src->off = off;
}
