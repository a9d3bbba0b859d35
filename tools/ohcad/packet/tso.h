/* SPDX-License-Identifier: GPL-2.0 */
/* TCP segmentation: a large packet is sent in several small ones. */

#ifndef OHCAD_TSO_H
#define OHCAD_TSO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/iov.h"
#include "ohca/ohca_queue.h"

/**
 * struct tso_layout - where the headers of a large packet are
 * @ip: offset of the IP header
 * @tcp: offset of the TCP header
 * @hdr_len: bytes of all headers
 * @mss: data of a segment
 */
struct tso_layout {
	uint16_t ip, tcp, hdr_len, mss;
};

/**
 * struct tso - a packet that is cut into segments
 * @at: its layout
 * @data: what comes next
 * @len: bytes of the packet
 * @left: data that are in no segment yet
 * @csum: TCP's checksum as the host gave it
 * @sum: of what is the same in all segments' pseudo headers
 * @hdr: the headers as the host gave them
 * @head: those of the segment at hand
 */
struct tso {
	struct tso_layout at;
	struct iov_pos data;
	uint32_t len, left;
	uint16_t csum;
	uint64_t sum;
	uint8_t hdr[OHCA_TSO_MAX_HDR];
	uint8_t head[OHCA_TSO_MAX_HDR];
};

#define TSO_MAX_LEN (OHCA_TSO_MAX_HDR + OHCA_TSO_MAX_IP)

/*
 * Begin with a packet: its @num pieces @iov, @len bytes.  False if it has no headers of IP and TCP
 * there.  Then say what the sum of the pseudo header is, by one of the two functions below.
 */
bool tso_start(struct tso *tso, const struct tso_layout *at, const struct iovec *iov,
	       unsigned int num, uint32_t len);
/* In the place of TCP's checksum is the sum of the pseudo header, with the length of all. */
void tso_pseudo_given(struct tso *tso);
/* It is worked out; what is in the place of TCP's checksum does not matter. */
void tso_pseudo_made(struct tso *tso);

/*
 * The next segment: @iov, with room for one piece more than the packet has, gets *@num of them,
 * good until the next call.  Returns its length, 0 when there is none left.
 */
uint32_t tso_next(struct tso *tso, struct iovec *iov, unsigned int *num);

/* Leave out so many segments, or those that there are. */
void tso_skip(struct tso *tso, uint32_t num);

/* How many are left. */
uint32_t tso_segments(const struct tso *tso);

/*
 * All of it as it is, in place of the first segment: @iov likewise.  In the place of TCP's checksum
 * is what the host gave.  Returns its length.
 */
uint32_t tso_whole(struct tso *tso, struct iovec *iov);

/* OHCA_NET_* */
uint8_t tso_net_type(const struct tso *tso);

#endif
