// SPDX-License-Identifier: GPL-2.0
/* A test session of two sides. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sess.h"

#define SESS_PORT 18515 /* and those after it, for the adapter's ports from the second one on */

enum {
	MSG_MEET = 1,
	MSG_DONE = 2
};

struct msg {
	uint32_t type;
	uint32_t test;
	uint32_t ok;
	uint32_t len;
};

/* Milliseconds to wait for the other side: longer than any wait inside of a test. */
static int timeout_ms(void)
{
	return 120000 * tap_slow();
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

static void put(struct sess *s, const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		ssize_t n = send(s->fd, p, len, MSG_NOSIGNAL);

		if (n < 0)
			tap_bail("side %d: the other side is gone: %s", s->side, strerror(errno));
		p += n;
		len -= n;
	}
}

static void get(struct sess *s, void *buf, size_t len)
{
	char *p = buf;

	while (len) {
		struct pollfd pfd = {.fd = s->fd, .events = POLLIN};
		ssize_t n;

		if (poll(&pfd, 1, timeout_ms()) <= 0)
			tap_bail("side %d: the other side does not answer", s->side);
		n = recv(s->fd, p, len, 0);
		if (n <= 0)
			tap_bail("side %d: the other side is gone", s->side);
		p += n;
		len -= n;
	}
}

static void report(struct sess *s, uint32_t type, bool ok, const void *buf, size_t len)
{
	struct msg msg = {.type = type, .test = s->test, .ok = ok, .len = len};

	put(s, &msg, sizeof(msg));
	if (len)
		put(s, buf, len);
}

/* Read one message, its payload of at most @len bytes to @buf; what is longer is dropped. */
static void hear(struct sess *s, struct msg *msg, void *buf, size_t len)
{
	char waste[256];
	size_t left;

	get(s, msg, sizeof(*msg));
	if (msg->test != s->test)
		tap_bail("side %d: in test %u, the other side in %u", s->side, s->test, msg->test);
	left = msg->len < len ? msg->len : len;
	get(s, buf, left);
	for (left = msg->len - left; left; left -= len) {
		len = left < sizeof(waste) ? left : sizeof(waste);
		get(s, waste, len);
	}
}

bool sess_xchg(struct sess *s, const void *out, void *in, size_t len)
{
	struct msg msg;

	if (s->peer_done)
		return false;
	report(s, MSG_MEET, true, out, len);
	hear(s, &msg, in, len);
	if (msg.type == MSG_DONE) {
		s->peer_done = true;
		s->peer_ok = msg.ok;
		if (msg.ok && !tap_skipped())
			tap_fail(__FILE__, __LINE__, "side %d: the other side ended the test early",
				 s->side);
		return false;
	}
	if (msg.len != len)
		tap_bail("side %d: the other side sent %u bytes, expected %zu", s->side, msg.len,
			 len);
	return true;
}

bool sess_sync(struct sess *s)
{
	return sess_xchg(s, NULL, NULL, 0);
}

int sess_run(struct sess *s, const struct tap_test *tests, unsigned int num, void (*cleanup)(void))
{
	unsigned int i;
	int status;

	tap_start(num);
	for (i = 0; i < num; i++) {
		struct msg msg;

		s->test++;
		s->peer_done = false;
		tap_begin();
		tests[i].fn(tests[i].arg);
		if (cleanup)
			cleanup();
		report(s, MSG_DONE, !tap_failed(), NULL, 0);
		while (!s->peer_done) {
			hear(s, &msg, NULL, 0);
			s->peer_done = msg.type == MSG_DONE;
			s->peer_ok = msg.ok;
		}
		tap_result(!tap_failed() && s->peer_ok, tests[i].name);
	}
	close(s->fd);
	if (s->child && (waitpid(s->child, &status, 0) != s->child || !WIFEXITED(status)))
		tap_bail("side 1 did not exit by itself");
	return tap_status();
}

static void start_local(struct sess *s)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		tap_bail("socketpair: %s", strerror(errno));
	fflush(stdout);
	s->child = fork();
	if (s->child < 0)
		tap_bail("fork: %s", strerror(errno));
	s->side = s->child ? 0 : 1;
	s->fd = fd[s->side];
	close(fd[!s->side]);
	if (s->side) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		tap_mute();
	}
}

/* There may be a session on each port of the adapter at the same time. */
static int sess_port(void)
{
	const char *port = getenv("OHCA_PORT");

	return SESS_PORT + (port ? atoi(port) - 1 : 0);
}

static int listen_one(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons(sess_port())};
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	int conn;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 1))
		tap_bail("port %d: %s", sess_port(), strerror(errno));
	if (poll(&pfd, 1, timeout_ms()) <= 0)
		tap_bail("the other machine does not connect");
	conn = accept(fd, NULL, NULL);
	if (conn < 0)
		tap_bail("accept: %s", strerror(errno));
	close(fd);
	return conn;
}

static int connect_peer(const char *peer)
{
	struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *ai;
	uint64_t deadline = now_ms() + timeout_ms();
	char port[12];
	int fd, err;

	snprintf(port, sizeof(port), "%d", sess_port());
	err = getaddrinfo(peer, port, &hints, &ai);
	if (err)
		tap_bail("%s: %s", peer, gai_strerror(err));
	for (;;) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (!connect(fd, ai->ai_addr, ai->ai_addrlen))
			break;
		if (now_ms() > deadline)
			tap_bail("%s: %s", peer, strerror(errno));
		close(fd);
		poll(NULL, 0, 50); /* the other side does not listen yet: try again */
	}
	freeaddrinfo(ai);
	return fd;
}

void sess_start(struct sess *s, bool machines)
{
	const char *rank = getenv("OHCA_RANK"), *peer = getenv("OHCA_PEER");
	int one = 1;

	memset(s, 0, sizeof(*s));
	if (!machines) {
		start_local(s);
		return;
	}
	if (!rank || !peer)
		tap_skip_all("needs two machines (OHCA_RANK, OHCA_PEER)");
	s->side = atoi(rank);
	if (s->side > 1)
		tap_skip_all("only the first two machines take part");
	s->fd = s->side ? connect_peer(peer) : listen_one();
	setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}
