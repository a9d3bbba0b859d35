// SPDX-License-Identifier: GPL-2.0
/* Requests and replies as streams. */

#include <poll.h>
#include <sys/socket.h>

#include "harness.h"
#include "stream.h"

#define HDR sizeof(struct vfio_user_hdr)
#define MAX_OUT (1 << 20)
#define MAX_REQUESTS 4096
#define MAX_REPLY (HDR + sizeof(struct vfio_user_region_rw) + VU_MAX_DATA)
#define UNKNOWN_CMD 77

void stream_init(struct stream *stream, struct vu *vu, unsigned int region)
{
	memset(stream, 0, sizeof(*stream));
	stream->vu = vu;
	stream->region = region;
	stream->out = malloc(MAX_OUT);
	stream->in = malloc(MAX_REPLY);
	stream->requests = calloc(MAX_REQUESTS, sizeof(*stream->requests));
	stream->replies = calloc(MAX_REQUESTS, sizeof(*stream->replies));
	assert_true(stream->out && stream->in && stream->requests && stream->replies);
	stream_write(stream, 0, VU_MAX_DATA, false);
	stream_finish(stream);
}

void stream_fini(struct stream *stream)
{
	free(stream->out);
	free(stream->in);
	free(stream->requests);
	free(stream->replies);
}

static void expect(struct stream *stream, const struct vfio_user_hdr *hdr, uint32_t size, int error)
{
	stream->replies[stream->num++] = (struct stream_reply){hdr->id, hdr->cmd, size, error};
	stream->requests[stream->num_requests - 1].reply_len = size;
	stream->reply_bytes += size;
}

/* Append a request of @len bytes of payload, which begins with @rw if that is not NULL. */
static struct vfio_user_hdr request(struct stream *stream, uint16_t cmd, uint32_t flags,
				    const struct vfio_user_region_rw *rw, uint32_t len)
{
	struct vfio_user_hdr hdr = {stream->vu->next_id++, cmd, HDR + len, flags, 0};
	uint8_t *msg = stream->out + stream->len;

	assert_true(stream->len + hdr.size <= MAX_OUT && stream->num_requests < MAX_REQUESTS);
	memset(msg, STREAM_BYTE, hdr.size);
	memcpy(msg, &hdr, HDR);
	if (rw)
		memcpy(msg + HDR, rw, sizeof(*rw));
	stream->requests[stream->num_requests++] = (struct stream_request){
		.start = stream->len,
		.len = hdr.size,
		.reply = stream->reply_bytes,
	};
	stream->len += hdr.size;
	return hdr;
}

void stream_read(struct stream *stream, uint64_t off, uint32_t len)
{
	struct vfio_user_region_rw rw = {off, stream->region, len};
	struct vfio_user_hdr hdr;

	hdr = request(stream, VFIO_USER_REGION_READ, 0, &rw, sizeof(rw));
	expect(stream, &hdr, HDR + sizeof(rw) + len, 0);
}

void stream_write(struct stream *stream, uint64_t off, uint32_t len, bool post)
{
	struct vfio_user_region_rw rw = {off, stream->region, len};
	struct vfio_user_hdr hdr;

	hdr = request(stream, VFIO_USER_REGION_WRITE, post ? VFIO_USER_FLAG_NO_REPLY : 0, &rw,
		      sizeof(rw) + len);
	if (!post)
		expect(stream, &hdr, HDR + sizeof(rw), 0);
}

void stream_write_multi(struct stream *stream, uint64_t off, unsigned int num)
{
	struct {
		uint64_t count;
		struct vfio_user_region_write1 wr[STREAM_MAX_MULTI];
	} multi = {.count = num};
	uint32_t len = sizeof(multi.count) + num * sizeof(multi.wr[0]);
	unsigned int i;

	assert_true(num <= STREAM_MAX_MULTI);
	for (i = 0; i < num; i++) {
		multi.wr[i].rw = (struct vfio_user_region_rw){off + 8 * i, stream->region, 8};
		memset(multi.wr[i].data, STREAM_BYTE, sizeof(multi.wr[i].data));
	}
	request(stream, VFIO_USER_REGION_WRITE_MULTI, VFIO_USER_FLAG_NO_REPLY, NULL, len);
	memcpy(stream->out + stream->len - len, &multi, len);
}

void stream_unknown(struct stream *stream, uint32_t len)
{
	struct vfio_user_hdr hdr = request(stream, UNKNOWN_CMD, 0, NULL, len);

	expect(stream, &hdr, HDR, ENOTSUP);
}

static void check_data(struct stream *stream, const uint8_t *data, uint32_t len)
{
	uint8_t byte = len ? *data : STREAM_BYTE;
	uint32_t i;

	if (byte == 0xff)
		stream->gone = true;
	assert_int_equal(byte, stream->gone ? 0xff : STREAM_BYTE);
	for (i = 1; i < len; i++) {
		if (data[i] != byte)
			fail_msg("byte %u is %#x after %#x", i, data[i], byte);
	}
}

static void check_reply(struct stream *stream, const struct stream_reply *reply)
{
	uint32_t fixed = HDR + sizeof(struct vfio_user_region_rw);
	struct vfio_user_hdr hdr;

	memcpy(&hdr, stream->in, HDR);
	assert_int_equal(hdr.id, reply->id);
	assert_int_equal(hdr.cmd, reply->cmd);
	assert_int_equal(hdr.size, reply->size);
	assert_int_equal(hdr.flags,
			 VFIO_USER_FLAG_REPLY | (reply->error ? VFIO_USER_FLAG_ERROR : 0));
	assert_int_equal(hdr.error, reply->error);
	if (reply->cmd == VFIO_USER_REGION_READ && stream->got == reply->size)
		check_data(stream, stream->in + fixed, reply->size - fixed);
}

void stream_receive(struct stream *stream)
{
	const struct stream_reply *reply;
	ssize_t n;

	while (stream->seen < stream->num) {
		reply = &stream->replies[stream->seen];
		n = recv(stream->vu->fd, stream->in + stream->got, reply->size - stream->got,
			 MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			fail_msg("the device hung up before reply %u", stream->seen);
		stream->got += n;
		stream->received += n;
		if (stream->got >= HDR)
			check_reply(stream, reply);
		if (stream->got < reply->size)
			continue;
		stream->got = 0;
		stream->seen++;
	}
}

void stream_move(struct stream *stream, size_t max)
{
	size_t len = stream->len - stream->sent;
	ssize_t n;

	if (len > max)
		len = max;
	n = send(stream->vu->fd, stream->out + stream->sent, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		assert_int_equal(errno, EAGAIN);
	else
		stream->sent += n;
	stream_receive(stream);
}

void stream_finish(struct stream *stream)
{
	struct pollfd pfd = {.fd = stream->vu->fd};

	for (;;) {
		stream_move(stream, stream->len);
		if (stream->sent == stream->len && stream->seen == stream->num)
			break;
		pfd.events = POLLIN | (stream->sent < stream->len ? POLLOUT : 0);
		assert_true(poll(&pfd, 1, -1) == 1);
	}
	/* And no bytes after them. */
	assert_int_equal(recv(pfd.fd, stream->in, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	stream->num_requests = 0;
	stream->len = 0;
	stream->sent = 0;
	stream->num = 0;
	stream->seen = 0;
	stream->reply_bytes = 0;
	stream->received = 0;
}
