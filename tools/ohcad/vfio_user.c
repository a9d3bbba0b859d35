// SPDX-License-Identifier: GPL-2.0
/*
 * The vfio-user server's socket.  Messages are received whole, served one by one, and answered at
 * once; while an answer does not fit into the socket no further message is read, so that a client
 * that stops reading blocks nobody but itself.
 */

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "listener.h"
#include "log.h"
#include "vfio_user_msg.h"

#define HDR sizeof(struct vfio_user_hdr)
#define MSGS_PER_ROUND 32

/**
 * struct vfio_user - a server
 * @fd: the client, -1: none
 * @negotiated: VFIO_USER_VERSION has been answered
 * @req: message being received
 * @got: bytes of it, header included
 * @bad_fds: it came with too many descriptors
 * @in: payload of @req
 * @out: the reply, header included; @out_len bytes of which @out_sent are on their way
 * @out_fd: descriptor that goes with its first byte, the device's, or -1
 */
struct vfio_user {
	struct loop *loop;
	const struct vfio_user_ops *ops;
	void *dev;
	char *path;
	struct listener listener;
	int fd;
	bool negotiated;
	struct vfio_user_request req;
	uint32_t got;
	bool bad_fds;
	uint8_t *in;
	uint8_t *out;
	uint32_t out_len, out_sent;
	int out_fd;
};

static void close_fds(struct vfio_user *vu)
{
	unsigned int i;

	for (i = 0; i < vu->req.num_fds; i++) {
		if (vu->req.fds[i] >= 0)
			close(vu->req.fds[i]);
	}
	vu->req.num_fds = 0;
	vu->bad_fds = false;
}

static void disconnect(struct vfio_user *vu)
{
	if (vu->fd < 0)
		return;
	loop_del_fd(vu->loop, vu->fd);
	close(vu->fd);
	vu->fd = -1;
	close_fds(vu);
	free(vu->in);
	free(vu->out);
	vu->in = NULL;
	vu->out = NULL;
	vu->got = 0;
	vu->out_len = 0;
	vu->out_sent = 0;
	if (vu->negotiated) {
		vu->negotiated = false;
		vu->ops->disconnected(vu->dev);
	}
	log_info(vu->path, "client disconnected");
}

/* Receiving */

static void take_fds(struct vfio_user *vu, struct msghdr *msg)
{
	struct vfio_user_request *req = &vu->req;
	struct cmsghdr *cmsg;
	unsigned int i, num;
	int fd;

	if (msg->msg_flags & MSG_CTRUNC)
		vu->bad_fds = true;
	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		num = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < num; i++) {
			memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(int), sizeof(int));
			if (req->num_fds < VFIO_USER_MAX_FDS) {
				req->fds[req->num_fds++] = fd;
			} else {
				close(fd);
				vu->bad_fds = true;
			}
		}
	}
}

/*
 * Read up to @len bytes; returns their number, 0 if there are none now, or -errno (-EPIPE: hung
 * up).
 */
static ssize_t receive_some(struct vfio_user *vu, void *buf, size_t len)
{
	char control[CMSG_SPACE(sizeof(int) * VFIO_USER_MAX_FDS)];
	struct iovec iov = {buf, len};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(vu->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (msg.msg_controllen)
		take_fds(vu, &msg);
	return n ? n : -EPIPE;
}

static bool good_header(struct vfio_user *vu)
{
	const struct vfio_user_hdr *hdr = &vu->req.hdr;

	if (hdr->size >= HDR && hdr->size - HDR <= VFIO_USER_MAX_PAYLOAD &&
	    !(hdr->flags & VFIO_USER_FLAG_TYPE) &&
	    (vu->negotiated || hdr->cmd == VFIO_USER_VERSION))
		return true;
	log_error(vu->path, "bad message: command %u, size %u, flags %#x%s", hdr->cmd, hdr->size,
		  hdr->flags, vu->negotiated ? "" : ", before the version");
	return false;
}

/* Returns 1 if a whole message is there, 0 if not yet, or -errno. */
static int receive(struct vfio_user *vu)
{
	uint8_t *hdr = (uint8_t *)&vu->req.hdr;
	ssize_t n;

	while (vu->got < HDR) {
		n = receive_some(vu, hdr + vu->got, HDR - vu->got);
		if (n <= 0)
			return n;
		vu->got += n;
		if (vu->got == HDR && !good_header(vu))
			return -EPROTO;
	}
	while (vu->got < vu->req.hdr.size) {
		n = receive_some(vu, vu->in + vu->got - HDR, vu->req.hdr.size - vu->got);
		if (n <= 0)
			return n;
		vu->got += n;
	}
	return 1;
}

/* Answering */

static void on_client(void *arg, uint32_t events);

/* Send some of the reply, with the descriptor if it is the beginning.  Returns as sendmsg(). */
static ssize_t send_some(struct vfio_user *vu)
{
	struct iovec iov = {vu->out + vu->out_sent, vu->out_len - vu->out_sent};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	union {
		struct cmsghdr hdr;
		char space[CMSG_SPACE(sizeof(int))];
	} control;

	if (!vu->out_sent && vu->out_fd >= 0) {
		memset(&control, 0, sizeof(control));
		control.hdr.cmsg_level = SOL_SOCKET;
		control.hdr.cmsg_type = SCM_RIGHTS;
		control.hdr.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.hdr), &vu->out_fd, sizeof(int));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
	}
	return sendmsg(vu->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Returns 1 when all of the reply is sent, 0 when it has to wait for the client, or -errno. */
static int flush(struct vfio_user *vu)
{
	ssize_t n;

	while (vu->out_sent < vu->out_len) {
		n = send_some(vu);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		vu->out_sent += n;
	}
	vu->out_len = 0;
	vu->out_sent = 0;
	return 1;
}

static void make_reply(struct vfio_user *vu, int err)
{
	struct vfio_user_hdr hdr = vu->req.hdr;

	hdr.flags = VFIO_USER_FLAG_REPLY | (err ? VFIO_USER_FLAG_ERROR : 0);
	hdr.error = -err;
	hdr.size = HDR + (err ? 0 : vu->req.out_len);
	memcpy(vu->out, &hdr, HDR);
	vu->out_len = hdr.size;
	vu->out_sent = 0;
	vu->out_fd = err ? -1 : vu->req.out_fd;
}

/* Serve the message that was received.  Returns as flush(). */
static int serve(struct vfio_user *vu)
{
	struct vfio_user_request *req = &vu->req;
	int err;

	req->in = vu->in;
	req->in_len = req->hdr.size - HDR;
	req->out = vu->out + HDR;
	req->out_len = 0;
	req->out_fd = -1;
	req->hang_up = false;
	if (vu->bad_fds)
		err = -EINVAL;
	else if (!vu->negotiated)
		err = vfio_user_negotiate(req);
	else
		err = vfio_user_execute(req, vu->ops, vu->dev);
	close_fds(vu);
	vu->got = 0;
	if (err)
		log_debug(vu->path, "command %u refused: %s", req->hdr.cmd, strerror(-err));
	if (!vu->negotiated && !err) {
		vu->negotiated = true;
		vu->ops->connected(vu->dev);
	}
	if (req->hdr.flags & VFIO_USER_FLAG_NO_REPLY && req->hdr.cmd != VFIO_USER_VERSION)
		return 1;
	make_reply(vu, err);
	err = flush(vu);
	return req->hang_up ? -EPROTO : err;
}

/* Wait for the client to read its reply, or for its next request. */
static int watch_client(struct vfio_user *vu, uint32_t events)
{
	return loop_add_fd(vu->loop, vu->fd, events, on_client, vu);
}

static int serve_client(struct vfio_user *vu)
{
	unsigned int budget = MSGS_PER_ROUND;
	int ret;

	if (vu->out_len) {
		ret = flush(vu);
		if (ret <= 0)
			return ret;
		ret = watch_client(vu, EPOLLIN);
		if (ret)
			return ret;
	}
	while (budget--) {
		ret = receive(vu);
		if (ret <= 0)
			return ret;
		ret = serve(vu);
		if (ret < 0)
			return ret;
		if (!ret)
			return watch_client(vu, EPOLLOUT);
		/* A client that waits for its reply has most likely sent nothing behind it. */
		if (!(vu->req.hdr.flags & VFIO_USER_FLAG_NO_REPLY))
			break;
	}
	return 0;
}

static void on_client(void *arg, uint32_t events)
{
	struct vfio_user *vu = arg;

	(void)events;
	if (serve_client(vu) < 0)
		disconnect(vu);
}

/* Accepting */

/* The client may have gone without our having heard of it yet. */
static bool client_is_gone(const struct vfio_user *vu)
{
	struct pollfd pfd = {.fd = vu->fd};

	return poll(&pfd, 1, 0) == 1 && pfd.revents & (POLLHUP | POLLERR);
}

static void client_new(void *arg, int fd)
{
	struct vfio_user *vu = arg;
	int err;

	if (vu->fd >= 0 && client_is_gone(vu))
		disconnect(vu);
	if (vu->fd >= 0) {
		log_error(vu->path, "second client refused");
		close(fd);
		return;
	}
	vu->fd = fd;
	vu->in = malloc(VFIO_USER_MAX_PAYLOAD);
	vu->out = malloc(HDR + VFIO_USER_MAX_PAYLOAD);
	err = vu->in && vu->out ? watch_client(vu, EPOLLIN) : -ENOMEM;
	if (err) {
		log_error(vu->path, "can't serve a client: %s", strerror(-err));
		disconnect(vu);
		return;
	}
	log_info(vu->path, "client connected");
}

struct vfio_user *vfio_user_new(struct loop *loop, const char *path,
				const struct vfio_user_ops *ops, void *dev)
{
	struct vfio_user *vu = calloc(1, sizeof(*vu));
	char *own_path = strdup(path);
	int err = -ENOMEM;

	if (vu && own_path) {
		vu->loop = loop;
		vu->ops = ops;
		vu->dev = dev;
		vu->fd = -1;
		vu->path = own_path;
		err = listener_open(&vu->listener, loop, own_path, 0777, client_new, vu);
	}
	if (err) {
		log_error(path, "can't listen: %s", strerror(-err));
		free(own_path);
		free(vu);
		errno = -err;
		return NULL;
	}
	log_info(path, "listening");
	return vu;
}

bool vfio_user_connected(const struct vfio_user *vu)
{
	return vu->negotiated;
}

void vfio_user_free(struct vfio_user *vu)
{
	if (!vu)
		return;
	disconnect(vu);
	listener_close(&vu->listener);
	free(vu->path);
	free(vu);
}
