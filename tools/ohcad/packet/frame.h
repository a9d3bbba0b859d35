/* SPDX-License-Identifier: GPL-2.0 */
/* The headers of an Ethernet frame, taken apart for those who choose by them. */

#ifndef OHCAD_FRAME_H
#define OHCAD_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "ohca/ohca_cmd.h"

#define MATCH_WORDS (sizeof(struct ohca_flow_match) / sizeof(uint64_t))

/* Fields of headers, and as the words in which they are compared. */
union match {
	struct ohca_flow_match fields;
	uint64_t words[MATCH_WORDS];
};

/**
 * struct frame - the headers of a frame
 * @match: their fields, zero where there is no such header
 * @ports: it is all of a TCP segment or UDP datagram, no fragment, and has ports
 */
struct frame {
	union match match;
	bool ports;
};

/* Take apart a frame of at least ETH_HDR_LEN bytes. */
void frame_parse(struct frame *frame, const struct iovec *iov, unsigned int num);

#endif
