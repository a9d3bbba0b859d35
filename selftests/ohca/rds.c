// SPDX-License-Identifier: GPL-2.0
/*
 * RDS sockets over RDMA, between two machines: messages of many sizes in both directions, and
 * remote reads and writes of the other side's memory.  Every byte is compared.
 *
 * With a number, there is one test: so many messages.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rds.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "verbs_util.h"

#define PORT 18700
#define WINDOW 8
#define MAX_SIZE 65536
#define MEMORY (256 << 10)

static struct sess sess;
static int fd = -1;
static struct sockaddr_in peer;
static uint8_t *buf;

static void cleanup(void)
{
	if (fd >= 0)
		close(fd);
	fd = -1;
	if (buf)
		vu_free(buf, MEMORY);
	buf = NULL;
}

/*
 * Open a socket for RDMA only, with room for messages that are under way before both sides receive.
 */
static bool start(void)
{
	struct sockaddr_in mine = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	int transport = RDS_TRANS_IB, size = 4 << 20;

	buf = vu_alloc(MEMORY);
	peer = mine;
	inet_pton(AF_INET, getenv("OHCA_IP"), &mine.sin_addr);
	inet_pton(AF_INET, getenv("OHCA_PEER"), &peer.sin_addr);
	fd = socket(AF_RDS, SOCK_SEQPACKET, 0);
	if (!EXPECT(fd >= 0))
		return false;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return EXPECT_EQ(setsockopt(fd, SOL_RDS, SO_RDS_TRANSPORT, &transport, sizeof(transport)),
			 0) &&
	       EXPECT_EQ(bind(fd, (struct sockaddr *)&mine, sizeof(mine)), 0) && sess_sync(&sess);
}

/* The kernel may have to connect again first. */
static bool wait_for(short events)
{
	struct pollfd pfd = {.fd = fd, .events = events};

	return EXPECT_EQ(poll(&pfd, 1, vu_timeout_ms()), 1);
}

static bool send_data(const void *data, size_t len, void *control, size_t control_len)
{
	struct iovec iov = {.iov_base = (void *)data, .iov_len = len};
	struct msghdr msg = {
		.msg_name = &peer,
		.msg_namelen = sizeof(peer),
		.msg_iov = &iov,
		.msg_iovlen = len ? 1 : 0,
		.msg_control = control,
		.msg_controllen = control_len,
	};
	ssize_t ret;

	while ((ret = sendmsg(fd, &msg, MSG_DONTWAIT)) < 0 && (errno == EAGAIN || errno == ENOBUFS))
		if (!wait_for(POLLOUT))
			return false;
	return EXPECT_EQ(ret, len);
}

static bool receive(size_t len, uint64_t seed)
{
	if (!wait_for(POLLIN) || !EXPECT_EQ(recv(fd, buf, MEMORY, 0), len))
		return false;
	return EXPECT_EQ(vu_check(buf, len, seed), -1);
}

/* Both sides send at the same time; the length of each message follows from its number. */
static void test_messages(const void *arg)
{
	uint64_t mine = 1 + sess.side, theirs = 2 - sess.side, seed;
	const unsigned int *messages = arg;
	unsigned int i;
	size_t len;

	if (!start())
		return;
	for (i = 0; i < *messages + WINDOW; i++) {
		if (i < *messages) {
			len = 1 + vu_rand(&mine) % MAX_SIZE;
			vu_fill(buf, len, mine);
			if (!send_data(buf, len, NULL, 0))
				return;
		}
		if (i >= WINDOW) {
			len = 1 + vu_rand(&theirs) % MAX_SIZE;
			seed = theirs;
			if (!receive(len, seed))
				return;
			if (i == WINDOW) {
				printf("# first message\n");
				fflush(stdout);
			}
		}
	}
	sess_sync(&sess);
}

/*
 * One remote operation on all of the memory, and its completion.  The message that requests it also
 * reaches the other side, as an empty one.
 */
static bool rdma(uint64_t cookie, uint64_t flags)
{
	struct rds_iovec local = {.addr = (uintptr_t)buf, .bytes = MEMORY};
	union {
		char bytes[CMSG_SPACE(sizeof(struct rds_rdma_args))];
		struct cmsghdr align;
	} control = {};
	struct rds_rdma_args args = {
		.cookie = cookie,
		.remote_vec = {.addr = 0, .bytes = MEMORY},
		.local_vec_addr = (uintptr_t)&local,
		.nr_local = 1,
		.flags = flags | RDS_RDMA_NOTIFY_ME,
		.user_token = flags,
	};
	struct msghdr msg = {.msg_control = control.bytes, .msg_controllen = sizeof(control)};
	struct cmsghdr *cmsg = &control.align;
	struct rds_rdma_notify notify;

	cmsg->cmsg_len = CMSG_LEN(sizeof(args));
	cmsg->cmsg_level = SOL_RDS;
	cmsg->cmsg_type = RDS_CMSG_RDMA_ARGS;
	memcpy(CMSG_DATA(cmsg), &args, sizeof(args));
	if (!send_data(NULL, 0, control.bytes, CMSG_SPACE(sizeof(args))) || !wait_for(POLLIN))
		return false;
	memset(&control, 0, sizeof(control));
	if (!EXPECT_EQ(recvmsg(fd, &msg, MSG_DONTWAIT), 0) ||
	    !EXPECT_EQ(cmsg->cmsg_type, RDS_CMSG_RDMA_STATUS))
		return false;
	memcpy(&notify, CMSG_DATA(cmsg), sizeof(notify));
	return EXPECT_EQ(notify.user_token, flags) && EXPECT_EQ(notify.status, RDS_RDMA_SUCCESS);
}

/* Grant the other side access to all of the memory by a message; this needs a connection. */
static bool open_memory(uint64_t *cookie)
{
	struct rds_get_mr_args args = {
		.vec = {.addr = (uintptr_t)buf, .bytes = MEMORY},
		.cookie_addr = (uintptr_t)cookie,
		.flags = RDS_RDMA_READWRITE,
	};
	union {
		char bytes[CMSG_SPACE(sizeof(args))];
		struct cmsghdr align;
	} control = {};

	control.align.cmsg_len = CMSG_LEN(sizeof(args));
	control.align.cmsg_level = SOL_RDS;
	control.align.cmsg_type = RDS_CMSG_RDMA_MAP;
	memcpy(CMSG_DATA(&control.align), &args, sizeof(args));
	vu_fill(buf, 1000, 8);
	return send_data(buf, 1000, control.bytes, sizeof(control)) && EXPECT(*cookie);
}

/* Side 1's memory is written, then read, by side 0. */
static void test_rdma(const void *arg)
{
	uint64_t cookie = 0, theirs;

	(void)arg;
	if (!start())
		return;
	/* the first message makes the connection */
	vu_fill(buf, 1000, 7);
	if (!send_data(buf, 1000, NULL, 0) || !receive(1000, 7))
		return;
	if (sess.side ? !open_memory(&cookie) : !receive(1000, 8))
		return;
	if (!sess_xchg(&sess, &cookie, &theirs, sizeof(cookie)))
		return;
	if (!sess.side)
		vu_fill(buf, MEMORY, 11);
	if (sess.side ? !receive(0, 0) : !rdma(theirs, RDS_RDMA_READWRITE))
		return;
	if (!sess_sync(&sess))
		return;
	if (sess.side) {
		EXPECT_EQ(vu_check(buf, MEMORY, 11), -1);
		vu_fill(buf, MEMORY, 12);
	}
	if (!sess_sync(&sess))
		return;
	if (sess.side ? !receive(0, 0) : !rdma(theirs, 0))
		return;
	if (!sess.side)
		EXPECT_EQ(vu_check(buf, MEMORY, 12), -1);
	sess_sync(&sess);
}

int main(int argc, char **argv)
{
	static unsigned int messages = 400;
	static const struct tap_test tests[] = {
		{"messages of many sizes, both ways", test_messages, &messages},
		{"remote write and read", test_rdma, NULL},
		{"messages again", test_messages, &messages},
	};

	if (argc > 1)
		messages = strtoul(argv[1], NULL, 0);
	sess_start(&sess, true);
	return sess_run(&sess, tests, argc > 1 ? 1 : ARRAY_SIZE(tests), cleanup);
}
