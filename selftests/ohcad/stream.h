/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests of a client as one stream of bytes, sent in any pieces, and a check that the replies are
 * a stream without gaps: each in its turn, whole, and with what a memory full of STREAM_BYTE yields
 * or, from some reply on, a device that is gone.  What is wrong fails the test.
 */

#ifndef SELFTESTS_OHCAD_STREAM_H
#define SELFTESTS_OHCAD_STREAM_H

#include "client.h"

#define STREAM_BYTE 0x5a
#define STREAM_MAX_MULTI 8

/**
 * struct stream_reply - a reply that is to come
 * @error: an error
 */
struct stream_reply {
	uint16_t id;
	uint16_t cmd;
	uint32_t size;
	int error;
};

/**
 * struct stream_request - where a request is among all requests, and its reply among all replies
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
 * @replies: @num that are to come, of which @seen have come
 * @reply_bytes: of these @num, @received of them have come
 * @in: the beginning of the next one, @got bytes
 * @gone: from some reply on there were ones only
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

/* More requests; nothing is sent yet. */
void stream_read(struct stream *stream, uint64_t off, uint32_t len);
void stream_write(struct stream *stream, uint64_t off, uint32_t len, bool post);
/* @num writes of 8 bytes in one request without a reply. */
void stream_write_multi(struct stream *stream, uint64_t off, unsigned int num);
/* That there is no such command; @len bytes of payload. */
void stream_unknown(struct stream *stream, uint32_t len);

/* Send up to @max bytes, as many as can be sent at once, and take what replies there are. */
void stream_move(struct stream *stream, size_t max);
void stream_receive(struct stream *stream);
/* All of it, and the replies. */
void stream_finish(struct stream *stream);

#endif
