/* SPDX-License-Identifier: GPL-2.0 */
/* TCP segmentation: a large frame is sent in several small ones (OHCA_WQE_TSO). */

#ifndef OHCAD_TSO_H
#define OHCAD_TSO_H

#include <stdint.h>

#include "qp/wq.h"

/**
 * struct tso - a frame that is cut into segments
 * @data: what comes next
 * @len: bytes of the frame
 * @left: data that are in no segment yet
 * @ip: offset of the IP header
 * @tcp: offset of the TCP header
 * @hdr_len: bytes of all headers
 * @mss: data of a segment
 * @csum: TCP's checksum as the host gave it
 * @sum: of what is the same in all segments' pseudo headers
 * @hdr: the headers as the host gave them
 * @head: those of the segment at hand
 */
struct tso {
	struct iov_pos data;
	uint32_t len, left;
	uint16_t ip, tcp, hdr_len, mss;
	uint16_t csum;
	uint64_t sum;
	uint8_t hdr[OHCA_TSO_MAX_HDR];
	uint8_t head[OHCA_TSO_MAX_HDR];
};

#define TSO_MAX_LEN (OHCA_TSO_MAX_HDR + OHCA_TSO_MAX_IP)
#define TSO_MAX_IOV (SGE_MAX_IOV + 1) /* pieces of a segment */

/*
 * Begin with the frame of the work request: its @num pieces @iov, @len bytes.  Returns 0 or
 * OHCA_VENDOR_ERR_*.
 */
int tso_start(struct tso *tso, const struct ohca_sq_wqe *wqe, const struct iovec *iov,
	      unsigned int num, uint32_t len);

/*
 * The next segment: @iov, with room for TSO_MAX_IOV pieces, gets *@num of them, good until the next
 * call.  Returns its length, 0 when there is none left.
 */
uint32_t tso_next(struct tso *tso, struct iovec *iov, unsigned int *num);

/* How many are left. */
uint32_t tso_segments(const struct tso *tso);

/*
 * All of it as it is, in place of the first segment: @iov likewise.  In the place of TCP's checksum
 * is the pseudo header's sum.  Returns its length.
 */
uint32_t tso_whole(struct tso *tso, struct iovec *iov);

/* OHCA_NET_* */
uint8_t tso_net_type(const struct tso *tso);

#endif
