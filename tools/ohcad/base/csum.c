// SPDX-License-Identifier: GPL-2.0
/* Internet checksums. */

#include <arpa/inet.h>
#include <string.h>

#include "base/csum.h"

uint64_t csum_add(uint64_t sum, const uint8_t *data, size_t len, bool odd)
{
	uint32_t word;
	uint16_t half;

	if (odd && len) {
		sum += htons(*data++);
		len--;
	}
	for (; len >= 4; len -= 4, data += 4) {
		memcpy(&word, data, 4);
		sum += word;
	}
	if (len >= 2) {
		memcpy(&half, data, 2);
		sum += half;
		data += 2;
		len -= 2;
	}
	if (len)
		sum += htons(*data << 8);
	return sum;
}

uint64_t csum_iov(uint64_t sum, const struct iovec *iov, unsigned int num, size_t off, size_t end)
{
	size_t start = off;
	size_t pos = 0;
	unsigned int i;

	for (i = 0; i < num && pos < end; pos += iov[i++].iov_len) {
		size_t to = pos + iov[i].iov_len < end ? iov[i].iov_len : end - pos;

		if (off >= pos + to)
			continue;
		sum = csum_add(sum, (const uint8_t *)iov[i].iov_base + (off - pos),
			       to - (off - pos), (off - start) & 1);
		off = pos + to;
	}
	return sum;
}
