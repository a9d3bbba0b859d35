/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests of a client as one stream of bytes, sent in pieces of any size.  The replies are
 * checked: they have to be a stream without gaps, in order and complete.  Their data are those of a
 * memory filled with STREAM_BYTE or, from some reply on, those of an absent device.  A wrong reply
 * fails the test.
 */

#ifndef SELFTESTS_OHCAD_STREAM_H
#define SELFTESTS_OHCAD_STREAM_H

#include "client.h"

#define STREAM_BYTE 0x5a
#define STREAM_MAX_MULTI 8

/**
 * struct stream_reply - an expected reply
 * @error: an error
 */
struct stream_reply {
	uint16_t id;
	uint16_t cmd;
	uint32_t size;
	int error;
};

/**
 * struct stream_request - position of a request among all requests, and of its reply among all
 *	replies
 * @reply, @reply_len: 0 bytes if there is none
 */
struct stream_request {
	size_t start, len;
	size_t reply, reply_len;
};

/**
 * struct stream - a client's requests and replies
 * @region: the memory
 * @requests: @num_requests of them
 * @out: their bytes, @len, of which @sent are sent
 * @replies: @num expected ones, of which @seen have arrived
 * @reply_bytes: number of bytes of these @num; @received bytes have arrived
 * @in: the beginning of the next one, @got bytes
 * @gone: from some reply on all data were ones
 */
struct stream {
	struct vu *vu;
	unsigned int region;
	struct stream_request *requests;
	unsigned int num_requests;
	uint8_t *out;
	size_t len, sent;
	struct stream_reply *replies;
	unsigned int num, seen;
	size_t reply_bytes, received;
	uint8_t *in;
	size_t got;
	bool gone;
};

/* Fills the first VU_MAX_DATA bytes of the region. */
void stream_init(struct stream *stream, struct vu *vu, unsigned int region);
void stream_fini(struct stream *stream);

/* Append requests; nothing is sent yet. */
void stream_read(struct stream *stream, uint64_t off, uint32_t len);
void stream_write(struct stream *stream, uint64_t off, uint32_t len, bool post);
/* @num writes of 8 bytes in one request without a reply. */
void stream_write_multi(struct stream *stream, uint64_t off, unsigned int num);
/* A request of an unknown command; @len bytes of payload. */
void stream_unknown(struct stream *stream, uint32_t len);

/* Send up to @max bytes, as many as can be sent at once, and read the available replies. */
void stream_move(struct stream *stream, size_t max);
void stream_receive(struct stream *stream);
/* Send all of it, and read all replies. */
void stream_finish(struct stream *stream);

#endif
