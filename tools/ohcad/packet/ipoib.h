/* SPDX-License-Identifier: GPL-2.0 */
/*
 * IP over InfiniBand (RFC 4391) in a datagram: a header of OHCA_IPOIB_HDR_LEN bytes, and a packet of
 * IP.  Its checksums, and its segmentation.
 */

#ifndef OHCAD_IPOIB_H
#define OHCAD_IPOIB_H

#include "packet/l4.h"
#include "packet/tso.h"

#define IPOIB_MAX_HEADERS (OHCA_IPOIB_HDR_LEN + L4_MAX_IP_HEADER + L4_MIN_TCP)

/* Are the checksums of IP and of TCP or UDP there and good?  @len: bytes of @iov */
bool ipoib_csum_good(const struct iovec *iov, unsigned int num, size_t len);

/*
 * Complete the checksums of IPv4, and of TCP or UDP: the beginning of the datagram goes to @head, and
 * @iov, with room for one piece more than its *@num, has that in place of it.  What is no packet of IP
 * stays as it is.  Returns whether that of TCP or UDP is there and good now.
 */
bool ipoib_csum_make(struct iovec *iov, unsigned int *num, size_t len,
		     uint8_t head[IPOIB_MAX_HEADERS]);

/*
 * Begin to cut a datagram of @len bytes whose first @hdr_len are its headers; lengths and checksums in
 * those do not matter.  False if they are not those of TCP over IPv4 or IPv6.
 */
bool ipoib_lso_start(struct tso *tso, uint16_t hdr_len, uint16_t mss, const struct iovec *iov,
		     unsigned int num, uint32_t len);

#endif
