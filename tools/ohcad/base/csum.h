/* SPDX-License-Identifier: GPL-2.0 */
/* Internet checksums: sums of 16-bit words in network order, in whatever order the machine has. */

#ifndef OHCAD_CSUM_H
#define OHCAD_CSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* Add bytes to a sum, not folded.  @odd: the first byte is the second of a word. */
uint64_t csum_add(uint64_t sum, const uint8_t *data, size_t len, bool odd);

/* Add the bytes of @iov from @off to @end. */
uint64_t csum_iov(uint64_t sum, const struct iovec *iov, unsigned int num, size_t off, size_t end);

static inline uint16_t csum_fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

#endif
