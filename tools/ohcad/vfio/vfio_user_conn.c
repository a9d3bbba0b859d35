// SPDX-License-Identifier: GPL-2.0
/*
 * A client of the vfio-user server.  Each message is received completely, executed and answered
 * before the next one is read.  While an answer does not fit into the socket, no further message is
 * read.  So a client that stops reading blocks only itself.
 *
 * A client that goes on to send, in whatever pieces, or to read, is served for a limited time in each round.
 *
 * struct vfio_user_state has at any time everything that another process needs to continue, except
 * for descriptors that came with a request.
 */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>

#include "base/log.h"
#include "base/scm.h"
#include "vfio/vfio_user_conn.h"

/* Of a round: messages, and ns after which nothing else is begun */
#define MSGS_PER_ROUND 32
#define SERVE_NS 20000

_Static_assert(VFIO_USER_MAX_FDS <= SCM_MAX_FDS, "room for descriptors");

/**
 * struct vfio_user_conn - a connection
 * @req: message being executed; descriptors of the one being received
 * @bad_fds: it came with too many descriptors
 * @out_fd: descriptor that goes with the reply, owned by the device, or -1
 * @events: EPOLLIN, or EPOLLOUT while there is something to send
 * @end: of this round's time
 */
struct vfio_user_conn {
	struct loop *loop;
	struct vfio_user_peer peer;
	struct vfio_user_request req;
	bool bad_fds;
	int out_fd;
	uint32_t events;
	uint64_t end;
};

static bool is_over(const struct vfio_user_conn *conn)
{
	return loop_clock() >= conn->end;
}

static void close_fds(struct vfio_user_conn *conn)
{
	unsigned int i;

	for (i = 0; i < conn->req.num_fds; i++) {
		if (conn->req.fds[i] >= 0)
			close(conn->req.fds[i]);
	}
	conn->req.num_fds = 0;
	conn->bad_fds = false;
}

/* Receiving */

static void take_fds(struct vfio_user_conn *conn, struct msghdr *msg)
{
	struct vfio_user_request *req = &conn->req;
	unsigned int room = VFIO_USER_MAX_FDS - req->num_fds;
	unsigned int num = scm_take(msg, req->fds + req->num_fds, room);

	if (num > room) {
		conn->bad_fds = true;
		num = room;
	}
	req->num_fds += num;
}

/* Returns the same as vfio_user_recv(). */
static ssize_t receive_some(struct vfio_user_conn *conn, void *buf, size_t len)
{
	struct vfio_user_transfer *rx = &conn->peer.state->rx;
	union scm_control control;
	ssize_t n = vfio_user_recv(rx, conn->peer.fd, buf, len, &control, sizeof(control));

	if (n > 0 && rx->msg.msg_controllen)
		take_fds(conn, &rx->msg);
	return n;
}

static bool good_header(struct vfio_user_conn *conn)
{
	const struct vfio_user_hdr *hdr = &conn->peer.state->hdr;
	bool negotiated = vfio_user_conn_negotiated(conn);

	if (hdr->size >= VFIO_USER_HDR && hdr->size - VFIO_USER_HDR <= VFIO_USER_MAX_PAYLOAD &&
	    !(hdr->flags & VFIO_USER_FLAG_TYPE) && (negotiated || hdr->cmd == VFIO_USER_VERSION))
		return true;
	if (conn->peer.ops->may_log(conn->peer.dev))
		log_error(conn->peer.name, "bad message: command %u, size %u, flags %#x%s",
			  hdr->cmd, hdr->size, hdr->flags,
			  negotiated ? "" : ", before the version");
	return false;
}

/* Returns 1 if a whole message is there, 0 if not yet, or -errno. */
static int receive(struct vfio_user_conn *conn)
{
	struct vfio_user_state *state = conn->peer.state;
	bool over = false;
	uint32_t got;
	ssize_t n;

	for (;;) {
		got = vfio_user_moved(&state->rx);
		if (got >= VFIO_USER_HDR && !good_header(conn))
			return -EPROTO;
		if (got >= VFIO_USER_HDR && got == state->hdr.size)
			return 1;
		if (over)
			return 0;
		if (got < VFIO_USER_HDR)
			n = receive_some(conn, (uint8_t *)&state->hdr + got, VFIO_USER_HDR - got);
		else
			n = receive_some(conn, state->in + got - VFIO_USER_HDR,
					 state->hdr.size - got);
		if (n <= 0)
			return n;
		over = is_over(conn);
	}
}

/* Answering */

/*
 * Send some of the reply; the descriptor goes with its first byte.  Returns the same as
 * vfio_user_send().
 */
static ssize_t send_some(struct vfio_user_conn *conn, uint32_t sent)
{
	struct vfio_user_state *state = conn->peer.state;
	const uint8_t *rest = state->out + sent;
	union scm_control control;

	if (sent || conn->out_fd < 0)
		return vfio_user_send(&state->tx, conn->peer.fd, rest, state->reply.len - sent,
				      NULL, 0);
	return vfio_user_send(&state->tx, conn->peer.fd, rest, state->reply.len, &control,
			      scm_put(&control, &conn->out_fd, 1));
}

/*
 * Returns 1 when the reply, if there is one, is sent completely, 0 when it has to wait for the
 * client, or for another round, or -errno.
 */
static int flush(struct vfio_user_conn *conn)
{
	struct vfio_user_state *state = conn->peer.state;
	union vfio_user_reply none = {.negotiated = state->reply.negotiated};
	uint32_t sent = vfio_user_moved(&state->tx);
	ssize_t n;

	if (!state->reply.len)
		return 1;
	while (sent < state->reply.len) {
		n = send_some(conn, sent);
		if (n <= 0)
			return n;
		sent = vfio_user_moved(&state->tx);
		if (sent < state->reply.len && is_over(conn))
			return 0;
	}
	vfio_user_begin(&state->rx);
	vfio_user_set_reply(state, none);
	return 1;
}

static void make_reply(struct vfio_user_conn *conn, int err, bool negotiated)
{
	struct vfio_user_state *state = conn->peer.state;
	struct vfio_user_hdr hdr = conn->req.hdr;
	union vfio_user_reply reply = {.negotiated = negotiated};

	hdr.flags = VFIO_USER_FLAG_REPLY | (err ? VFIO_USER_FLAG_ERROR : 0);
	hdr.error = -err;
	hdr.size = VFIO_USER_HDR + (err ? 0 : conn->req.out_len);
	memcpy(state->out, &hdr, VFIO_USER_HDR);
	conn->out_fd = err ? -1 : conn->req.out_fd;
	reply.len = hdr.size;
	reply.with_fd = conn->out_fd >= 0;
	vfio_user_begin(&state->tx);
	vfio_user_set_reply(state, reply);
}

/* Execute the message that was received.  Returns the same as flush(). */
static int serve(struct vfio_user_conn *conn)
{
	const struct vfio_user_peer *peer = &conn->peer;
	struct vfio_user_request *req = &conn->req;
	bool negotiated = vfio_user_conn_negotiated(conn);
	int err;

	req->hdr = peer->state->hdr;
	req->in = peer->state->in;
	req->in_len = req->hdr.size - VFIO_USER_HDR;
	req->out = peer->state->out + VFIO_USER_HDR;
	req->out_len = 0;
	req->out_fd = -1;
	req->hang_up = false;
	if (conn->bad_fds)
		err = -EINVAL;
	else if (!negotiated)
		err = vfio_user_negotiate(req);
	else
		err = vfio_user_execute(req, peer->ops, peer->dev);
	close_fds(conn);
	if (err)
		log_debug(peer->name, "command %u refused: %s", req->hdr.cmd, strerror(-err));
	if (!negotiated && !err) {
		negotiated = true;
		peer->ops->connected(peer->dev);
	}
	if (req->hdr.flags & VFIO_USER_FLAG_NO_REPLY && req->hdr.cmd != VFIO_USER_VERSION) {
		vfio_user_begin(&peer->state->rx);
		return 1;
	}
	make_reply(conn, err, negotiated);
	err = flush(conn);
	return req->hang_up ? -EPROTO : err;
}

static void on_client(void *arg, uint32_t events);

/* Wait for the client to read its reply, or for its next request. */
static int watch_client(struct vfio_user_conn *conn, uint32_t events)
{
	conn->events = events;
	return loop_add_fd(conn->loop, conn->peer.fd, events, on_client, conn);
}

static int serve_client(struct vfio_user_conn *conn)
{
	unsigned int budget = MSGS_PER_ROUND;
	int ret;

	conn->end = loop_clock() + SERVE_NS;
	if (conn->events == EPOLLOUT) {
		ret = flush(conn);
		if (ret <= 0)
			return ret;
		ret = watch_client(conn, EPOLLIN);
		if (ret)
			return ret;
	}
	while (budget--) {
		ret = receive(conn);
		if (ret <= 0)
			return ret;
		ret = serve(conn);
		if (ret < 0)
			return ret;
		if (!ret)
			return watch_client(conn, EPOLLOUT);
		/* A client that waits for the reply has most likely sent no further request yet. */
		if (!(conn->req.hdr.flags & VFIO_USER_FLAG_NO_REPLY) || is_over(conn))
			break;
	}
	return 0;
}

static void on_client(void *arg, uint32_t events)
{
	struct vfio_user_conn *conn = arg;

	(void)events;
	if (serve_client(conn) < 0)
		conn->peer.ended(conn->peer.arg);
}

/* EPOLLOUT makes the first callback come even if the client sends nothing more. */
struct vfio_user_conn *vfio_user_conn_new(struct loop *loop, const struct vfio_user_peer *peer)
{
	struct vfio_user_conn *conn = calloc(1, sizeof(*conn));
	int err;

	if (!conn)
		return NULL;
	conn->loop = loop;
	conn->peer = *peer;
	conn->out_fd = -1;
	err = watch_client(conn, EPOLLOUT);
	if (!err)
		return conn;
	free(conn);
	errno = -err;
	return NULL;
}

/*
 * shutdown() is needed as another process may have the socket open.  Unread data are read first:
 * with them close() would reset the connection, and QEMU (11.1.3) does not survive ECONNRESET.
 */
static void hang_up(int fd)
{
	char unread[4096];

	shutdown(fd, SHUT_RDWR);
	while (recv(fd, unread, sizeof(unread), MSG_DONTWAIT) > 0)
		;
	close(fd);
}

void vfio_user_conn_free(struct vfio_user_conn *conn)
{
	bool negotiated;

	if (!conn)
		return;
	negotiated = vfio_user_conn_negotiated(conn);
	loop_del_fd(conn->loop, conn->peer.fd);
	hang_up(conn->peer.fd);
	close_fds(conn);
	vfio_user_state_free(conn->peer.state);
	if (negotiated)
		conn->peer.ops->disconnected(conn->peer.dev);
	free(conn);
}

bool vfio_user_conn_negotiated(const struct vfio_user_conn *conn)
{
	return conn->peer.state->reply.negotiated;
}

bool vfio_user_conn_gone(const struct vfio_user_conn *conn)
{
	struct pollfd pfd = {.fd = conn->peer.fd};

	return poll(&pfd, 1, 0) == 1 && pfd.revents & (POLLHUP | POLLERR);
}
