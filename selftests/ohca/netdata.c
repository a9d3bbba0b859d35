// SPDX-License-Identifier: GPL-2.0
/*
 * netdata [-m MIB] [ADDRESS]: data over the port's Ethernet interface, between two machines, by TCP
 * and UDP: every byte is compared.  Side 1 connects to side 0's address (OHCA_PEER), and to
 * ADDRESS, an IPv6 address, by TCP as well.  24 MiB, or so many, are sent in each direction.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "verbs_util.h"

#define CHUNK 65536
#define UDP_PORT 18600
#define TCP6_PORT 18601

static struct sess sess;
static const char *peer6;
static size_t tcp_bytes = 24UL << 20;

/* One way over a connection: from side @from to the other one. */
static void move_data(int fd, int from)
{
	uint8_t *buf = vu_alloc(CHUNK);
	size_t done, len, n;

	for (done = 0; done < tcp_bytes; done += CHUNK) {
		if (sess.side == from)
			vu_fill(buf, CHUNK, done);
		for (len = 0; len < CHUNK; len += n) {
			ssize_t ret = sess.side == from
					      ? send(fd, buf + len, CHUNK - len, MSG_NOSIGNAL)
					      : recv(fd, buf + len, CHUNK - len, 0);

			if (ret <= 0)
				tap_bail("TCP: %s", strerror(errno));
			n = ret;
		}
		if (sess.side != from && !EXPECT_EQ(vu_check(buf, CHUNK, done), -1))
			tap_bail("TCP: wrong data at %zu", done);
	}
	vu_free(buf, CHUNK);
}

/* The session's own connection */
static void test_tcp(const void *arg)
{
	const int *from = arg;

	if (!sess_sync(&sess))
		return;
	move_data(sess.fd, *from);
	sess_sync(&sess);
}

/* Side 1 connects to side 0. */
static int tcp6_socket(void)
{
	struct sockaddr_in6 addr = {.sin6_family = AF_INET6, .sin6_port = htons(TCP6_PORT)};
	int fd = socket(AF_INET6, SOCK_STREAM, 0), one = 1, listening;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!sess.side && (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 1)))
		tap_bail("IPv6: %s", strerror(errno));
	if (!sess_sync(&sess))
		return fd;
	inet_pton(AF_INET6, peer6, &addr.sin6_addr);
	if (sess.side) {
		if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
			tap_bail("IPv6: can't connect: %s", strerror(errno));
		return fd;
	}
	listening = fd;
	fd = accept(listening, NULL, NULL);
	close(listening);
	return fd;
}

static void test_tcp6(const void *arg)
{
	int fd;

	(void)arg;
	fd = tcp6_socket();
	move_data(fd, 0);
	move_data(fd, 1);
	close(fd);
	sess_sync(&sess);
}

static int udp_socket(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons(UDP_PORT)};
	struct sockaddr_in peer = addr;
	int fd = socket(AF_INET, SOCK_DGRAM, 0), size = 1 << 20;

	inet_pton(AF_INET, getenv("OHCA_PEER"), &peer.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    connect(fd, (struct sockaddr *)&peer, sizeof(peer)))
		tap_bail("UDP: %s", strerror(errno));
	return fd;
}

/* The sizes of UDP datagrams; each is longer than those before it. */
static const unsigned int sizes[] = {1,	   2,	 3,    17,   18,   19,	 100,	511,
				     1472, 1473, 4000, 8000, 8972, 8973, 20000, 60000};

/*
 * Receive the datagram of size @i. A late one of a size before it is dropped: it was requested or
 * sent again. Data that arrive must be right, in both cases; @seed is that of the first size.
 * Returns whether the datagram of size @i came before poll() timed out.
 */
static bool receive_size(int fd, uint8_t *buf, unsigned int i, unsigned int seed, int timeout)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	unsigned int j;
	ssize_t n;

	while (poll(&pfd, 1, timeout) == 1) {
		n = recv(fd, buf, CHUNK, 0);
		for (j = 0; j < i && n != sizes[j]; j++)
			;
		if (!EXPECT_EQ(n, sizes[j]) || !EXPECT_EQ(vu_check(buf, sizes[j], j + seed), -1) ||
		    j == i)
			return true;
	}
	return false;
}

/*
 * Datagrams of many sizes, which are sent back.  UDP may lose one where buffers are short, so it is
 * requested again.
 */
static void test_udp(const void *arg)
{
	uint8_t *buf = vu_alloc(CHUNK);
	int fd = udp_socket();
	struct pollfd both[2] = {{.fd = fd, .events = POLLIN}, {.fd = sess.fd, .events = POLLIN}};
	unsigned int i, tries;

	(void)arg;
	if (!sess_sync(&sess))
		return;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		bool came = sess.side;

		for (tries = 0; !came && tries < 20; tries++) {
			vu_fill(buf, sizes[i], i);
			EXPECT_EQ(send(fd, buf, sizes[i], 0), sizes[i]);
			memset(buf, 0, sizes[i]);
			came = receive_size(fd, buf, i, 1000, 1000);
		}
		EXPECT(came);
		/* side 1 answers until side 0 has everything */
		while (sess.side) {
			if (poll(both, 2, vu_timeout_ms()) <= 0)
				tap_bail("UDP: nothing came");
			if (both[1].revents)
				break;
			if (!receive_size(fd, buf, i, 0, 0))
				continue;
			vu_fill(buf, sizes[i], i + 1000);
			EXPECT_EQ(send(fd, buf, sizes[i], 0), sizes[i]);
		}
		if (!sess_sync(&sess))
			break;
	}
	close(fd);
	vu_free(buf, CHUNK);
}

int main(int argc, char **argv)
{
	static const int zero = 0, one = 1;
	static const struct tap_test tests[] = {
		{"TCP from the first machine", test_tcp, &zero},
		{"TCP from the second machine", test_tcp, &one},
		{"UDP of many sizes", test_udp, NULL},
		{"TCP over IPv6, both ways", test_tcp6, NULL},
	};
	int opt;

	while ((opt = getopt(argc, argv, "m:")) != -1) {
		if (opt != 'm')
			return 2;
		tcp_bytes = strtoul(optarg, NULL, 10) << 20;
	}
	peer6 = argv[optind];
	sess_start(&sess, true);
	return sess_run(&sess, tests, ARRAY_SIZE(tests) - !peer6, NULL);
}
