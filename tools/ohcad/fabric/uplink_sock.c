// SPDX-License-Identifier: GPL-2.0
/*
 * Uplinks: their sockets.  A stream that ends is connected again, or waits for the other side to do
 * so; datagrams are sent whether or not there is a receiver.
 */

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>

#include "base/log.h"
#include "base/unix_listen.h"
#include "fabric/ib_uplink.h"
#include "fabric/uplink_io.h"

#define BACKOFF_MIN_NS 20000000ULL
#define BACKOFF_MAX_NS 1000000000ULL
#define DGRAM_RETRY_NS 200000ULL

/*
 * A host that is gone says nothing: the connection ends after so many seconds without an answer, or in
 * which the other side has taken nothing of what was sent to it.
 */
#define TCP_DEAD_S 60
#define TCP_PROBE_S 5

#define READ_MAX (64U << 10) /* at a time */
#define STREAM_MAX_FRAME (128U << 10) /* longer: the framing is wrong */
#define DGRAM_SLOT (16U << 10)
#define DGRAM_BATCH (UPLINK_RX_SIZE / DGRAM_SLOT)
#define SEND_BATCH 64

static void on_event(void *arg, uint32_t events);
static void on_accept(void *arg, uint32_t events);

static int watch(struct uplink *uplink, uint32_t events)
{
	return loop_add_fd(uplink->all->loop, uplink->fd, events, on_event, uplink);
}

static void retry_later(struct uplink *uplink)
{
	struct loop *loop = uplink->all->loop;

	loop_timer_arm(loop, &uplink->retry, loop_now(loop) + uplink->backoff);
	if (uplink->backoff < BACKOFF_MAX_NS)
		uplink->backoff *= 2;
}

/* The stream has ended, or could not begin. */
static void disconnect(struct uplink *uplink, const char *why)
{
	if (uplink->up && !uplink->refused)
		log_info(uplink->opts.name, "disconnected: %s", why);
	uplink_close_fd(uplink);
	uplink_down(uplink);
	if (!uplink->opts.listen)
		retry_later(uplink);
}

/*
 * Without limits, a listener takes no other connection as long as it has one to a host that was turned
 * off, and the other side sends to it for a quarter of an hour.  All this fails if it is not TCP.
 */
static void set_tcp_options(int fd)
{
	unsigned int dead_ms = TCP_DEAD_S * 1000;
	int one = 1, probe = TCP_PROBE_S, probes = TCP_DEAD_S / TCP_PROBE_S - 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead_ms, sizeof(dead_ms)))
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &probe, sizeof(probe));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &probe, sizeof(probe));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
}

static void connected(struct uplink *uplink)
{
	if (watch(uplink, EPOLLIN)) {
		disconnect(uplink, strerror(errno));
		return;
	}
	set_tcp_options(uplink->fd);
	if (!uplink->refused)
		log_info(uplink->opts.name, "connected");
	uplink_connected(uplink);
}

static void start_connect(struct uplink *uplink)
{
	const struct uplink_addr *to = &uplink->opts.remote;

	uplink->fd = socket(to->sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (uplink->fd < 0)
		retry_later(uplink);
	else if (!connect(uplink->fd, &to->sa, to->len))
		connected(uplink);
	else if (errno != EINPROGRESS || watch(uplink, EPOLLOUT))
		disconnect(uplink, strerror(errno));
}

static void end_connect(struct uplink *uplink)
{
	int err = 0;
	socklen_t len = sizeof(err);

	if (getsockopt(uplink->fd, SOL_SOCKET, SO_ERROR, &err, &len) || err)
		disconnect(uplink, strerror(err));
	else
		connected(uplink);
}

static void on_retry(struct timer *timer)
{
	struct uplink *uplink = list_entry(timer, struct uplink, retry);

	if (uplink->opts.kind == UPLINK_DGRAM) {
		uplink->blocked = false;
		uplink_write(uplink);
	} else if (uplink->opts.listen) {
		if (loop_add_fd(uplink->all->loop, uplink->listen_fd, EPOLLIN, on_accept, uplink))
			retry_later(uplink);
	} else if (uplink->fd < 0) {
		start_connect(uplink);
	}
}

static void on_accept(void *arg, uint32_t events)
{
	struct uplink *uplink = arg;
	int fd = accept4(uplink->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd < 0) {
		if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
			return;
		log_error(uplink->opts.name, "accept: %s", strerror(errno));
		loop_del_fd(uplink->all->loop, uplink->listen_fd);
		retry_later(uplink);
		return;
	}
	if (uplink->fd >= 0) {
		log_error(uplink->opts.name, "second connection refused");
		close(fd);
		return;
	}
	uplink->fd = fd;
	uplink->backoff = BACKOFF_MIN_NS;
	connected(uplink);
}

/*
 * Pass on a turn of the complete frames in the buffer; uplink->more: there are others.  Returns false if the framing is wrong.
 */
static bool take_frames(struct uplink *uplink)
{
	unsigned int num;
	uint8_t *at;
	uint32_t len;

	uplink->more = false;
	for (num = 0; uplink->rx_end - uplink->rx_start >= UPLINK_LEN_SIZE; num++) {
		at = uplink->rx + uplink->rx_start;
		memcpy(&len, at, UPLINK_LEN_SIZE);
		len = be32toh(len);
		if (len > STREAM_MAX_FRAME)
			return false;
		if (uplink->rx_end - uplink->rx_start < UPLINK_LEN_SIZE + len)
			break;
		if (num == UPLINK_TURN) {
			uplink->more = true;
			break;
		}
		uplink->rx_start += UPLINK_LEN_SIZE + len;
		uplink_receive(uplink, at + UPLINK_LEN_SIZE, len);
		/* The answer to the frame has found the stream closed. */
		if (!uplink->up)
			break;
	}
	return true;
}

static void take_stream(struct uplink *uplink)
{
	if (!take_frames(uplink))
		disconnect(uplink, "invalid length of a frame or packet");
	else if (!uplink->refused)
		uplink->backoff = BACKOFF_MIN_NS;
}

static void read_stream(struct uplink *uplink)
{
	size_t left = uplink->rx_end - uplink->rx_start, room = UPLINK_RX_SIZE - left;
	ssize_t got;

	/* uplinks_poll() takes them first. */
	if (uplink->more)
		return;
	memmove(uplink->rx, uplink->rx + uplink->rx_start, left);
	uplink->rx_start = 0;
	uplink->rx_end = left;
	got = recv(uplink->fd, uplink->rx + left, room < READ_MAX ? room : READ_MAX, 0);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		disconnect(uplink, got ? strerror(errno) : "end of the stream");
		return;
	}
	uplink->rx_end += got;
	take_stream(uplink);
}

/* Whether it is the address that the uplink sends to.  In the file system, permissions decide. */
static bool is_remote(const struct uplink *uplink, const struct sockaddr_storage *from)
{
	const struct sockaddr_storage *to = &uplink->opts.remote.storage;
	const struct sockaddr_in6 *from6 = (const void *)from, *to6 = (const void *)to;
	const struct sockaddr_in *from4 = (const void *)from, *to4 = (const void *)to;

	if (to->ss_family == AF_INET6)
		return from->ss_family == AF_INET6 && from6->sin6_port == to6->sin6_port &&
		       !memcmp(&from6->sin6_addr, &to6->sin6_addr, sizeof(to6->sin6_addr));
	if (to->ss_family == AF_INET)
		return from->ss_family == AF_INET && from4->sin_port == to4->sin_port &&
		       from4->sin_addr.s_addr == to4->sin_addr.s_addr;
	return true;
}

static void read_dgrams(struct uplink *uplink)
{
	struct sockaddr_storage from[DGRAM_BATCH];
	struct mmsghdr msgs[DGRAM_BATCH];
	struct iovec iov[DGRAM_BATCH];
	int i, num;

	memset(msgs, 0, sizeof(msgs));
	for (i = 0; i < (int)DGRAM_BATCH; i++) {
		iov[i].iov_base = uplink->rx + i * DGRAM_SLOT;
		iov[i].iov_len = DGRAM_SLOT;
		msgs[i].msg_hdr.msg_iov = &iov[i];
		msgs[i].msg_hdr.msg_iovlen = 1;
		msgs[i].msg_hdr.msg_name = &from[i];
		msgs[i].msg_hdr.msg_namelen = sizeof(from[i]);
	}
	num = recvmmsg(uplink->fd, msgs, DGRAM_BATCH, MSG_DONTWAIT, NULL);
	for (i = 0; i < num; i++) {
		if (msgs[i].msg_hdr.msg_flags & MSG_TRUNC || !is_remote(uplink, &from[i]))
			uplink->dropped++;
		else
			uplink_receive(uplink, iov[i].iov_base, msgs[i].msg_len);
	}
}

static void on_event(void *arg, uint32_t events)
{
	struct uplink *uplink = arg;

	if (!uplink->up) {
		end_connect(uplink);
		return;
	}
	if (events & EPOLLOUT)
		uplink_write(uplink);
	if (uplink->fd < 0 || !(events & ~EPOLLOUT))
		return;
	if (uplink->opts.kind == UPLINK_DGRAM)
		read_dgrams(uplink);
	else
		read_stream(uplink);
}

static void write_stream(struct uplink *uplink)
{
	ssize_t sent = send(uplink->fd, uplink->tx + uplink->tx_start, uplink_queued(uplink),
			    MSG_NOSIGNAL);
	bool blocked;

	if (sent < 0 && errno != EAGAIN && errno != EINTR) {
		disconnect(uplink, strerror(errno));
		return;
	}
	if (sent > 0) {
		uplink->tx_start += sent;
		uplink_progress(uplink);
	}
	blocked = uplink_queued(uplink);
	if (blocked != uplink->blocked && watch(uplink, EPOLLIN | (blocked ? EPOLLOUT : 0))) {
		disconnect(uplink, strerror(errno));
		return;
	}
	uplink->blocked = blocked;
}

/*
 * Make up to SEND_BATCH messages from the start of the queue; @lens: length of each in the queue.
 */
static unsigned int gather_dgrams(struct uplink *uplink, struct mmsghdr *msgs, struct iovec *iov)
{
	uint8_t *at = uplink->tx + uplink->tx_start;
	unsigned int num;
	uint32_t len;

	for (num = 0; num < SEND_BATCH && at < uplink->tx + uplink->tx_end; num++) {
		memcpy(&len, at, UPLINK_LEN_SIZE);
		iov[num].iov_base = at + UPLINK_LEN_SIZE;
		iov[num].iov_len = be32toh(len);
		memset(&msgs[num], 0, sizeof(msgs[num]));
		msgs[num].msg_hdr.msg_iov = &iov[num];
		msgs[num].msg_hdr.msg_iovlen = 1;
		msgs[num].msg_hdr.msg_name = &uplink->opts.remote.storage;
		msgs[num].msg_hdr.msg_namelen = uplink->opts.remote.len;
		at += UPLINK_LEN_SIZE + be32toh(len);
	}
	return num;
}

static void write_dgrams(struct uplink *uplink)
{
	struct loop *loop = uplink->all->loop;
	struct mmsghdr msgs[SEND_BATCH];
	struct iovec iov[SEND_BATCH];
	unsigned int num;
	int i, sent;

	while (uplink_queued(uplink)) {
		num = gather_dgrams(uplink, msgs, iov);
		sent = sendmmsg(uplink->fd, msgs, num, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0 && errno == EAGAIN) {
			uplink->blocked = true;
			loop_timer_arm(loop, &uplink->retry, loop_now(loop) + DGRAM_RETRY_NS);
			return;
		}
		/* The frame is lost: there is no receiver, or it is too long for this socket.  Hellos are repeated. */
		if (sent <= 0) {
			uplink->dropped += !ib_uplink_is_hello(iov[0].iov_base, iov[0].iov_len);
			sent = 1;
		}
		for (i = 0; i < sent; i++)
			uplink->tx_start += UPLINK_LEN_SIZE + iov[i].iov_len;
		uplink_progress(uplink);
	}
}

static int open_dgram(struct uplink *uplink)
{
	const struct uplink_addr *at = &uplink->opts.local;
	struct stat st;
	int err;

	uplink->retry.fn = on_retry;
	uplink->fd = socket(at->sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (uplink->fd < 0)
		return -errno;
	if (at->sa.sa_family == AF_UNIX && !lstat(at->un.sun_path, &st) && S_ISSOCK(st.st_mode))
		unlink(at->un.sun_path);
	/* As in unix_listen() */
	if ((at->sa.sa_family == AF_UNIX && fchmod(uplink->fd, 0600)) ||
	    bind(uplink->fd, &at->sa, at->len) || watch(uplink, EPOLLIN))
		return -errno;
	if (at->sa.sa_family == AF_UNIX) {
		stat(at->un.sun_path, &uplink->st);
		err = unix_set_access(at->un.sun_path, &uplink->opts.access);
		if (err)
			return err;
	}
	uplink_connected(uplink);
	return 0;
}

static int open_listener(struct uplink *uplink)
{
	const struct uplink_addr *at = &uplink->opts.local;
	int one = 1;

	if (at->sa.sa_family == AF_UNIX) {
		uplink->listen_fd = unix_listen(at->un.sun_path, &uplink->opts.access, &uplink->st);
		if (uplink->listen_fd < 0)
			return uplink->listen_fd;
	} else {
		uplink->listen_fd =
			socket(at->sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (uplink->listen_fd < 0 ||
		    setsockopt(uplink->listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
		    bind(uplink->listen_fd, &at->sa, at->len) || listen(uplink->listen_fd, 8))
			return -errno;
	}
	return loop_add_fd(uplink->all->loop, uplink->listen_fd, EPOLLIN, on_accept, uplink);
}

static int open_stream(struct uplink *uplink)
{
	uplink->retry.fn = on_retry;
	uplink->backoff = BACKOFF_MIN_NS;
	if (uplink->opts.listen)
		return open_listener(uplink);
	start_connect(uplink);
	return 0;
}

/* Close the listener, and remove its file. */
static void close_sock(struct uplink *uplink)
{
	const struct uplink_addr *at = &uplink->opts.local;

	if (uplink->listen_fd >= 0) {
		loop_del_fd(uplink->all->loop, uplink->listen_fd);
		close(uplink->listen_fd);
		uplink->listen_fd = -1;
	}
	if (at->len && at->sa.sa_family == AF_UNIX)
		unix_unlink(at->un.sun_path, &uplink->st);
}

static void refuse_stream(struct uplink *uplink)
{
	disconnect(uplink, "refused");
}

const struct uplink_io stream_io = {
	.open = open_stream,
	.close = close_sock,
	.write = write_stream,
	.take = take_stream,
	.refuse = refuse_stream,
};

const struct uplink_io dgram_io = {
	.open = open_dgram,
	.close = close_sock,
	.write = write_dgrams,
};
